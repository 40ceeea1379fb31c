"""The array and how it is made: the names of ``torch.distributed.tensor``'s api."""

from dtensor._C import (
    DTensor,
    Layout,
    Tensor,
    as_tensor,
    distribute_tensor,
    empty,
    from_callback,
    full,
    get_default_dtype,
    ones,
    redistribute,
    set_default_dtype,
    tensor,
    zeros,
)
from dtensor.nn._distribute import distribute_module

__all__ = [
    "DTensor",
    "Layout",
    "Tensor",
    "as_tensor",
    "distribute_module",
    "distribute_tensor",
    "empty",
    "from_callback",
    "full",
    "get_default_dtype",
    "ones",
    "redistribute",
    "set_default_dtype",
    "tensor",
    "zeros",
]
