"""``torch.distributed.tensor.experimental``: `dtensor.experimental`."""

from dtensor.experimental import *  # noqa: F403

# isort: split
# Last, so that this name is the function, not the module.
from dtensor.torch.distributed.tensor.experimental.register_sharding import (
    register_sharding as register_sharding,
)
