"""``torch.distributed.algorithms``: activations, uneven inputs, hooks."""

from dtensor.torch.distributed.algorithms import (
    _checkpoint as _checkpoint,
    ddp_comm_hooks as ddp_comm_hooks,
    join as join,
)
from dtensor.torch.distributed.algorithms.join import (
    Join as Join,
    Joinable as Joinable,
    JoinHook as JoinHook,
)
