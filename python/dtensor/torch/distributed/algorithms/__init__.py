"""``torch.distributed.algorithms``: activation checkpoints of modules."""

from dtensor.torch.distributed.algorithms import _checkpoint as _checkpoint
