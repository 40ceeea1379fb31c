"""Samples between arrays that are cut: each rank makes those of its own ends."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core import world
from dtensor._core.device import is_meta
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.composite import within
from dtensor.ops._make.parts import inside, key_of, local, make, move, values_of

__all__ = ["layout_between", "sampled_between"]

Array = npt.NDArray[Any]


def layout_between(ends: Sequence[Any]) -> _C.Layout | None:
    """Return the layout of an end that is cut and has the shape of them all, if any."""
    shape = np.broadcast_shapes(*(np.shape(end) for end in ends))
    for end in ends:
        if isinstance(end, _C.DTensor) and end.shape == shape and not is_meta(end):
            layout: _C.Layout = end.layout.settled()
            if any(layout.is_cut(dim) for dim in range(layout.ndim)):
                return layout
    return None


class _Samples(NamedTuple):
    """Samples between this rank's parts of two arrays."""

    function: Callable[..., Any]
    ends: list[Any]
    num: int
    options: dict[str, Any]

    def steps(self) -> Array:
        """Return the distances of the samples, or of their logarithms."""
        first, last = self.ends
        if self.function is np.geomspace:
            none = np.zeros((), self.options["dtype"])
            kind = np.result_type(first, last, float(self.num), none)
            first, last = (np.asarray(end).astype(kind) for end in (first, last))
            sign = np.sign(first)
            first, last = np.log10(first / sign), np.log10(last / sign)
        div = self.num - 1 if self.options["endpoint"] else self.num
        kind = np.linspace(first, last, 1).dtype
        distance = np.subtract(last, first, dtype=type(kind))
        return np.asarray(distance / div if div > 0 else distance * np.nan)

    def part(self, shape: tuple[int, ...], beside_zero: bool) -> Array:
        """Return the samples; beside steps of 0 NumPy divides in another order."""
        if not beside_zero:
            return np.asarray(self.function(*self.ends, self.num, **self.options))
        kinds = [
            np.result_type(one, getattr(other, "dtype", other))
            if isinstance(one, int | float | complex)
            else one.dtype
            for one, other in zip(self.ends, self.ends[::-1], strict=True)
        ]
        ends = [
            np.append(np.broadcast_to(np.asarray(end, kind), shape), kind.type(1))
            for end, kind in zip(self.ends, kinds, strict=True)
        ]
        options = self.options | {"axis": 0}
        found = self.function(*ends, self.num, **options)[:, :-1]
        return np.moveaxis(found.reshape(len(found), *shape), 0, self.options["axis"])


def sampled_between(
    function: Callable[..., Any],
    ends: Sequence[Any],
    num: int,
    options: dict[str, Any],
    layout: _C.Layout,
) -> tuple[_C.DTensor, _C.DTensor]:
    """Return samples of a NumPy function between two arrays, and their distances.

    Collective; an end that is cut in another way is moved.

    Parameters
    ----------
    function : callable
        NumPy's linspace, logspace or geomspace.
    ends : sequence of array_like
        Two of them.
    num : int
        Not negative.
    options : dict
        Further arguments.
    layout : Layout
        From `layout_between`; the new dim is not cut.
    """
    name = function.__name__
    at = normalize_axis_index(options["axis"], layout.ndim + 1)
    with within(name, *ends, num, options):
        own = _Samples(function, [_own(name, x, layout) for x in ends], num, options)
        probes = [np.ones(1, x.dtype) if np.ndim(x) else x for x in own.ends]
        like = function(*probes, 1, **options | {"axis": 0})
        shape = (*layout.shape[:at], num, *layout.shape[at:])
        places = {dim: dim + (dim >= at) for dim in range(layout.ndim)}
        to = layout.like(shape, places, like.dtype)
        with np.errstate(all="ignore"):
            steps = own.steps()
        zero = inside(layout) and bool((steps == 0).any())
        every = world.current().share(bytes([zero]), layout.mesh, name)
        error, part = None, np.empty(0, like.dtype)
        try:
            if inside(layout):
                part = own.part(layout.local_shape(), b"\1" in every and not zero)
        except ValueError as refused:
            error = refused
        world.current().agree(b"", name, error, layout.mesh)
        if error is not None:
            raise error
        return make(part, to), make(steps, layout.with_dtype(steps.dtype))


def _own(name: str, end: Any, layout: _C.Layout) -> Any:
    """Return this rank's part of an end; a number as it is."""
    if isinstance(end, _C.DTensor) and end.shape == layout.shape:
        return local(move(name, end.detach(), layout.with_dtype(end.dtype)))
    if not np.ndim(end):
        return values_of(name, end) if isinstance(end, _C.Tensor) else end
    whole = np.broadcast_to(values_of(name, end), layout.shape)
    return whole[key_of(layout)] if inside(layout) else whole[:0]
