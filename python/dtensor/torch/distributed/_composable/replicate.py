"""``torch.distributed._composable.replicate``: data parallelism."""

from dtensor.fsdp import replicate as replicate
