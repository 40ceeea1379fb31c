"""``torch.autograd.graph``: `dtensor.autograd.graph`."""

from dtensor.autograd.graph import *  # noqa: F403
