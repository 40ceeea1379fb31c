"""PyTorch's ``tensor.parallel.multihead_attention_tp``."""

from dtensor.parallel.multihead_attention_tp import *  # noqa: F403
