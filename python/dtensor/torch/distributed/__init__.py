"""``torch.distributed``: the ranks of the job, and collectives among them.

A group of ranks is what `new_group` or ``mesh.get_group()`` returns, or a mesh of one
dimension. Tensors are `Tensor`s or NumPy arrays.
"""

from dtensor.torch.distributed._collectives import *  # noqa: F403
from dtensor.torch.distributed._exchange import *  # noqa: F403
from dtensor.torch.distributed._point import *  # noqa: F403
from dtensor.torch.distributed._world import *  # noqa: F403
from dtensor.torch.distributed.device_mesh import (
    DeviceMesh as DeviceMesh,
    init_device_mesh as init_device_mesh,
)

# isort: split
from dtensor.torch.distributed import (
    _composable as _composable,
    algorithms as algorithms,
    checkpoint as checkpoint,
    device_mesh as device_mesh,
    elastic as elastic,
    fsdp as fsdp,
    nn as nn,
    tensor as tensor,
)
