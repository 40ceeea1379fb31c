"""explain of an expression: the operators that will run, their rows, their bytes."""

import numpy as np
import pytest
from debug_scene import model, rows
from meshes import line
from parallel_models import numbers

from dtensor import DeviceMesh, Layout, Partial, Replicate, Shard, distribute_tensor
from dtensor._core import world as _world
from dtensor.debug import CommDebugMode, Expression, explain

R = Replicate()


def layout(*placements, shape=(64, 64), lengths=(4,)):
    mesh = DeviceMesh.abstract(lengths)
    return Layout(mesh, placements, shape, "float32")


def test_the_row_that_is_taken_is_the_cheapest_on_one_mesh_dim():
    x, w = layout(Shard(0)), layout(Shard(0))
    (plan,) = explain(np.matmul, x, w).operators
    rows = {row.text: row for row in plan.rows}
    assert set(rows) == {"S(1),S(0)->P(sum)", "S(0),R->S(0)", "R,S(1)->S(1)", "R,R->R"}
    assert [row.chosen for row in plan.rows] == [True, False, False, False]
    assert plan.rows[0].seconds == min(row.seconds for row in plan.rows)
    assert plan.seconds == pytest.approx(plan.rows[0].seconds)
    assert plan.rule == "...mk,...kn->...mn" and plan.name == "matmul"
    assert plan.operands == ("[S(0)]", "[S(0)]")
    assert plan.moved_to == ("[S(1)]", "[S(0)]") and plan.results == ("[P(sum)]",)


CASES = {
    "add": (np.add, [Shard(0)], [Shard(1)]),
    "add a sum": (np.add, [Partial()], [Shard(1)]),
    "add a sum to a whole": (np.add, [Partial()], [R]),
    "matmul": (np.matmul, [Shard(1)], [Shard(1)]),
    "concatenate": (lambda x, y: np.concatenate([x, y]), [Shard(0)], [Partial()]),
    "maximum": (np.maximum, [Partial("max")], [Shard(0)]),
    "where": (lambda x, y: np.where(x > 0, y, 1.0), [Shard(0)], [Shard(1)]),
}


@pytest.mark.parametrize("name", CASES)
def test_no_row_that_could_be_taken_is_cheaper_than_the_one_that_is(name):
    fn, *placements = CASES[name]
    for plan in explain(fn, *(layout(*p) for p in placements)).operators:
        assert [row.chosen for row in plan.rows].count(True) == 1
        taken = next(row for row in plan.rows if row.chosen)
        assert all(taken.seconds <= row.seconds * (1 + 1e-9) for row in plan.rows)


def test_every_mesh_dim_has_its_rows():
    x = layout(Shard(0), Shard(1), lengths=(2, 3))
    (plan,) = explain(np.add, x, layout(R, Shard(0), lengths=(2, 3))).operators
    assert {row.mesh_dim for row in plan.rows} == {0, 1}
    for mesh_dim in (0, 1):
        assert sum(r.chosen for r in plan.rows if r.mesh_dim == mesh_dim) == 1


def test_what_it_says_is_what_is_sent(ranks):
    def expression(x):
        y = (x.T @ x).redistribute(placements=[Shard(1)])
        return np.mean(y + x, axis=0) @ x.redistribute(placements=[R])

    def body():
        x, world = rows(), _world.current()
        before = world.counters()
        told = explain(expression, x)
        assert world.counters() == before, "nothing is sent"
        with CommDebugMode() as comm:
            result = expression(x)
        assert told.rank == world.rank
        assert told.bytes_sent == comm.get_comm_bytes().total()
        assert told.messages == comm.get_comm_messages().total()
        assert told.result == result.layout
        names = [r.name for r in comm._records if r.distributed]
        assert [plan.name for plan in told.operators if plan.rule] == [
            name for name in names if name != "redistribute"
        ]

    ranks(body)


def test_a_module_is_an_expression(ranks):
    def body():
        module = model()
        x = distribute_tensor(numbers(3, 4), line(), [R])
        told = explain(module, x)
        with CommDebugMode() as comm:
            module(x)
        assert told.bytes_sent == comm.get_comm_bytes().total()
        assert [plan.name for plan in told.operators].count("linear") == 2

    ranks(body)


def test_the_text_shows_rows_costs_and_lines():
    text = str(explain(np.matmul, layout(Shard(0)), layout(Shard(0))))
    lines = text.splitlines()
    assert lines[0].startswith("matmul([S(0)] -> [S(1)], [S(0)]) = [P(sum)]  rule ")
    assert f"({__file__}:" in lines[1]
    assert [line[2] for line in lines[2:-1]] == ["*", " ", " ", " "]
    assert lines[-1].startswith("rank 0: sends 3.0 KiB in 3 messages, predicted ")


def test_another_rank_may_be_asked_about():
    def whole(x):
        return x.redistribute(placements=[R])

    x = layout(Shard(0), shape=(5, 8))
    told = [explain(whole, x, rank=rank) for rank in (None, 3)]
    assert all(isinstance(plan, Expression) for plan in told)
    assert [plan.rank for plan in told] == [0, 3]
    assert told[0].bytes_sent == 3 * 64 and told[1].bytes_sent == 0, "it holds nothing"


def test_what_looks_at_values_cannot_be_explained():
    with pytest.raises(RuntimeError):
        explain(lambda x: float(x.sum()), layout(Shard(0)))
    with pytest.raises(TypeError, match="a DTensor, a Layout or a function, not int"):
        explain(3)


def test_an_exception_ends_the_watching():
    def fails(_x):
        raise KeyError("mine")

    with pytest.raises(KeyError):
        explain(fails, layout(Shard(0)))
    with CommDebugMode() as comm:
        pass
    assert comm._records == []
