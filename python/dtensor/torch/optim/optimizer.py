"""``torch.optim.optimizer``: `dtensor.optim.optimizer`."""

from dtensor.optim.optimizer import *  # noqa: F403
