"""PyTorch's ``tensor.debug.visualize_sharding``, as its documentation has it."""

from dtensor.debug.visualize_sharding import *  # noqa: F403
