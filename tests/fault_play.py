"""Playing failures on purpose, and judging what the ranks made of them."""

import gc
import random
import re
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import oracle
from fault_calls import Call
from meshes import line
from mpi4py import MPI

from dtensor import _C, DeviceMesh
from dtensor._core import world as _world
from dtensor.testing import _fault, run_ranks

SECONDS = 10  # that a rank waits for another one
MANY = 10**9


class Case(NamedTuple):
    """The k-th call of a kind fails on a rank; k = 0: none does."""

    name: str
    call: Call
    kind: str
    k: int
    victim: int


class Told(NamedTuple):
    """What one rank saw."""

    error: tuple[str, str] | None  # its type and sentence
    values: Any
    calls: int  # of the kind, as long as none failed
    then: Any  # what the next call gave

    def what(self) -> str:
        return "an answer" if self.error is None else ": ".join(self.error)


# How the ranks tell each other something without the library: each gets what all said.
Tell = Callable[[Any], list[Any]]

FAILED_IN = re.compile(r"rank \d+ failed in ")
SPEAKER = re.compile(r"^(rank \d+ failed in [^:]*: |rank \d+: )|'/[^']*'")


def attempt(call: Callable[..., Any], *args: Any) -> tuple[Any, Any]:
    """What a call returns, or the type and the sentence of its exception."""
    try:
        return call(*args), None
    except Exception as error:
        return None, (type(error).__name__, str(error) or type(error).__name__)


def called(case: Case, mesh: DeviceMesh, path: Path) -> Any:
    """Call it, and what sends: then all ranks have heard of a failure in it."""
    values = case.call(mesh, path)
    _world.current().agree(b"", "the next call")
    return values


def played(case: Case, path: Path, tell: Tell) -> Told:
    """Play a case on this rank."""
    world = _world.current()
    mesh = line()
    tell(None)
    with _fault(case.kind, case.k if world.rank == case.victim else 0) as made:
        values, error = attempt(called, case, mesh, path)
    if error is not None and world._unsettled:
        # The others are told in the next call of this rank.
        _, late = attempt(world.agree, b"", "the next call")
        assert late is not None and FAILED_IN.match(late[1]), late
    tell(None)
    then, error_then = attempt(called, case, mesh, path)
    tell(None)
    return Told(error, values, made.calls, then if error_then is None else error_then)


# --- ranks ----------------------------------------------------------------------------


def on_threads(n: int) -> Callable[[Case], list[Told]]:
    """Plays cases on ranks that are threads, each in a world of its own."""

    def play(case: Case) -> list[Told]:
        said: list[Any] = [None] * n
        barrier = threading.Barrier(n)

        def tell(word: Any) -> list[Any]:
            said[_world.current().rank] = word
            barrier.wait(3 * SECONDS)
            heard = list(said)
            barrier.wait(3 * SECONDS)
            return heard

        with tempfile.TemporaryDirectory() as path:
            return run_ranks(n, played, case, Path(path), tell, timeout=SECONDS)

    return play


def on_mpi() -> Callable[[Case], list[Told]]:
    """Plays cases on the ranks of mpiexec."""
    comm = MPI.COMM_WORLD.Dup()

    def play(case: Case) -> list[Told]:
        place = tempfile.TemporaryDirectory() if comm.rank == 0 else None
        path = comm.bcast(place.name if place else None)
        told = comm.allgather(played(case, Path(path), comm.allgather))
        if place is not None:
            place.cleanup()
        return told

    return play


# --- judging --------------------------------------------------------------------------


def same(a: Any, b: Any) -> bool:
    return (
        isinstance(a, list)
        and isinstance(b, list)
        and len(a) == len(b)
        and all(oracle.same_bits(x, y) for x, y in zip(a, b, strict=True))
    )


def judge(told: list[Told], right: list[Any]) -> str:
    """What is wrong with what the ranks saw; nothing, if it is empty."""
    words = [t.what() for t in told]
    for rank, t in enumerate(told):
        if not same(t.then, right[rank]):
            return f"the next call fails on rank {rank}: {t.then}, after {words}"
    if any(t.error for t in told):
        kinds = {t.error and (t.error[0], SPEAKER.sub("", t.error[1])) for t in told}
        return "" if len(kinds) == 1 else f"the ranks differ: {words}"
    wrong = [r for r, t in enumerate(told) if not same(t.values, right[r])]
    return f"the answer of ranks {wrong} is wrong" if wrong else ""


def held() -> tuple[int, ...]:
    """Bytes of arrays, blocks of other memory, and Python objects of ours, of all ranks
    of mpiexec: these do alike what they do next."""
    gc.collect()
    info = _C._memory_info()
    ours = sum(str(type(o).__module__).startswith("dtensor") for o in gc.get_objects())
    mine = info["used"], info["blocks"], ours
    comm = MPI.COMM_WORLD
    return sum(comm.allgather(mine), ()) if comm.size > 1 else mine


class Campaign:
    """Cases that are played one after the other, and what was wrong with them."""

    def __init__(self, play: Callable[[Case], list[Told]]) -> None:
        self.play = play
        self.count = self.raised = 0
        self.wrong: list[str] = []
        gc.collect()
        gc.freeze()  # what is there already is not looked at
        _C._set_memory_limit(0)

    def close(self) -> None:
        gc.unfreeze()
        _C._set_memory_limit(1 << 30)

    def calls_of(self, case: Case) -> tuple[list[Any], int]:
        """The right answers of the ranks, and how many calls there are to fail."""
        told = []
        for _ in range(2):  # the first one fills caches
            told = self.play(case._replace(k=MANY))
        for t in told:
            assert t.error is None and same(t.values, t.then), (case, t.what())
        return [t.values for t in told], told[case.victim].calls

    def run(self, case: Case, right: list[Any], before: Any) -> Any:
        """Play a case; return what is held afterwards."""
        told = self.play(case)
        self.count += 1
        self.raised += any(t.error for t in told)
        why = judge(told, right)
        after = held()
        if not why and after != before:
            why = self.leak(case, after)
            after = held()
        if why:
            self.wrong.append(
                f"{case.name}, {case.kind} {case.k} of {case.victim}: {why}"
            )
        return after

    def leak(self, case: Case, after: Any) -> str:
        """Whether each time the case is played more is held."""
        for _ in range(3):
            before, _ = after, self.play(case)
            after = held()
            if not any(a > b for a, b in zip(after, before, strict=True)):
                return ""
        return f"it leaks: {before} becomes {after} (bytes, blocks, objects)"

    def all_of(self, case: Case) -> None:
        """Play a case for every k."""
        right, calls = self.calls_of(case)
        before = held()
        for k in range(1, calls + 1):
            before = self.run(case._replace(k=k), right, before)

    def some_of(self, case: Case, most: int, drawn: random.Random) -> None:
        """Play a case for at most so many k."""
        right, calls = self.calls_of(case)
        before = held()
        for k in drawn.sample(range(1, calls + 1), min(most, calls)):
            before = self.run(case._replace(k=k), right, before)

    def told(self) -> str:
        return f"{self.count} faults, {self.raised} raised, {len(self.wrong)} wrong"

    def report(self) -> str:
        return f"{len(self.wrong)} of {self.count} are wrong\n" + "\n".join(self.wrong)


def cases(
    calls: dict[str, Call], kinds: tuple[str, ...], victims: list[int]
) -> Iterator[Case]:
    for name, call in calls.items():
        for kind in kinds:
            for victim in victims:
                yield Case(name, call, kind, 0, victim)
