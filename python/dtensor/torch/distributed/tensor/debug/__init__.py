"""``torch.distributed.tensor.debug``: `dtensor.debug`."""

from dtensor.debug import *  # noqa: F403

# isort: split
from dtensor.torch.distributed.tensor.debug import comm_mode as comm_mode
