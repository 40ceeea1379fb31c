"""Functions of tensors on one rank: NumPy's, of the arrays themselves."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor._core.dtype import ML_DTYPES, dtype_of
from dtensor._core.nested import mapped
from dtensor.ops._make.parts import alone, local, make

__all__ = ["AT_ONCE", "by_numpy"]

Function = Callable[..., Any]

# What takes several steps with parts, and one with the whole. None gives a view, and
# none writes to its arguments.
AT_ONCE: set[Function] = {
    np.argmax,
    np.argmin,
    np.argwhere,
    np.bincount,
    np.compress,
    np.corrcoef,
    np.cov,
    np.cumprod,
    np.cumsum,
    np.cumulative_prod,
    np.cumulative_sum,
    np.delete,
    np.extract,
    np.flatnonzero,
    np.histogramdd,
    np.insert,
    np.intersect1d,
    np.isin,
    np.nanargmax,
    np.nanargmin,
    np.nancumprod,
    np.nancumsum,
    np.nanmax,
    np.nanmin,
    np.nanstd,
    np.nanvar,
    np.nonzero,
    np.resize,
    np.setdiff1d,
    np.setxor1d,
    np.std,
    np.take,
    np.union1d,
    np.unique,
    np.unique_all,
    np.unique_counts,
    np.unique_inverse,
    np.var,
}

# Those whose results have an element for each of the first tensor.
_ALIKE: set[Function] = {
    np.cumprod,
    np.cumsum,
    np.cumulative_prod,
    np.cumulative_sum,
    np.isin,
    np.nancumprod,
    np.nancumsum,
}


def by_numpy(function: Function, answer: Function) -> Function:
    """Return what answers a NumPy function: on a mesh of one rank NumPy itself.

    Not if a gradient is wanted, the result is written into `out`, or somebody is told
    of the operators that are called; nor of bfloat16, which NumPy adds up and orders
    worse; nor with arguments by which NumPy may hang or leave sets in an order of its
    own. The results of some are laid out as the first tensor, those of others are
    replicated: both have the same one part.
    """
    names = _parameters(function) or _parameters(answer)
    last = names.index("out") if "out" in names else len(names)
    known = {*names} - {"out", "mode", "ddof", "sorted"}

    @functools.wraps(answer)
    def either(*args: Any, **options: Any) -> Any:
        if len(args) > last or not options.keys() <= known:
            return answer(*args, **options)
        first = _on_one_rank([*args, *options.values()])
        if first is None or _C.is_observed():
            return answer(*args, **options)
        mesh = first.device_mesh
        bare, named = mapped((args, options), (_C.DTensor, str), _for_numpy)
        result = function(*bare, **named)
        like = first if function in _ALIKE else None
        return mapped(
            result,
            (np.ndarray, np.generic),
            lambda y: _in_dialect_of(first, _placed(y, mesh, like)),
        )

    return either


def _parameters(function: Function) -> list[str]:
    """Return the names of parameters; none where NumPy's C code does not tell them."""
    try:
        return [*inspect.signature(function).parameters]
    except ValueError:
        return []


def _for_numpy(x: Any) -> Any:
    """Return the array of a tensor, the dtype of a name that NumPy may not know."""
    if isinstance(x, str):
        return dtype_of(x) if x in ML_DTYPES else x
    return local(x)


def _in_dialect_of(like: _C.DTensor, result: Any) -> Any:
    """Return a result in PyTorch's dialect, if a tensor is."""
    return result.as_torch() if isinstance(like, _C.TorchTensor) else result


def _on_one_rank(values: list[Any]) -> _C.DTensor | None:
    """Return the first DTensor of a call, if it is to be computed by one rank."""
    found: list[_C.DTensor] = []
    for x in values:
        if isinstance(x, list | tuple) and not _is_plain(x):
            return None
        if not isinstance(x, _C.Tensor):
            continue
        recorded = x.requires_grad and _C.is_grad_enabled()
        if not isinstance(x, _C.DTensor) or recorded or is_meta(x):
            return None
        if not alone(x.layout) or x.layout.is_partial or x.dtype.kind == "V":
            return None
        found.append(x)
    meshes = {x.device_mesh for x in found}
    return found[0] if len(meshes) == 1 else None


def _is_plain(values: Any) -> bool:
    """Return whether a list holds no tensors."""
    if isinstance(values, list | tuple):
        return all(map(_is_plain, values))
    return not isinstance(values, _C.Tensor)


def _placed(array: Any, mesh: _C.Mesh, like: _C.DTensor | None) -> Any:
    if like is not None and array.shape == like.shape:
        return make(array, like.layout.with_dtype(array.dtype))
    return make(array, _C.Layout(mesh, None, array.shape, array.dtype))
