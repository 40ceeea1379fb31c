"""Plans: what they say is what is sent, and they are never worse than torch's."""

import itertools
import math

import numpy as np
import oracle
import pytest
from cases import MESHES, random_cases
from greedy import greedy_count
from meshes import line
from moves import COLLECTIVES, grid

from dtensor import DeviceMesh, Layout, Partial, Replicate, Shard, distribute_tensor
from dtensor._core import world as _world
from dtensor.debug import CommDebugMode, Explanation, Step, explain
from dtensor.testing import run_ranks

R, P = Replicate(), Partial()
IDS = ["x".join(map(str, shape)) for shape in MESHES]


def sending(plan):
    """The names of the steps that send something."""
    return [step.op for step in plan.steps if step.op in COLLECTIVES]


@pytest.mark.parametrize("shape", MESHES, ids=IDS)
def test_no_plan_has_more_collectives_than_torchs(shape):
    mesh = grid(*shape)
    choices = [R, P, Shard(0), Shard(1)]
    worse = []
    for placements in itertools.product(choices, repeat=2 * mesh.ndim):
        start = Layout(mesh, placements[: mesh.ndim], (24, 24), "float32")
        end = start.with_placements(placements[mesh.ndim :])
        pairs = zip(start.placements, end.placements, strict=True)
        if any(b.is_partial() and a != b for a, b in pairs):
            continue  # torch does not have these
        steps = sending(explain(start, end))
        if len(steps) > greedy_count(start, end):
            worse.append(f"{start} -> {end}: {steps}, torch {greedy_count(start, end)}")
    assert not worse


def test_three_shards_move_to_another_dimension_in_three_steps_at_most():
    start = Layout(grid(2, 2, 2), [Shard(0)] * 3, (64, 64), "float32")
    plan = explain(start, [Shard(1)] * 3)
    assert greedy_count(start, start.with_placements([Shard(1)] * 3)) == 3
    assert 1 <= len(sending(plan)) <= 3
    assert not {"all_gather", "broadcast"} & set(sending(plan))


def test_named_moves_are_the_collectives_of_torchs_table():
    mesh = grid(4)
    table = {
        (R, Shard(0)): [],
        (Shard(0), R): ["all_gather"],
        (Shard(0), Shard(1)): ["all_to_all"],
        (P, R): ["all_reduce"],
        (P, Shard(1)): ["reduce_scatter"],
        (R, R): [],
        (P, P): [],
        (Shard(1), Shard(1)): [],
    }
    for (a, b), names in table.items():
        assert sending(explain(Layout(mesh, [a], (64, 64), "float32"), [b])) == names


def held(layout, rank):
    """Which elements a rank holds."""
    mask = np.zeros(layout.shape, bool)
    mask[np.ix_(*oracle.boxes(layout)[rank])] = True
    return mask


def test_a_plan_without_reduction_or_gather_receives_what_it_lacks_and_no_more():
    mesh = grid(2, 3)
    layouts = [x for x in oracle.layouts(mesh, (12, 18), "int16") if not x.is_partial]
    layouts = [x for x in layouts if not any(p.is_replicate() for p in x.placements)]
    for start, end in itertools.product(layouts, repeat=2):
        for rank in range(mesh.size()):
            plan = explain(start, end, rank=rank)
            if len(sending(plan)) > 1:
                continue
            lacks = held(end, rank) & ~held(start, rank)
            assert plan.bytes_received == 2 * lacks.sum()
            gives = held(start, rank) & ~held(end, rank)
            assert plan.bytes_sent == 2 * gives.sum()


def test_what_all_ranks_send_is_what_all_ranks_receive():
    for case in random_cases(11, 400, 8):
        ranks = {*case.start.mesh.ranks.flat, *case.end.mesh.ranks.flat}
        plans = [explain(case.start, case.end, rank=int(rank)) for rank in ranks]
        sent = sum(plan.bytes_sent for plan in plans)
        assert sent == sum(plan.bytes_received for plan in plans), str(case)
        names = {tuple((step.op, step.to) for step in plan.steps) for plan in plans}
        assert len(names) == 1, "a plan is the same on all ranks"


def test_a_gather_sends_every_rank_what_it_lacks():
    mesh = DeviceMesh.abstract((8,))
    plan = explain(Layout(mesh, [Shard(0)], (64, 3), "float64"))
    assert sending(plan) == ["all_gather"]
    assert plan.bytes_received == 56 * 3 * 8


def test_plans_can_be_made_for_meshes_of_any_size():
    mesh = DeviceMesh.abstract((64, 32, 32))
    start = Layout(mesh, [Shard(0), R, P], (1 << 20, 1 << 12), "float32")
    plan = explain(start, [R, Shard(1), Shard(0)], rank=12345)
    assert isinstance(plan, Explanation) and plan.rank == 12345
    assert plan.predicted_seconds > 0 and plan.peak_bytes > 0
    assert plan.steps and all(isinstance(step, Step) for step in plan.steps)


def test_totals_are_sums_over_the_steps_and_the_text_is_a_table():
    start = Layout(DeviceMesh.abstract((2, 2)), [P, Shard(0)], (64, 64), "float32")
    plan = explain(start, [Shard(1), R])
    for name in ("bytes_sent", "bytes_received", "messages"):
        assert getattr(plan, name) == sum(getattr(step, name) for step in plan.steps)
    assert plan.peak_bytes >= max(step.peak_bytes for step in plan.steps)
    lines = str(plan).splitlines()
    assert len(lines) == len(plan.steps) + 4 + (len(plan.steps) != 1)
    assert lines[0].split()[:2] == ["step", "mesh"] and set(lines[1]) == {"-", " "}
    assert lines[-2] == "way: messages (the ranks are not known)"
    assert lines[-1].startswith("rank 0: peak ")
    starts = [lines[1].index("-", k) for k in (0, lines[1].index(" "))]
    assert all(
        line[: starts[1]].strip() in COLLECTIVES | {"local", "total"}
        for line in lines[2:-2]
    )


def test_nothing_to_do_is_a_plan_without_steps():
    layout = Layout(grid(2, 2), [Shard(0), R], (8, 8), "float32")
    plan = explain(layout, layout.placements)
    assert plan.steps == [] and plan.bytes_sent == plan.messages == 0
    assert str(plan) == "nothing to move"


def test_a_dtensor_is_explained_for_its_own_rank(ranks):
    def body():
        mesh, world = line(), _world.current()
        x = distribute_tensor(np.ones((12, 10)), mesh, [Shard(0)])
        plan = explain(x, [Shard(1)])
        before = world.counters()
        x.redistribute(placements=[Shard(1)])
        after = world.counters()
        sent = sum(after[op][1] - before[op][1] for op in after)
        assert plan.rank == world.rank and plan.bytes_sent == sent
        shape = np.asarray(x.to_local()).shape
        lost = (
            math.prod(shape)
            - shape[0] * (x.redistribute(placements=[Shard(1)]).to_local().shape[1])
        )
        assert sent == 8 * lost

    ranks(body)


def test_a_bound_on_memory_is_kept_or_refused():
    start = Layout(grid(4), [Shard(0)], (1 << 10, 1 << 10), "float32")
    assert explain(start, [Shard(1)], max_bytes=1 << 16).bytes_sent > 0
    with pytest.raises(ValueError):
        explain(start, [R], rank=0, max_bytes=-1)


@pytest.mark.parametrize(
    ("forced", "n", "way", "why"),
    [
        ("", 6, "carry", "so few bytes go with the agreement"),
        ("", 60, "read", "ranks of one process"),
        ("carry", 60, "read", "ranks of one process"),
        ("carry", 6, "carry", "by DTENSOR_WAY"),
        ("read", 6, "read", "by DTENSOR_WAY"),
        ("messages", 6, "messages", "by DTENSOR_WAY"),
    ],
)
def test_the_way_that_is_named_is_the_one_that_runs(monkeypatch, forced, n, way, why):
    monkeypatch.setenv("DTENSOR_WAY", forced)

    def body():
        full = np.arange(n * n, dtype="float32").reshape(n, n)
        x = distribute_tensor(full, line(), [Shard(0)], src_data_rank=None)
        step = explain(x, [Shard(1)]).steps[0]
        with CommDebugMode() as comm:
            y = x.redistribute(placements=[Shard(1)])
        assert comm.get_comm_bytes() == {"all_to_all": step.bytes_sent}
        assert comm.get_comm_messages() == {"all_to_all": step.messages}
        np.testing.assert_array_equal(y.full_tensor(), full)
        return step.way, step.why, step.messages

    assert run_ranks(3, body) == [(way, why, 2 if way == "messages" else 0)] * 3


def test_a_way_that_there_is_not_is_refused_on_all_ranks(monkeypatch):
    monkeypatch.setenv("DTENSOR_WAY", "telepathy")
    with pytest.raises(ValueError, match="DTENSOR_WAY must be the name of a way"):
        run_ranks(2, line)
