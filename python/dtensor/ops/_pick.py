"""Arrays as indices: of integers, and masks."""

from collections.abc import Sequence
from operator import getitem as take_out
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._index import refuse
from dtensor.ops._operator import Operand, Rule, call, letters, operator
from dtensor.ops._parts import (
    CUTS,
    aligned,
    counted,
    find,
    inside,
    is_cut,
    key_of,
    local,
    make,
    move_all,
    parts_of,
)

__all__ = ["first_result_dim", "leading", "masked", "picked"]

Array = npt.NDArray[Any]
ALL = slice(None)
OPS = ("sum", "avg", "product", "max", "min")


# --- arrays of integers ---------------------------------------------------------------


def picked(x: _C.DTensor, index: Sequence[Any]) -> _C.DTensor:
    """Return ``x[index]`` for an index with arrays of integers.

    Parameters
    ----------
    x : DTensor
        The array.
    index : sequence
        A whole slice, 0, or an array of integers (an ndarray or DTensor, in range) for
        each dim; and an Ellipsis where arrays are apart though no dim is between them.
    """
    arrays = [k for k in index if isinstance(k, np.ndarray | _C.DTensor)]
    try:
        np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        refuse(x.shape, x.dtype, index)
    if len(arrays) == 1 and not any(k == 0 for k in index if isinstance(k, int)):
        dims = [k for k in index if k is not ...]
        dim = next(d for d, k in enumerate(dims) if k is arrays[0])
        return rows(x, dim, arrays[0])
    keys = tuple(
        "array" if isinstance(k, np.ndarray | _C.DTensor) else k for k in index
    )
    result: _C.DTensor = _select(x, keys, arrays)
    return result


def rows(x: _C.DTensor, dim: int, index: Array | _C.DTensor) -> _C.DTensor:
    """Return ``x[:, index]``, the index being for one dim.

    Of a dim that is cut each rank takes what it has of the wanted rows. If the rows are
    wanted in the order of the parts, that is the result. Else they are gathered, unless
    there are more of them than the whole dim has, and put in order.
    """
    before = (ALL,) * dim
    known = index if isinstance(index, np.ndarray) else _everywhere(index)
    parts = None if known is None else parts_of(x.layout, dim)
    if known is None or parts is None or not is_cut(x.layout, dim):
        result: _C.DTensor = _select(x, (*before, "array"), [index])
        return result
    known = np.where(known < 0, known + x.shape[dim], known)
    owner = np.searchsorted([start for start, _ in parts], known.ravel(), "right") - 1
    in_order = known.ndim == 1 and bool(np.all(owner[:-1] <= owner[1:]))
    if not in_order and known.size >= x.shape[dim]:
        result = _select(x, (*before, "array"), [known])
        return result
    order = np.argsort(owner, kind="stable")
    found = _found(x, dim, known.ravel()[order], np.bincount(owner, None, len(parts)))
    if in_order:
        return found
    back = np.empty(known.size, np.intp)
    back[order] = np.arange(known.size)
    result = _select(found, (*before, "array"), [back.reshape(known.shape)])
    return result


def _found(x: _C.DTensor, dim: int, index: Array, counts: Array) -> _C.DTensor:
    """Return rows that are wanted in the order of the parts, `counts` of each."""
    cuts = dict(x.layout.cuts or {})
    cuts[dim] = (0, *np.cumsum(counts).tolist())
    shape = (*x.shape[:dim], index.size, *x.shape[dim + 1 :])
    layout = _C.Layout(x.device_mesh, x.placements, shape, x.dtype, cuts=cuts)
    if not inside(layout):
        return make((), layout)
    at, mine = find(x.layout, dim, index)
    return make(local(x)[(ALL,) * dim + (at[mine],)], layout)


def _everywhere(index: _C.DTensor) -> Array | None:
    """Return the values of an index that every rank has, else None."""
    if not all(p.is_replicate() for p in index.placements):
        return None
    return local(index) if inside(index.layout) else np.zeros(index.shape, index.dtype)


@operator(name="getitem")
def _select(x: Operand, keys: tuple[Any, ...], arrays: list[Operand]) -> Any:
    source = letters(x.ndim)
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    new = letters(len(shape), skip=x.ndim)
    waiting, rest = iter(arrays), []
    index: list[Any] = []
    dims = iter(range(x.ndim))
    for key in keys:
        if key is ...:
            index.append(key)
        elif key == ALL:
            rest.append(source[next(dims)])
            index.append(key)
        else:
            source[next(dims)] = "*"
            index.append(next(waiting) if key == "array" else key)
    rest += [source[dim] for dim in dims]
    at = first_result_dim(keys)
    words = [" ".join(source)]
    for a in arrays:
        pairs = zip(new[len(new) - a.ndim :], a.shape, shape[-a.ndim :], strict=True)
        words.append(" ".join("*" if n != full else name for name, n, full in pairs))
    text = f"{','.join(words)}->{' '.join([*rest[:at], *new, *rest[at:]])}"
    rows = ";".join(f"{op}{',R' * len(arrays)}->{op}" for op in OPS)
    return (
        Rule(text, partial=rows, reduce=None),
        call(take_out, x, tuple(index)),
        x.dtype,
    )


def first_result_dim(keys: Sequence[Any]) -> int:
    """Return where NumPy puts the dims of index arrays among the others.

    In the place of the arrays (integers count as such) if these are side by side, else
    in front.
    """
    which = [
        k for k, key in enumerate(keys) if not isinstance(key, slice) and key is not ...
    ]
    if which[-1] - which[0] >= len(which):
        return 0
    return sum(isinstance(key, slice) for key in keys[: which[0]])


# --- masks ----------------------------------------------------------------------------


def masked(x: _C.DTensor, mask: Array | _C.DTensor, dim: int) -> _C.DTensor:
    """Return ``x[..., mask]``, the mask being for the dims from `dim` on.

    Collective: how many elements there are is known when all ranks have counted.
    """
    layout = leading(x.layout, dim, mask)
    x, chosen = with_mask("getitem", x, mask, dim, layout)
    kept = {d: d for d in range(dim + 1)}
    kept |= {d: d - mask.ndim + 1 for d in range(dim + mask.ndim, x.ndim)}
    shape = [x.shape[d] for d in kept]
    model = aligned(layout, shape, kept, x.dtype, partial=True)
    if not inside(layout):
        return make((), counted(model, dim, 0))
    part = local(x)[(ALL,) * dim + (chosen,)]
    return make(part, counted(model, dim, part.shape[dim]))


def with_mask(
    name: str, x: _C.DTensor, mask: Array | _C.DTensor, dim: int, layout: _C.Layout
) -> tuple[_C.DTensor, Array]:
    """Return a tensor in a layout, and the part of its mask that goes with it."""
    dims = {dim + d: d for d in range(mask.ndim)}
    alike = aligned(layout, mask.shape, dims, bool)
    if isinstance(mask, _C.DTensor):
        x, mask = move_all(name, [x, mask], [layout, alike])
        return x, local(mask)
    (x,) = move_all(name, [x], [layout])
    return x, mask[key_of(alike)] if inside(layout) else mask


def leading(layout: _C.Layout, dim: int, mask: Array | _C.DTensor) -> _C.Layout:
    """Return a layout in which what a mask selects lies in the order of the parts.

    Of the dims of the mask only the first, `dim`, may be cut, and by ranges that follow
    the order of the mesh dims. Where the mask is cut and the tensor is whole, the
    tensor is cut too, which moves nothing.
    """
    first = _C.Shard(dim)
    inner = range(dim + 1, dim + mask.ndim)
    placements: list[_C.Placement] = []
    for m, p in enumerate(layout.placements):
        cut = isinstance(p, CUTS) and (p.dim in inner or p.dim == dim)
        if p.is_replicate() and isinstance(mask, _C.DTensor):
            cut = isinstance(mask.placements[m], CUTS)
        placements.append(first if cut else p)
    if tuple(placements) == layout.placements:
        return layout
    cuts = {d: c for d, c in (layout.cuts or {}).items() if d != dim and d not in inner}
    return _C.Layout(
        layout.mesh, placements, layout.shape, layout.dtype, cuts=cuts or None
    )
