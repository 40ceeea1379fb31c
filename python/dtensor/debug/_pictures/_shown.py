"""What a notebook shows of tensors, layouts and meshes."""

import math
from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.debug._cells import MOST_RANKS, grid_of
from dtensor.debug._pictures._html import facts, framed
from dtensor.debug._pictures._svg import Drawing
from dtensor.debug._units import size
from dtensor.device_mesh import DeviceMesh

__all__ = ["layout_html", "mesh_html", "tensor_html"]

MOST_BYTES = 17_000  # of a drawing, at most
MOST_LETTERS = 4_000  # of the values of a Tensor


def tensor_html(tensor: Any) -> str:
    """Return a DTensor's layout, or a Tensor's values, as HTML of less than 20 kB."""
    if isinstance(tensor, _C.DTensor):
        return _of_layout("DTensor", tensor.layout)
    values = repr(tensor)
    if len(values) > MOST_LETTERS:
        values = values[:MOST_LETTERS] + " ..."
    pairs = [("shape", str(tuple(tensor.shape))), ("dtype", str(tensor.dtype))]
    pairs += [("bytes", size(tensor.nbytes))]
    if tensor.requires_grad:
        pairs += [("gradient", "recorded")]
    return framed("Tensor", facts(pairs), f"<pre>{escape(values)}</pre>")


def layout_html(layout: _C.Layout) -> str:
    """Return a layout as HTML of less than 20 kB: what it says, and a drawing."""
    return _of_layout("Layout", layout)


def mesh_html(mesh: DeviceMesh) -> str:
    """Return a mesh as HTML of less than 20 kB: its dims, a drawing of its ranks."""
    names = mesh.names
    dims = names or [str(k) for k in range(mesh.ndim)]
    pairs = [("ranks", f"{mesh.size():,}")]
    pairs += [
        (f"dim {_cut(name)}", f"{n:,}")
        for name, n in zip(dims, mesh.shape, strict=True)
    ]
    drawing = Drawing(
        [[(k, k + 1) for k in range(n)] for n in mesh.shape],
        lambda index: ((int(mesh.ranks[index]),),),
        _cut(" x ".join(names)) if names else "",
        44,
    )
    return framed(repr(mesh), facts(pairs), _small(drawing))


def _of_layout(kind: str, layout: _C.Layout) -> str:
    title = f"{kind} {tuple(layout.shape)} {layout.dtype} {layout}"
    return framed(title, facts(_facts(layout)), _picture(layout))


def _facts(layout: _C.Layout) -> Iterator[tuple[str, str]]:
    """Yield what a layout says, beside its title."""
    mesh, item = layout.mesh, np.dtype(layout.dtype).itemsize
    names = mesh.names or [f"mesh dim {k}" for k in range(mesh.ndim)]
    yield "elements", f"{math.prod(layout.shape):,}"
    yield "bytes", size(math.prod(layout.shape) * item)
    yield "mesh", f"{' x '.join(map(str, mesh.shape))}, {mesh.size():,} ranks"
    for name, n, placement in zip(names, mesh.shape, layout.placements, strict=True):
        yield _cut(name), f"{placement} on {n:,}"
    if mesh.size() > MOST_RANKS:
        return
    sizes = [math.prod(layout.local_shape(r)) * item for r in mesh.ranks.flat]
    low, high = min(sizes), max(sizes)
    even = "each" if low == high else f"to {size(high)}, uneven by {size(high - low)}"
    yield "parts", f"{size(low)} {even}"
    if mesh.world and mesh.get_coordinate() is not None:
        shape = tuple(layout.local_shape(mesh.get_rank()))
        yield "this rank", f"{shape}, {size(math.prod(shape) * item)}"


def _picture(layout: _C.Layout) -> str:
    """Return a drawing of who holds what, where there is something to draw."""
    if layout.mesh.size() > MOST_RANKS or 0 in layout.shape:
        return ""
    grid = grid_of(layout)

    def holders(index: tuple[int, ...]) -> Any:
        cell = grid.cells.get(index)
        return () if cell is None else cell.holders

    return _small(Drawing(grid.ranges, holders))


def _small(drawing: Drawing) -> str:
    text = drawing.svg()
    return text if len(text.encode()) <= MOST_BYTES else ""


def _cut(text: str) -> str:
    """Return the beginning of a user's name."""
    return text if len(text) <= 40 else text[:40] + " ..."
