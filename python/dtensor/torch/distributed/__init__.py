"""``torch.distributed``: the ranks of the job, and collectives among them.

A group of ranks is what `new_group` or ``mesh.get_group()`` returns, or a mesh of one
dimension. Tensors are `Tensor`s or NumPy arrays.
"""

from dtensor.fsdp._bucket import GradBucket as GradBucket
from dtensor.torch.distributed._collectives import *  # noqa: F403
from dtensor.torch.distributed._errors import *  # noqa: F403
from dtensor.torch.distributed._exchange import *  # noqa: F403
from dtensor.torch.distributed._groups import _get_default_group as _get_default_group
from dtensor.torch.distributed._point import *  # noqa: F403
from dtensor.torch.distributed._world import *  # noqa: F403
from dtensor.torch.distributed.device_mesh import (
    DeviceMesh as DeviceMesh,
    init_device_mesh as init_device_mesh,
)

# isort: split
from dtensor.torch import _paths
from dtensor.torch.distributed import (
    _composable as _composable,
    algorithms as algorithms,
    checkpoint as checkpoint,
    device_mesh as device_mesh,
    elastic as elastic,
    fsdp as fsdp,
    nn as nn,
    optim as optim,
    tensor as tensor,
)

default_pg_nccl_timeout = default_pg_timeout  # noqa: F405
FILES = {"constants": "default_pg_nccl_timeout default_pg_timeout"}
# PyTorch's file of groups and collectives: the functions and classes of here.
_names = [name for name, x in [*globals().items()] if hasattr(x, "__qualname__")]
FILES["distributed_c10d"] = " ".join([*_names, "ReduceOp", "default_pg_timeout"])
globals().update(_paths.add_paths(__name__, globals(), FILES))
