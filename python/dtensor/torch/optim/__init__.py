"""``torch.optim``: `dtensor.optim`."""

from dtensor.optim import *  # noqa: F403

# isort: split
from dtensor.torch.optim import optimizer as optimizer
