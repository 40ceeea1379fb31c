"""``torch.distributed.tensor.api``: `dtensor.api`."""

from dtensor._module import distribute_module as distribute_module
from dtensor.api import *  # noqa: F403
