"""Times of a statement, and their statistics."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

__all__ = [
    "Measurement",
    "TaskSpec",
    "ordered_unique",
    "select_unit",
    "trim_sigfig",
    "unit_to_english",
]

_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
_ENGLISH = {
    "ns": "nanosecond",
    "us": "microsecond",
    "ms": "millisecond",
    "s": "second",
}
_MOST_DIGITS = 5
_LEAST_SECONDS = 25e-9  # of the interval that the median is in: a timer's precision


def select_unit(t: float) -> tuple[str, float]:
    """Return the unit in which a time in seconds is printed, and its seconds."""
    power = math.floor(math.log10(t)) // 3 if t > 0 else 0
    unit = {-1: "ms", -2: "us", -3: "ns"}.get(power, "s")
    return unit, _UNITS[unit]


def unit_to_english(u: str) -> str:
    """Return the name of a unit."""
    return _ENGLISH[u]


def trim_sigfig(x: float, n: int) -> float:
    """Return a number with `n` significant digits."""
    if x == 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(abs(x))) + 1 - n)
    return round(x / step) * step


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """Return the distinct elements, in the order in which they come first."""
    return list(dict.fromkeys(elements))


@dataclass(frozen=True)
class TaskSpec:
    """What is measured.

    Parameters
    ----------
    stmt, setup : str
        The statement, and what runs before it.
    global_setup : str, default ""
        Accepted: of C++.
    label, sub_label, description, env : str, optional
        Names of the task, of its row and column of a table, and of where it runs.
    num_threads : int, default 1
    """

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label and the sub-label, or the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        if "\n" not in self.stmt:
            return self.stmt + (f": {self.sub_label}" if self.sub_label else "")
        lines = "\n".join(f"  {line}" for line in self.stmt.splitlines())
        return f"stmt:\n{lines}" + (f": {self.sub_label}" if self.sub_label else "")

    def setup_str(self) -> str:
        """Return what the setup prints as; "" if there is none."""
        if self.setup in ("", "pass"):
            return ""
        if "\n" not in self.setup:
            return f"setup: {self.setup}"
        lines = "\n".join(f"  {line}" for line in self.setup.splitlines())
        return f"setup:\n{lines}\n"

    def summarize(self) -> str:
        """Return the title, description and setup, on lines of their own."""
        parts = [self.title, self.description or "", self.setup_str()]
        return "\n".join(part for part in parts if part)


class Measurement:
    """The times of several runs of a task.

    Parameters
    ----------
    number_per_run : int
        How often the statement runs in each of them.
    raw_times : list of float
        The seconds of each.
    task_spec : TaskSpec
    metadata : dict, optional
        Anything else.
    """

    def __init__(
        self,
        number_per_run: int,
        raw_times: list[float],
        task_spec: TaskSpec,
        metadata: dict[Any, Any] | None = None,
    ) -> None:
        self.number_per_run = number_per_run
        self.raw_times = raw_times
        self.task_spec = task_spec
        self.metadata = metadata

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__") and name != "task_spec":
            return getattr(self.task_spec, name)  # the rest is of the task
        raise AttributeError(name)

    @property
    def times(self) -> list[float]:
        """The seconds of one run of the statement, in each measurement."""
        return [t / self.number_per_run for t in self.raw_times]

    @cached_property
    def _sorted(self) -> Any:
        return np.sort(np.asarray(self.times, float))

    def _quantile(self, q: float) -> float:
        return float(np.quantile(self._sorted, q)) if self.raw_times else math.nan

    @property
    def median(self) -> float:
        """The median of `times`."""
        return self._quantile(0.5)

    @property
    def mean(self) -> float:
        """The mean of `times`."""
        return float(np.mean(self._sorted)) if self.raw_times else math.nan

    @property
    def iqr(self) -> float:
        """How far the quartiles of `times` lie apart."""
        return self._quantile(0.75) - self._quantile(0.25)

    @property
    def significant_figures(self) -> int:
        """How many digits of the median can be relied on.

        The half of the times in the middle say how exactly it is known.
        """
        count = len(self._sorted)
        middle = self._sorted[count // 4 : math.ceil(3 * count / 4)]
        error = 1.645 * float(np.std(middle)) / math.sqrt(len(middle))
        digits = math.floor(math.log10(self.median / max(error, _LEAST_SECONDS)))
        return min(max(digits, 1), _MOST_DIGITS)

    @property
    def has_warnings(self) -> bool:
        """Whether the times vary by more than a tenth."""
        return not self.meets_confidence()

    def meets_confidence(self, threshold: float = 0.1) -> bool:
        """Return whether the quartiles are closer than a part of the median."""
        return len(self.raw_times) < 2 or self.iqr / self.median < threshold

    @property
    def title(self) -> str:
        """See `TaskSpec.title`."""
        return self.task_spec.title

    @property
    def env(self) -> str | None:
        """Where it ran."""
        return self.task_spec.env

    @property
    def as_row_name(self) -> str:
        """The name of its row in a table."""
        return self.task_spec.sub_label or self.task_spec.stmt

    @staticmethod
    def merge(measurements: Iterable["Measurement"]) -> list["Measurement"]:
        """Return one measurement for each task, of the times of all of its runs."""
        groups: dict[TaskSpec, list[float]] = {}
        for each in measurements:
            groups.setdefault(each.task_spec, []).extend(each.times)
        return [Measurement(1, times, spec) for spec, times in groups.items()]

    def _warnings(self) -> list[str]:
        if self.meets_confidence():
            return []
        share = 100 * self.iqr / self.median
        why = (
            "This suggests significant environmental influence."
            if share > 25
            else "This could indicate system fluctuation."
        )
        first = f"WARNING: Interquartile range is {share:.1f}% of the median "
        return [f"  {first}measurement.", f"           {why}"]

    def __repr__(self) -> str:
        count, threads = len(self.raw_times), self.task_spec.num_threads
        unit, seconds = select_unit(self.median)
        named = "Median: " if count > 1 else ""
        lines = [
            f"<torch.utils.benchmark.utils.common.Measurement object at {id(self):#x}>",
            self.task_spec.summarize(),
            f"  {named}{self.median / seconds:.2f} {unit}",
        ]
        if count > 3:
            first, last = (self._quantile(q) / seconds for q in (0.25, 0.75))
            lines.append(
                f"  IQR:    {last - first:.2f} {unit} ({first:.2f} to {last:.2f})"
            )
        per = "per measurement," if count > 1 else ","
        lines.append(
            f"  {count} measurement{'s' if count > 1 else ''}, {self.number_per_run} "
            f"runs {per} {threads} thread{'s' if threads > 1 else ''}"
        )
        return "\n".join(lines + self._warnings())
