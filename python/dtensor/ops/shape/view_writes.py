"""Recorded writes into views: what the tape is told of the tensor that they are of.

A view and its owner show one memory. After a recorded write into a view, the owner's
node is one of the old node and of the view's; after one into the owner, a view that is
used again is a part of the owner. Positions are found by addresses, so that any chain
of views is one view. Of DTensors each rank finds those in its own parts, for gradients
that are laid out as owner and view are.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.composite import within
from dtensor.ops._make.parts import inside, local, make

__all__ = ["view_seen", "view_written"]

Array = npt.NDArray[Any]


class _Part(NamedTuple):
    """An array in a block of memory, in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: int
    layout: _C.Layout | None  # of gradients; None: of a Tensor

    def of(self, block: Array) -> Array:
        steps = tuple(step * block.itemsize for step in self.strides)
        return as_strided(block[self.start :], self.shape, steps)

    def repeats(self) -> bool:
        """Return whether an element may be there several times."""
        reach = 0
        if 0 in self.shape:
            return False
        pairs = zip(self.strides, self.shape, strict=True)
        for step, n in sorted((abs(step), n) for step, n in pairs if n > 1):
            if step <= reach:
                return True
            reach += step * (n - 1)
        return False


class _Place(NamedTuple):
    """Where a view is in its owner."""

    length: int  # of the block that the owner spans
    owner: _Part
    view: _Part

    def left(self, grad: Array) -> Array:
        """Of a gradient of the owner return what is not the view's."""
        block = self._block(self.owner, grad)
        self.view.of(block)[...] = 0
        return self.owner.of(block).copy()

    def taken(self, grad: Array) -> Array:
        """Of a gradient of the owner return what is the view's."""
        return self.view.of(self._block(self.owner, grad)).copy()

    def given(self, grad: Array) -> Array:
        """Return the gradient of the owner for one of the view."""
        if self.view.repeats():
            block = np.zeros(self.length, grad.dtype)
            np.add.at(block, self.view.of(np.arange(self.length)), grad)
        else:
            block = self._block(self.view, grad)
        return self.owner.of(block).copy()

    def holds_view(self) -> bool:
        """Return whether the owner has all elements of the view."""
        block = np.zeros(self.length, bool)
        self.owner.of(block)[...] = True
        return bool(self.view.of(block).all())

    def _block(self, part: _Part, values: Array) -> Array:
        block = np.zeros(self.length, values.dtype)
        part.of(block)[...] = values
        return block


# --- finding a view -------------------------------------------------------------------


def _dual(x: Any) -> _C.Layout | None:
    """Return the layout of the gradients of a tensor."""
    return x.layout.settled() if isinstance(x, _C.DTensor) else None


def _packed(shape: tuple[int, ...], layout: _C.Layout | None) -> _Part:
    steps = [math.prod(shape[k + 1 :]) for k in range(len(shape))]
    return _Part(shape, tuple(steps), 0, layout)


def _are_alike(a: _C.Layout, b: _C.Layout) -> bool:
    """Return whether ranks share the elements of two layouts in the same way."""
    return a.mesh == b.mesh and all(
        n == 1
        or (p.is_replicate() == q.is_replicate() and p.is_partial() == q.is_partial())
        for n, p, q in zip(a.mesh.shape, a.placements, b.placements, strict=True)
    )


def _array(x: Any) -> Array:
    bare = x.detach()
    return local(bare) if isinstance(bare, _C.DTensor) else np.asarray(bare)


def _place(owner: Any, view: Any) -> _Place | None:
    """Return where a view is; None if it has elements that the owner has not."""
    if owner.dtype != view.dtype:
        return None
    if isinstance(owner, _C.DTensor) and not _are_alike(owner.layout, view.layout):
        return None
    duals = _dual(owner), _dual(view)
    if is_meta(owner):
        pair = zip((owner, view), duals, strict=True)
        return _Place(0, *(_packed(tuple(x.shape), layout) for x, layout in pair))
    whole, part = _array(owner), _array(view)
    size = whole.itemsize
    if not part.size:
        pair = zip((whole, part), duals, strict=True)
        return _Place(whole.size, *(_packed(a.shape, layout) for a, layout in pair))
    low, high = byte_bounds(whole)
    if low > byte_bounds(part)[0] or high < byte_bounds(part)[1]:
        return None
    parts = []
    for array, layout in zip((whole, part), duals, strict=True):
        start = array.__array_interface__["data"][0] - low
        if any(step % size for step in (start, *array.strides)):
            return None
        steps = tuple(step // size for step in array.strides)
        parts.append(_Part(array.shape, steps, start // size, layout))
    found = _Place((high - low) // size, *parts)
    known = not found.owner.repeats() and found.holds_view()
    return found if whole.flags.c_contiguous or known else None


# --- gradients ------------------------------------------------------------------------

# What a method of _Place makes of a gradient of what, and its own gradient.
_WAYS = {
    "left": ("owner", "owner", "left"),
    "taken": ("owner", "view", "given"),
    "given": ("view", "owner", "taken"),
}


def _part_of(grad: Any, to: _Part, change: Callable[[Array], Array]) -> Any:
    """Return what a function makes of this rank's part of a gradient."""
    if to.layout is None and is_meta(grad):
        return _C.without_data(to.shape, grad.dtype)
    if to.layout is None:
        return _C.Tensor(change(_array(grad)))
    layout = to.layout.with_dtype(grad.dtype)
    with within("view", grad):
        if is_meta(grad):
            return _C.without_data(layout)
        return make(change(_array(grad)) if inside(layout) else (), layout)


def _through(way: str, place: _Place, grad: Any) -> Any:
    """Return what a method of a place makes of a gradient; recorded."""
    of, to, back = _WAYS[way]
    layout = getattr(place, of).layout
    if layout is not None:
        grad = _C._redistribute_any(grad, placements=layout.with_dtype(grad.dtype))
    made = _part_of(grad, getattr(place, to), getattr(place, way))
    if _C.is_torch(grad):
        made = _C.into_torch(made)
    _C.record_function(
        f"view_{way}", lambda g: _through(back, place, g), (grad,), (made,)
    )
    return made


# --- what the tape calls --------------------------------------------------------------


def view_written(owner: Any, view: Any) -> bool:
    """Let the owner's node know of a write into a view of it."""
    place = _place(owner, view)
    if place is None or place.view.repeats():
        return False
    had_node = owner.grad_fn is not None

    def back(grad: Any) -> Any:
        left = _through("left", place, grad) if had_node else None
        return left, _through("taken", place, grad)

    _C.record_function("view_written", back, (owner, view), (owner,))
    return view_seen(owner, view)


def view_seen(owner: Any, view: Any) -> bool:
    """Make a view's node of its owner's, which has been written to since."""
    place = _place(owner, view)
    if place is None:
        return False
    before = _C.set_recording(True)
    try:
        _C.record_function(
            "view_seen", lambda g: _through("given", place, g), (owner,), (view,)
        )
    finally:
        _C.set_recording(before)
    return True


_C.install_views(view_written, view_seen)
