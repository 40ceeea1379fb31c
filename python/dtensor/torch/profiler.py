"""``torch.profiler``: how long operators and collectives take, by the watchers that
`dtensor.debug.CommDebugMode` has, on this rank.
"""

import enum
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ContextDecorator
from dataclasses import dataclass
from typing import Any, Self

from dtensor.debug import CommDebugMode, _trace
from dtensor.debug._modules import Span

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


class ProfilerAction(enum.Enum):
    """What is done in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class ProfilerActivity(enum.Enum):
    """What is recorded: CPU, always; the others are accepted."""

    CPU = 0
    XPU = 1
    CUDA = 2
    MTIA = 3
    HPU = 4
    PrivateUse1 = 5


def supported_activities() -> set[ProfilerActivity]:
    """Return what can be recorded."""
    return {ProfilerActivity.CPU}


def schedule(
    *,
    wait: int,
    warmup: int,
    active: int,
    repeat: int = 0,
    skip_first: int = 0,
    skip_first_wait: int = 0,
) -> Callable[[int], ProfilerAction]:
    """Return a function that tells what is done in each step.

    Parameters
    ----------
    wait, warmup, active : int
        How many steps of a cycle are left out, thrown away and recorded.
    repeat : int, default 0
        How many cycles there are; 0: no end.
    skip_first : int, default 0
        How many steps come before the first cycle.
    skip_first_wait : int, default 0
        Whether the first cycle has no `wait`.
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active < 1:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup="
            f"{warmup} (need >= 0), active={active} (need >= 1), repeat={repeat} (need "
            f">= 0), skip_first={skip_first} (need >= 0)."
        )

    def action(step: int) -> ProfilerAction:
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        cycle = wait + warmup + active
        if repeat > 0 and step // cycle >= repeat:
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        last = place == cycle - 1
        return ProfilerAction.RECORD_AND_SAVE if last else ProfilerAction.RECORD

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[["profile"], None]:
    """Return a function that writes each trace into a folder, for TensorBoard.

    Each rank writes a file of its own, in Chrome's trace format. `use_gzip` is ignored.
    """

    def write(finished: "profile") -> None:
        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        stamp = time.time_ns()
        finished.export_chrome_trace(
            os.path.join(dir_name, f"{name}.{stamp}.pt.trace.json")
        )

    return write


# --- what has been recorded -----------------------------------------------------------


@dataclass
class _Average:
    """All calls of one name: times are in microseconds."""

    key: str
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0

    @property
    def cpu_time(self) -> float:
        """The mean of a call."""
        return self.cpu_time_total / self.count


class _Averages(list[_Average]):
    def total_average(self) -> _Average:
        """Return the sum over all names."""
        counts = sum(each.count for each in self)
        times = sum(each.self_cpu_time_total for each in self)
        return _Average("Total", counts, times, times)

    def table(
        self, sort_by: str | None = None, row_limit: int = 100, **ignored: Any
    ) -> str:
        """Return a table of the names, those with the greatest `sort_by` first."""
        by = (sort_by or "").replace("cuda", "cpu").replace("device", "cpu")
        rows = list(self)
        if by:
            rows.sort(key=lambda row: -getattr(row, by))
        rows = rows[:row_limit] if row_limit >= 0 else rows
        whole = self.total_average().self_cpu_time_total or 1.0
        width = max([len("Name"), *(len(row.key) for row in rows)])
        lines = [
            f"{'Name':{width}}  {'Self CPU %':>10}  {'Self CPU':>12}  "
            f"{'CPU total':>12}  {'CPU time avg':>12}  {'# of Calls':>10}"
        ]
        for row in rows:
            share = 100 * row.self_cpu_time_total / whole
            times = (row.self_cpu_time_total, row.cpu_time_total, row.cpu_time)
            told = "  ".join(f"{t:10.3f}us" for t in times)
            lines.append(f"{row.key:{width}}  {share:9.2f}%  {told}  {row.count:10}")
        lines.append(f"Self CPU time total: {whole:.3f}us")
        return "\n".join(lines)


def _averages(events: Iterable[dict[str, Any]]) -> _Averages:
    """Return what nested events come to; the time within others is not their own."""
    found: dict[str, _Average] = {}
    open_: list[tuple[float, _Average]] = []
    for event in events:
        if event["ph"] != "X":
            continue
        begin, length = event["ts"], event["dur"]
        row = found.setdefault(event["name"], _Average(event["name"]))
        row.count += 1
        row.cpu_time_total += length
        row.self_cpu_time_total += length
        while open_ and open_[-1][0] <= begin:
            open_.pop()
        if open_:
            open_[-1][1].self_cpu_time_total -= length
        open_.append((begin + length, row))
    return _Averages(sorted(found.values(), key=lambda row: -row.cpu_time_total))


_here = threading.local()  # ranks may be threads


def _running() -> list["profile"]:
    """Return the profiles that record in this thread."""
    if not hasattr(_here, "profiles"):
        _here.profiles = []
    found: list[profile] = _here.profiles
    return found


class record_function(ContextDecorator):  # noqa: N801
    """Name what runs in a block, or in a function that is decorated.

    Parameters
    ----------
    name : str
    args : str, optional
        Ignored.
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name

    def __enter__(self) -> Self:
        self._begin = time.monotonic()
        return self

    def __exit__(self, *error: object) -> None:
        for each in _running():
            each._named(self.name, self._begin, time.monotonic())


class profile:  # noqa: N801
    """Record operators, collectives and modules of this rank within a block.

    Nothing is sent. Operators take some microseconds longer meanwhile.

    Parameters
    ----------
    activities : iterable of ProfilerActivity, optional
        Ignored: what the processor does is recorded.
    schedule : callable, optional
        What is done in each step, as `schedule` returns it; call `step` then. Default:
        all is recorded.
    on_trace_ready : callable, optional
        Called with this object when a recording ends.
    record_shapes, profile_memory, with_stack, with_flops, with_modules, **ignored
        Without effect.
    """

    def __init__(
        self,
        *,
        activities: Iterable[Any] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        **ignored: Any,
    ) -> None:
        self.schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = ProfilerAction.NONE
        self._mode: CommDebugMode | None = None
        self._spans: list[Span] = []
        self._events: dict[str, Any] = {"rank": 0, "offset": 0.0, "events": []}

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin."""
        self.current_action = self.schedule(self.step_num)
        self._follow()

    def stop(self) -> None:
        """End; what is being recorded is kept."""
        if self._mode is not None:
            self._finish(self.current_action is not ProfilerAction.WARMUP)
        self.current_action = ProfilerAction.NONE

    def step(self) -> None:
        """Say that the next step of the program begins."""
        before, self.step_num = self.current_action, self.step_num + 1
        self.current_action = self.schedule(self.step_num)
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._finish(True)
        elif self._mode is not None and (
            before is ProfilerAction.WARMUP
            or self.current_action is ProfilerAction.NONE
        ):
            self._finish(False)
        self._follow()

    def _follow(self) -> None:
        if self._mode is None and self.current_action is not ProfilerAction.NONE:
            self._mode, self._spans = CommDebugMode(), []
            self._mode.__enter__()
            _running().append(self)

    def _finish(self, keep: bool) -> None:
        mode, self._mode = self._mode, None
        if mode is None:
            return
        _running().remove(self)
        mode.__exit__(None)
        if not keep:
            return
        mode._look_at_modules()
        rank = mode._rank()[0]
        spans = [*mode._spans, *self._spans]
        self._events = _trace.events(rank, mode._records, spans)
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _named(self, name: str, begin: float, end: float) -> None:
        if self._mode is not None:
            self._spans.append(Span(name, False, begin, end))

    # --- results ----------------------------------------------------------------------

    def export_chrome_trace(self, path: str) -> None:
        """Write this rank's timeline for https://ui.perfetto.dev.

        `CommDebugMode` writes that of all ranks.
        """
        with open(path, "w") as file:
            json.dump(_trace.merge([self._events]), file)

    def key_averages(self, *ignored: Any, **options: Any) -> _Averages:
        """Return the times of all calls of each name; ``.table()`` is a text."""
        return _averages(self._events["events"])

    def events(self) -> list[dict[str, Any]]:
        """Return the events, in Chrome's trace format."""
        return list(self._events["events"])
