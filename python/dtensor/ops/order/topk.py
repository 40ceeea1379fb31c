"""The largest elements along a dim; of a long dim that is cut only candidates are sent.

Each rank gives the largest elements of its part."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.composite import settled, within
from dtensor.ops._make.halves import weak_call
from dtensor.ops._make.operator import (
    Operand,
    Part,
    Rule,
    letters,
    method,
    operator,
)
from dtensor.ops._make.parts import (
    inside,
    local,
    make,
    move,
    move_all,
    parts_of,
    positions,
)
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.order.sort import put_along
from dtensor.ops.order.sort_parts import cut_along, is_in_parts

__all__ = ["topk"]

Array = npt.NDArray[Any]
INDEX = np.dtype(np.intp)


class TopK(NamedTuple):
    """The largest or smallest elements along a dim."""

    values: Any
    """The elements."""
    indices: Any
    """Where they were, as int64."""


@method
@operator
def topk(
    x: Operand, k: int, axis: int = -1, largest: bool = True, sorted: bool = True
) -> Any:
    """Return the `k` largest elements along a dim, and where they are.

    Parameters
    ----------
    x : array_like
        The source.
    k : int
        How many, at most the length of the dim.
    axis : int, default -1
        The dim; also called ``dim``. It is made whole, while another one is cut
        instead. If no other can be cut and the array is large (2^14 elements), each
        rank sends the `k` largest of its part.
    largest : bool, default True
        Whether the largest or the smallest. NaN is larger than every number.
    sorted : bool, default True
        Without effect: they are always sorted, equal ones in their original order.

    Returns
    -------
    TopK
        ``values`` and ``indices``.

    Raises
    ------
    RuntimeError
        If the dim is shorter than `k`.
    """
    at = normalize_axis_index(axis, x.ndim)
    if not 0 <= k <= x.shape[at]:
        raise RuntimeError(
            f"selected index k out of range: k={k}, the dim has {x.shape[at]} elements"
        )
    if is_in_parts(x, at):
        return _topk_of_parts
    names = letters(x.ndim, whole=[at])
    after = " ".join([*names[:at], str(k), *names[at + 1 :]])
    kernel = weak_call(_topk, x, k, at, largest)
    return Rule(f"{' '.join(names)}->{after},{after}"), kernel, (x.dtype, INDEX)


topk.vjp(
    lambda grad, out, _x, _k, axis=-1, *_, **__: put_along(
        grad[0], out[1].detach(), axis, _x.shape[axis]
    )
)


def _topk(x: Array, k: int, dim: int, largest: bool) -> TopK:
    if largest:  # of equal elements the first one first, from the end
        order = np.argsort(np.flip(x, dim), dim, stable=True)
        order = x.shape[dim] - 1 - np.flip(order, dim)
    else:
        order = np.argsort(x, dim, stable=True)
    first = order[(slice(None),) * dim + (slice(k),)]
    return TopK(np.take_along_axis(x, first, dim), np.ascontiguousarray(first))


# --- of parts -------------------------------------------------------------------------


def _topk_of_parts(
    x: Any, k: int, axis: int = -1, largest: bool = True, sorted: bool = True
) -> TopK:
    dim = normalize_axis_index(axis, x.ndim)
    with within("topk", x, k, dim, largest):
        result = _best(settled("topk", x.detach()), k, dim, largest)
    if x.requires_grad and _C.is_grad_enabled():
        kept, where = _C.save(x), result.indices

        def back(grad: Any, _none: Any) -> Any:
            return _put(kept.unpack(), grad, where, dim)

        _C.record_function("topk", back, (x,), tuple(result))
    return result


def _best(x: Any, k: int, dim: int, largest: bool) -> TopK:
    """Return the best of the candidates of all parts. Collective."""
    x = move("topk", x, cut_along(x.layout, dim))
    model = _candidates(x.layout, dim, k)
    layouts = [model, model.with_dtype(INDEX)]
    shape = [k if d == dim else n for d, n in enumerate(x.shape)]
    to = [_C.Layout(x.device_mesh, None, shape, each.dtype) for each in layouts]
    if is_meta(x):
        return TopK(*map(_C.without_data, to))
    if not inside(model):
        return TopK(*(make((), each) for each in to))
    part, held = local(x), positions(x.layout, dim)
    at = np.sort(_topk(part, min(k, held.size), dim, largest).indices, dim)
    own = (np.take_along_axis(part, at, dim), held[at])
    given = [make(a, each) for a, each in zip(own, layouts, strict=True)]
    every = move_all("topk", given, [each.with_placements(None) for each in layouts])
    values, numbers = map(local, every)
    best = _topk(values, k, dim, largest)
    found = (best.values, np.take_along_axis(numbers, best.indices, dim))
    return TopK(*(make(a, each) for a, each in zip(found, to, strict=True)))


def _candidates(layout: _C.Layout, dim: int, k: int) -> _C.Layout:
    """Return the layout of the `k` best elements of each part."""
    counts = [min(count, k) for _, count in parts_of(layout, dim) or ()]
    cuts = [0, *np.cumsum(counts).tolist()]
    shape = [cuts[-1] if d == dim else n for d, n in enumerate(layout.shape)]
    return _C.Layout(
        layout.mesh, layout.placements, shape, layout.dtype, cuts={dim: cuts}
    )


def _words(a: Operand, dim: int) -> tuple[list[str], list[str]]:
    """Return the words of an array, and those of some elements along a dim."""
    names = letters(a.ndim)
    some = letters(1, whole=[0], skip=a.ndim)
    return names, [*names[:dim], *some, *names[dim + 1 :]]


def _held(dim: int) -> Part:
    """Return the indices of this rank along a dim of operand 0."""
    return Part(lambda operands, _results: positions(operands[0], dim))


@operator(name="topk_backward", operands=3)
def _put(a: Operand, g: Operand, index: Operand, dim: int) -> Answer:
    """Return an array cut as `a`, with `g` where `index` says, and zeros elsewhere."""
    names, some = _words(a, dim)
    kernel = weak_call(_put_part, a, g, index, dim, _held(dim))
    return rule([names, some, some], [names]), kernel, g.dtype


def _put_part(a: Array, g: Array, index: Array, dim: int, held: Array) -> Array:
    result = np.zeros(a.shape, g.dtype)
    here, where = _places(index, dim, held)
    result[where] = g[here]
    return result


def _places(index: Array, dim: int, held: Array) -> tuple[Any, Any]:
    """Return which elements of an index this rank has, and where."""
    order = np.argsort(held, kind="stable")
    at = np.searchsorted(held, index, sorter=order)
    here = at < held.size
    here[here] = held[order[at[here]]] == index[here]
    where = list(np.nonzero(here))
    where[dim] = order[at[here]]
    return here, tuple(where)


@operator(name="topk_backward", operands=2)
def _get(x: Operand, index: Operand, dim: int) -> Answer:
    """Return the elements that `index` names along a dim."""
    names, some = _words(x, dim)
    return (
        rule([names, some], [some]),
        weak_call(_get_part, x, index, dim, _held(dim)),
        x.dtype,
    )


def _get_part(x: Array, index: Array, dim: int, held: Array) -> Array:
    result = np.zeros(index.shape, x.dtype)
    here, where = _places(index, dim, held)
    result[here] = x[where]
    return result


_put.vjp(None, lambda x, _out, _a, _g, index, dim: _get(x, index, dim), None)
_get.vjp(lambda g, _out, x, index, dim: _put(x, g, index, dim), None)
