"""What may still change: sharding rules of the user's own, implicit replication."""

from dtensor.experimental.implicit_replication import implicit_replication
from dtensor.experimental.register_sharding import register_sharding

__all__ = ["implicit_replication", "register_sharding"]
