"""What users see of an operator's signature: array_like -> DTensor, not the rule's."""

import inspect
import types
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C

__all__ = ["array_like", "dtype_like", "public"]


class array_like:  # noqa: N801
    """What `numpy.asarray` takes, and tensors."""


class dtype_like:  # noqa: N801
    """What `numpy.dtype` takes."""


# They stand in signatures, where a name without a module is easier to read.
array_like.__module__ = dtype_like.__module__ = "builtins"

_SHOWN = {
    _C.Operand: array_like,
    _C.Operand | None: array_like | None,
    npt.DTypeLike: dtype_like,
    npt.DTypeLike | None: dtype_like | None,
}
_NAMED = {"out": _C.DTensor | None, "where": array_like}
_SEVERAL = "eigh qr slogdet svd".split()
_NEW: Any = inspect.Parameter


def _keyword(name: str, default: Any, annotation: Any) -> Any:
    kind = inspect.Parameter.KEYWORD_ONLY
    return _NEW(name, kind, default=default, annotation=annotation)


# What every ufunc takes beside its operands and `out`.
_OPTIONS = [
    _keyword("where", True, array_like),
    _keyword("casting", "same_kind", str),
    _keyword("order", "K", str),
    _keyword("dtype", None, dtype_like | None),
    _keyword("subok", True, bool),
    _keyword("signature", None, object),
]


def _of_ufunc(function: np.ufunc) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_ONLY
    names = ["x"] if function.nin == 1 else [f"x{k + 1}" for k in range(function.nin)]
    operands = [_NEW(name, kind, annotation=array_like) for name in names]
    several: Any = types.GenericAlias(tuple, (_C.DTensor,) * function.nout)
    out, result = _keyword("out", None, _C.DTensor | None), several
    if function.nout == 1:
        out, result = out.replace(kind=_NEW.POSITIONAL_OR_KEYWORD), _C.DTensor
    return inspect.Signature([*operands, out, *_OPTIONS], return_annotation=result)


def public(operator: _C.Operator) -> inspect.Signature:
    """Return the signature of an operator as its users see it.

    It is found when somebody asks: see `Operator.__signature__`."""
    if operator.otherwise is not None:
        return inspect.signature(operator.otherwise)
    function = operator.__wrapped__
    ufunc = getattr(function, "ufunc", None)
    if ufunc is not None:
        return _of_ufunc(ufunc)
    own = inspect.signature(function)
    shown = [
        p.replace(annotation=_NAMED.get(name, _SHOWN.get(p.annotation, p.annotation)))
        for name, p in own.parameters.items()
    ]
    result: Any = _C.DTensor
    if operator.__name__ in _SEVERAL:
        result = _C.DTensor | tuple[_C.DTensor, ...]
    return own.replace(parameters=shown, return_annotation=result)


_C.set_signature(public)
