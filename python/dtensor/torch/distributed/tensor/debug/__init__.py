"""``torch.distributed.tensor.debug``: `dtensor.debug`."""

from dtensor.debug import *  # noqa: F403

# isort: split
from dtensor.torch.distributed.tensor.debug import comm_mode as comm_mode

# isort: split
# Last, so that this name is the function, not the module.
from dtensor.torch.distributed.tensor.debug.visualize_sharding import (
    visualize_sharding as visualize_sharding,
)
