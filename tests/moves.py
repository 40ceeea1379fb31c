"""Many moves at once: cases are made and judged in one place, moved by all ranks."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import oracle

from dtensor import _C, DeviceMesh, DTensor, Layout
from dtensor._core import world as _world
from dtensor.testing import run_ranks

COLLECTIVES = {
    "all_gather",
    "all_to_all",
    "reduce_scatter",
    "all_reduce",
    "broadcast",
    "scatter",
    "gather",
    "exchange",
}


class Case(NamedTuple):
    """An array, where it is and where it goes, on meshes without a world."""

    array: np.ndarray
    start: Layout
    end: Layout
    seed: int = 0

    def __str__(self) -> str:
        return (
            f"{self.start!r} on ranks {self.start.mesh.ranks.tolist()} -> {self.end!r} "
            f"on ranks {self.end.mesh.ranks.tolist()}, seed {self.seed}"
        )


def grid(*shape: int, ranks: Sequence[int] | None = None) -> DeviceMesh:
    """A mesh for making cases: `on_world` gives it ranks."""
    if ranks is not None:
        ranks = np.array(ranks).reshape(shape)
    return DeviceMesh._make("cpu", shape, ranks, None, 0)


def on_world(layout: Layout) -> Layout:
    """The same layout for the ranks of this thread's world."""
    mesh = layout.mesh
    mesh = DeviceMesh._make(
        "cpu", mesh.shape, mesh.ranks, None, _world.current().number
    )
    return Layout(mesh, layout.placements, layout.shape, layout.dtype, cuts=layout.cuts)


def ranks_needed(cases: Iterable[Case]) -> int:
    """How many ranks the meshes of these cases name."""
    meshes = {layout.mesh for case in cases for layout in (case.start, case.end)}
    return 1 + max(int(mesh.ranks.max()) for mesh in meshes)


def scattered(array: np.ndarray, seed: int) -> np.ndarray:
    """The same values in memory that is turned, reversed or has gaps, by the seed."""
    kind = seed % 4
    if kind == 1 and array.ndim:
        return np.asfortranarray(array)
    if kind == 2 and array.ndim:
        return np.ascontiguousarray(array[::-1])[::-1]
    if kind == 3 and array.ndim:
        wide = np.zeros((*array.shape, 2), array.dtype)
        wide[..., 1] = array
        return wide[..., 1]
    return array


def spread(case: Case, parts: dict[int, np.ndarray], layout: Layout) -> DTensor:
    """The DTensor of a case on this rank."""
    mine = parts.get(_world.current().rank)
    if mine is None:
        mine = np.empty((0,), layout.dtype)
    return DTensor(scattered(mine, case.seed), layout, requires_grad=False)


def move(x: DTensor, end: Layout) -> np.ndarray:
    """The plain way."""
    return np.asarray(_C._redistribute_any(x, placements=end).to_local())


def counted(x: DTensor, end: Layout) -> np.ndarray:
    """The same, and what `explain` says is what is sent."""
    world = _world.current()
    plan = _C._explain(x._spec, end, world.rank, None)[2]
    before = world.counters()
    out = move(x, end)
    sent = {op: [0, 0] for op in COLLECTIVES | {"local"}}
    for step in plan:
        sent[step[0]][0] += step[4]
        sent[step[0]][1] += step[6]
    for op, (_, size, messages) in world.counters().items():
        size, messages = size - before[op][1], messages - before[op][2]
        assert [size, messages] == sent[op], f"{op}: sent {size} B in {messages}"
    return out


def run_cases(
    cases: Sequence[Case],
    do: Callable[[DTensor, Layout], np.ndarray] = move,
    parts: Sequence[dict[int, np.ndarray]] | None = None,
) -> list[np.ndarray]:
    """What this rank has of each case after `do`; called by every rank of a world."""
    out = []
    for k, case in enumerate(cases):
        try:
            here = parts[k] if parts is not None else local_parts(case)
            x = spread(case, here, on_world(case.start))
            out.append(do(x, on_world(case.end)).copy())
        except BaseException as error:
            error.add_note(str(case))
            raise
    return out


def local_parts(case: Case) -> dict[int, np.ndarray]:
    """What each rank of the mesh holds at the start."""
    return oracle.place(case.array, case.start, case.seed)


def judge(case: Case, parts: Sequence[np.ndarray]) -> None:
    """The parts of all ranks make the array of a case: bit by bit if it only moved."""
    held = {int(rank): parts[int(rank)] for rank in case.end.mesh.ranks.flat}
    for rank, part in enumerate(parts):
        assert rank in held or part.size == 0, (
            f"rank {rank} is outside and holds {part}"
        )
    got = oracle.assemble(held, case.end)
    ops = oracle.reductions(case.start) | oracle.reductions(case.end)
    if not ops:
        assert oracle.same_bits(got, case.array), f"{got} is not {case.array}"
    elif "avg" in ops:
        wide = np.result_type(got.dtype.type(0).real.astype("f8"), got.dtype)
        rtol = 1e-2 if got.itemsize < 4 else 1e-6
        np.testing.assert_allclose(got.astype(wide), case.array.astype(wide), rtol=rtol)
    else:
        assert oracle.same(got, case.array), f"{got} is not {case.array}"


def check(
    cases: Sequence[Case], do: Callable[[DTensor, Layout], np.ndarray] = move
) -> None:
    """Move every case on as many rank threads as it needs, and judge it."""
    parts = [local_parts(case) for case in cases]
    results = run_ranks(ranks_needed(cases), run_cases, cases, do, parts)
    for k, case in enumerate(cases):
        try:
            judge(case, [parts[k] for parts in results])
        except BaseException as error:
            error.add_note(str(case))
            raise
