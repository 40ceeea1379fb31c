"""``torch.distributed.tensor``: `dtensor`, whose DTensors have PyTorch's methods."""

from dtensor import (
    DeviceMesh as DeviceMesh,
    Layout as Layout,
    Partial as Partial,
    Placement as Placement,
    Replicate as Replicate,
    Shard as Shard,
    init_device_mesh as init_device_mesh,
)
from dtensor.nn._distribute import distribute_module as distribute_module
from dtensor.torch.distributed._dialect import (
    DTensor as DTensor,
    distribute_tensor as distribute_tensor,
    empty as empty,
    full as full,
    ones as ones,
    rand as rand,
    randn as randn,
    zeros as zeros,
)

# isort: split
from dtensor.torch.distributed.tensor import (
    _api as _api,
    _random as _random,
    _utils as _utils,
    api as api,
    debug as debug,
    device_mesh as device_mesh,
    experimental as experimental,
    parallel as parallel,
    placement_types as placement_types,
    random as random,
)
