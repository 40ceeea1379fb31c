"""``torch.distributed.tensor``: `dtensor`."""

from dtensor import (
    DeviceMesh as DeviceMesh,
    DTensor as DTensor,
    Layout as Layout,
    Partial as Partial,
    Placement as Placement,
    Replicate as Replicate,
    Shard as Shard,
    distribute_tensor as distribute_tensor,
    empty as empty,
    full as full,
    init_device_mesh as init_device_mesh,
    ones as ones,
    rand as rand,
    randn as randn,
    zeros as zeros,
)
from dtensor.nn._distribute import distribute_module as distribute_module

# isort: split
from dtensor.torch.distributed.tensor import (
    api as api,
    debug as debug,
    device_mesh as device_mesh,
    experimental as experimental,
    parallel as parallel,
    placement_types as placement_types,
    random as random,
)
