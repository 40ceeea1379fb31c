"""Plays programs in which some ranks do something else: all must find out.

`./run exec python tests/campaign.py --help`. What each rank observes is compared with
the program that this rank itself ran, played by NumPy alone: a value that differs from
that, without an error, is silently wrong.
"""

import argparse
import faulthandler
import functools
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from blind_spots import blind
from campaign_calls import BLIND
from campaign_player import Heard, Player, be_rank
from divergences import Program, Step, program, quietly
from forgetful import forgetting
from rows import BITS, SHAPE, VALUE, arrays_of

import dtensor
from dtensor._core import world as _world
from dtensor.random import get_rng_state, set_rng_state
from dtensor.testing import run_ranks

HANGS = 60.0  # seconds after which a rank that has not ended hangs

# --- what is right --------------------------------------------------------------------


class Compared(NamedTuple):
    """What a rank has observed that its own program does not give, or nothing."""

    wrong: str
    drawn: dict[int, Any]  # by step: of random numbers whose place nobody knows


def what_is_wrong(played: Program, rank: int, heard: Sequence[Heard]) -> Compared:
    """Compare what a rank has observed with its own program, played by NumPy.

    How many random numbers a step drew that raised depends on how far it came. What is
    drawn after it can only be compared with what other ranks have.
    """
    player = Player(played, None)
    unknown: set[int] = set()
    placed, loose, drawn = True, set(), {}
    for k, (step, told) in enumerate(zip(played.of(rank), heard, strict=False)):
        if told.what == "error":
            placed = False
            if step.act.startswith(("do", "write")) or played.swallows:
                unknown.add(step.j)
            if step.act in ("count", "see count"):
                unknown.add(len(played.calls))
            continue
        if told.what == "left out" or step.j in unknown:
            if step.act == "count":
                unknown.add(len(played.calls))
            if step.act == "see" and step.j in loose:
                drawn[k] = told.value
            continue
        before = np.asarray(get_rng_state())
        expected = player.play(step)
        if not placed and not np.array_equal(before, get_rng_state()):
            unknown.add(step.j)
            loose.add(step.j)
        elif step.act.startswith("see") and not alike(
            played, step, expected.value, told.value
        ):
            return Compared(f"{step} gave {told.value}, not {expected.value}", drawn)
    return Compared("", drawn)


def alike(
    played: Program, step: Step, expected: Sequence[Any], found: Sequence[Any]
) -> bool:
    mode = BITS
    if step.act in ("see", "see operand"):
        rows = [s.with_what for s in played.other if s.act == "do other"]
        modes = {c.mode for c in [played.calls[step.j], *rows]}
        mode = SHAPE if SHAPE in modes else "near" if modes - {BITS, VALUE} else VALUE
    rounded = [] if step.act == "see count" else rounded_in(played.calls[step.j])
    coarsest = max((eps(x) for x in [*rounded, *map(np.asarray, expected)]), default=0)
    return len(expected) == len(found) and all(
        same(mode, coarsest, x, y) for x, y in zip(expected, found, strict=True)
    )


def rounded_in(call: Any) -> list[np.ndarray]:
    """Operands and results: what is then seen of these may have a finer dtype."""
    operands, state = arrays_of(call), get_rng_state()
    made = call.expected(operands)
    set_rng_state(state)  # what it has drawn is no part of the program
    made = made if isinstance(made, tuple | list) else [made]
    return [*operands, *(x for x in made if isinstance(x, np.ndarray | np.generic))]


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
    drawn: dict[tuple[Step, int], Any] = {}

    def alone(function: Callable[..., Any], *arguments: Any) -> Any:
        return run_ranks(1, quietly, function, *arguments)[0]

    for rank in inside:
        judged = alone(what_is_wrong, played, rank, heard[rank])
        if judged.wrong:
            return unseen(played), f"rank {rank}: {judged.wrong}"
        for k, value in judged.drawn.items():
            step = played.of(rank)[k]
            other = drawn.setdefault((step, k), value)
            if not alone(alike, played, step, other, value):
                return unseen(played), f"rank {rank}: {step} gave {value}, not {other}"
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

    def heard(self, run: Callable[[], Any], ranks: int, timeout: float) -> list[Any]:
        world = _world.current()
        world.timeout = timeout
        mine = run()
        self.comm.Barrier()
        world.close()
        _world._default = None
        _world._default_world().activate()
        return self.comm.allgather(mine)


def after_its_calls(played: Program, forgets: bool) -> list[Heard]:
    """A program, as this rank plays it after all ranks have made all calls of it, also
    those of odd ranks: all is remembered. Or the odd ranks remember nothing."""
    for steps in (played.steps, played.other):
        be_rank(played._replace(steps=steps, odd=frozenset()))
        dtensor.resync()
    with forgetting(forgets and _world.current().rank in played.odd):
        return be_rank(played)


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
    if asked.again or asked.forget:
        run = functools.partial(after_its_calls, played, asked.forget)
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
    parser.add_argument("--again", action="store_true", help="after all calls of it")
    parser.add_argument("--forget", action="store_true", help="so, odd ranks forget")
    parser.add_argument("--ranks", type=int, default=0)
    parser.add_argument("--timeout", type=float, default=2.0)
    parser.add_argument("--show", action="store_true", help="all programs")
    asked = parser.parse_args()
    stage = Processes() if _world.MPI.COMM_WORLD.size > 1 else Threads()
    for number in range(asked.first, asked.first + asked.count):
        faulthandler.dump_traceback_later(HANGS + 10 * asked.timeout, exit=True)
        found = judged(stage, number, asked)
        good = "harmless" if found.kind == "none" else found.verdict
        if found.verdict == good != "silently wrong" and not asked.show:
            found = found._replace(why="")
        if stage.leads:
            print(json.dumps(found._asdict()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
