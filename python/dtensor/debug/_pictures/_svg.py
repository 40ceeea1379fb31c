"""Drawings of grids: colours stand for ranks, hatching for replicas, plus for addends.

What has many cells is drawn from its first and last ones, with a gap between.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from dtensor.debug._cells import Range, span

__all__ = ["MOST_CELLS", "Drawing"]

MOST_CELLS = 72  # drawn without a gap
SIDE, LENGTH, THICK = 168, 420, 34  # of a block; of a strip, in pixels
LETTER, LINE = 6.5, 13  # width and height of letters
_LEAST = 22  # of a cell

Holders = Sequence[Sequence[int]]  # ranks of each replica
_HATCH = (
    '<defs><pattern id="dt-hatch" width="6" height="6" '
    'patternTransform="rotate(45)" patternUnits="userSpaceOnUse">'
    '<path d="M0 0V6" stroke="#000" stroke-opacity=".25" stroke-width="2"/>'
    "</pattern></defs>"
)


@dataclass(frozen=True)
class Band:
    """A row or a column of cells; `place` is None for a gap."""

    place: int | None
    text: str
    begin: int
    length: int

    @property
    def middle(self) -> int:
        """Where its caption is."""
        return self.begin + self.length // 2


@dataclass(frozen=True)
class Drawing:
    """A grid of cells, of which the last two dims are rows and columns."""

    ranges: Sequence[Sequence[Range]]
    """The ranges of each dimension that its cells have."""
    holders: Callable[[tuple[int, ...]], Holders]
    """The ranks that hold a cell; none if it has no elements."""
    title: str = ""
    """What stands above a drawing of one block."""
    unit: int | None = None
    """The side of all cells; None: in proportion to their ranges."""

    def svg(self) -> str:
        """Return the drawing, with a block for each part of the leading dims."""
        whole = self.count() <= MOST_CELLS
        across, down = self._bands(whole)
        heads = _heads(across) if self.ranges else []
        margin = 8 + round(LETTER * max(len(band.text) for band in down))
        margin = max([margin, *(-left for left, _, _ in heads)])
        ends = max([across[-1].begin + across[-1].length, *(e for _, e, _ in heads)])
        fronts = self._fronts(whole)
        titles = [self._title(front) for front in fronts]
        blocks, x = [], 0
        for front, title in zip(fronts, titles, strict=True):
            blocks.append(f'<g transform="translate({x + margin},{2 * LINE + 4})">')
            blocks += self._block(front, title, across, down)
            blocks.append("</g>")
            x += margin + max(ends, round(LETTER * len(title))) + 12
        height = 2 * LINE + 8 + down[-1].begin + down[-1].length
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{x}" height="{height}" '
            'font-family="sans-serif" font-size="11" text-anchor="middle" '
            f'fill="currentColor">{_HATCH}{"".join(blocks)}</svg>'
        )

    def count(self) -> int:
        """Return the number of cells."""
        count = 1
        for parts in self.ranges:
            count *= len(parts)
        return count

    # --- what is drawn ----------------------------------------------------------------

    def _bands(self, whole: bool) -> tuple[list[Band], list[Band]]:
        """Return columns and rows; what has one dim is a strip."""
        ndim = len(self.ranges)
        columns = self.ranges[-1] if ndim else ((0, 1),)
        if ndim < 2:
            unit = self.unit and max(_LEAST, min(self.unit, LENGTH // len(columns)))
            strip = Band(0, "", 0, THICK)
            return _laid(columns, unit, LENGTH, 13 if not whole else None), [strip]
        most = None if whole else 6
        return (
            _laid(columns, self.unit, SIDE, most),
            _laid(self.ranges[-2], self.unit, SIDE, most),
        )

    def _fronts(self, whole: bool) -> list[tuple[int, ...] | None]:
        """Return the parts of the leading dims; None is a gap."""
        lengths = [range(len(parts)) for parts in self.ranges[:-2]]
        if whole:
            return list(itertools.product(*lengths))
        first, last = (tuple(r[k] for r in lengths) for k in (0, -1))
        return [first, None, last] if first != last else [first]

    def _title(self, front: tuple[int, ...] | None) -> str:
        if front is None:
            return "..."
        parts = ", ".join(span(self.ranges[d][k]) for d, k in enumerate(front))
        return f"[{parts}, :, :]" if parts else self.title

    def _block(
        self,
        front: tuple[int, ...] | None,
        title: str,
        across: Sequence[Band],
        down: Sequence[Band],
    ) -> Iterator[str]:
        if title:
            place = f'x="0" y="{-LINE - 4}" text-anchor="start"'
            yield f"<text {place}>{escape(title)}</text>"
        if front is None:
            return
        for _, _, band in _heads(across) if self.ranges else ():
            yield f'<text x="{band.middle}" y="-4">{escape(band.text)}</text>'
        for band in down if len(self.ranges) > 1 else ():
            text = escape(band.text)
            yield f'<text x="-5" y="{band.middle + 4}" text-anchor="end">{text}</text>'
        for row, column in itertools.product(down, across):
            if row.place is None or column.place is None:
                continue
            index = (*front, row.place, column.place)[-len(self.ranges) :]
            yield from self._cell(index if self.ranges else (), row, column)

    def _cell(self, index: tuple[int, ...], row: Band, column: Band) -> Iterator[str]:
        holders = self.holders(index)
        if not holders:
            return
        place = f'x="{column.begin}" y="{row.begin}"'
        place += f' width="{column.length}" height="{row.length}"'
        text = ",".join("+".join(map(str, ranks)) for ranks in holders)
        parts = ", ".join(span(self.ranges[d][k]) for d, k in enumerate(index))
        hint = f"<title>[{parts}] on {text[:60]}</title>"
        color = _color(holders[0][0])
        yield f'<rect {place} fill="{color}" stroke="#555">{hint}</rect>'
        if len(holders) > 1:
            yield f'<rect {place} fill="url(#dt-hatch)">{hint}</rect>'
        room = max(3, column.length // 6)
        dots = "\N{HORIZONTAL ELLIPSIS}"
        short = text if len(text) <= room else text[: room - 1] + dots
        yield (
            f'<text x="{column.middle}" y="{row.middle + 4}" fill="#111" '
            f'pointer-events="none">{short}</text>'
        )


def _laid(
    parts: Sequence[Range], unit: int | None, side: int, most: int | None
) -> list[Band]:
    """Return the bands of a dim: at most `most`, in proportion but not too thin."""
    places: list[int | None] = list(range(len(parts)))
    if most is not None and len(parts) > most:
        places = [*places[: most - 2], None, places[-1]]
    total = sum(
        end - first for first, end in (parts[k] for k in places if k is not None)
    )
    bands, begin = [], 0
    for k in places:
        if k is None:
            bands.append(Band(None, "\N{HORIZONTAL ELLIPSIS}", begin, _LEAST))
        else:
            first, end = parts[k]
            length = unit or max(_LEAST, round(side * (end - first) / total))
            bands.append(Band(k, span(parts[k]), begin, length))
        begin += bands[-1].length
    return bands


def _heads(across: Sequence[Band]) -> list[tuple[int, int, Band]]:
    """Return the columns that have room for their captions: from where to where."""
    heads: list[tuple[int, int, Band]] = []
    for band in across:
        half = math.ceil(LETTER * len(band.text) / 2)
        if not heads or band.middle - half >= heads[-1][1] + LETTER:
            heads.append((band.middle - half, band.middle + half, band))
    return heads


def _color(rank: int) -> str:
    """Return a light colour; the golden angle makes neighbours differ."""
    return f"hsl({rank * 137.508 % 360:.0f},70%,{(72, 82)[rank // 16 % 2]}%)"
