"""``torch.autograd.function``: `dtensor.autograd.function`."""

from dtensor.autograd.function import *  # noqa: F403
