"""``torch.autograd``: `dtensor.autograd`."""

from dtensor.autograd import *  # noqa: F403
