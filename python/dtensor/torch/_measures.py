"""Rows of `_direct`: norms and spreads; windows; where elements are, and equality."""

import math
from typing import Any

import numpy as np

from dtensor import _C, ops as _ops
from dtensor.ops._make.direct import Maybe
from dtensor.ops._make.kernel import DIRECT
from dtensor.ops._make.operator import Operand, call, letters, operator
from dtensor.ops._make.reduction import kept, reduced_axes
from dtensor.ops._make.words import Answer, Shape, rule
from dtensor.ops.index.take import added_along
from dtensor.ops.reduce.gradient import restored, spread
from dtensor.ops.reduce.rows import of_std, of_var, spread_row
from dtensor.torch._direct import METHOD_ROWS, row
from dtensor.torch._places import direct
from dtensor.torch._reduce import Dims, dims_of
from dtensor.torch._returned import TYPES, Picked
from dtensor.torch._totals import running_extreme, total_call

__all__ = ["direct"]

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports


def _is_plain(x: Any) -> bool:
    """Return whether an operand is a tensor of this rank."""
    return isinstance(x, Operand) and x.layout is None and x.dtype is not None


# --- norms ----------------------------------------------------------------------------


def _order(p: Any) -> int | None:
    """Return 1 or 2 for an order that there is a kernel for."""
    known = p is None or type(p) in (int, float, str)
    return {None: 2, "fro": 2, 2: 2, 1: 1}.get(p) if known else None


def _vector_norm(input: Any, p: Any, dim: Any, keepdim: Any) -> Maybe:
    order = _order(p)
    if order is None or not _is_plain(input) or not input.ndim:
        return None
    axes = reduced_axes(dims_of(dim, input.ndim), input.ndim)
    kernel = total_call(input, order, axes, keepdim)
    if kernel is None:
        return None
    names = letters(input.ndim, whole=axes)
    return rule([names], [kept(names, axes, bool(keepdim))]), kernel, input.dtype


def _of_norm(grad: Any, out: Any, input: Any, p: Any, dim: Any, keepdim: Any) -> Any:
    axes = reduced_axes(dims_of(dim, input.ndim), input.ndim)
    if _order(p) == 1:
        return restored(grad, axes, keepdim) * ops.sign(input)
    share = ops.where(ops.equal(out, 0), 0, grad / ops.where(ops.equal(out, 0), 1, out))
    return restored(share, axes, keepdim) * input


@row(
    "norm",
    None,
    lambda g, out, input, p="fro", dim=None, keepdim=False: _of_norm(
        g, out, input, p, dim, keepdim
    ),
)
def _norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: Any = False) -> Maybe:
    return _vector_norm(input, p, dim, keepdim)


@row(
    "vector_norm",
    None,
    lambda g, out, x, ord=2, dim=None, keepdim=False: _of_norm(
        g, out, x, ord, dim, keepdim
    ),
)
def _norm_of_vectors(
    x: Any, ord: Any = 2, dim: Any = None, keepdim: Any = False
) -> Maybe:
    return _vector_norm(x, ord, dim, keepdim)


# --- running extremes -----------------------------------------------------------------


def _most(x: Any, least: bool, dim: int) -> Picked:
    name = "cummin" if least else "cummax"
    found: Picked = TYPES[name](_C.kernel("running_extreme")(x, least, dim))
    return found


def _running_extreme(name: str, least: bool) -> None:
    def back(grad: Any, out: Any, _input: Any, dim: int) -> Any:
        places = out[1].detach()
        return added_along(grad[0], places, dim % _input.ndim, tuple(_input.shape))

    @row(name, None, back)
    def ask(input: Any, dim: Any) -> Maybe:
        return running_extreme(input, least, dim, _most, np.dtype(np.int64))


_running_extreme("cummax", False)
_running_extreme("cummin", True)

# --- a spread and the mean ------------------------------------------------------------


def _pair(name: str, root: bool, of_base: Any) -> None:
    def back(
        grad: Any,
        out: Any,
        input: Any,
        dim: Dims = None,
        unbiased: bool = True,
        keepdim: bool = False,
    ) -> Any:
        axes = reduced_axes(dims_of(dim, input.ndim), input.ndim)
        count = math.prod(input.shape[d] for d in axes)
        options = axes, None, None, float(unbiased), keepdim
        return of_base(grad[0], out[0], input, *options) + spread(
            grad[1] / count, input, axes, keepdim
        )

    @row(name, None, back)
    def ask(
        input: Any, dim: Dims = None, unbiased: bool = True, keepdim: bool = False
    ) -> Maybe:
        floats = isinstance(input, Operand) and input.dtype.kind == "f"
        if not floats or isinstance(dim, bool) or not input.ndim:
            return None
        found = spread_row(
            root, input, dims_of(dim, input.ndim), float(unbiased), keepdim
        )
        if found is None or not _is_plain(input):
            return None
        axes = reduced_axes(dims_of(dim, input.ndim), input.ndim)
        names = letters(input.ndim, whole=axes)
        after = kept(names, axes, keepdim)
        count = math.prod(input.shape[d] for d in axes)
        options = count, count - float(unbiased), bool(keepdim), root, True
        kernel = call(_C.spread_of, input, axes, None, *options)
        return rule([names], [after, after]), kernel, (input.dtype, input.dtype)


_pair("var_mean", False, of_var)
_pair("std_mean", True, of_std)

# --- windows --------------------------------------------------------------------------


@operator(name="unfold")
def _folded(x: Operand, dim: int, step: int, shape: Shape) -> Answer:
    """Return zeros of a shape, to which windows are added where they were."""
    words = [[str(n) for n in each] for each in (x.shape, shape)]
    return rule(words[:1], words[1:]), call(_add_windows, x, dim, step, shape), x.dtype


def _add_windows(x: Any, dim: int, step: int, shape: Shape) -> Any:
    sums = np.zeros(shape, x.dtype)
    before = (slice(None),) * dim
    for k in range(x.shape[-1]):
        end = k + (x.shape[dim] - 1) * step + 1
        sums[(*before, slice(k, end, step))] += x[..., k]
    return sums


@operator(name="unfold", view=True)
def _windows(x: Operand, dim: int, size: int, step: int) -> Answer:
    """Return windows of a tensor of this rank."""
    count = (x.shape[dim] - size) // step + 1
    after = (*x.shape[:dim], count, *x.shape[dim + 1 :], size)
    words = [[str(n) for n in each] for each in (x.shape, after)]
    kernel = call(_C.windows_of, x, dim, size, step)
    return rule(words[:1], words[1:]), kernel, x.dtype


_folded.vjp(
    lambda grad, _out, _x, dim, step, _shape: _windows(grad, dim, _x.shape[-1], step)
)
_windows.vjp(
    lambda grad, _out, _x, dim, _size, step: _folded(grad, dim, step, _x.shape)
)


@row(
    "unfold",
    _windows,
    lambda grad, _out, _input, dimension, _size, step: _folded(
        grad, dimension % _input.ndim, step, _input.shape
    ),
    rows=METHOD_ROWS,
)
def _unfold(input: Any, dimension: Any, size: Any, step: Any) -> Maybe:
    numbers = (dimension, size, step)
    if not all(type(n) is int for n in numbers) or not _is_plain(input):
        return None
    if not -input.ndim <= dimension < input.ndim or step < 1:
        return None
    dim = dimension % input.ndim
    if not 0 <= size <= input.shape[dim]:
        return None
    found: Answer = _windows.__wrapped__(input, dim, size, step)
    return found


# --- turned and shifted ---------------------------------------------------------------


def _flipped(input: Any, dims: tuple[Any, ...]) -> Maybe:
    """Return the row of a copy with the order along some dims reversed."""
    known = _is_plain(input) and all(
        type(d) is int and -input.ndim <= d < input.ndim for d in dims
    )
    axes = tuple(d % input.ndim for d in dims) if known else ()
    if not known or len({*axes}) < len(dims) or input.dtype.kind == "V":
        return None
    names = letters(input.ndim, whole=axes)
    return rule([names], [names], "any"), call(_C.flipped, input, axes), input.dtype


def _dims(dims: Any) -> tuple[Any, ...]:
    return tuple(dims) if isinstance(dims, list | tuple) else (dims,)


@row("flip", None, lambda grad, _out, _input, dims: ops.flip(grad, _dims(dims)))
def _flip(input: Any, dims: Any) -> Maybe:
    return _flipped(input, _dims(dims))


@row(
    "flip",
    None,
    lambda grad, _out, _input, *dims: ops.flip(
        grad, _dims(dims[0] if len(dims) == 1 else dims)
    ),
    rows=METHOD_ROWS,
)
def _flip_method(input: Any, *dims: Any) -> Maybe:
    return _flipped(input, _dims(dims[0] if len(dims) == 1 else dims))


@row(
    "roll",
    None,
    lambda g, _out, _input, shifts, dims=None: ops.roll(g, -shifts, dims),
)
def _roll(input: Any, shifts: Any, dims: Any = None) -> Maybe:
    numbers = type(shifts) is int and type(dims) is int
    if not _is_plain(input) or not numbers or 0 in input.shape:
        return None
    if not -input.ndim <= dims < input.ndim or input.dtype.kind == "V":
        return None
    dim = dims % input.ndim
    names = letters(input.ndim, whole=[dim])
    kernel = call(_C.rolled, input, shifts % input.shape[dim], dim)
    return rule([names], [names], "any"), kernel, input.dtype


# --- products that are added ----------------------------------------------------------


def _alike(*xs: Any) -> bool:
    """Return whether these are tensors of this rank of one shape, float32 or 64."""
    plain = all(_is_plain(x) for x in xs)
    return (
        plain and len({(x.shape, x.dtype) for x in xs}) == 1 and xs[0].dtype in DIRECT
    )


def _three(name: str, kernel: Any, *gradients: Any) -> None:
    @row(name, None, *gradients)
    def ask(input: Any, tensor1: Any, tensor2: Any) -> Maybe:
        if not _alike(input, tensor1, tensor2):
            return None
        names = letters(input.ndim)
        return rule([names] * 3, [names]), call(kernel, input, tensor1, tensor2)


def _sum_of_product(x: Any, a: Any, b: Any) -> Any:
    product = np.asarray(a * b)
    product += x
    return product


def _sum_of_quotient(x: Any, a: Any, b: Any) -> Any:
    quotient = np.asarray(a / b)
    quotient += x
    return quotient


_three(
    "addcmul",
    _sum_of_product,
    lambda g, _out, _input, _tensor1, _tensor2: g,
    lambda g, _out, _input, _tensor1, tensor2: g * tensor2,
    lambda g, _out, _input, tensor1, _tensor2: g * tensor1,
)
_three(
    "addcdiv",
    _sum_of_quotient,
    lambda g, _out, _input, _tensor1, _tensor2: g,
    lambda g, _out, _input, _tensor1, tensor2: g / tensor2,
    lambda g, _out, _input, tensor1, tensor2: -g * tensor1 / (tensor2 * tensor2),
)


def _added_product(name: str, dims: tuple[int, int], *gradients: Any) -> None:
    """A row of ``input + a @ b``, of matrices and vectors of so many dims."""

    @row(name, None, lambda g, _out, _input, _a, _b: g, *gradients)
    def ask(input: Any, mat1: Any, mat2: Any) -> Maybe:
        given = (input, mat1, mat2)
        if not all(_is_plain(x) and x.dtype == mat1.dtype for x in given):
            return None
        if mat1.dtype not in DIRECT or (mat1.ndim, mat2.ndim) != dims:
            return None
        shape = (mat1.shape[0], *mat2.shape[1:])
        if mat1.shape[1] != mat2.shape[0] or input.shape not in (shape, shape[-1:]):
            return None
        words = [[str(n) for n in x.shape] for x in given]
        kernel = call(_sum_with_product, *given)
        return rule(words, [[str(n) for n in shape]]), kernel, mat1.dtype


def _sum_with_product(x: Any, a: Any, b: Any) -> Any:
    product = np.asarray(np.matmul(a, b))
    product += x
    return product


_added_product(
    "addmm",
    (2, 2),
    lambda g, _out, _input, _mat1, mat2: ops.matmul(g, mat2.mT),
    lambda g, _out, _input, mat1, _mat2: ops.matmul(mat1.mT, g),
)
_added_product(
    "addmv",
    (2, 1),
    lambda g, _out, _input, _mat, vec: ops.outer(g, vec),
    lambda g, _out, _input, mat, _vec: ops.matmul(mat.mT, g),
)


# --- where elements are, and equality -------------------------------------------------


@row("nonzero argwhere")
def _nonzero(input: Any) -> Any:
    return _C.places_of if _is_plain(input) else None


@row("equal")
def _equal(input: Any, other: Any) -> Any:
    plain = _is_plain(input) and _is_plain(other) and input.dtype == other.dtype
    known = plain and (input.dtype.kind in "biu" or input.dtype in DIRECT)
    return _C.same_elements if known else None
