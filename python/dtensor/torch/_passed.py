"""More rows of `_direct`: functions that pass common calls on to our operators, which
take the same arguments, and some along dims."""

from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np

from dtensor import _C, ops as _ops
from dtensor._core.dtype import CASTS, dtype_of
from dtensor.ops._make.copies import astype
from dtensor.ops._make.direct import Maybe, passed
from dtensor.ops._make.elementwise import broadcast
from dtensor.ops._make.operator import METHODS, Operand, call
from dtensor.ops._make.reduction import MISSING, reduced_axes
from dtensor.ops._make.words import Answer
from dtensor.ops.elementwise import pointwise, powers
from dtensor.ops.elementwise.piecewise import clip_row
from dtensor.ops.reduce.gradient import of_product, reduced
from dtensor.ops.reduce.rows import of_std, of_var, spread_row
from dtensor.ops.reduce.scan import whole_scan
from dtensor.torch import _pointwise
from dtensor.torch._direct import METHOD_ROWS, direct, row
from dtensor.torch._powers import by_number
from dtensor.torch._promotion import dtype_for
from dtensor.torch._reduce import Dims, dims_of, summed
from dtensor.torch._totals import PRODUCT, SUM, running, total_call
from dtensor.torch._types import dtype as torch_type, numpy_dtype

__all__ = ["direct"]

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports

# --- elementwise ----------------------------------------------------------------------


def _of_reals(names: str, base: Any) -> None:
    """Pass on what is of real floating-point numbers."""

    def ask(input: Any) -> Maybe:
        fits = isinstance(input, Operand) and input.dtype.kind not in "buic"
        return passed(base, input) if fits and input.ndim else None

    row(names)(ask)


_of_reals("tanh", _pointwise.FUNCTIONS["tanh"])
_of_reals("erf", ops.erf)
_of_reals("erfc", ops.erfc)
_of_reals("sign sgn", ops.sign)


def _keeps_dtype(input: Any, *others: Any) -> bool:
    """Return whether PyTorch computes in the dtype that all tensors have."""
    given = [x for x in (input, *others) if isinstance(x, Operand)]
    if not isinstance(input, Operand) or input.dtype is None:
        return False
    dtypes = {x.dtype for x in given} - {None}
    return dtypes == {input.dtype} and dtype_for(given) == input.dtype


@row("pow", operands=2, told=(2, -1, 0.5, 3, 4))
def _pow(input: Any, exponent: Any) -> Maybe:
    if not isinstance(exponent, Operand):
        return None
    if isinstance(input, Operand) and input.dtype is None:
        floats = exponent.dtype is not None and exponent.dtype.kind in "fc"
        return passed(_pointwise._of_number, input, exponent) if floats else None
    if not _keeps_dtype(input, exponent):
        return None
    if input.dtype.kind in "ui":
        whole = exponent.value in (2, 3, 4)
        return passed(_pointwise._power, input, exponent) if whole else None
    if input.dtype.kind not in "fc":
        return None
    found = powers.faster(input, exponent)
    if found is not None:
        return passed(found, input)
    plain = exponent.number in (int, float) and input.dtype.kind == "f"
    return passed(by_number if plain else pointwise._power, input, exponent)


def _limits(input: Any, min: Any, max: Any) -> Maybe:
    limits = [x for x in (min, max) if x is not MISSING and x is not None]
    known = all(isinstance(x, Operand) for x in limits)
    if not limits or not known or not _keeps_dtype(input, *limits):
        return None
    narrow = input.dtype.kind in "iu" and input.dtype != np.int64
    if narrow and any(x.number is not None for x in limits):  # its value matters
        return None
    return clip_row(input, min, max) if input.dtype.kind in "fiu" else None


@row("clamp clip", operands=3)
def _clamp(input: Any, min: Any = None, max: Any = MISSING) -> Maybe:
    return _limits(input, min, max)


@row("clamp_min", operands=2)
def _clamp_min(input: Any, min: Any) -> Maybe:
    return _limits(input, min, MISSING)


@row("masked_fill", operands=3)
def _masked_fill(input: Any, mask: Any, value: Any) -> Maybe:
    if not isinstance(input, Operand) or input.dtype == np.bool_:
        return None
    number = getattr(value, "number", None)
    if input.dtype.kind in "iu" and number is not None:
        if number is float or input.dtype != np.int64:  # its value matters
            return None
    return passed(METHODS["masked_fill"], input, mask, value)


# --- copies and dtypes ----------------------------------------------------------------


def _cast(input: Any, dtype: Any) -> Maybe:
    if not isinstance(input, Operand) or input.dtype == dtype:
        return input if isinstance(input, Operand) else None
    found: Answer = astype.__wrapped__(input, dtype)
    return found


def _of_dtype(name: str, dtype: str) -> None:
    @row(name, astype, rows=METHOD_ROWS)
    def ask(input: Any, memory_format: Any = None) -> Maybe:
        return _cast(input, dtype_of(dtype))


for _name, _dtype in CASTS.items():
    _of_dtype(_name, _dtype)


@row("to", astype, rows=METHOD_ROWS)
def _to(input: Any, dtype: Any) -> Maybe:
    known = isinstance(dtype, torch_type | np.dtype)
    return _cast(input, np.dtype(numpy_dtype(dtype))) if known else None


@row("clone", ops.copy)
def _clone(input: Any) -> Maybe:
    if not isinstance(input, Operand):
        return None
    return broadcast([input], "any"), call(_C.copied, input), input.dtype


# --- shapes ---------------------------------------------------------------------------


@row("stack", ops.stack)
def _stack(tensors: Any, dim: Any = 0) -> Maybe:
    arrays = isinstance(tensors, list | tuple) and len(tensors) > 0
    if not arrays or not all(isinstance(x, Operand) for x in tensors):
        return None
    if len({x.dtype for x in tensors}) > 1 or type(dim) is not int:
        return None
    found = ops.stack.__wrapped__(tensors, dim)
    return found[0], call(_C.joined, tensors, dim, True), tensors[0].dtype


@row("squeeze", ops.squeeze)
def _squeeze(input: Any, dim: int | Sequence[int] | None = None) -> Maybe:
    if not isinstance(input, Operand) or not input.ndim:
        return None
    axes = None
    if dim is not None:
        dims = (dim,) if isinstance(dim, SupportsIndex) else dim
        if not all(-input.ndim <= d < input.ndim for d in dims):
            return None
        axes = tuple(d for d in dims if input.shape[d] == 1)
    found: Maybe = ops.squeeze.__wrapped__(input, axes)
    return found


@row("tril")
def _tril(input: Any, diagonal: Any = MISSING) -> Maybe:
    return None if input.ndim < 2 else passed(ops.tril, input, diagonal)


@row("triu")
def _triu(input: Any, diagonal: Any = MISSING) -> Maybe:
    return None if input.ndim < 2 else passed(ops.triu, input, diagonal)


@row("t")
def _t(input: Any) -> Maybe:
    if not isinstance(input, Operand) or input.ndim > 2:
        return None
    return passed(ops.transpose, input) if input.ndim == 2 else input


def _has_dims(input: Any) -> bool:
    return isinstance(input, Operand) and input.ndim > 0


@row("split")
def _split(tensor: Any, split_size: Any, dim: Any = MISSING) -> Maybe:
    lengths: Any = (
        (split_size,) if isinstance(split_size, SupportsIndex) else split_size
    )
    if any(n <= 0 for n in lengths) or not _has_dims(tensor):
        return None
    return passed(METHODS["split"], tensor, split_size, dim)


@row("chunk")
def _chunk(input: Any, chunks: Any, dim: Any = MISSING) -> Maybe:
    return passed(ops.chunk, input, chunks, dim) if _has_dims(input) else None


@row("unbind")
def _unbind(input: Any, dim: Any = MISSING) -> Maybe:
    return passed(ops.unbind, input, dim) if _has_dims(input) else None


# --- along dims -----------------------------------------------------------------------


def _running(name: str, total: int, base: Any, other: Any) -> None:
    @row(name, base)
    def ask(input: Any, dim: Any) -> Maybe:
        found = running(input, total, dim)
        if found is not None:
            return found
        fits = isinstance(input, Operand) and input.ndim and input.dtype.kind in "fc"
        return passed(other, input, dim) if fits else None


_running("cumsum", SUM, whole_scan(np.add), ops.cumsum)
_running("cumprod", PRODUCT, whole_scan(np.multiply), ops.cumprod)


def _of_prod(
    grad: Any, out: Any, input: Any, dim: Any = None, keepdim: bool = False
) -> Any:
    return reduced(of_product)(grad, out, input, dim, None, None, keepdim)


@row("prod", ops.prod, _of_prod)
def _prod(input: Any, dim: int | None = None, keepdim: bool = False) -> Maybe:
    if not isinstance(input, Operand) or isinstance(dim, list | tuple):
        return None
    found: Answer = ops.prod.__wrapped__(input, dim, summed(input), None, keepdim)
    made = total_call(input, PRODUCT, reduced_axes(dim, input.ndim), keepdim)
    return found if made is None else (found[0], made, input.dtype)


def _spread(name: str, root: bool, of_base: Any) -> None:
    def back(
        grad: Any,
        out: Any,
        input: Any,
        dim: Dims = None,
        unbiased: bool = True,
        keepdim: bool = False,
    ) -> Any:
        axes = dims_of(dim, input.ndim)
        return of_base(grad, out, input, axes, None, None, float(unbiased), keepdim)

    @row(name, ops.sum, back)
    def ask(
        input: Any, dim: Dims = None, unbiased: bool = True, keepdim: bool = False
    ) -> Maybe:
        floats = isinstance(input, Operand) and input.dtype.kind == "f"
        if not floats or isinstance(dim, bool):
            return None
        return spread_row(
            root, input, dims_of(dim, input.ndim), float(unbiased), keepdim
        )


_spread("var", False, of_var)
_spread("std", True, of_std)
