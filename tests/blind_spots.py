"""Programs in which ranks diverge where no call sees it: see docs/promises.md.

An array that counts as replicated differs on one rank, and is then used with others.
With DTENSOR_CHECK=2 all ranks find out.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import dtensor
from dtensor import DTensor, Replicate, Shard
from dtensor._core import world as _world

SHAPE = (8, 6)
WHOLE = np.arange(48.0).reshape(SHAPE)
MESHES = {2: [(2,)], 3: [(3,)], 4: [(4,), (2, 2)]}


def placed(array: np.ndarray, mesh: Any, words: str) -> Any:
    placements = [Replicate() if w == "R" else Shard(int(w)) for w in words]
    return dtensor.distribute_tensor(array, mesh, placements)


# --- how the array comes to differ ----------------------------------------------------


def written_locally(array: np.ndarray, mesh: Any, words: str) -> Any:
    """All ranks have the same, and one of them writes into its part."""
    x = placed(WHOLE, mesh, words)
    if (array != WHOLE).any():
        x.to_local()[...] += 1.0
    return x


def plain(array: np.ndarray, mesh: Any, words: str) -> Any:
    return array


def given(array: np.ndarray, mesh: Any, words: str) -> Any:
    part = placed(WHOLE, mesh, words).to_local().numpy() + (array - WHOLE).max()
    placements = [Replicate() if w == "R" else Shard(int(w)) for w in words]
    return DTensor.from_local(part, mesh, placements)


def assigned(array: np.ndarray, mesh: Any, words: str) -> Any:
    x = dtensor.zeros(SHAPE, dtype=np.float64, device_mesh=mesh)
    x = x.redistribute(placements=placed(WHOLE, mesh, words).placements)
    x[...] = array
    return x


KINDS: dict[str, Callable[..., Any]] = {
    "local write": written_locally,
    "plain array": plain,
    "replica": given,
    "assigned value": assigned,
}

# --- how it is used -------------------------------------------------------------------


def wrote(x: Any, z: Any) -> Any:
    y = z * 1.0
    y += x
    return y


def set_(x: Any, z: Any) -> Any:
    y = z * 1.0
    y[2:] = x[2:]
    return y


USES: dict[str, Callable[..., Any]] = {
    "x * z": lambda x, z: x * z,
    "z - x": lambda x, z: z - x,
    "z @ x.T": lambda x, z: z @ x.T,
    "where": lambda x, z: np.where(z > 9, x, z),
    "concatenate": lambda x, z: np.concatenate([z, x]),
    "maximum": lambda x, z: np.maximum(x, z),
    "z += x": wrote,
    "z[2:] = x[2:]": set_,
    "stack": lambda x, z: np.stack([x, z]).sum(axis=0),
}


class Blind(NamedTuple):
    """A program; the ranks at `odd` have another array."""

    number: int
    kind: str
    use: str
    ranks: int
    mesh: tuple[int, ...]
    words: str
    others: str
    odd: int

    def array(self, rank: int) -> np.ndarray:
        return WHOLE + 1.0 if rank == self.odd else WHOLE.copy()

    def run(self) -> Any:
        """What a rank observes: the elements, or an exception."""
        rank = _world.current().rank
        ranks = np.arange(self.ranks).reshape(self.mesh)
        mesh = dtensor.DeviceMesh("cpu", ranks)
        try:
            x = KINDS[self.kind](self.array(rank), mesh, self.words)
            y = USES[self.use](x, placed(WHOLE, mesh, self.others))
            return np.array(y.full_tensor())
        except Exception as error:
            return error

    def verdict(self, heard: list[Any]) -> str:
        raised = [isinstance(x, Exception) for x in heard]
        for rank, found in enumerate(heard):
            expected = USES[self.use](self.array(rank), WHOLE)
            if not raised[rank] and not np.array_equal(found, expected):
                return "blind spot"
        if not any(raised):
            return "harmless"
        return "raised on all ranks" if all(raised) else "raised on all that could"


def blind(seed: int, number: int, ranks: int = 0) -> Blind:
    """The program of a number."""
    rng = np.random.default_rng([seed, number, 2])

    def one(choices: Any) -> Any:
        return choices[int(rng.integers(len(choices)))]

    ranks = ranks or one((2, 3, 4))
    mesh = one(MESHES[ranks])
    kind = [*KINDS][number % len(KINDS)]
    words = ["R"] * len(mesh)
    if len(mesh) == 2 and kind in ("local write", "replica"):
        words[int(rng.integers(2))] = one("R0")
    others = [one("R01") for _ in mesh]
    places = "".join(words), "".join(others), int(rng.integers(ranks))
    return Blind(number, kind, one([*USES]), ranks, mesh, *places)
