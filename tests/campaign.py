"""Plays programs in which some ranks do something else: all must find out.

`./run exec python tests/campaign.py --help`. What each rank observes is compared with
the program that this rank itself ran, played by NumPy alone: a value that differs from
that, without an error, is silently wrong.
"""

import argparse
import copy
import functools
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from blind_spots import blind
from campaign_calls import BLIND
from divergences import Program, Step, flat, program, quietly
from rows import BITS, SHAPE, VALUE, Sample, arrays_of

import dtensor
from dtensor import DTensor, Replicate, Shard, init_device_mesh
from dtensor._core import world as _world
from dtensor.testing import run_ranks

THRESHOLD = 0.37  # no value of the arrays
SEED = 11
HANGS = 60.0  # seconds after which a rank that has not ended hangs


class Heard(NamedTuple):
    """What became of a step on one rank."""

    what: str  # "done", "left out", "value", "error"
    value: Any = None


class Own(Exception):
    """What a rank raises itself."""


# --- a rank ---------------------------------------------------------------------------


class Player:
    """Carries out steps, with DTensors or, where `mesh` is None, with arrays."""

    def __init__(self, played: Program, mesh: Any) -> None:
        self.played, self.mesh = played, mesh
        self.results: dict[int, Any] = {}
        self.count: Any = 0
        self.operands: dict[tuple[str, int], list[Any]] = {}
        self.aliases: dict[int, Any] = {}
        random = dtensor.random.manual_seed
        random(SEED, mesh or init_device_mesh("cpu", (1,)))
        for j, call in enumerate(played.calls):
            for turn, which in enumerate("ab"):
                self.operands[which, j] = [
                    self.placed(x, words)
                    for x, words in zip(
                        arrays_of(call, turn), played.placements[j], strict=True
                    )
                ]

            first = self.operands["a", j][0]
            self.aliases[j] = first if mesh is None else first.detach()

    def placed(self, array: np.ndarray, words: Sequence[str] = ()) -> Any:
        if self.mesh is None:
            return array
        placements = [Replicate() if w == "R" else Shard(int(w)) for w in words]
        return dtensor.distribute_tensor(array, self.mesh, placements or None)

    def call(self, j: int, which: str, call: Sample) -> Any:
        operands = self.operands[which, j]
        if self.mesh is not None:
            return call.fn(*operands)
        return bare((call.reference or call.fn)(*operands))

    def first(self, j: int) -> Any:
        """The first array of a result, or nothing."""
        found = next(flat(self.results[j]), None)
        tensor = DTensor if self.mesh is not None else np.ndarray | np.generic
        return found if isinstance(found, tensor) else None

    def makes(self, make: Callable[..., Any]) -> Any:
        """A new tensor; on one rank its elements."""
        if self.mesh is not None:
            return make(device_mesh=self.mesh)
        return np.asarray(make(device_mesh=init_device_mesh("cpu", (1,))).to_local())

    # --- steps: what is heard of them

    def do(self, step: Step) -> None:
        j, what = step.j, step.with_what
        if step.act == "do nothing":
            self.results[j] = self.operands["a", j][0]
        elif step.act == "do other":
            self.results[j] = self.call(j, "a", what)
        else:
            self.results[j] = self.call(j, what, self.played.calls[j])

    def constant(self, step: Step) -> bool:
        x, number = self.first(step.j), step.with_what
        if x is None or np.dtype(x.dtype).kind not in "fc":
            return False
        if step.act == "scale":
            y = x * number
        elif step.act == "add small array":
            y = x + np.array([number])
        elif step.act == "add full":
            y = x + self.makes(functools.partial(dtensor.full, (1,), number))
        else:
            random = functools.partial(dtensor.rand, 1)
            dtensor.random.manual_seed(
                int(number * 2) + 9, self.mesh or init_device_mesh("cpu", (1,))
            )
            y = x + self.makes(random)
        self.results[step.j] = y
        return True

    def counts(self, step: Step) -> bool:
        x = self.first(step.j)
        says_nothing = self.played.calls[step.j].mode == SHAPE
        if x is None or np.dtype(x.dtype).kind not in "iuf" or says_nothing:
            return False
        self.count = self.count + np.count_nonzero(x > THRESHOLD)
        return True

    def sees(self, step: Step) -> list[Any]:
        if step.act == "see count":
            return [seen(self.count)]
        if step.act == "see operand":  # written into, maybe
            return [seen(self.aliases[step.j])]
        return [seen(x) for x in flat(self.results[step.j])]

    def alone(self, step: Step) -> None:
        """What only one rank does."""
        x = self.operands["a", step.j][0]
        if step.act == "new leaf":
            self.placed(np.ones(3))
        elif step.act == "draw":
            self.makes(functools.partial(dtensor.rand, 3))
        elif step.act == "write":
            x[...] = 1
        elif step.act == "kernel":
            np.divide(x, np.zeros((), "f"))
        elif self.mesh is None:
            return
        elif step.act == "look" and os.environ.get("DTENSOR_CHECK") != "2":
            str((x + x).to_local()), repr(x), copy.deepcopy(x), copy.copy(x).detach()
            dtensor.zeros(3, device_mesh=self.mesh) + dtensor.arange(
                3, device_mesh=self.mesh
            )
        elif step.act == "refused":
            with swallowing():
                x + dtensor.ones(13, 11, device_mesh=self.mesh)
        elif step.act == "failing kernel":
            with swallowing(), np.errstate(all="raise"):
                np.divide(x, np.zeros((), "f"))

    def play(self, step: Step) -> Heard:
        if step.act.startswith("do"):
            self.do(step)
        elif step.act == "scale" or step.act.startswith("add"):
            return Heard("done" if self.constant(step) else "left out")
        elif step.act == "count":
            return Heard("done" if self.counts(step) else "left out")
        elif step.act.startswith("see"):
            return Heard("value", self.sees(step))
        elif step.act == "raise":
            raise Own
        else:
            self.alone(step)
        return Heard("done")


def bare(x: Any) -> Any:
    """A result of one rank, with arrays for tensors."""
    if isinstance(x, dtensor.Tensor):
        return np.asarray((x.to_local() if isinstance(x, DTensor) else x).detach())
    return type(x)(map(bare, x)) if type(x) in (list, tuple) else x


class swallowing:
    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        return isinstance(error, Exception)


def seen(x: Any) -> Any:
    if isinstance(x, DTensor):
        x = x.detach().full_tensor()
    return np.array(x) if isinstance(x, np.ndarray | dtensor.Tensor) else copy.copy(x)


def be_rank(played: Program) -> list[Heard]:
    """The program, as this rank plays it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return steps_of_rank(played)


def steps_of_rank(played: Program) -> list[Heard]:
    rank, heard = _world.current().rank, []
    ranks = np.arange(int(np.prod(played.mesh))).reshape(played.mesh)
    try:
        mesh = dtensor.DeviceMesh("cpu", ranks)
        player = Player(played, mesh)
    except Exception as error:
        return [Heard("error", told(error))]
    for step in played.of(rank):
        try:
            heard.append(player.play(step))
        except Own:
            break
        except Exception as error:
            heard.append(Heard("error", told(error)))
            if not played.swallows:
                break
    return heard


def told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


# --- what is right --------------------------------------------------------------------


def what_is_wrong(played: Program, rank: int, heard: Sequence[Heard]) -> str:
    """What a rank has observed that its own program does not give, or nothing."""
    player = Player(played, None)
    unknown: set[int] = set()
    for step, told in zip(played.of(rank), heard, strict=False):
        if told.what == "error":
            if step.act.startswith(("do", "write")) or played.swallows:
                unknown.add(step.j)
            if step.act in ("count", "see count"):
                unknown.add(len(played.calls))
            continue
        if told.what == "left out" or step.j in unknown:
            if step.act == "count":
                unknown.add(len(played.calls))
            continue
        expected = player.play(step)
        if step.act.startswith("see") and not alike(
            played, step, expected.value, told.value
        ):
            return f"{step} gave {told.value}, not {expected.value}"
    return ""


def alike(
    played: Program, step: Step, expected: Sequence[Any], found: Sequence[Any]
) -> bool:
    mode = BITS
    if step.act in ("see", "see operand"):
        rows = [s.with_what for s in played.other if s.act == "do other"]
        modes = {c.mode for c in [played.calls[step.j], *rows]}
        mode = SHAPE if SHAPE in modes else "near" if modes - {BITS, VALUE} else VALUE
    operands = [] if step.act == "see count" else arrays_of(played.calls[step.j])
    coarsest = max((eps(x) for x in [*operands, *map(np.asarray, expected)]), default=0)
    return len(expected) == len(found) and all(
        same(mode, coarsest, x, y) for x, y in zip(expected, found, strict=True)
    )


def eps(x: np.ndarray) -> float:
    return float(np.finfo(x.dtype).eps) if x.dtype.kind in "fc" else 0.0


def same(mode: str, eps: float, expected: Any, found: Any) -> bool:
    x, y = np.asarray(expected), np.asarray(found)
    if x.shape != y.shape or x.dtype.kind != y.dtype.kind:
        return False
    if mode == SHAPE:
        return True
    if x.dtype.kind not in "fc" or mode in (BITS, VALUE):
        return np.array_equal(x, y, equal_nan=x.dtype.kind in "fc")
    top = float(np.abs(x[np.isfinite(x)]).max(initial=1.0))
    atol = 256 * eps * max(top, 64.0)
    return bool(np.isclose(x, y, rtol=0, atol=atol, equal_nan=True).all())


def unseen(played: Program) -> str:
    """What it is that the ranks did not find out."""
    blind = [j for j, call in enumerate(played.calls) if call.name in BLIND]
    if any(set("".join(played.placements[j][0])) != {"R"} for j in blind):
        return "own parts"  # nobody else has them
    return "blind spot" if blind else "silently wrong"


def verdict(played: Program, heard: Sequence[Sequence[Heard]]) -> tuple[str, str]:
    """In which class what all ranks did is, and why."""
    inside = range(int(np.prod(played.mesh)))
    for rank in inside:
        (answer,) = run_ranks(1, quietly, what_is_wrong, played, rank, heard[rank])
        if answer:
            return unseen(played), f"rank {rank}: {answer}"
    raised = [rank for rank in inside if any(h.what == "error" for h in heard[rank])]
    sentences = "\n".join(
        f"rank {rank}: {h.value}"
        for rank in inside
        for h in heard[rank]
        if h.what == "error"
    )
    if not raised:
        return "harmless", ""
    return (
        "raised on all ranks"
        if len(raised) == len(inside)
        else "raised on all that could"
    ), sentences


# --- the command ----------------------------------------------------------------------


class Threads:
    """Plays programs on ranks that are threads."""

    ranks, leads = 0, True

    def heard(self, run: Callable[[], Any], ranks: int, timeout: float) -> list[Any]:
        return run_ranks(ranks, run, timeout=timeout)


class Processes:
    """Plays programs on the ranks of mpiexec, each in a world of its own."""

    def __init__(self) -> None:
        self.comm = _world.MPI.COMM_WORLD.Dup()
        self.ranks, self.leads = self.comm.size, self.comm.rank == 0
        self.worlds: list[Any] = []

    def heard(self, run: Callable[[], Any], ranks: int, timeout: float) -> list[Any]:
        world = _world.current()
        world.timeout = timeout
        mine = run()
        self.meet()
        # It is not closed: MPI could give what is still under way to the next one.
        self.worlds.append(world)
        _world._default = None
        _world._default_world().activate()
        return self.comm.allgather(mine)

    def meet(self) -> None:
        """Wait for all ranks, but not for ever."""
        start, request = time.monotonic(), self.comm.Ibarrier()
        while not request.Test():
            time.sleep(0.001)
            if time.monotonic() - start > HANGS:
                print("a rank hangs", flush=True)
                self.comm.Abort(1)


class Judged(NamedTuple):
    """A program and what became of it."""

    number: int
    verdict: str
    kind: str
    focus: str
    seconds: float
    why: str = ""


def judged(stage: Threads | Processes, number: int, asked: Any) -> Judged:
    start = time.monotonic()
    ranks = stage.ranks or asked.ranks
    if asked.blind:
        spot = blind(asked.seed, number, ranks)
        heard = stage.heard(spot.run, spot.ranks, asked.timeout)
        kind, why = spot.verdict(heard), f"{spot}\n{heard}"
        return Judged(number, kind, spot.kind, spot.use, time.monotonic() - start, why)
    played = program(asked.seed, number, ranks, asked.kind)
    run = functools.partial(be_rank, played)
    heard = stage.heard(run, played.ranks, asked.timeout)
    kind, why = verdict(played, heard) if stage.leads else ("", "")
    seconds = round(time.monotonic() - start, 2)
    why = f"{played}\n{why}"
    return Judged(number, kind, played.kind, played.focus, seconds, why)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--kind", default="", help="of the divergence; none: none")
    parser.add_argument("--blind", action="store_true", help="what no call sees")
    parser.add_argument("--ranks", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=2.0)
    parser.add_argument("--show", action="store_true", help="all programs")
    asked = parser.parse_args()
    stage = Processes() if _world.MPI.COMM_WORLD.size > 1 else Threads()
    for number in range(asked.first, asked.first + asked.count):
        found = judged(stage, number, asked)
        good = "harmless" if found.kind == "none" else found.verdict
        if found.verdict == good != "silently wrong" and not asked.show:
            found = found._replace(why="")
        if stage.leads:
            print(json.dumps(found._asdict()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
