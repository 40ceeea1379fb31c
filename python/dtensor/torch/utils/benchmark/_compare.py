"""Tables of measurements."""

import enum
import math
from collections.abc import Iterable
from typing import Any

from dtensor.torch.utils.benchmark._measurement import (
    Measurement,
    ordered_unique,
    select_unit,
    trim_sigfig,
    unit_to_english,
)

__all__ = ["Colorize", "Compare"]

_BETWEEN = "  |  "
_END = "\033[0m"
# Up to how many times the best a cell is in a colour; beyond the last: as it.
_FAST = ((1.01, "\033[92m\033[1m"), (1.1, "\033[34m\033[1m"))
_SLOW = ((5.0, "\033[31m\033[1m"), (2.0, "\033[2m\033[91m"))


class Colorize(enum.Enum):
    """What cells of a table are compared with, to give them colours."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Compare:
    """A table of measurements, for each label: a column for each description.

    Parameters
    ----------
    results : list of Measurement
        Several of one task are taken together.
    """

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trims = self._warns = False
        self._colorize = Colorize.NONE

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements."""
        found = list(results)
        for each in found:
            if not isinstance(each, Measurement):
                raise ValueError(
                    f"Expected an instance of `Measurement`, got {type(each)} instead."
                )
        self._results += found

    def trim_significant_figures(self) -> None:
        """Print no more digits than can be relied on."""
        self._trims = True

    def colorize(self, rowwise: bool = False) -> None:
        """Print the best times of each column, or row, in another colour."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Print how much a time varies, where it does."""
        self._warns = True

    def print(self) -> None:
        """Print the tables."""
        print(str(self))

    def __str__(self) -> str:
        groups: dict[Any, list[Measurement]] = {}
        for each in Measurement.merge(self._results):
            groups.setdefault(each.task_spec.label, []).append(each)
        return "\n".join(
            _Table(group, self._trims, self._warns, self._colorize).text()
            for group in groups.values()
        )


class _Table:
    """The measurements of one label."""

    def __init__(
        self, found: list[Measurement], trims: bool, warns: bool, colorize: Colorize
    ) -> None:
        self.trims, self.warns, self.colorize = trims, warns, colorize
        self.label = found[0].task_spec.label or ""
        self.unit, self.seconds = select_unit(min(m.median for m in found))
        self.columns = ordered_unique(m.task_spec.description or "" for m in found)
        keys = [(m.num_threads, m.env or "", m.as_row_name) for m in found]
        self.rows = ordered_unique(keys)
        self.cells = {
            (key, m.task_spec.description or ""): m
            for key, m in zip(keys, found, strict=True)
        }

    def _of_column(self, column: str) -> list[Measurement]:
        found = (self.cells.get((row, column)) for row in self.rows)
        return [m for m in found if m is not None]

    def _texts(self, column: str) -> dict[Any, str]:
        """Return the times of a column, by row, with as many digits each."""
        whole, after = [1], [1]
        known = self._of_column(column)
        if self.trims and known:
            after = [
                m.significant_figures
                - math.floor(math.log10(m.median / self.seconds))
                - 1
                for m in known
            ]
        whole += [math.ceil(math.log10(m.median / self.seconds)) for m in known]
        digits = max(max(after), 0)
        width = max(whole) + (digits + 1 if digits else 0)
        return {
            row: self._text(self.cells.get((row, column)), width, digits)
            for row in self.rows
        }

    def _text(self, found: Measurement | None, width: int, digits: int) -> str:
        if found is None:
            return ""
        value = found.median / self.seconds
        if self.trims:
            value = trim_sigfig(value, found.significant_figures)
        text = f"{value:>{width}.{digits}f}"
        if self.warns and found.has_warnings:
            text += f" (! {100 * found.iqr / found.median:.0f}%)"
        return text

    def _colored(self, text: str, value: float, best: float) -> str:
        for most, color in _FAST:
            if value <= best * most or (color == _FAST[0][1] and value <= best + 1e-7):
                return f"{color}{text}{_END}{_END}"
        for least, color in _SLOW:
            if value >= best * least:
                return f"{color}{text}{_END}{_END}"
        return text

    def _best(self, row: Any, column: str) -> float:
        if self.colorize is Colorize.ROWWISE:
            others = [self.cells.get((row, c)) for c in self.columns]
        else:
            same = [r for r in self.rows if r[0] == row[0]]
            others = [self.cells.get((r, column)) for r in same]
        return min(m.median for m in others if m is not None)

    def text(self) -> str:
        """Return the table, with the unit below it."""
        named = any(env for _, env, _ in self.rows)
        envs, before = {}, None
        for row in self.rows:
            envs[row] = f"({row[1]})  " if row[1] and row[1] != before else ""
            before = row[1]
        names = {row: row[2] for row in self.rows}
        long = max(map(len, names.values()))
        lead = max(map(len, envs.values()))
        first = {
            row: (
                f"  {envs[row]:>{lead}}{names[row]:{long}}"
                if named
                else f"      {names[row]:{long}}"
            )
            for row in self.rows
        }
        texts = {column: self._texts(column) for column in self.columns}
        widths = {
            column: max(map(len, [column, *texts[column].values()]))
            for column in self.columns
        }
        blank = len(next(iter(first.values())))
        head = [" " * blank, *(c.center(widths[c]) for c in self.columns)]
        width = len(_BETWEEN.join(head))
        lines = [f"[{f' {self.label} '.center(width - 2, '-')}]", _BETWEEN.join(head)]
        threads = None
        for row in self.rows:
            if row[0] != threads:
                threads = row[0]
                lines.append(f"{threads} threads: ".ljust(width, "-"))
            parts = [first[row]]
            for column in self.columns:
                text, room = texts[column][row], widths[column]
                text = text.center(room) if room > len(text) + 1 else text.ljust(room)
                found = self.cells.get((row, column))
                if found is not None and self.colorize is not Colorize.NONE:
                    best = self._best(row, column)
                    text = self._colored(text, found.median, best)
                parts.append(text)
            lines.append(_BETWEEN.join(parts))
        lines += ["", f"Times are in {unit_to_english(self.unit)}s ({self.unit})."]
        if self.warns and any(m.has_warnings for m in self.cells.values()):
            lines.append(
                "(! XX%) Measurement has high variance, where XX is the IQR / median "
                "* 100."
            )
        return "\n".join(lines) + "\n"
