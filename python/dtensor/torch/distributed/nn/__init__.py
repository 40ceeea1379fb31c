"""``torch.distributed.nn``: collectives with gradients."""

from dtensor.torch.distributed.nn import functional as functional
from dtensor.torch.distributed.nn.functional import *  # noqa: F403
