"""Parameters and buffers: tensors that belong to a module."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np

from dtensor._C import Tensor, as_tensor, get_default_dtype

__all__ = ["Buffer", "Parameter"]


def _own(data: Any) -> Tensor:
    """Return a new tensor, without a history, that shares the memory of `data`."""
    if data is None:
        data = np.empty(0, get_default_dtype())
    return (data if isinstance(data, Tensor) else as_tensor(data)).detach()


class _ByParameterFlag(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance._is_param


class Parameter(Tensor, metaclass=_ByParameterFlag):
    """A tensor that becomes a parameter of the module that it is assigned to.

    It is a flag on a Tensor or DTensor: the result has the type of `data`, and
    ``isinstance(x, Parameter)`` tests the flag.

    Parameters
    ----------
    data : Tensor, DTensor or array_like
        The values, shared and not copied.
    requires_grad : bool, default True
        Whether the parameter is trained.

    Raises
    ------
    RuntimeError
        If `requires_grad` is True for integers or booleans. On this rank only.

    Examples
    --------
    >>> p = Parameter(np.zeros((2, 3)))
    >>> isinstance(p, Parameter), p.requires_grad
    (True, True)
    """

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Self:
        tensor: Any = _own(data).requires_grad_(bool(requires_grad))
        tensor._is_param = True
        made: Self = tensor
        return made


class _ByBufferFlag(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_ByBufferFlag):
    """A tensor that becomes a buffer of the module that it is assigned to.

    Buffers are part of a module's state and are not trained. Like `Parameter`, it is a
    flag on a Tensor or DTensor.

    Parameters
    ----------
    data : Tensor, DTensor or array_like
        The values, shared and not copied.
    persistent : bool, default True
        Whether it is part of the module's `state_dict`.
    """

    persistent: bool

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Self:
        tensor: Any = _own(data)
        if isinstance(data, Tensor) and data.requires_grad:
            tensor.requires_grad_()
        tensor.persistent = persistent
        tensor._is_buffer = True
        made: Self = tensor
        return made


def zero_grads(parameters: Iterable[Any], set_to_none: bool) -> None:
    """Reset the gradients that there are to None, or fill them with 0."""
    for parameter in parameters:
        if parameter.grad is not None:
            grad = None if set_to_none else parameter.grad.detach()
            parameter.grad = grad if grad is None else grad.zero_()
