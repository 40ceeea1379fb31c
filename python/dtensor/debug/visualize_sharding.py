"""Who holds which part of a DTensor, printed as a table."""

import itertools
from collections.abc import Iterator, Sequence

from dtensor import _C
from dtensor._core.require import require
from dtensor.debug._cells import Grid, grid_of, span
from dtensor.debug._units import aligned

__all__ = ["visualize_sharding"]

_COLORS = "blue green magenta cyan yellow red".split()


def visualize_sharding(
    dtensor: _C.DTensor, header: str = "", use_rich: bool = False
) -> None:
    """Print which ranks hold which part of a DTensor.

    Rows and columns are ranges of the last two dimensions; each part of the dimensions
    before them has its own table. Only the first rank of the mesh prints, and it prints
    nothing for an array without elements. Not collective; nothing moves.

    A cell names every rank that holds it: ``cpu:0, cpu:1`` hold replicas, and
    ``cpu:0 + cpu:1`` hold addends.

    Parameters
    ----------
    dtensor : DTensor
        It may have any number of dimensions. (PyTorch: 1 or 2.)
    header : str, optional
        Text to print before the table.
    use_rich : bool, default False
        Print with colours and frames: needs the extra ``rich``.

    Raises
    ------
    TypeError
        If `dtensor` is not a DTensor. On this rank only.
    ModuleNotFoundError
        If `use_rich` is True and rich is not installed. On the rank that prints only.
    ValueError
        If the mesh has more than 1024 ranks. On the rank that prints only.

    Notes
    -----
    Modelled on ``torch.distributed.tensor.debug.visualize_sharding``, which needs
    tabulate or rich.

    Examples
    --------
    >>> from dtensor import Replicate, Shard, init_device_mesh, ones
    >>> from dtensor.testing import run_ranks
    >>> def show():
    ...     mesh = init_device_mesh("cpu", (2, 2))
    ...     x = ones((8, 6), device_mesh=mesh, placements=[Shard(0), Replicate()])
    ...     visualize_sharding(x)
    >>> _ = run_ranks(4, show)
             Col 0-5
    -------  ------------
    Row 0-3  cpu:0, cpu:1
    Row 4-7  cpu:2, cpu:3
    """
    if not isinstance(dtensor, _C.DTensor):
        raise TypeError(
            f"visualize_sharding takes a DTensor, not {type(dtensor).__name__}"
        )
    mesh = dtensor.device_mesh
    coordinate = mesh.get_coordinate()
    if not dtensor.numel() or coordinate is None or any(coordinate):
        return
    grid = grid_of(dtensor.layout)
    show = _print_rich if use_rich else _print
    for title, heads, rows in _tables(grid, mesh.device_type):
        title = " ".join(filter(None, (header, title)))
        show(title, heads, rows)


def _tables(
    grid: Grid, device: str
) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield title, column heads, and rows whose first cell is their head."""
    ndim = len(grid.ranges)
    columns = grid.ranges[-1] if ndim > 0 else ((0, 1),)
    rows = grid.ranges[-2] if ndim > 1 else ((0, 1),)
    heads = [f"Col {span(part)}" if ndim > 0 else "" for part in columns]
    leading = grid.ranges[:-2]
    for front in itertools.product(*(range(len(parts)) for parts in leading)):
        body = []
        for i, part in enumerate(rows):
            body.append([f"Row {span(part)}" if ndim > 1 else ""])
            for j in range(len(columns)):
                index = (*front, i, j)[-ndim:] if ndim else ()
                body[-1].append(_holders(grid, index, device))
        parts = [span(leading[d][k]) for d, k in enumerate(front)]
        yield f"[{', '.join(parts)}, :, :]" if parts else "", heads, body


def _holders(grid: Grid, index: tuple[int, ...], device: str) -> str:
    cell = grid.cells.get(index)
    replicas = () if cell is None else cell.holders
    return ", ".join(" + ".join(f"{device}:{r}" for r in ranks) for ranks in replicas)


def _print(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if title:
        print(title)
    for line in aligned(["", *heads], rows, len(heads) + 1):
        print(line)


def _print_rich(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    text = require("rich", "rich.text").Text  # [red] in a header is not markup
    heading = text(title) if title else None
    table = require("rich", "rich.table").Table(title=heading, show_lines=True)
    for head in ("", *heads):
        table.add_column(text(head), justify="center")
    for row in rows:
        colors = ["bold", *(_color(cell) for cell in row[1:])]
        cells = zip(row, colors, strict=True)
        table.add_row(*(text(cell, style=color) for cell, color in cells))
    require("rich", "rich.console").Console().print(table)


def _color(cell: str) -> str:
    """Return a colour for the first rank that holds a cell."""
    number = cell.partition(",")[0].partition(" ")[0].rpartition(":")[2]
    return _COLORS[int(number) % len(_COLORS)] if number else ""
