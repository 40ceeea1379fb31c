"""Shapes, joins and elements, where PyTorch and NumPy mean different arguments."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor import ops as _ops
from dtensor._C import Tensor
from dtensor.torch._create import tensor

NUMBERS = int | float | complex  # of Python
ops: Any = _ops  # some of its names are lost on type checkers, in a cycle of imports

__all__ = [
    "broadcast_tensors",
    "cat",
    "concat",
    "concatenate",
    "diag",
    "diagonal",
    "flatten",
    "flip",
    "frac",
    "masked_select",
    "meshgrid",
    "nan_to_num",
    "narrow",
    "nonzero",
    "repeat_interleave",
    "roll",
    "rot90",
    "searchsorted",
    "select",
    "squeeze",
    "stack",
    "take",
    "take_along_dim",
    "tril",
    "triu",
    "view_as_complex",
    "view_as_real",
    "where",
]


def cat(tensors: Sequence[Any], dim: int = 0) -> Any:
    """Join tensors along a dim."""
    return ops.cat(tensors, dim)


concat = concatenate = cat


def stack(tensors: Sequence[Any], dim: int = 0) -> Any:
    """Join tensors along a new dim."""
    return ops.stack(tensors, dim)


def broadcast_tensors(*tensors: Any) -> tuple[Any, ...]:
    """Return the tensors in the shape that they broadcast to."""
    return tuple(ops.broadcast_arrays(*tensors))


def meshgrid(*tensors: Any, indexing: Any = "ij") -> tuple[Any, ...]:
    """Return the coordinates of a grid, of those along its axes.

    NumPy's default of `indexing` is ``"xy"``.
    """
    if len(tensors) == 1 and isinstance(tensors[0], list | tuple):
        tensors = tuple(tensors[0])
    return tuple(ops.meshgrid(*tensors, indexing=indexing))


# --- shapes ---------------------------------------------------------------------------


def flatten(input: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Join the dims from `start_dim` to `end_dim` into one."""
    return ops.flatten(input, start_dim, end_dim)


def squeeze(input: Any, dim: int | Sequence[int] | None = None) -> Any:
    """Drop dims of length 1; with `dim` only these, and only where they have it."""
    if dim is None:
        return ops.squeeze(input)
    dims = (dim,) if isinstance(dim, int) else dim
    return ops.squeeze(input, tuple(d for d in dims if input.shape[d] == 1))


def flip(input: Any, dims: int | Sequence[int]) -> Any:
    """Reverse the order along dims."""
    return ops.flip(input, dims if isinstance(dims, int) else tuple(dims))


def roll(
    input: Any, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None
) -> Any:
    """Shift elements along dims; what falls out at the end comes in at the start."""
    return ops.roll(input, shifts, dims)


def rot90(input: Any, k: int = 1, dims: Sequence[int] = (0, 1)) -> Any:
    """Turn the plane of two dims by `k` right angles."""
    return ops.rot90(input, k, tuple(dims))


def repeat_interleave(input: Any, repeats: Any, dim: int | None = None) -> Any:
    """Repeat each element, or slices along a dim; None: as if there were one dim."""
    counts = np.asarray(repeats) if isinstance(repeats, Tensor) else repeats
    return ops.repeat(input, counts, dim)


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
    """Return the slice at one place of a dim, which is dropped."""
    return _along(input, dim, index)


def _along(input: Any, dim: int, index: int | slice) -> Any:
    return ops.getitem(input, (slice(None),) * (dim % input.ndim) + (index,))


def masked_select(input: Any, mask: Any) -> Any:
    """Return the elements where a mask is true, in one dim."""
    return ops.getitem(*broadcast_tensors(input, mask))


def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """Return the indices of the elements that are not 0: a row for each of them.

    With `as_tuple` a tensor for each dim, as NumPy does.
    """
    return ops.nonzero(input) if as_tuple else ops.argwhere(input)


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """Return elements of `input` where the condition holds, else of `other`.

    Two of Python's numbers have the dtype that `tensor` gives them. The condition
    alone: `nonzero` as a tuple.
    """
    if isinstance(input, NUMBERS) and isinstance(other, NUMBERS):
        input, other = np.asarray(tensor([input, other]))
    return ops.where(condition, input, other)


def take(input: Any, index: Any) -> Any:
    """Return elements by number, as if the input had one dim."""
    return ops.take(input, index)


def take_along_dim(input: Any, indices: Any, dim: int | None = None) -> Any:
    """Return elements by their number along a dim; None: as if there were one dim."""
    if dim is None:
        return ops.take(input, ops.ravel(indices))
    return ops.take_along_axis(input, indices, dim)


def diag(input: Any, diagonal: int = 0) -> Any:
    """Return the diagonal of a matrix, or a matrix with a diagonal."""
    return ops.diag(input, diagonal)


def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """Return the diagonals of the planes of two dims, as the last dim."""
    return ops.diagonal(input, offset, dim1, dim2)


def tril(input: Any, diagonal: int = 0) -> Any:
    """Return matrices with zeros above a diagonal."""
    return ops.tril(input, diagonal)


def triu(input: Any, diagonal: int = 0) -> Any:
    """Return matrices with zeros below a diagonal."""
    return ops.triu(input, diagonal)


def searchsorted(
    sorted_sequence: Any, input: Any, *, right: bool = False, side: str | None = None
) -> Any:
    """Return where elements are to be inserted to keep a sequence in order."""
    default = "right" if right else "left"
    return ops.searchsorted(sorted_sequence, input, default if side is None else side)


# --- numbers --------------------------------------------------------------------------


def frac(input: Any) -> Any:
    """Return what is behind the point."""
    return input - ops.trunc(input)


def nan_to_num(
    input: Any,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Any:
    """Return the elements with numbers for those that are none."""
    return ops.nan_to_num(input, nan=nan, posinf=posinf, neginf=neginf)


def view_as_real(input: Any) -> Any:
    """Return real and imaginary parts along a last dim of length 2: a copy."""
    return ops.stack([ops.real(input), ops.imag(input)], -1)


def view_as_complex(input: Any) -> Any:
    """Return complex numbers of the parts that `view_as_real` gives: a copy."""
    return ops.getitem(input, (..., 0)) + 1j * ops.getitem(input, (..., 1))
