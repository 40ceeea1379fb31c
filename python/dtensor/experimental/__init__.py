"""What may still change: local_map, context_parallel, register_sharding and more."""

from dtensor.experimental.attention import context_parallel
from dtensor.experimental.func_map import local_map
from dtensor.experimental.implicit_replication import implicit_replication
from dtensor.experimental.register_sharding import register_sharding

__all__ = ["context_parallel", "implicit_replication", "local_map", "register_sharding"]
