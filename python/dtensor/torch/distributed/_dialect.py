"""DTensors in PyTorch's dialect: the functions of `dtensor` that make them."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import dtensor
from dtensor import _C

__all__ = [
    "DTensor",
    "distribute_tensor",
    "empty",
    "from_local",
    "full",
    "ones",
    "rand",
    "randn",
    "zeros",
]

F = TypeVar("F", bound=Callable[..., Any])
DTensor = _C.TorchDTensor


def in_torch(function: F) -> F:
    """Return a function whose results, which are new, are in PyTorch's dialect."""

    @functools.wraps(function)
    def answer(*args: Any, **options: Any) -> Any:
        if options.get("dtype") is not None:
            options["dtype"] = getattr(options["dtype"], "dtype", options["dtype"])
        made = function(*args, **options)
        return made.as_torch() if isinstance(made, _C.Tensor) else made

    return answer  # type: ignore[return-value]


def _new(function: F) -> F:
    made = in_torch(function)

    @functools.wraps(function)
    def answer(*args: Any, requires_grad: bool = False, **options: Any) -> Any:
        x = made(*args, **options)
        return x.requires_grad_() if requires_grad else x

    return answer  # type: ignore[return-value]


empty = _new(dtensor.empty)
full = _new(dtensor.full)
ones = _new(dtensor.ones)
rand = _new(dtensor.rand)
randn = _new(dtensor.randn)
zeros = _new(dtensor.zeros)
from_local = in_torch(dtensor.DTensor.from_local)


@functools.wraps(dtensor.distribute_tensor)
def distribute_tensor(tensor: Any, *args: Any, **options: Any) -> Any:
    if not isinstance(tensor, _C.Tensor) and tensor is not None:
        tensor = _C.into_torch(_C.as_tensor(tensor))
    made = dtensor.distribute_tensor(tensor, *args, **options)
    return made if _C.is_torch(made) else _C.into_torch(made)
