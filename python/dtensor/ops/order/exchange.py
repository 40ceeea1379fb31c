"""Permuting lines that are cut: each rank sends elements to where they belong."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.composite import within
from dtensor.ops._make.parts import inside, local, make, move_all
from dtensor.ops._make.routes import exchanged

__all__ = ["Permutation", "as_lines", "as_part", "permuted", "sent_lines"]

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]


class Permutation(NamedTuple):
    """Where the elements of lines go."""

    name: str
    """Of the function, for messages."""
    dim: int | None
    """Along which dim of the tensor; None: all its elements are one line."""
    before: _C.Layout
    """Of the tensor, and of the result. Only `dim` is cut."""
    after: _C.Layout
    rows: _C.Layout | None
    """Of one row for each part; None on ranks without elements."""
    mine: int
    """The number of this rank's part."""
    sizes: Integers
    """How many elements each part sends to each in each line: (lines, parts, parts)."""
    first: Integers
    """In which order this rank sends its elements of each line: (lines, elements)."""
    second: Integers
    """In which order those that come are put into the result's part."""


def as_lines(part: Array, dim: int | None) -> Array:
    """Return a part of a tensor as an array of shape (lines, elements)."""
    if dim is None:
        return part.reshape(1, -1)
    rows = np.moveaxis(part, dim, -1)
    return rows.reshape(math.prod(rows.shape[:-1]), rows.shape[-1])


def as_part(lines: Array, layout: _C.Layout, dim: int | None) -> Array:
    """Return lines as this rank's part of a layout."""
    shape = list(layout.local_shape())
    if dim is None:
        return lines.reshape(shape)
    length = shape.pop(dim)
    moved = np.moveaxis(lines.reshape(*shape, length), -1, dim)
    return np.ascontiguousarray(moved)


def sent_lines(
    name: str,
    rows: _C.Layout,
    lines: Sequence[Array],
    sizes: Integers,
    mine: int,
) -> list[Array]:
    """Return lines of what this part gets from all, in the order of the parts.

    Collective; one exchange. `lines` have shape (lines, elements), each line in the
    order of the parts that it goes to. `sizes` is of shape (lines, parts, parts).
    """
    if len(sizes) == 1:
        found = exchanged(name, rows, [each[0] for each in lines], sizes[0], mine)
        return [each[None] for each in found]
    out = np.cumsum(sizes[:, mine], axis=1)
    pieces = [
        (line, int(out[line, to] - sizes[line, mine, to]), int(out[line, to]))
        for to in range(sizes.shape[1])
        for line in range(len(sizes))
    ]
    own = [np.concatenate([each[k, a:b] for k, a, b in pieces]) for each in lines]
    came = sizes[:, :, mine].T.ravel()  # by part, then by line
    ends = np.cumsum(came)
    runs = list(zip(ends - came, ends, strict=True))
    return [
        np.stack(
            [
                np.concatenate([each[a:b] for a, b in runs[line :: len(sizes)]])
                for line in range(len(sizes))
            ]
        )
        for each in exchanged(name, rows, own, sizes.sum(0), mine)
    ]


def permuted(x: Any, how: Permutation, back: bool = False) -> Any:
    """Return a tensor whose elements are in another order, or in the one before.

    Collective; one exchange. The gradient takes the same way back.
    """
    with within(how.name, x, how.dim, back):
        result = _permuted(x.detach(), how, back)
    _C.record_function(
        how.name, lambda grad: permuted(grad, how, not back), (x,), (result,)
    )
    return result


def _permuted(x: _C.DTensor, how: Permutation, back: bool) -> _C.DTensor:
    here, there = (how.after, how.before) if back else (how.before, how.after)
    here, there = here.with_dtype(x.dtype), there.with_dtype(x.dtype)
    (x,) = move_all(how.name, [x], [here])
    if is_meta(x):
        return _C.without_data(there)
    if not inside(there) or how.rows is None:
        return make((), there)
    lines = as_lines(local(x), how.dim)
    if not back:
        lines = np.take_along_axis(lines, how.first, 1)
        (got,) = sent_lines(how.name, how.rows, [lines], how.sizes, how.mine)
        result = np.take_along_axis(got, how.second, 1)
    else:
        sent = np.empty_like(lines)
        np.put_along_axis(sent, how.second, lines, 1)
        sizes = np.swapaxes(how.sizes, 1, 2)
        (got,) = sent_lines(how.name, how.rows, [sent], sizes, how.mine)
        result = np.empty_like(got)
        np.put_along_axis(result, how.first, got, 1)
    return make(as_part(result, there, how.dim), there)
