"""Watchers, which are called for operators, moves and collectives while they run.

If there is no watcher, an operator only checks one pointer
(csrc/ext/dispatch/dispatch.c).
"""

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, NamedTuple

from dtensor import _C
from dtensor._core.caller import OURS
from dtensor.debug._modules import Tracker
from dtensor.ops._make.fallback import _gathered
from dtensor.ops._make.parts import move_all

__all__ = [
    "Call",
    "Collective",
    "Record",
    "Site",
    "Watcher",
    "tracker",
    "unwatch",
    "watch",
]

Known = tuple[_C.Layout | str, ...]


class Site(NamedTuple):
    """A line of the user's program."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Collective(NamedTuple):
    """A finished collective, as seen by this rank."""

    name: str
    begin: float  # time.monotonic()
    end: float
    bytes: int  # sent by this rank
    messages: int
    peers: Sequence[tuple[int, int]]  # rank, bytes sent to it


@dataclass(slots=True, eq=False)
class Record:
    """An operator that runs, or a move that is not part of an operator."""

    # "operator"; "move": requested by the program; "implicit": made by a function that
    # is composed of operators; "fallback": made by a function without a rule
    kind: str
    name: str
    site: Site
    module: str
    backward: bool
    recomputed: bool  # forward inside backward, in a checkpoint
    sources: Known  # the layouts of the operands
    targets: Known  # the layouts that these are moved to
    results: Known
    distributed: bool  # there is a DTensor among the operands
    seconds: float  # predicted for the moves of an operator
    begin: float
    end: float = 0.0
    collectives: list[Collective] = field(default_factory=list)


class Call(NamedTuple):
    """An operator and its arguments. Do not keep it: it keeps arrays alive."""

    operator: _C.Operator
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


Watcher = Callable[[Record, Call | None], object]


class _State(threading.local):
    """The state of a thread: its watchers, and what it is doing."""

    def __init__(self) -> None:
        self.watchers: list[Watcher] = []
        self.tracker = Tracker()
        self.running: list[Record] = []  # operators, innermost last


_state = _State()
_everywhere: list[Watcher] = []
_lock = threading.Lock()
_count = 0


def watch(watcher: Watcher, everywhere: bool = False) -> None:
    """Call ``watcher(record, call)`` before each operator and each move.

    A record is complete when its operator or move has ended; that of an asynchronous
    move, when it was waited for. For this thread, or with `everywhere` for all threads.
    """
    global _count
    (_everywhere if everywhere else _state.watchers).append(watcher)
    if not everywhere:
        _state.tracker.open()
    with _lock:
        _count += 1
        _C._watch(_on_operator, _on_move)


def unwatch(watcher: Watcher, everywhere: bool = False) -> None:
    """Undo `watch`, in the same thread."""
    global _count
    (_everywhere if everywhere else _state.watchers).remove(watcher)
    if not everywhere:
        _state.tracker.close()
    with _lock:
        _count -= 1
        if _count == 0:
            _C._watch(None, None)


def tracker() -> Tracker:
    """Return the tracker of the modules that this thread is in."""
    return _state.tracker


def _tell(record: Record, call: Call | None) -> None:
    for watcher in (*_everywhere, *_state.watchers):
        watcher(record, call)


def _on_operator(
    operator: _C.Operator,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    sources: tuple[_C.Layout, ...],
    targets: tuple[_C.Layout, ...],
    results: tuple[_C.Layout, ...],
    seconds: float,
    distributed: bool,
) -> Callable[[], None] | None:
    state = _state
    if not state.watchers and not _everywhere:
        return None
    known = (sources, targets, results, distributed, seconds)
    record = _record("operator", operator.__name__, sys._getframe(1), known)
    _tell(record, Call(operator, args, kwargs))
    state.running.append(record)

    def ended() -> None:
        record.end = time.monotonic()
        state.running.remove(record)

    return ended


def _on_move(
    what: str, sources: Known, targets: Known
) -> Callable[[list[Any]], None] | None:
    state = _state
    if not state.watchers and not _everywhere:
        return None
    if state.running:  # of its operands, which the record already has
        record = state.running[-1]
    else:
        frame = sys._getframe(1)
        known = (sources, targets, targets, True, 0.0)
        record = _record(*_asked_by(frame, what), frame, known)
        record.end = record.begin
        _tell(record, None)

    def ended(deeds: list[Any]) -> None:
        record.collectives.extend(Collective(*deed) for deed in deeds)
        if record.kind != "operator" and deeds:
            record.end = max(record.end, deeds[-1][2])

    return ended


def _record(
    kind: str,
    name: str,
    frame: FrameType,
    known: tuple[Known, Known, Known, bool, float],
) -> Record:
    """Return the record of what begins now; `known` are its fields from `sources`."""
    fields = (*_state.tracker.where(), *known, time.monotonic())
    return Record(kind, name, _site(frame), *fields)


def _site(frame: FrameType) -> Site:
    """Return the nearest line outside this library."""
    while frame.f_code.co_filename.startswith(OURS) and frame.f_back is not None:
        frame = frame.f_back
    code = frame.f_code
    return Site(code.co_filename, frame.f_lineno, code.co_qualname)


def _asked_by(frame: FrameType, what: str) -> tuple[str, str]:
    """Return the kind of a move, and the function that requested it."""
    if frame.f_code is not move_all.__code__:
        return "move", what
    asked = frame.f_back is not None and frame.f_back.f_code is _gathered.__code__
    return "fallback" if asked else "implicit", str(frame.f_locals["name"])
