"""``torch.distributed.algorithms._checkpoint``: activation checkpoints of modules."""

from dtensor.torch.distributed.algorithms._checkpoint import (
    checkpoint_wrapper as checkpoint_wrapper,
)
