"""``torch.distributed.algorithms``: activations, uneven inputs, hooks, averages."""

from dtensor.torch.distributed.algorithms import (
    _checkpoint as _checkpoint,
    ddp_comm_hooks as ddp_comm_hooks,
    join as join,
    model_averaging as model_averaging,
)
from dtensor.torch.distributed.algorithms.join import (
    Join as Join,
    Joinable as Joinable,
    JoinHook as JoinHook,
)
