"""``torch.distributed.tensor.api``: `dtensor.api`."""

from dtensor.api import *  # noqa: F403
from dtensor.nn._distribute import distribute_module as distribute_module
from dtensor.torch.distributed._dialect import *  # noqa: F403
