"""Functions of shapes and elements whose arguments differ between PyTorch and NumPy."""

import functools
from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np

from dtensor import ops as _ops
from dtensor._C import Tensor
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops.linalg.triangle import written_diagonal
from dtensor.torch._cast import cast_alike
from dtensor.torch._reduce import summed
from dtensor.torch._rows import in_rows
from dtensor.torch._types import keeps

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_tensors",
    "cat",
    "complex",
    "concat",
    "concatenate",
    "diag",
    "diagonal",
    "dsplit",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "frac",
    "gather",
    "hsplit",
    "masked_select",
    "meshgrid",
    "nan_to_num",
    "narrow",
    "nonzero",
    "polar",
    "repeat_interleave",
    "roll",
    "rot90",
    "searchsorted",
    "select",
    "squeeze",
    "stack",
    "take",
    "take_along_dim",
    "tensor_split",
    "trace",
    "tril",
    "triu",
    "view_as_complex",
    "view_as_real",
    "vsplit",
]


def cat(tensors: Sequence[Any], dim: int = 0) -> Any:
    """Join tensors along a dim, in the dtype that they promote to.

    Tensors of shape (0,) may be among tensors of more dims, and add nothing.

    Raises
    ------
    RuntimeError
        If one of them has no dims.
    """
    for k, x in enumerate(tensors):
        if not hasattr(x, "ndim"):
            raise TypeError(
                f"expected Tensor as element {k} in argument 0, but got {x!r}"
            )
        if not x.ndim:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {k}) cannot be concatenated"
            )
    tensors = _alike(tensors)
    if len({x.ndim for x in tensors}) > 1:  # the only ones that need not fit
        tensors = [x for x in tensors if tuple(x.shape) != (0,)]
    return ops.cat(tensors, dim)


def _alike(tensors: Sequence[Any]) -> Sequence[Any]:
    """Return tensors of one dtype."""
    if len({np.dtype(x.dtype) for x in tensors}) < 2:
        return tensors
    return cast_alike(*tensors)


concat = concatenate = cat


def stack(tensors: Sequence[Any], dim: int = 0) -> Any:
    """Join tensors along a new dim, in the dtype that they promote to."""
    return ops.stack(_alike(tensors), dim)


def broadcast_tensors(*tensors: Any) -> tuple[Any, ...]:
    """Return the tensors in the shape that they broadcast to."""
    return tuple(ops.broadcast_arrays(*tensors))


def meshgrid(*tensors: Any, indexing: Any = "ij") -> tuple[Any, ...]:
    """Return the coordinates of a grid from the coordinates along its axes.

    NumPy's default for `indexing` is ``"xy"``.
    """
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = tuple(tensors[0])
    return tuple(ops.meshgrid(*tensors, indexing=indexing))


# --- shapes ---------------------------------------------------------------------------


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Join the dims from `start_dim` to `end_dim` into one."""
    return ops.flatten(input, start_dim, end_dim)


def squeeze(input: Any, dim: int | Sequence[int] | None = None) -> Any:
    """Remove dims of length 1; with `dim`, only those of them that have length 1."""
    if dim is None:
        return ops.squeeze(input)
    dims = (dim,) if isinstance(dim, SupportsIndex) else dim
    if not input.ndim:
        return input
    return ops.squeeze(input, tuple(d for d in dims if input.shape[d] == 1))


def flip(input: Any, dims: int | Sequence[int]) -> Any:
    """Reverse the order along dims: a copy, of which NumPy's would be a view.

    Raises
    ------
    RuntimeError
        If a dim is given twice.
    """
    axes = (dims,) if isinstance(dims, SupportsIndex) else tuple(dims)
    dims = [d % max(input.ndim, 1) for d in axes]
    for k, d in enumerate(dims):
        if d in dims[:k]:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    return ops.copy(ops.flip(input, axes))


def fliplr(input: Any) -> Any:
    """Reverse the order along dim 1: a copy."""
    return ops.copy(ops.fliplr(input))


def flipud(input: Any) -> Any:
    """Reverse the order along dim 0: a copy."""
    return ops.copy(ops.flipud(input))


def roll(
    input: Any, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None
) -> Any:
    """Shift elements along dims; those past the end reappear at the start."""
    return ops.roll(input, shifts, dims)


def rot90(input: Any, k: int = 1, dims: Sequence[int] = (0, 1)) -> Any:
    """Rotate the plane of two dims by `k` times 90 degrees: a copy."""
    return ops.copy(ops.rot90(input, k, tuple(dims)))


def repeat_interleave(
    input: Any,
    repeats: Any = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Any:
    """Repeat each element, or slices along a dim; None: of the flattened input.

    Of one argument, which has the repeats, each place in it is repeated. `output_size`,
    which PyTorch would otherwise count, is ignored.
    """
    if repeats is None:
        repeats = input
        input = ops.cumsum(ops.ones_like(repeats), dtype=np.dtype(repeats.dtype)) - 1
    counts = np.asarray(repeats) if isinstance(repeats, Tensor) else repeats
    return ops.repeat(input, counts, dim)


def _at_least(function: Any) -> Any:
    @functools.wraps(function)
    def answer(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
            tensors = tuple(tensors[0])
            return tuple(function(x) for x in tensors)
        return function(*tensors)

    return answer


atleast_1d = _at_least(ops.atleast_1d)
atleast_2d = _at_least(ops.atleast_2d)
atleast_3d = _at_least(ops.atleast_3d)


# --- parts ----------------------------------------------------------------------------


def narrow(input: Any, dim: int, start: int, length: int) -> Any:
    """Return a window of a dim."""
    start = start + input.shape[dim] if start < 0 else start
    if start + length > input.shape[dim] or length < 0 or start < 0:
        raise RuntimeError(
            f"start ({start}) + length ({length}) exceeds dimension size "
            f"({input.shape[dim]})."
        )
    return _along(input, dim, slice(start, start + length))


def select(input: Any, dim: int, index: int) -> Any:
    """Return the slice at one index of a dim, and remove the dim."""
    return _along(input, dim, index)


def _along(input: Any, dim: int, index: int | slice) -> Any:
    dim = normalize_axis_index(dim, input.ndim)
    return ops.getitem(input, (slice(None),) * dim + (index, ...))


def masked_select(input: Any, mask: Any) -> Any:
    """Return the elements where a mask is true, as one dim."""
    return ops.getitem(*broadcast_tensors(input, mask))


@keeps
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Return the indices of the elements that are not 0, one row for each.

    With `as_tuple`, one tensor for each dim, as in NumPy; of no dims as of one.
    """
    if not as_tuple:
        return ops.argwhere(input)
    return tuple(map(in_rows, ops.nonzero(ops.atleast_1d(input))))


def take(input: Any, index: Any) -> Any:
    """Return elements of the flattened input by index."""
    return ops.take(input, index)


def tensor_split(input: Any, indices_or_sections: Any, dim: int = 0) -> Any:
    """Return parts along a dim: so many, or cut at some places."""
    places = indices_or_sections
    if isinstance(places, Tensor):
        places = places.tolist()
    return ops.tensor_split(input, places, dim)


def _parts(function: Any) -> Any:
    @functools.wraps(function)
    def answer(input: Any, indices_or_sections: Any) -> Any:
        return tuple(function(input, indices_or_sections))

    return answer


hsplit, vsplit, dsplit = map(_parts, (ops.hsplit, ops.vsplit, ops.dsplit))


def gather(input: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    """Return elements by index along a dim; `sparse_grad` is ignored."""
    if 0 in index.shape:
        return ops.reshape(ops.getitem(ops.ravel(input), slice(0)), tuple(index.shape))
    if input.ndim and index.ndim:
        return ops.METHODS["gather"](input, dim, index)
    found = ops.METHODS["gather"](ops.ravel(input), dim, ops.ravel(index))
    return ops.reshape(found, tuple(index.shape))


def trace(input: Any) -> Any:
    """Return the sum of the diagonal of a matrix, of integers as int64.

    Raises
    ------
    RuntimeError
        If it is no matrix.
    """
    if input.ndim != 2:
        raise RuntimeError(
            f"trace: expected a matrix, but got tensor with dim {input.ndim}"
        )
    return ops.sum(ops.diagonal(input), dtype=summed(input))


def take_along_dim(input: Any, indices: Any, dim: int | None = None) -> Any:
    """Return elements by index along a dim; None: of the flattened input."""
    if dim is None:
        return ops.take(input, ops.ravel(indices))
    return ops.take_along_axis(input, indices, dim)


def diag(input: Any, diagonal: int = 0) -> Any:
    """Return the diagonal of a matrix, or a matrix with the given diagonal: a copy."""
    return ops.copy(ops.diag(input, diagonal))


def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """Return the diagonals of the planes of two dims, as the last dim: a view."""
    return written_diagonal(input, offset, dim1, dim2)


def tril(input: Any, diagonal: int = 0) -> Any:
    """Return matrices with zeros above a diagonal."""
    return ops.tril(input, diagonal)


def triu(input: Any, diagonal: int = 0) -> Any:
    """Return matrices with zeros below a diagonal."""
    return ops.triu(input, diagonal)


def searchsorted(
    sorted_sequence: Any,
    input: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Any = None,
) -> Any:
    """Return the indices at which to insert elements to keep a sequence sorted.

    A sequence of several dims is one for each row of the input; `sorter` says how to
    sort it.
    """
    side = side or ("right" if right else "left")
    if sorter is not None:
        sorted_sequence = ops.take_along_axis(sorted_sequence, sorter, -1)
    if sorted_sequence.ndim < 2:
        found = ops.searchsorted(sorted_sequence, input, side)
    else:
        below = ops.less if side == "left" else ops.less_equal
        rows = below(ops.unsqueeze(sorted_sequence, -2), ops.unsqueeze(input, -1))
        found = ops.sum(rows, axis=-1, dtype=np.int64)
    return ops.astype(found, np.int32) if out_int32 else found


# --- numbers --------------------------------------------------------------------------


def frac(input: Any) -> Any:
    """Return the fractional part."""
    return input - ops.trunc(input)


def nan_to_num(
    input: Any,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Any:
    """Return the elements with NaN and infinities replaced by numbers."""
    return ops.nan_to_num(input, nan=nan, posinf=posinf, neginf=neginf)


def complex(real: Any, imag: Any) -> Any:
    """Return complex numbers with these real and imaginary parts."""
    return real + 1j * imag


def polar(abs: Any, angle: Any) -> Any:
    """Return complex numbers with these absolute values and angles."""
    return complex(abs * ops.cos(angle), abs * ops.sin(angle))


def view_as_real(input: Any) -> Any:
    """Return real and imaginary parts along a last dim of length 2: a copy."""
    return ops.stack([ops.real(input), ops.imag(input)], -1)


def view_as_complex(input: Any) -> Any:
    """Return complex numbers from the parts that `view_as_real` returns: a copy."""
    return ops.getitem(input, (..., 0)) + 1j * ops.getitem(input, (..., 1))
