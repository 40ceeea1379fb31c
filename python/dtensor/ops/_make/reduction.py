"""Reductions by ufuncs: how the ranks' partial results are combined."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.dtype import dtype_of
from dtensor.ops._make.axes import checked_axis, normalize_axis_index
from dtensor.ops._make.elementwise import check_constant
from dtensor.ops._make.halves import in_float32, is_half
from dtensor.ops._make.operator import Operand, Part, Rule, axes_of, call, letters
from dtensor.ops._make.words import Answer

__all__ = [
    "KINDS",
    "LINEAR",
    "MISSING",
    "OPS",
    "Axis",
    "DTypeLike",
    "Kind",
    "highest",
    "kept",
    "loop_dtype",
    "lowest",
    "partial_rows",
    "probe",
    "reduced_axes",
    "reduction",
]

Axis = int | Sequence[int] | None
DTypeLike = npt.DTypeLike | None
MISSING: Any = getattr(np, "_NoValue")  # noqa: B009
Layouts = tuple[_C.Layout, ...]

OPS = tuple(row.name for row in _C.REDUCE_OPS)
LINEAR = tuple(row.name for row in _C.REDUCE_OPS if row.linear)
_ROWS = {row.name: row for row in _C.REDUCE_OPS}

# --- what reduces ---------------------------------------------------------------------


class Kind(NamedTuple):
    """How the partial results of a ufunc's reduction are combined."""

    op: str  # of the Partial
    least: Callable[[np.dtype[Any]], Any] | None = None  # value of an empty part
    also: str = ""  # another Partial operation that they are addends of


def lowest(dtype: np.dtype[Any]) -> Any:
    """Return the neutral element of maximum for a dtype."""
    return _extreme(dtype, -math.inf)


def highest(dtype: np.dtype[Any]) -> Any:
    """Return the neutral element of minimum for a dtype."""
    return _extreme(dtype, math.inf)


def _extreme(dtype: np.dtype[Any], value: float) -> Any:
    if dtype.kind == "b":
        return value > 0
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return dtype.type(limits.max if value > 0 else limits.min)
    if dtype.kind == "c":
        return dtype.type(complex(value, value))
    return dtype.type(value)


_LEAST = {"lowest": lowest, "highest": highest}

KINDS: dict[np.ufunc, Kind] = {
    **{
        getattr(np, row.ufunc): Kind(row.name, _LEAST.get(row.identity))
        for row in _C.REDUCE_OPS
        if row.ufunc is not None
    },
    np.logical_and: Kind("min"),
    np.logical_or: Kind("max"),
}
BOOLS: dict[np.ufunc, Kind] = {
    np.bitwise_and: Kind("min"),
    np.bitwise_or: Kind("bitwise_or", also="max"),
}


def kind_of(function: np.ufunc, dtype: np.dtype[Any]) -> Kind | None:
    kind = BOOLS.get(function) if dtype.kind == "b" else None
    return kind or KINDS.get(function)


def partial_rows(kind: Kind | None, masks: int = 0) -> str | None:
    """Return the Partial rows: operands with the same reduction stay Partial."""
    if kind is None:
        return None
    if kind.op in LINEAR:
        return "0"
    ops = (kind.op, kind.also) if kind.also else (kind.op,)
    return ";".join(f"{op}{',R' * masks}->{kind.op}" for op in ops)


# --- the rule -------------------------------------------------------------------------


def reduced_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Return the dims that are reduced; NumPy accepts axis 0 and -1 for 0-d arrays."""
    axis = checked_axis(axis)
    if ndim == 0 and axis in (0, -1):
        return ()
    if isinstance(axis, tuple | list):
        if len({normalize_axis_index(dim, ndim) for dim in axis}) < len(axis):
            raise ValueError("duplicate value in 'axis'")
    return axes_of(axis, ndim)


def kept(names: Sequence[str], axes: Sequence[int], keepdims: bool) -> list[str]:
    """Return the words of the result of a reduction."""
    if keepdims:
        return ["1" if dim in axes else name for dim, name in enumerate(names)]
    return [name for dim, name in enumerate(names) if dim not in axes]


def mask_words(mask: Operand, names: Sequence[str]) -> list[str]:
    """Return the words of a mask that is broadcast to the dims of an operand."""
    if mask.ndim > len(names):
        raise ValueError(
            "input operand has more dimensions than allowed by the axis remapping"
        )
    own = names[len(names) - mask.ndim :]
    return ["1" if n == 1 else name for n, name in zip(mask.shape, own, strict=True)]


def reduction(
    function: np.ufunc,
    x: Operand,
    axis: Axis,
    dtype: DTypeLike = None,
    keepdims: bool = False,
    initial: Any = MISSING,
    where: Any = True,
    kernel: Callable[..., Any] | None = None,
    out: np.dtype[Any] | None = None,
) -> Answer:
    """Return rule and call of a reduction by `function`.

    Parameters
    ----------
    function : numpy.ufunc
        If it is not in `KINDS`, the reduced dims must not be cut.
    x, axis, dtype, keepdims, initial, where
        As for `numpy.ufunc.reduce`.
    kernel : callable, optional
        Called instead of ``function.reduce``. It does the same on parts, but not on
        addends.
    out : dtype, optional
        Of what the result is written to.
    """
    check_constant(where)
    axes = reduced_axes(axis, x.ndim)
    options: dict[str, Any] = {"axis": axes, "keepdims": bool(keepdims)}
    if dtype is not None or out is not None:
        options["dtype"] = loop_dtype(function, x.dtype, dtype, out)
    if where is not True:
        options["where"] = where
    if initial is not MISSING:
        options["initial"] = initial
    result = np.asarray(function.reduce(probe(x), **_probes(options))).dtype
    kind = None if isinstance(initial, Operand) else kind_of(function, x.dtype)
    if initial is None:  # an empty array has no result, an empty part may have one
        initial = MISSING
        if kind is not None:
            del options["initial"]
    is_wide = is_half(result) and kind is not None and kind.op in ("sum", "product")
    if is_wide and initial is not MISSING:
        initial = np.asarray(initial).astype(result)[()]  # what it is there for NumPy
    if kind is not None:
        options |= _initial(kind, axes, initial, where, result)
    names = letters(x.ndim, whole=() if kind else axes)
    terms = [names]
    for more in sorted(_arrays(where, initial), key=lambda array: array.index):
        one = ["1"] * more.ndim  # NumPy takes an array of one element for a bool
        terms.append(mask_words(more, names) if more is where else one)
    rows = partial_rows(kind, len(terms) - 1) if kernel is None else None
    words = ",".join(" ".join(term) for term in terms)
    words += "->" + " ".join(kept(names, axes, keepdims))
    text = Rule(words, partial=rows, reduce=None if kind is None else kind.op)
    kernel = kernel or function.reduce
    wide = result == np.float32 and function is np.add
    if is_half(x.dtype) and (wide or function in (np.maximum, np.minimum)):
        kernel = in_float32(kernel, result)  # exact, and NumPy converts one by one
    if is_wide:
        options.pop("dtype", None)
        kernel = in_float32(kernel, result)
        if x.dtype != result:
            kernel = _rounded_first(kernel, result)
    return text, call(kernel, x, **options), result


def _rounded_first(
    kernel: Callable[..., Any], dtype: np.dtype[Any]
) -> Callable[..., Any]:
    """Return a kernel that takes arrays of another dtype than that it reduces in."""

    def run(x: npt.NDArray[Any], **options: Any) -> Any:
        return kernel(x.astype(dtype), **options)

    return run


def loop_dtype(
    function: np.ufunc,
    x: np.dtype[Any],
    dtype: DTypeLike,
    out: np.dtype[Any] | None,
) -> np.dtype[Any] | None:
    """Return the dtype to reduce in: `dtype`, or that of NumPy's loop into `out`."""
    if dtype is not None or out is None:
        return None if dtype is None else dtype_of(dtype)
    found = function.resolve_dtypes((out, x, None), casting="unsafe", reduction=True)
    return found[0]


def _arrays(*arguments: Any) -> list[Operand]:
    return [x for x in arguments if isinstance(x, Operand)]


def probe(x: Operand) -> npt.NDArray[Any]:
    """Return an array of ones, of length 1 at most in each dim: enough for NumPy to
    tell the dtype, or what is wrong with an array that is empty as a whole."""
    return np.ones(x.ones, x.dtype)


def _probes(options: dict[str, Any]) -> dict[str, Any]:
    return {
        name: probe(x) if isinstance(x, Operand) else x for name, x in options.items()
    }


def _initial(
    kind: Kind, axes: Sequence[int], initial: Any, where: Any, dtype: np.dtype[Any]
) -> dict[str, Any]:
    """Return the initial value of each part: for a sum only one part gets `initial`."""
    if not _ROWS[kind.op].idempotent and initial is not MISSING:
        neutral = dtype.type(_ROWS[kind.op].identity == "one")

        def first(operands: Layouts, results: Layouts) -> Any:
            return initial if leads(results) else neutral

        return {"initial": Part(first)}
    if kind.least is not None and initial is MISSING and where is True:
        least = kind.least(dtype)

        def of_empty(operands: Layouts, results: Layouts) -> Any:
            shape = operands[0].local_shape() if operands else ()
            return least if 0 in (shape[a] for a in axes if shape) else MISSING

        return {"initial": Part(of_empty)}
    return {}


def leads(results: Layouts) -> bool:
    """Return whether this rank holds the first of the addends."""
    adding = [
        mesh_dim
        for mesh_dim, p in enumerate(results[0].placements if results else ())
        if p._pending_op is not None and not _ROWS[p._pending_op].idempotent
    ]
    if not adding:
        return True
    at = results[0].mesh.get_coordinate()
    return at is not None and all(at[mesh_dim] == 0 for mesh_dim in adding)
