"""``torch.nn``: `dtensor.nn`."""

from dtensor.nn import *  # noqa: F403

# isort: split
from dtensor.torch.nn import attention as attention, parameter as parameter
