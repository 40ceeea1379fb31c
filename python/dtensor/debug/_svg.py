"""Pictures for notebooks: who holds what of a DTensor, and the ranks of a mesh.

Colours stand for ranks, hatching for replicas, a plus for addends (Partial). The
pictures are made from layouts alone: nothing is computed, sent or waited for.
"""

import itertools
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

from dtensor import _C, ops
from dtensor.debug._cells import MOST_RANKS, Cell, Grid, Range, grid_of, span
from dtensor.device_mesh import DeviceMesh

__all__ = ["dtensor_html", "mesh_html"]

MOST_CELLS = 72
MOST_BYTES = 18_000  # of a picture, at most
SIDE = 168  # of a block, in pixels
_GAP = 26

_HATCH = (
    '<defs><pattern id="dt-hatch" width="6" height="6" '
    'patternTransform="rotate(45)" patternUnits="userSpaceOnUse">'
    '<path d="M0 0V6" stroke="#000" stroke-opacity=".25" stroke-width="2"/>'
    "</pattern></defs>"
)


def _color(rank: int) -> str:
    """Return a light colour; the golden angle makes neighbours differ."""
    return f"hsl({rank * 137.508 % 360:.0f},70%,{(72, 82)[rank // 16 % 2]}%)"


def dtensor_html(tensor: Any) -> str | None:
    """Return a picture of a DTensor's layout as HTML; None for another Tensor.

    Jupyter shows it for a tensor. It has less than 20 kB; if the picture does not fit,
    it is left out.
    """
    if not isinstance(tensor, _C.DTensor):
        return None
    layout = tensor.layout
    head = f"DTensor {tuple(layout.shape)} {layout.dtype} {layout} on {layout.mesh!r}"
    return _framed(head, "".join(_picture(layout)))


def mesh_html(mesh: DeviceMesh) -> str:
    """Return a picture of the ranks of a mesh as HTML. Under 20 kB."""
    if mesh.size() > MOST_CELLS:
        return _framed(repr(mesh), "")
    ranges = tuple(tuple((k, k + 1) for k in range(n)) for n in mesh.shape)
    cells = {
        tuple(mesh.coordinate(rank) or ()): Cell((), ((rank,),))
        for rank in mesh.ranks.ravel().tolist()
    }
    return _framed(repr(mesh), "".join(_drawn(Grid(ranges, cells), 44, mesh.names)))


def _framed(head: str, picture: str) -> str:
    text = head if len(head) <= 300 else head[:300] + " ..."
    if len(picture.encode()) > MOST_BYTES:
        picture = ""
    return f"<div><code>{escape(text)}</code><br>{picture}</div>"


def _picture(layout: _C.Layout) -> Iterator[str]:
    if layout.mesh.size() > MOST_RANKS:
        return
    grid = grid_of(layout)
    if 0 < len(grid.cells) <= MOST_CELLS and 0 not in layout.shape:
        yield from _drawn(grid, None, None)


def _drawn(grid: Grid, unit: int | None, names: Sequence[str] | None) -> Iterator[str]:
    """Yield a block for each part of the dimensions before the last two."""
    columns = grid.ranges[-1] if grid.ranges else ((0, 1),)
    rows = grid.ranges[-2] if len(grid.ranges) > 1 else ((0, 1),)
    across, down = _edges(columns, unit), _edges(rows, unit)
    leading = [range(len(parts)) for parts in grid.ranges[:-2]]
    width, height = across[-1] + _GAP + 2, down[-1] + _GAP + 2
    fronts = list(itertools.product(*leading))
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * len(fronts)}" '
        f'height="{height + 12}" font-family="sans-serif" font-size="11" '
        f'text-anchor="middle" fill="currentColor">{_HATCH}'
    )
    for number, front in enumerate(fronts):
        yield f'<g transform="translate({number * width + _GAP},{_GAP})">'
        yield from _heads(grid, front, columns, across, rows, down, names)
        for i, j in itertools.product(range(len(rows)), range(len(columns))):
            index = (*front, i, j)[-len(grid.ranges) :] if grid.ranges else ()
            box = across[j], down[i], across[j + 1] - across[j], down[i + 1] - down[i]
            if index in grid.cells:
                yield from _cell(grid.cells[index].holders, box)
        yield "</g>"
    yield "</svg>"


def _edges(parts: Sequence[Range], unit: int | None) -> list[int]:
    """Return the edges of cells: proportional to their lengths, but not too thin."""
    total = sum(end - first for first, end in parts)
    sizes = [
        unit or max(22, round(SIDE * (end - first) / total)) for first, end in parts
    ]
    return [0, *itertools.accumulate(sizes)]


def _heads(
    grid: Grid,
    front: tuple[int, ...],
    columns: Sequence[Range],
    across: Sequence[int],
    rows: Sequence[Range],
    down: Sequence[int],
    names: Sequence[str] | None,
) -> Iterator[str]:
    ndim = len(grid.ranges)
    if ndim > 0 and across[-1] / len(columns) >= 28:
        for j, part in enumerate(columns):
            yield _text((across[j] + across[j + 1]) // 2, -5, span(part))
    if ndim > 1:
        for i, part in enumerate(rows):
            yield _text(-12, (down[i] + down[i + 1]) // 2 + 4, span(part))
    title = ", ".join(span(grid.ranges[d][k]) for d, k in enumerate(front))
    if title:
        yield _text(across[-1] // 2, -17, f"[{title}, :, :]")
    elif names is not None:
        yield _text(across[-1] // 2, -17, " x ".join(names)[:40])


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x}" y="{y}">{escape(text)}</text>'


def _cell(
    holders: Sequence[Sequence[int]], box: tuple[int, int, int, int]
) -> Iterator[str]:
    x, y, width, height = box
    place = f'x="{x}" y="{y}" width="{width}" height="{height}"'
    yield f'<rect {place} fill="{_color(holders[0][0])}" stroke="#555"/>'
    if len(holders) > 1:
        yield f'<rect {place} fill="url(#dt-hatch)"/>'
    text = ",".join("+".join(map(str, ranks)) for ranks in holders)
    room = max(3, width // 6)
    short = text if len(text) <= room else text[: room - 1] + "\N{HORIZONTAL ELLIPSIS}"
    yield f'<text x="{x + width // 2}" y="{y + height // 2 + 4}" fill="#111">{short}'
    yield f"<title>{text[:60]}</title></text>" if short != text else "</text>"


# Tensor and DTensor are C types, which get methods from a table.
_C.install(
    ops.SLOTS,
    {"_repr_html_": dtensor_html},
    ops.FUNCTIONS,
    ops._answer,
    ops.ufunc_method,
)
DeviceMesh._repr_html_ = mesh_html  # type: ignore[attr-defined]
