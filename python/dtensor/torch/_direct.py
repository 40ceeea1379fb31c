"""Common calls without Python: operators that have PyTorch's arguments.

A row gives rule and kernel, or None: see `dtensor.ops._make.direct`. `direct` puts
operators in the place of a room's functions.
"""

import math
from collections.abc import Callable, MutableMapping
from typing import Any

import numpy as np

from dtensor import _C, ops as _ops
from dtensor.ops._make.direct import Maybe, Row, is_cut
from dtensor.ops._make.elementwise import GRADIENTS, broadcast
from dtensor.ops._make.halves import is_half, weak_call
from dtensor.ops._make.operator import METHODS, Operand, Rule, call, letters
from dtensor.ops._make.reduction import MISSING, OPS, kept, reduced_axes
from dtensor.ops._make.words import Answer
from dtensor.ops.elementwise.piecewise import where_
from dtensor.ops.order.sort import put_along
from dtensor.ops.reduce.arg import _whole
from dtensor.ops.reduce.gradient import of_extreme, restored, spread
from dtensor.ops.shape.join import _concatenate
from dtensor.torch import _pointwise
from dtensor.torch._promotion import dtype_for
from dtensor.torch._reduce import Dims, dims_of, summed
from dtensor.torch._returned import TYPES
from dtensor.torch._totals import SUM, total_call

__all__ = ["direct"]

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
ROWS: dict[str, Row] = {}
METHOD_ROWS: dict[str, Row] = {}  # of those whose arguments are not the function's


def row(
    names: str,
    base: Any = None,
    *gradients: Callable[..., Any] | None,
    operands: int = 0,
    told: tuple[float, ...] = (),
    rows: dict[str, Row] = ROWS,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that makes a function the row of some names."""

    def keep(ask: Callable[..., Any]) -> Callable[..., Any]:
        ask.__name__ = ask.__qualname__ = names.split()[0]
        made = Row(ask, base, operands, gradients, told)
        rows.update(dict.fromkeys(names.split(), made))
        return ask

    return keep


def direct(room: MutableMapping[str, Any], methods: bool = False) -> None:
    """Put operators into the places of those functions of a room that have a row."""
    rows = ROWS | METHOD_ROWS if methods else ROWS
    for name in rows.keys() & room.keys():
        room[name] = rows[name].before(name, room[name])
        room[name].bare = True


# --- elementwise ----------------------------------------------------------------------


def _of_two(names: str, slot: str) -> None:
    base = _pointwise.SLOTS[slot]
    make = base.__wrapped__

    def ask(input: Operand, other: Any) -> Answer:
        found: Answer = make(input, other)
        return found

    row(names, base, operands=2)(ask)


_of_two("add", "add")
_of_two("sub subtract", "subtract")
_of_two("div divide true_divide", "true_divide")


def _of_floats(name: str, base: Any) -> None:
    make = base.__wrapped__

    def ask(input: Operand) -> Maybe:
        return None if input.dtype.kind in "bui" else make(input)

    row(name, base)(ask)


_of_floats("sigmoid", ops.sigmoid)
_of_floats("rsqrt", ops.rsqrt)
_of_floats("square", ops.square)


def _choice(condition: Any, x: Any, y: Any) -> bool:
    """Return whether NumPy's `where` gives what PyTorch's does."""
    if not all(isinstance(each, Operand) for each in (condition, x, y)):
        return False
    to, dtypes = dtype_for([x, y]), {x.dtype, y.dtype}
    weak = None not in dtypes or to.kind in "fc"
    fits = dtypes - {None} == {to} and condition.dtype in (np.bool_, np.uint8)
    return bool(weak and fits)


def _is_mask(x: Any) -> bool:
    """Return whether an operand is a tensor of this rank that has dims."""
    known = isinstance(x, Operand) and x.dtype is not None and x.layout is None
    return known and x.ndim > 0


@row("where", where_, operands=3)
def _where(condition: Operand, input: Any = None, other: Any = None) -> Any:
    if input is None and other is None and _is_mask(condition):
        return _C.places_apart
    if not _choice(condition, input, other):
        return None
    found: Answer = where_.__wrapped__(condition, input, other)
    return found


_OF_METHOD = ";".join(f"{op},R,{op}->{op}" for op in OPS)


@row(
    "where",
    where_,
    lambda g, _out, _x, condition, _y: where_(condition, g, 0),
    None,
    lambda g, _out, _x, condition, _y: where_(condition, 0, g),
    operands=3,
    rows=METHOD_ROWS,
)
def _where_of(input: Operand, condition: Any, other: Any) -> Maybe:
    if not _choice(condition, input, other):
        return None
    made = weak_call(np.where, condition, input, other)
    return broadcast([input, condition, other], _OF_METHOD), made


# --- reductions -----------------------------------------------------------------------


def _axes(x: Operand, dim: Dims) -> tuple[int, ...]:
    return reduced_axes(dims_of(dim, x.ndim), x.ndim)


def _of_sum(
    grad: Any, _out: Any, _input: Any, dim: Dims = None, keepdim: bool = False
) -> Any:
    return spread(grad, _input, _axes(_input, dim), keepdim)


@row("sum", ops.sum, _of_sum)
def _sum(input: Operand, dim: Dims = None, keepdim: bool = False) -> Answer:
    found: Answer = ops.sum.__wrapped__(
        input, dims_of(dim, input.ndim), summed(input), None, keepdim
    )
    made = total_call(input, SUM, _axes(input, dim), keepdim)
    return found if made is None else (found[0], made, input.dtype)


def _count(x: Any, dim: Dims) -> int:
    return math.prod(x.shape[axis] for axis in _axes(x, dim))


def _of_mean(
    grad: Any, _out: Any, _input: Any, dim: Dims = None, keepdim: bool = False
) -> Any:
    return _of_sum(grad / _count(_input, dim), None, _input, dim, keepdim)


@row("mean", ops.sum, _of_mean)
def _mean(input: Operand, dim: Dims = None, keepdim: bool = False) -> Maybe:
    """A sum of which each rank's part is divided by the number of all elements."""
    floats = input.dtype.kind in "fc" and not is_half(input.dtype)
    if not floats or not input.ndim or not _count(input, dim):
        return None
    axes = _axes(input, dim)
    text, _, dtype = ops.sum.__wrapped__(input, axes, None, None, keepdim)
    count = _count(input, dim)
    made = total_call(input, SUM, axes, keepdim, count)
    kernel = made or call(_C.mean_of, input, count, axis=axes, keepdims=keepdim)
    return text, kernel, dtype


def _of_amax(
    grad: Any, out: Any, input: Any, dim: Dims = (), keepdim: bool = False
) -> Any:
    axes = _axes(input, dim)
    return of_extreme(grad, out, input, axes, keepdim, MISSING, True)


def _amax(name: str, base: Any) -> None:
    @row(name, base, _of_amax)
    def ask(input: Operand, dim: Dims = (), keepdim: bool = False) -> Maybe:
        if input.dtype.kind == "c" or (dim not in ((), None) and 0 in input.shape):
            return None
        found: Answer = base.__wrapped__(input, dims_of(dim, input.ndim), None, keepdim)
        return found


_amax("amax", ops.max)
_amax("amin", ops.min)


def _tests(name: str, base: Any) -> None:
    @row(name, base)
    def ask(input: Operand, dim: Dims = None, keepdim: bool = False) -> Maybe:
        if input.dtype == np.uint8:
            return None
        found: Answer = base.__wrapped__(input, dims_of(dim, input.ndim), None, keepdim)
        return found


_tests("all", ops.all)
_tests("any", ops.any)

# --- extremes and where they are ------------------------------------------------------


def _arg(name: str, function: Callable[..., Any], base: Any) -> None:
    @row(name, base)
    def ask(input: Operand, dim: int | None = None, keepdim: bool = False) -> Maybe:
        axes = _axes(input, dim)
        if input.dtype.kind == "c" or 0 in input.shape or not input.ndim:
            return None
        if is_cut(input, axes):
            return None
        axis = axes[0] if isinstance(dim, int) else dim
        found: Answer = _whole.__wrapped__(input, function, axis, keepdim)
        return found


_arg("argmax", np.argmax, _whole)
_arg("argmin", np.argmin, _whole)


def _extreme(name: str, least: bool, base: Any, pair: Any) -> None:
    """The greatest element, those along a dim and their indices, or those of two."""
    first, second = GRADIENTS[pair.__wrapped__.ufunc]

    def of_first(
        grad: Any, out: Any, input: Any, dim: Any = None, keepdim: bool = False
    ) -> Any:
        if dim is None:
            return _of_amax(grad, out, input)
        if not isinstance(dim, int):
            return first(grad, out, input, dim)
        axis = dim % input.ndim
        values, places = (restored(x, (axis,), keepdim) for x in (grad[0], out[1]))
        return put_along(values, places.detach(), axis, input.shape[axis])

    @row(name, base, of_first, second, operands=1)
    def ask(input: Operand, dim: Any = None, keepdim: bool = False) -> Maybe:
        if not input.ndim or input.dtype.kind == "c":
            return None
        if isinstance(dim, Operand):
            both: Answer = pair.__wrapped__(input, dim)
            return both
        if dim is None:
            one: Answer = base.__wrapped__(input)
            return one
        axes = _axes(input, dim)
        if not isinstance(dim, int) or is_cut(input, axes) or 0 in input.shape:
            return None
        names = letters(input.ndim, whole=axes)
        rest = " ".join(kept(names, axes, keepdim))
        text = Rule(f"{' '.join(names)}->{rest},{rest}")
        given = input, axes[0], bool(keepdim), least, TYPES[name]
        kernel = call(_C.extreme_of, *given)
        return text, kernel, (input.dtype, np.dtype(np.intp))


_extreme("max", False, ops.max, _pointwise.FUNCTIONS["maximum"])
_extreme("min", True, ops.min, _pointwise.FUNCTIONS["minimum"])

# --- softmax --------------------------------------------------------------------------


def _soft(name: str, base: Any) -> None:
    @row(name, base)
    def ask(input: Operand, dim: int | None = None) -> Maybe:
        if not input.ndim or dim is None or input.dtype.kind in "bui":
            return None
        found = base.__wrapped__(input, dim)
        return found if isinstance(found, tuple) else None


_soft("softmax", ops.softmax)
_soft("log_softmax", ops.log_softmax)

# --- shapes ---------------------------------------------------------------------------


@row("cat concat concatenate", _concatenate)
def _cat(tensors: Any, dim: int = 0) -> Maybe:
    arrays = isinstance(tensors, list | tuple) and len(tensors) > 0
    if not arrays or not all(isinstance(x, Operand) and x.ndim for x in tensors):
        return None
    if len({x.dtype for x in tensors}) > 1 or len({x.ndim for x in tensors}) > 1:
        return None
    found = _concatenate.__wrapped__(tensors, dim)
    if not isinstance(found, tuple) or type(dim) is not int:
        return None
    return found[0], call(_C.joined, tensors, dim, False), tensors[0].dtype


_view_method: Any = METHODS["view"]
_permute_method: Any = METHODS["permute"]


@row("view", _view_method, rows=METHOD_ROWS)
def _view(input: Operand, *shape: Any) -> Maybe:
    given = shape[0] if len(shape) == 1 else shape
    if not shape or not isinstance(given, int | list | tuple):
        return None
    found: Answer = _view_method.__wrapped__(input, *shape)
    return found


@row("permute", _permute_method, rows=METHOD_ROWS)
def _permute(input: Operand, *dims: Any) -> Maybe:
    if not dims:
        return None
    found: Answer = _permute_method.__wrapped__(input, *dims)
    return found


@row("flatten", ops.flatten)
def _flatten(input: Operand, start_dim: int = 0, end_dim: int = -1) -> Answer:
    found: Answer = ops.flatten.__wrapped__(input, start_dim, end_dim)
    return found
