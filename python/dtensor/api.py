"""The array and how it is made: the names of ``torch.distributed.tensor``'s api."""

from typing import Any

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
from dtensor._later import load

__all__ = [
    "DTensor",
    "Layout",
    "Tensor",
    "as_tensor",
    "distribute_module",  # noqa: F822  it is loaded when asked for
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


def __getattr__(name: str) -> Any:
    if name in __all__:  # distribute_module, which comes with all modules
        return load(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
