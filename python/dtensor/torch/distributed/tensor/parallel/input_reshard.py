"""PyTorch's ``tensor.parallel.input_reshard``."""

from dtensor.parallel.input_reshard import *  # noqa: F403
