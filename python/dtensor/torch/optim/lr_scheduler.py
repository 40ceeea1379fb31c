"""``torch.optim.lr_scheduler``: `dtensor.optim.lr_scheduler`."""

from dtensor.optim.lr_scheduler import *  # noqa: F403
from dtensor.optim.lr_scheduler import LRScheduler

_LRScheduler = LRScheduler  # its older name, which subclasses of scripts have
