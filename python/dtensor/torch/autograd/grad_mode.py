"""``torch.autograd.grad_mode``: `dtensor.autograd.grad_mode`."""

from dtensor.autograd.grad_mode import *  # noqa: F403
