"""``torch.distributed._composable``, the older path of `dtensor.fsdp`."""

from dtensor.fsdp import fully_shard as fully_shard

# isort: split
from dtensor.torch.distributed._composable import fsdp as fsdp

# isort: split
from dtensor.torch.distributed._composable.checkpoint_activation import (
    checkpoint as checkpoint,
)
from dtensor.torch.distributed._composable.replicate import replicate as replicate
