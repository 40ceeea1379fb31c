"""Splitting an array into several: the parts of a cut dim stay where they are."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from operator import index
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._C import Layout
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.composite import composite
from dtensor.ops._make.direct import Maybe, in_front
from dtensor.ops._make.numbers import numbers_of
from dtensor.ops._make.operator import (
    Operand,
    Part,
    call,
    implements,
    letters,
    method,
    operator,
)
from dtensor.ops._make.parts import spans
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.index.read import getitem
from dtensor.ops.shape.view import squeeze

__all__ = [
    "array_split",
    "chunk",
    "dsplit",
    "hsplit",
    "split",
    "tensor_split",
    "unbind",
    "unstack",
    "vsplit",
]

_MOST = 1 << 24  # parts, each of them an object


@operator(name="split", view=True)
def _split(ary: Operand, at: Sequence[int], axis: int) -> Answer:
    """Split before the rising indices `at`: windows of a dim, one behind the other,
    each with its parts where they are."""
    dim = normalize_axis_index(axis, ary.ndim)
    names = letters(ary.ndim)
    results = []
    for first, end in pairwise([0, *at, ary.shape[dim]]):
        word = f"{names[dim]}[{first}:{end - first}:1]"
        results.append([*names[:dim], word, *names[dim + 1 :]])

    def own(operands: tuple[Layout, ...], _: tuple[Layout, ...]) -> list[int]:
        ranges = spans(operands[0], dim)
        start, stop = (ranges[0][0], sum(ranges[-1])) if ranges else (0, 0)
        return [min(max(edge, start), stop) - start for edge in at]

    kernel = call(np.array_split, ary, Part(own), dim)
    return rule([names], results, "any"), kernel, [ary.dtype] * len(results)


_split.vjp(lambda grad, _out, _ary, _at, axis: np.concatenate(grad, axis))


def _sections(length: int, sections: int) -> list[int]:
    """Return the indices at which so many parts begin, the longer ones first."""
    if sections <= 0:
        raise ValueError("number sections must be larger than 0.")
    if sections > _MOST:
        raise MemoryError(f"{sections} parts are more than memory holds")
    each, more = divmod(length, sections)
    return [k * each + min(k, more) for k in range(1, sections)]


@implements(np.array_split)
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Split an array into parts.

    Parameters
    ----------
    ary : array
    indices_or_sections : int or sequence of int
        How many parts, as equal as possible, or the indices at which parts begin.
    axis : int, default 0
        The dim. If it is cut, nothing moves, so the shards of the results are uneven.

    Returns
    -------
    list of arrays
        Views of `ary`.

    Raises
    ------
    ValueError
        For no parts.
    """
    dim = normalize_axis_index(axis, ary.ndim)
    given = numbers_of("array_split", indices_or_sections)
    length = ary.shape[dim]
    if np.ndim(given) == 0:
        at = _sections(length, int(given))
    else:  # as the ends of slices
        at = [slice(index(n)).indices(length)[1] for n in given]
        edges = [0, *at, length]
        if any(a > b for a, b in pairwise(edges)):
            lead = (slice(None),) * dim
            return [getitem(ary, (*lead, slice(a, b))) for a, b in pairwise(edges)]
    return list(_split(ary, at, dim)) if at else [ary]


@implements(np.split)
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """Split an array into equal parts; like `array_split`, but an error if unequal."""
    dim = normalize_axis_index(axis, ary.ndim)
    indices_or_sections = numbers_of("split", indices_or_sections)
    equal = np.ndim(indices_or_sections) == 0
    if equal and ary.shape[dim] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, dim)


@implements(np.hsplit)
def hsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Split along dim 1, an array of one dim along that."""
    if ary.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


@implements(np.vsplit)
def vsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Split along dim 0."""
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


@implements(np.dsplit)
def dsplit(ary: Any, indices_or_sections: Any) -> list[Any]:
    """Split along dim 2."""
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


@operator(name="unstack", view=True)
def _unstack(x: Operand, dim: int) -> Answer:
    names = letters(x.ndim, whole=[dim])
    after = names[:dim] + names[dim + 1 :]
    count = x.shape[dim]
    kernel = call(np.unstack, x, axis=dim)
    return rule([names], [after] * count, "any"), kernel, [x.dtype] * count


_unstack.vjp(lambda grad, _out, _x, dim: np.stack(grad, dim))


@implements(np.unstack)
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """Split an array into arrays with one dim less: its slices along `axis`."""
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    dim = normalize_axis_index(axis, x.ndim)
    if x.shape[dim] < 2:
        return tuple(squeeze(x, dim) for _ in range(x.shape[dim]))
    parts = tuple(_unstack(x, dim))
    if isinstance(x, _C.DTensor) and x.layout.is_cut(dim) and x.ndim > 1:
        for k, part in enumerate(parts):  # what is written to them goes to `x`
            _C.set_origin(part, x, (slice(None),) * dim + (k,))
    return parts


# --- by torch's names -----------------------------------------------------------------


def _unbind_row(x: Any, axis: int = 0) -> Maybe:
    if not isinstance(x, Operand) or not x.ndim:
        return None
    dim = normalize_axis_index(axis, x.ndim)
    cut = x.layout is not None and x.layout.is_cut(dim)
    if x.shape[dim] < 2 or x.ndim == 1 or cut:
        return None
    found: Answer = _unstack.__wrapped__(x, dim)
    return found


@method
@in_front(_unbind_row, _unstack, lambda g, _out, _x, axis=0: np.stack(g, axis))
@composite
def unbind(x: Any, axis: int = 0) -> tuple[Any, ...]:
    """Split an array into arrays with one dim less."""
    if x.ndim == 1 and _C.is_torch(x):  # of which elements are views, too
        dim = normalize_axis_index(axis, 1)
        return tuple(getitem(x, (k, ...)) for k in range(x.shape[dim]))
    return unstack(x, axis=axis)


@method
@composite
def tensor_split(x: Any, indices_or_sections: Any, axis: int = 0) -> tuple[Any, ...]:
    """Split an array as `array_split` does."""
    return tuple(array_split(x, indices_or_sections, axis))


def _parts_row(x: Operand, sizes: int | list[int], axis: int) -> Maybe:
    """Return the row of a split into parts of sizes that fit."""
    dim = normalize_axis_index(axis, x.ndim)
    length = x.shape[dim]
    if isinstance(sizes, int):
        at = list(range(sizes, length, sizes)) if sizes > 0 else []
    else:
        at = [*accumulate(sizes)]
        if min(sizes, default=-1) < 0 or at.pop() != length:
            return None
    if not at:
        return None
    text, windows, dtypes = _split.__wrapped__(x, at, dim)
    return text, call(_C.parts_of, x, windows.args[1], dim), dtypes


def _of_parts(grad: Any, _out: Any, _x: Any, _sizes: Any, axis: int = 0) -> Any:
    return np.concatenate(grad, axis)


def _chunk_row(x: Any, chunks: int, axis: int = 0) -> Maybe:
    if not isinstance(x, Operand) or not isinstance(chunks, int) or chunks <= 0:
        return None
    dim = normalize_axis_index(axis, x.ndim)
    return _parts_row(x, _of_chunks(x.shape[dim], chunks), dim)


def _of_chunks(length: int, chunks: int) -> int | list[int]:
    """Return the length of all chunks but the last; of each, if they are empty."""
    return -(-length // chunks) if length else [0] * chunks


@method
@in_front(_chunk_row, _split, _of_parts)
@composite
def chunk(x: Any, chunks: int, axis: int = 0) -> tuple[Any, ...]:
    """Split an array into parts as long as shards are: ceil(length / chunks).

    Returns
    -------
    tuple of arrays
        Perhaps fewer than `chunks`, if they are not empty; the last may be shorter.
    """
    if chunks <= 0:
        raise RuntimeError(
            f"chunk expects `chunks` to be greater than 0, got: {chunks}"
        )
    dim = normalize_axis_index(axis, x.ndim)
    return tuple(_split_sizes(x, _of_chunks(x.shape[dim], int(chunks)), dim))


def _split_row(x: Any, split_size: Any, axis: int = 0) -> Maybe:
    sizes = list(split_size) if isinstance(split_size, list | tuple) else split_size
    each = sizes if isinstance(sizes, list) else [sizes]
    if not isinstance(x, Operand) or not all(type(n) is int for n in each):
        return None
    return _parts_row(x, sizes, axis)


@method(name="split")
@in_front(_split_row, _split, _of_parts, name="split")
@composite
def _split_sizes(
    x: Any, split_size: int | Sequence[int], axis: int = 0
) -> tuple[Any, ...]:
    """Split an array into parts of one size, or of given sizes, as torch does."""
    dim = normalize_axis_index(axis, x.ndim)
    length = x.shape[dim]
    if isinstance(split_size, int | np.integer):
        at = list(range(int(split_size), length, int(split_size)))
    else:
        at = np.cumsum(split_size).tolist()
        if at[-1:] != [length]:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {length} "
                f"(input tensor's size at dimension {dim}), but got split_sizes="
                f"{list(split_size)}"
            )
        del at[-1]
    return tuple(array_split(x, at, dim))
