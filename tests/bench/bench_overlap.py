# ranks: 1
"""How much of what a step sends is hidden behind its computing, between nodes.

Two nodes, which are network namespaces of this machine (root, iproute2), have one rank
each and a link of 1 Gbit/s between them. A step of the GPT of training_model.py without
its optimizer is timed on them and, for what computing takes, with both ranks on one
node; what its collectives take is timed alone on both. Hidden is what the step takes
less than computing and communication one after the other, as a share of the shorter of
the two. "In turn" is a step in which nothing is computed while something is sent, which
takes longer than these two: saved is what the step takes less than that, as a share of
the same. Of tensor parallelism only backward counts: its forward has nothing else to
compute, and nothing is hidden of it so far. Both places take turns. The two processors
also play the network, which costs them time.

    python tests/bench/bench_overlap.py [ROUNDS]
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # before NumPy reads them
    os.environ[name] = "1"

import numpy as np  # noqa: E402

NODES = Path(__file__).parents[1] / "nodes"
RATE = "1gbit"
PLACES = {"one node": "dtnode1:2", "two nodes": "dtnode1:1,dtnode2:1"}
AIMS = {"fsdp": 0.8, "tp backward": 0.5}
TURNS = 3
LAUNCHER = ("OMPI_COMM", "OMPI_APP", "OMPI_UNIVERSE", "PMI", "PRTE_LAUN")
Spans = dict[str, float]  # seconds


# --- on the nodes: one rank of a job --------------------------------------------------


def seconds(call: Callable[[], object], rounds: int) -> float:
    """Return the median of the slower rank's seconds."""
    from mpi4py import MPI  # noqa: PLC0415

    spans = []
    for _ in range(rounds):
        MPI.COMM_WORLD.Barrier()
        start = time.perf_counter()
        call()
        spans.append(MPI.COMM_WORLD.allreduce(time.perf_counter() - start, MPI.MAX))
    return float(np.median(spans[1:]))


def parts(steps: Any) -> Any:
    """Return forward and backward of a step."""
    from training_model import VOCABULARY  # noqa: PLC0415

    def forward() -> Any:
        logits = steps.model(steps.ids, steps.places)
        flat = logits.reshape(-1, VOCABULARY)
        return steps.lib.F.cross_entropy(flat, steps.targets)

    def whole() -> None:
        forward().backward()
        for p in steps.model.parameters():
            p.grad = None

    return forward, whole


def moves_of_fsdp(model: Any, mesh: Any) -> Callable[[], None]:
    """Return the collectives of a step: gathers of forward and backward, reductions."""
    from dtensor import DTensor, Partial, Replicate, redistribute  # noqa: PLC0415

    groups = [[*block.parameters()] for block in model.blocks]
    inside = {id(p) for group in groups for p in group}
    rest = [p for p in model.parameters() if id(p) not in inside]

    def addends(p: Any) -> Any:
        term = np.zeros(p.shape, p.dtype)
        return DTensor.from_local(term, mesh, [Partial("avg")])

    def whole() -> None:
        for group in [*groups, *groups, rest]:
            redistribute([p.detach() for p in group], mesh, [Replicate()])
        for group in [*groups, rest]:
            terms = [addends(p) for p in group]
            redistribute(terms, mesh, [p.placements for p in group])

    return whole


def moves_of_tp(
    steps: Any, forward: Callable[[], Any], mesh: Any
) -> Callable[[], None]:
    """Return the all_reduces of backward, of what passes through the blocks."""
    from dtensor import DTensor, Partial, Replicate  # noqa: PLC0415
    from dtensor.debug import CommDebugMode  # noqa: PLC0415

    loss = forward()
    with CommDebugMode() as comm:
        loss.backward()
    count = comm.get_comm_counts()["all_reduce"]
    shape = (*steps.ids.shape, steps.model.norm.weight.shape[0])
    terms = DTensor.from_local(np.zeros(shape, np.float32), mesh, [Partial()])

    def backward() -> None:
        for _ in range(count):
            terms.redistribute(placements=[Replicate()])

    return backward


def job(rounds: int) -> None:
    """Time the forms; rank 0 prints one line."""
    from mpi4py import MPI  # noqa: PLC0415
    from training_model import Steps  # noqa: PLC0415

    import dtensor  # noqa: PLC0415
    from dtensor._core.world import current  # noqa: PLC0415

    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processors[MPI.COMM_WORLD.rank % len(processors)]})
    dtensor.set_num_threads(1)
    mesh = dtensor.init_device_mesh("cpu", (2,))
    world = current()
    kinds = {"in turn": False, "step": world.overlaps}
    found: dict[str, Spans] = {}
    for name in AIMS:
        form = name.split()[0]
        dtensor.random.manual_seed(0)
        steps = Steps("dtensor", form, mesh, dtensor.as_tensor)
        forward, whole = parts(steps)
        spans = {}
        for kind, world.overlaps in kinds.items():
            spans[kind] = seconds(whole, rounds)
            if form == "tp":
                spans[kind] -= seconds(forward, rounds)
        if form == "tp":
            moves = moves_of_tp(steps, forward, mesh)
        else:
            moves = moves_of_fsdp(steps.model, mesh)
        spans["moves"] = seconds(moves, rounds)
        found[name] = spans
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(found), flush=True)


# --- outside --------------------------------------------------------------------------


def on_nodes(hosts: str, rounds: int) -> dict[str, Spans]:
    """Run the job where two slots of these hosts are."""
    keep = {k: v for k, v in os.environ.items() if not k.startswith(LAUNCHER)}
    keep.pop("DTENSOR_BENCH_ROWS", None)
    command = [str(NODES / "run"), "-n", "2", "-H", hosts, "--bind-to", "none"]
    command += [sys.executable, __file__, "--job", str(rounds)]
    done = subprocess.run(
        command, env=keep, check=True, stdout=subprocess.PIPE, text=True, timeout=900
    )
    found: dict[str, Spans] = json.loads(done.stdout.splitlines()[-1])
    return found


def middle(turns: list[dict[str, Spans]], name: str, what: str) -> float:
    return float(np.median([turn[name][what] for turn in turns]))


def show(near: list[dict[str, Spans]], far: list[dict[str, Spans]]) -> None:
    from kept import keep  # noqa: PLC0415

    heads = "".join(f"{x:>10}" for x in ("computing", "moves", "in turn", "step"))
    print(f"{'':14}{heads}{'hidden':>9}{'saved':>9}{'aim':>7}")
    for name, aim in AIMS.items():
        computing = middle(near, name, "step") - middle(near, name, "moves")
        moves, step = middle(far, name, "moves"), middle(far, name, "step")
        turn = middle(far, name, "in turn")
        shorter = min(computing, moves)
        hidden, saved = (computing + moves - step) / shorter, (turn - step) / shorter
        cells = "".join(f"{x * 1e3:7.1f} ms" for x in (computing, moves, turn, step))
        print(f"{name:14}{cells}{hidden:9.0%}{saved:9.0%}{aim:7.0%}")
        ratio = step / (computing + moves)
        keep(f"{name}, {RATE}", step, "s", "one after the other", ratio)


def main() -> None:
    if sys.argv[1:2] == ["--job"]:
        job(int(sys.argv[2]))
        return
    if os.geteuid() != 0 or shutil.which("ip") is None:
        print("overlap is measured on network namespaces: they need root and iproute2")
        return
    rounds = int(sys.argv[1]) if sys.argv[1:] else 9
    found: dict[str, list[dict[str, Spans]]] = {name: [] for name in PLACES}
    subprocess.run([NODES / "up", "2", RATE], check=True, timeout=60)
    try:
        for _ in range(TURNS):
            for name, hosts in PLACES.items():
                found[name].append(on_nodes(hosts, rounds))
    finally:
        subprocess.run([NODES / "down"], check=True, timeout=60)
    print(f"2 ranks, {RATE} between two nodes, load {os.getloadavg()[0]:.1f}")
    show(found["one node"], found["two nodes"])


main()
