"""Plays one program of divergences.py: with DTensors on a rank, or with arrays."""

import copy
import functools
import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from divergences import Program, Step, flat
from rows import SHAPE, Sample, arrays_of

import dtensor
from dtensor import DTensor, Replicate, Shard, init_device_mesh
from dtensor._core import world as _world

THRESHOLD = 0.37  # no value of the arrays
SEED = 11

# Where a part has to move, it is written back.
WRITES: dict[str, Callable[[Any, float], None]] = {
    "write row": lambda y, c: y[-1, None].__setitem__(..., c),
    "write reversed": lambda y, c: y[::-1][:1].__setitem__(..., c),
    "write flat": lambda y, c: y.flat.__setitem__(slice(1, None, 2), c),
}


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
        elif step.act in WRITES and np.size(x) and np.ndim(x):
            y = x * 1
            WRITES[step.act](y, number)
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
