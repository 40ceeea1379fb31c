"""``torch.optim.lr_scheduler``: `dtensor.optim.lr_scheduler`."""

from dtensor.optim.lr_scheduler import *  # noqa: F403
