"""Costs: fixed unless they are set, the same on all ranks, and what layouts follow."""

import re
import sys
import threading

import numpy as np
import pytest
from jobs import run

import dtensor
from dtensor import (
    _C,
    DeviceMesh,
    Layout,
    Partial,
    Replicate,
    Shard,
    init_device_mesh,
)
from dtensor._core import world
from dtensor.debug import explain, simulate
from dtensor.doctor import main
from dtensor.testing import run_ranks

DEFAULTS = "latency=1e-06,bandwidth=1e+10,copy=1e+10"


def seconds(mesh):
    """Predicted seconds of a gather along each mesh dim."""
    x = dtensor.zeros(64, 64, device_mesh=mesh, placements=[Shard(0), Shard(1)])
    moves = [Replicate(), Shard(1)], [Shard(0), Replicate()]
    return [explain(x, move).predicted_seconds for move in moves]


@pytest.fixture
def costs():
    """Sets costs of this thread's world, and the defaults afterwards."""
    yield dtensor.set_costs
    dtensor.set_costs()


def test_costs_are_the_defaults_whatever_carries_messages(ranks):
    assert set(ranks(lambda: world.current().costs)) == {DEFAULTS}


def test_a_mesh_dim_has_costs_of_its_own_by_its_name():
    def program():
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
        before = seconds(mesh)
        dtensor.set_costs(mesh_dims={"dp": {"latency": 1e-3}})
        after = seconds(mesh)
        inner = mesh["dp"], mesh["tp"]
        x = [dtensor.zeros(8, device_mesh=m, placements=[Shard(0)]) for m in inner]
        alone = [explain(y, [Replicate()]).predicted_seconds for y in x]
        dtensor.set_costs()
        return before, after, alone, seconds(mesh)

    for before, after, alone, again in run_ranks(4, program):
        assert before[0] < 1e-3 <= after[0]
        assert before[1] == after[1]
        assert alone[0] >= 1e-3 > alone[1]
        assert again == before


def test_links_between_nodes_have_costs_of_their_own():
    def program():
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
        before = seconds(mesh)
        dtensor.set_costs(node_ranks=2)
        default = seconds(mesh)
        dtensor.set_costs(nodes_latency=1e-3, nodes_bandwidth=1e5, node_ranks=2)
        after = seconds(mesh)
        text = world.current().costs
        dtensor.set_costs()
        return before, default, after, seconds(mesh), text

    for before, default, after, again, text in run_ranks(4, program):
        assert before[0] < default[0] < 1e-3 + 1e-5 <= after[0]
        assert before[1] == default[1] == after[1]
        assert again == before
        nodes = "nodes_latency=0.001,nodes_bandwidth=1e+05,node_ranks=2"
        assert text == f"{DEFAULTS},{nodes}"


def test_explain_names_the_dtype_in_which_16_bit_sums_travel(costs):
    costs(node_ranks=8)
    x = Layout(DeviceMesh.abstract((8, 8)), [Partial()] * 2, (256, 256), "float16")
    first, second, last, *_ = explain(x, [Replicate()] * 2).steps
    assert (first.from_, first.to) == ("[P(sum), P(sum)]", "[P(sum), S(0)] float32")
    assert second.from_ == first.to and second.to == "[S(1), S(0)] float32"
    assert (last.op, last.to) == ("local", "[S(1), S(0)]")


def test_operators_choose_layouts_by_the_costs_that_are_set():
    def program():
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
        x = dtensor.ones(64, 64, device_mesh=mesh, placements=[Shard(0), Replicate()])
        y = dtensor.ones(64, 64, device_mesh=mesh, placements=[Replicate(), Shard(0)])
        chosen = []
        for dear in ("dp", "tp", "dp"):
            dtensor.set_costs(mesh_dims={dear: {"latency": 1e-2, "bandwidth": 1e5}})
            chosen.append((x + y).placements)
        dtensor.set_costs()
        return chosen

    first, second, third = run_ranks(4, program)[0]
    assert first == third
    assert first != second


def test_predictions_without_ranks_follow_the_same_costs(costs):
    mesh = DeviceMesh.abstract((4,), mesh_dim_names=("dp",))
    ends = [Layout(mesh, [p], (64, 64), "f8") for p in (Shard(0), Replicate())]
    before = explain(*ends).predicted_seconds
    costs(latency=1e-2)
    assert explain(*ends).predicted_seconds > 1e-2 > before

    def gather(mesh):
        x = dtensor.zeros(64, device_mesh=mesh, placements=[Shard(0)])
        return x.full_tensor

    assert simulate(2, gather).predicted_seconds > 1e-2
    assert simulate(2, gather, cost=(1e-6, 1e10, 1e10)).predicted_seconds < 1e-3


def test_costs_hold_in_a_thread_whose_own_world_was_closed(costs):
    mesh = DeviceMesh.abstract((4,))
    ends = [Layout(mesh, [p], (64, 64), "f8") for p in (Shard(0), Replicate())]
    found = []

    def go():
        own = _C.World.threads(1)[0]
        own.activate()
        own.close()
        costs(latency=1e-2)
        found.append(explain(*ends).predicted_seconds)

    world.current()
    thread = threading.Thread(target=go)
    thread.start()
    thread.join()
    assert found[0] > 1e-2


def test_costs_that_differ_between_ranks_are_refused_on_all(ranks):
    def program():
        here = world.current()
        for check in (False, True):
            here.check = check
            if here.size > 1:
                with pytest.raises(RuntimeError, match="set_costs.*latency=2e-06"):
                    dtensor.set_costs(latency=1e-6 * (1 + (here.rank == 1)))
            assert here.costs == DEFAULTS

    ranks(program)


BAD = {
    "a latency must be 0 seconds or more": {"latency": -1},
    "a bandwidth or copy must be more than 0": {"copy": 0},
    "cannot be read": {"bandwidth": float("inf")},
    "needs a name without": {"mesh_dims": {"d.p": {"latency": 1}}},
    "speed": {"mesh_dims": {"dp": {"speed": 1}}},
    "latency must be 0 seconds": {"nodes_latency": -1e-6},
    "more than 0 bytes per second": {"nodes_bandwidth": 0},
    "node_ranks must be 1, 2, 3": {"node_ranks": 0},
    "at most 16 mesh dims": {"mesh_dims": {f"m{k}": {"latency": 1} for k in range(17)}},
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_costs_of_one_rank_are_refused_on_all(ranks, sentence):
    def program():
        here = world.current()
        mine = here.rank == here.size - 1
        with pytest.raises(ValueError, match=sentence):
            dtensor.set_costs(**BAD[sentence] if mine else {})
        assert here.costs == DEFAULTS

    ranks(program)


def test_half_a_rank_is_refused():
    with pytest.raises(TypeError, match="float"):
        dtensor.set_costs(node_ranks=2.5)


PROGRAM = """
from dtensor._core import world
try:
    print(world.current().costs)
except (ValueError, RuntimeError) as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("dp.latency=2e-5", "latency=1e-06.*dp.latency=2e-05,dp.bandwidth=1e[+]10"),
        ("fast", "ValueError .*DTENSOR_COSTS: costs are written as .*fast"),
        ("latency=-1", "ValueError .*DTENSOR_COSTS: a latency must be 0"),
    ],
)
def test_the_environment_sets_costs_on_all_ranks(value, sentence):
    command = ["mpiexec", "-n", "2", sys.executable, "-c", PROGRAM]
    _, output, _ = run(command, DTENSOR_COSTS=value)
    assert len(re.findall(sentence, output)) == 2


def test_what_the_doctor_measures_can_be_set(capfd, costs):
    assert main(["--measure"]) == 0
    name, text = capfd.readouterr().out.strip().split("=", 1)
    assert name == "DTENSOR_COSTS"
    world.current().set_costs(text)


def test_measuring_tells_what_messages_cost_and_changes_nothing():
    def program():
        return world.current().measure(), world.current().costs

    (first, costs), (second, _) = run_ranks(2, program)
    assert first == second
    assert all(np.isfinite(first)) and min(first) > 0
    assert first[3:] == (3e-6, 1e9)
    assert costs == DEFAULTS


@pytest.mark.parametrize("node", [1, 2, 3])
def test_links_between_nodes_are_measured_apart(node):
    def program():
        dtensor.set_costs(node_ranks=node)
        found = world.current().measure()
        dtensor.set_costs()
        return found

    first, *others = run_ranks(4, program)
    assert all(found == first for found in others)
    assert all(np.isfinite(first)) and min(first) > 0
    assert first[3:] != (3e-6, 1e9)
    assert (first[:2] == (1e-6, 1e10)) == (node == 1)
