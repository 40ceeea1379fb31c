"""``torch.distributed.tensor.experimental``: `dtensor.experimental`."""

from dtensor.experimental import *  # noqa: F403

# isort: split
# Last: the function, not the module, is what has this name here.
from dtensor.torch.distributed.tensor.experimental.register_sharding import (
    register_sharding as register_sharding,
)
