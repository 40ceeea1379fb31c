"""PyTorch's ``tensor.debug.visualize_sharding``, as documented."""

from dtensor.debug.visualize_sharding import *  # noqa: F403
