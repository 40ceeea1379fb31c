"""``torch.distributed.algorithms``: checkpoints of activations, and uneven inputs."""

from dtensor.torch.distributed.algorithms import (
    _checkpoint as _checkpoint,
    join as join,
)
from dtensor.torch.distributed.algorithms.join import (
    Join as Join,
    Joinable as Joinable,
    JoinHook as JoinHook,
)
