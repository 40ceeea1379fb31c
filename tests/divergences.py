"""Programs in which some ranks do something else.

A program is drawn from a seed: calls of campaign_calls.py on arrays that are placed at
random, and observations of what they gave. On some ranks it is changed in one of eight
ways. campaign.py plays them.
"""

import functools
import hashlib
import os
import subprocess
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from campaign_calls import by_words, deck
from rows import SHAPE, Sample, arrays_of

from dtensor import Tensor
from dtensor.testing import run_ranks

ROOT = Path(__file__).resolve().parents[1]

CALLS = 3  # of a program
NUMBERS = (1.0, 2.0, 0.5, -1.0, 3.0)


def seed() -> int:
    """The seed, which nobody chooses: of the commit, or of the sources.

    DTENSOR_CAMPAIGN_SEED repeats a campaign.
    """
    if given := os.environ.get("DTENSOR_CAMPAIGN_SEED"):
        return int(given)
    try:
        words = subprocess.check_output(
            ["git", "rev-parse", "HEAD"], cwd=ROOT, stderr=subprocess.DEVNULL
        )
    except (OSError, subprocess.CalledProcessError):
        paths = sorted((ROOT / "csrc").rglob("*.c"))
        words = b"".join(path.read_bytes() for path in paths)
    return int.from_bytes(hashlib.sha256(words).digest()[:6])


# --- programs -------------------------------------------------------------------------


class Step(NamedTuple):
    """Something that a rank does with call `j` of its program."""

    act: str
    j: int = 0
    with_what: Any = None


class Program(NamedTuple):
    """The same on all ranks, but for those at `odd`."""

    number: int
    kind: str
    focus: str  # the name of the call that differs
    ranks: int
    mesh: tuple[int, ...]
    calls: tuple[Sample, ...]
    placements: tuple[tuple[tuple[str, ...], ...], ...]  # by call and operand
    steps: tuple[Step, ...]
    odd: frozenset[int]
    other: tuple[Step, ...]  # on the odd ranks
    swallows: bool  # each step on its own, on all ranks

    def of(self, rank: int) -> tuple[Step, ...]:
        return self.other if rank in self.odd else self.steps

    def __str__(self) -> str:
        lines = [
            f"program {self.number}: {self.kind}, {self.focus}, {self.ranks} ranks"
        ]
        lines += [
            f"  call {j}: {call} on {self.placements[j]}"
            for j, call in enumerate(self.calls)
        ]
        lines += [f"  {sorted(self.odd)}: {self.other}", f"  others: {self.steps}"]
        return "\n".join(lines) + (", swallowing" if self.swallows else "")


class Dice:
    """Draws by chance."""

    def __init__(self, *seeds: int) -> None:
        self.rng = np.random.default_rng(seeds)

    def one(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def some(self, items: Sequence[int], least: int, most: int) -> list[int]:
        count = int(self.rng.integers(least, most + 1))
        return sorted(self.rng.permutation(items)[:count].tolist())


@functools.cache
def names(seed: int, turn: int) -> list[str]:
    """All names of calls, shuffled."""
    listed = sorted(deck())
    np.random.default_rng([seed, turn]).shuffle(listed)
    return listed


@functools.cache
def works(call: Sample) -> bool:
    """Whether the call takes arrays of some size and gives values to compare."""
    arrays = arrays_of(call)
    if call.mode == SHAPE and os.environ.get("DTENSOR_CHECK") == "2":
        return False  # what is arbitrary may differ
    if not arrays or any(x.size == 0 for x in arrays):
        return False
    (answer,) = run_ranks(1, quietly, call.expected, arrays)
    return not isinstance(answer, Exception) and all(map(is_value, flat(answer)))


def quietly(fn: Callable[..., Any], *args: Any) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return fn(*args)


def is_value(x: Any) -> bool:
    return isinstance(
        x, np.ndarray | np.generic | Tensor | int | float | complex | bool
    )


def flat(x: Any) -> Iterator[Any]:
    """What an answer is made of."""
    if isinstance(x, tuple | list):
        for y in x:
            yield from flat(y)
    elif isinstance(x, dict):
        yield from flat([x[key] for key in sorted(x)])
    elif x is not None and not isinstance(x, str | slice):
        yield x


def drawn_call(dice: Dice, name: str) -> Sample | None:
    rows = deck()[name]
    for _ in range(8):
        call = dice.one(rows)
        if works(call):
            return call
    return None


def other_call(dice: Dice, call: Sample) -> Sample:
    """Another call on such arrays: with other arguments, or else of another name."""
    alike = [s for s in by_words()[call.arrays] if s is not call]
    same = [s for s in alike if s.name == call.name and works(s)]
    for _ in range(8):
        found = dice.one(same or alike or [call])
        if works(found):
            return found
    return call


def program(seed: int, number: int, ranks: int = 0, kind: str = "") -> Program:
    """The program of a number."""
    dice = Dice(seed, number)
    listed = names(seed, number // len(deck()))
    focus = listed[number % len(deck())]
    first = drawn_call(dice, focus)
    calls = [first] if first is not None else []
    while len(calls) < CALLS:
        call = drawn_call(dice, dice.one(listed))
        calls += [call] if call is not None else []
    place = int(dice.rng.integers(CALLS))
    calls[0], calls[place] = calls[place], calls[0]
    ranks = ranks or dice.one((2, 3, 4))
    mesh = (2, 2) if ranks == 4 and dice.chance(0.4) else (ranks,)
    if ranks > 2 and dice.chance(0.1):
        mesh = (ranks - 1,)
    kind = kind or KINDS[number % len(KINDS)]
    placements = tuple(
        tuple(placement_words(dice, mesh, x.ndim) for x in arrays_of(call))
        for call in calls
    )
    steps, other, swallows = CHANGES[kind](dice, base_steps(dice), place, calls[place])
    odd = frozenset(dice.some(range(ranks), 1, max(1, ranks // 2)))
    return Program(
        number, kind, focus, ranks, mesh, tuple(calls), placements, tuple(steps), odd,
        tuple(other), swallows,
    )  # fmt: skip


def placement_words(dice: Dice, mesh: Sequence[int], ndim: int) -> tuple[str, ...]:
    """By mesh dim: R, or a dim to shard."""
    return tuple(
        str(int(dice.rng.integers(ndim))) if ndim and dice.chance(0.75) else "R"
        for _ in mesh
    )


CONSTANTS = (
    *("scale", "add small array", "add full", "add random"),
    *("write row", "write reversed", "write flat"),
)


def base_steps(dice: Dice) -> list[Step]:
    """What all ranks do."""
    steps, late = [], []
    for j in range(CALLS):
        steps += [Step("do", j, "a"), Step(dice.one(CONSTANTS), j, dice.one(NUMBERS))]
        steps.append(Step("count", j))
        (steps if dice.chance(0.5) else late).append(Step("see", j))
        late += [Step("see operand", j)] if dice.chance(0.5) else []
    return [*steps, *late, Step("see count", CALLS)]


# --- the ways to diverge --------------------------------------------------------------

Steps = list[Step]


class Changed(NamedTuple):
    """What all ranks do, what the odd ones do, and whether all swallow exceptions."""

    steps: Steps
    other: Steps
    swallows: bool = False


def where(steps: Sequence[Step], act: str, j: int) -> int:
    return next(k for k, s in enumerate(steps) if s.act == act and s.j == j)


def of_call(steps: Sequence[Step], j: int) -> Steps:
    return [s for s in steps if s.j == j]


def other_arguments(dice: Dice, steps: Steps, j: int, call: Sample) -> Changed:
    other = list(steps)
    other[where(steps, "do", j)] = Step("do other", j, other_call(dice, call))
    return Changed(steps, other)


def other_arrays(dice: Dice, steps: Steps, j: int, call: Sample) -> Changed:
    other = list(steps)
    other[where(steps, "do", j)] = Step("do", j, "b")
    return Changed(steps, other)


def other_order(dice: Dice, steps: Steps, j: int, call: Sample) -> Changed:
    """Two observations, two steps of two calls, or all that is done with these."""
    i = (j + 1) % CALLS
    other = list(steps)
    way = dice.one(["observations", "calls", "everything"])
    if way == "everything":
        order = [j if k == i else i if k == j else k for k in (*range(CALLS), CALLS)]
        return Changed(steps, [s for k in order for s in of_call(steps, k)])
    act = "see" if way == "observations" else "do"
    a, b = where(steps, act, i), where(steps, act, j)
    if act == "see":
        other[a], other[b] = other[b], other[a]
        return Changed(steps, earliest(other))
    first, last = sorted((a, b))
    moved = other.pop(last)
    other.insert(first, moved)
    return Changed(steps, other)


def earliest(steps: Steps) -> Steps:
    """The same steps, but nothing comes before what makes it."""
    done, rest = [], list(steps)
    while rest:
        k = next(
            k
            for k, s in enumerate(rest)
            if s.act in ("do", "see count")
            or any(t.j == s.j and t.act == "do" for t in done)
        )
        done.append(rest.pop(k))
    return done


def skipped(dice: Dice, steps: Steps, j: int, call: Sample) -> Changed:
    left_out = dice.one(of_call(steps, j))
    at, other = steps.index(left_out), list(steps)
    other[at : at + 1] = [Step("do nothing", j)] if left_out.act == "do" else []
    return Changed(steps, other)


def extra(dice: Dice, steps: Steps, j: int, call: Sample) -> Changed:
    alone = [Step(act, j) for act in ("new leaf", "draw", "write")]
    more = dice.one([*of_call(steps, j), *alone])
    at = where(steps, "do", j) if more in alone else steps.index(more)
    return Changed(steps, [*steps[:at], more, *steps[at:]])


def other_constants(dice: Dice, steps: Steps, j: int, call: Sample) -> Changed:
    at = next(k for k, s in enumerate(steps) if s.j == j and s.act in CONSTANTS)
    rest = [n for n in NUMBERS if n != steps[at].with_what]
    other = list(steps)
    other[at] = steps[at]._replace(with_what=dice.one(rest))
    return Changed(steps, other)


def swallowed(dice: Dice, steps: Steps, j: int, call: Sample) -> Changed:
    """An exception of a rank's own, and what comes after it; or of all, each time."""
    at = where(steps, "do", j)
    before, after = steps[:at], steps[at:]
    way = dice.one(["own", "refused", "kernel", "all"])
    if way == "own":  # before a call, that is left out
        return Changed(
            steps, [*before, Step("do nothing", j), *after[1:]], dice.chance(0.3)
        )
    if way == "refused":
        return Changed(steps, [*before, Step("refused", j), *after], dice.chance(0.3))
    if way == "kernel":
        failing, kernel = Step("failing kernel", j), Step("kernel", j)
        base = [*before, kernel, *after] if dice.chance(0.7) else steps
        return Changed(base, [*before, failing, *after], dice.chance(0.5))
    change = dice.one([other_arguments, other_arrays, skipped, extra, other_order])
    return change(dice, steps, j, call)._replace(swallows=True)


def ended(dice: Dice, steps: Steps, j: int, call: Sample) -> Changed:
    at = int(dice.rng.integers(len(steps)))
    return Changed(steps, [*steps[:at], *([Step("raise")] if dice.chance(0.5) else [])])


def none(dice: Dice, steps: Steps, j: int, call: Sample) -> Changed:
    """Nothing but what a rank may do alone: it sends nothing."""
    other = list(steps)
    for _ in range(2):
        other.insert(int(dice.rng.integers(len(other) + 1)), Step("look", j))
    return Changed(steps, other)


CHANGES: dict[str, Callable[..., Changed]] = {
    "other arguments": other_arguments,
    "other arrays": other_arrays,
    "other order": other_order,
    "skipped": skipped,
    "extra": extra,
    "other constants": other_constants,
    "exceptions swallowed": swallowed,
    "ranks that end": ended,
    "none": none,
}
KINDS = tuple(CHANGES)[:-1]
