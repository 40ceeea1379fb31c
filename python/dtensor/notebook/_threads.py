"""Ranks that are threads of this process, and live from cell to cell."""

import ast
import contextlib
import contextvars
import linecache
import queue
import threading
from collections.abc import Iterable, Sequence
from typing import Any

from dtensor import _C
from dtensor.notebook._ranks import Ranks, Said, is_given_up
from dtensor.notebook._shown import Routed, bundle, named

__all__ = ["Threads"]

# What an interrupt waits for ranks that compute, and so do not hear of it.
_END_SECONDS = 5.0
# What a rank waits at the end of a cell before those that wait for it are told.
_LATE_SECONDS = 1.0


class Threads(Ranks):
    """Ranks that are threads: see `dtensor.notebook.start`."""

    def __init__(self, n: int, timeout: float) -> None:
        super().__init__(n)
        worlds = _C.World.threads(n)
        self._ranks = [_Rank(world, timeout) for world in worlds]
        self._cell: _Cell | None = None
        self._count = 0

    def __repr__(self) -> str:
        return f"<{self.n} ranks that are threads>"

    def run(self, code: str, on: Iterable[int] | None = None) -> list[Said]:
        chosen = self.chosen(on)
        self._end_of_cell()
        self._count += 1
        name = f"<cell {self._count} of ranks>"
        linecache.cache[name] = len(code), None, code.splitlines(True), name
        parts = _compiled(code, name)
        cell = self._cell = _Cell(self._ranks, {r: parts for r in chosen})
        self._wait(cell)
        return [cell.said[rank] for rank in chosen]

    def _wait(self, cell: "_Cell") -> None:
        with Routed():
            for rank in self._ranks:
                rank.jobs.put(cell)
            try:
                cell.wait(None)
            except KeyboardInterrupt:
                cell.interrupt()
                if not cell.wait(_END_SECONDS):
                    raise KeyboardInterrupt(
                        f"{named(cell.busy())} did not end; the next cell waits for it"
                    ) from None
                raise

    def _end_of_cell(self) -> None:
        """Wait for ranks that did not hear of an interrupt."""
        if self._cell is not None:
            self._cell.wait(None)

    def __getitem__(self, name: str) -> list[Any]:
        self.chosen(None)
        return [rank.names[name] for rank in self._ranks]

    def push(self, **values: Any) -> None:
        self.chosen(None)
        for rank in self._ranks:
            rank.names.update(values)

    def stop(self) -> None:
        if self.stopped:
            return
        self.stopped = True
        if self._cell is not None and not self._cell.wait(0):
            self._cell.interrupt()
        for rank in self._ranks:
            rank.jobs.put(None)
        for rank in self._ranks:
            rank.thread.join(_END_SECONDS)


class _Rank:
    """A thread, its world and its variables."""

    def __init__(self, world: _C.World, timeout: float) -> None:
        self.world, self.timeout = world, timeout
        self.number = world.rank
        self.names: dict[str, Any] = {"__name__": "__main__", "__doc__": None}
        self.jobs: queue.SimpleQueue[_Cell | None] = queue.SimpleQueue()
        self.apart = False  # from the others: it could not be brought back in step
        run = contextvars.copy_context().run
        self.thread = threading.Thread(
            target=run, args=(self.live,), name=f"rank {self.number}", daemon=True
        )
        self.thread.dtensor_rank = self.number  # type: ignore[attr-defined]
        self.thread.start()

    def live(self) -> None:
        self.world.activate()
        self.world.timeout = self.timeout
        self.world.limit = "timeout= of dtensor.notebook.start"
        while (cell := self.jobs.get()) is not None:
            cell.be_rank(self)
            del cell
        self.world.close()


class _Cell:
    """A cell that ranks run.

    A rank that has failed calls `resync` at once, which ends what others wait for. One
    that has not does so when another one has failed, or is late: it may wait for those
    that have come to the end, and never hear from them.
    """

    def __init__(self, ranks: Sequence[_Rank], parts: dict[int, Any]) -> None:
        self.ranks = ranks
        self.parts = parts
        self.said = {rank.number: Said(rank.number) for rank in ranks}
        if parts:
            self.said[min(parts)].is_live = True
        self.changed = threading.Condition()
        self.inside: set[int] = set()  # of the user's code
        self.left: set[int] = set()
        self.done: set[int] = set()
        self.failed = False
        self.late = False  # some are, so all end with resync
        self.apart = any(rank.apart for rank in ranks)  # so all begin with resync

    def be_rank(self, rank: _Rank) -> None:
        """Run the cell: the body of a rank's thread."""
        said = self.said[rank.number]
        if self.apart:
            self._resync(rank, said)
        if rank.number in self.parts and said.error is None:
            try:
                with self.changed:
                    self.inside.add(rank.number)
                with Routed.to(said):
                    _execute(self.parts[rank.number], rank.names, said)
            except BaseException as error:
                said.error = error
            self._leave(rank, said)
        with self.changed:
            self.left.add(rank.number)
            self.failed |= said.error is not None
            self.changed.notify_all()
            if said.error is None and not self.changed.wait_for(
                lambda: self.failed or self.late or len(self.left) == len(self.ranks),
                _LATE_SECONDS,
            ):
                self.late = True
                self.changed.notify_all()
        if self.failed or self.late:
            said.given_up = said.error is not None and is_given_up(said.error)
            self._resync(rank, said)
        with self.changed:
            self.done.add(rank.number)
            self.changed.notify_all()

    def _leave(self, rank: _Rank, said: Said) -> None:
        """After this nobody interrupts this rank any more."""
        while rank.number in self.inside:
            try:
                with self.changed:
                    self.inside.discard(rank.number)
            except KeyboardInterrupt as error:
                said.error = error
        # An interrupt that came late is raised here, with one of this rank's own: to
        # take it back instead, Python 3.11 would stop at every call for good, and a
        # profiler would not get past the first one.
        with contextlib.suppress(KeyboardInterrupt):
            _C._raise_in(threading.get_ident(), KeyboardInterrupt)
            _nothing()

    def _resync(self, rank: _Rank, said: Said) -> None:
        why = "came to the end of" if said.error is None else "failed in"
        rank.apart = True
        while rank.apart:
            try:
                rank.world.resync(f"{why} this cell", ())
                rank.apart = False
            except RuntimeError as error:
                if not self.busy():  # who computes will come
                    said.error = said.error or error
                    return

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt on all ranks that run the user's code."""
        with self.changed:
            self.failed = True
            for number in self.inside:
                _C._raise_in(self.ranks[number].thread.ident or 0, KeyboardInterrupt)
            self.changed.notify_all()

    def busy(self) -> list[int]:
        """Return the ranks that still run the user's code."""
        return sorted(self.inside)

    def wait(self, seconds: float | None) -> bool:
        """Wait until all ranks have ended, and return whether they have."""
        with self.changed:
            return self.changed.wait_for(
                lambda: len(self.done) == len(self.ranks), seconds
            )


def _nothing() -> None:
    """Do nothing: Python raises what it is asked to where a function begins."""


# --- code -----------------------------------------------------------------------------


def _compiled(code: str, name: str) -> tuple[Any, Any]:
    """Return the code, and the expression in its last line, if it is one."""
    tree = ast.parse(code, name)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        quiet = code.rstrip().endswith(";")
        expression = tree.body[-1]
        if not quiet:
            tree.body.pop()
            last = compile(ast.Expression(expression.value), name, "eval")
    return compile(tree, name, "exec"), last


def _execute(parts: tuple[Any, Any], names: dict[str, Any], said: Said) -> None:
    body, last = parts
    exec(body, names)  # noqa: S102  it is what the user has written
    value = None if last is None else eval(last, names)  # noqa: S307
    if value is not None:
        names["_"] = value
        said.shown.append(bundle(value))
