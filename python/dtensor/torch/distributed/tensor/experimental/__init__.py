"""``torch.distributed.tensor.experimental``: `dtensor.experimental`."""

from dtensor.experimental import *  # noqa: F403

# isort: split
from dtensor.torch.ops import register_sharding as register_sharding
