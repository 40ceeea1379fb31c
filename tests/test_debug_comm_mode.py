"""CommDebugMode by module, operator and line; its table and its hooks."""

import inspect
import re

import numpy as np
import pytest
from debug_scene import R, model, rows, step
from meshes import line
from parallel_models import leaf, numbers

from dtensor import DTensor, Shard, distribute_tensor, nn
from dtensor.debug import CommDebugMode
from dtensor.nn import _hooks
from dtensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from dtensor.testing import run_ranks
from dtensor.utils.checkpoint import checkpoint


def counted(comm):
    """What ran where, without empty rows."""
    return {
        (name, direction): dict(counts)
        for name, both in comm.comm_module_counts.items()
        for direction, counts in both.items()
        if counts
    }


def test_a_collective_belongs_to_its_module_and_direction(ranks):
    def body():
        comm = step(model())
        one = {"all_reduce": 1}
        assert counted(comm) == (
            {}
            if line().size() == 1
            else {
                ("Global", "forward"): one,
                ("MLP", "forward"): one,
                ("MLP.down", "forward"): one,
                ("Global", "backward"): one,
                ("MLP", "backward"): one,
                ("MLP.up", "backward"): one,
            }
        )
        assert comm.comm_module_counts["Global"]["forward"]["all_to_all"] == 0

    ranks(body)


class Mixer(nn.Module):
    """One input for three layers, and past them all."""

    def __init__(self):
        super().__init__()
        layers = [nn.Linear(4, 4, dtype=np.float64) for _ in range(4)]
        self.into, self.out = nn.ModuleList(layers[:3]), layers[3]

    def forward(self, x):
        q, k, v = (layer(x) for layer in self.into)
        return x + self.out(q * k + v)


def test_modules_that_share_an_input_are_told_apart_as_torch_does():
    def body():
        columns = {f"{k}.into.{n}": ColwiseParallel() for k in "01" for n in range(3)}
        plan = columns | {f"{k}.out": RowwiseParallel() for k in "01"}
        net = parallelize_module(nn.Sequential(Mixer(), Mixer()), line(), plan)
        return step(net)

    found = counted(run_ranks(2, body)[0])
    wanted = {"Global": (2, 6), "Sequential": (2, 6)}
    for k in "01":
        wanted |= {f"Sequential.{k}": (1, 3), f"Sequential.{k}.out": (1, 0)}
        wanted |= {f"Sequential.{k}.into.{n}": (0, 1) for n in range(3)}
    counts = {
        (name, direction): {"all_reduce": count}
        for name, both in wanted.items()
        for direction, count in zip(("forward", "backward"), both, strict=True)
        if count
    }
    assert found == counts


def test_the_sums_over_modules_and_lines_are_what_the_world_counts(ranks):
    def body():
        x = rows()
        with CommDebugMode() as comm:
            (x.T @ x).full_tensor()
            x.redistribute(placements=[Shard(1)], async_op=True).wait()
            np.mean(x @ x).item()
            np.concatenate([x, x.T])
        sites = comm.get_call_sites()
        assert sum(site.calls for site in sites) == comm.get_total_counts()
        assert sum(site.bytes for site in sites) == comm.get_comm_bytes().total()
        messages = comm.get_comm_messages().total()
        assert sum(site.messages for site in sites) == messages
        assert all(site.seconds > 0 for site in sites)
        everywhere = comm.comm_module_counts["Global"]["forward"]
        assert everywhere == comm.get_comm_counts()
        assert [s.bytes for s in sites] == sorted(
            (s.bytes for s in sites), reverse=True
        )

    ranks(body)


def test_a_call_site_is_the_line_of_the_program():
    def body():
        x = rows()
        with CommDebugMode() as comm:
            here = inspect.currentframe().f_lineno + 1
            x.full_tensor()
        return here, comm.get_call_sites()

    for here, (site,) in run_ranks(2, body):
        assert (site.file, site.line, site.names) == (__file__, here, ("full_tensor",))
        assert site.calls == 1 and site.bytes == 64


def test_parameters_and_placements_are_those_of_the_modules_that_were_called(ranks):
    def body():
        module = model()
        comm = step(module)
        assert {k: set(v) for k, v in comm.get_parameter_info().items()} == {
            "MLP.up": {"weight", "bias"},
            "MLP.down": {"weight", "bias"},
        }
        assert comm.get_parameter_info()["MLP.up"]["weight"].shape == (8, 4)
        assert comm.get_sharding_info() == {
            f"MLP.{name}": x.placements
            for name, x in module.named_parameters()
            if isinstance(x, DTensor)
        }

    ranks(body)


TABLE = """
        Global
          FORWARD PASS
            *all_reduce: 1 (96 B)
          BACKWARD PASS
            *all_reduce: 1 (96 B)
            MLP
              FORWARD PASS
                *all_reduce: 1 (96 B)
              BACKWARD PASS
                *all_reduce: 1 (96 B)
                MLP.up
                  BACKWARD PASS
                    *all_reduce: 1 (96 B)
                MLP.act
                MLP.down
                  FORWARD PASS
                    *all_reduce: 1 (96 B)
"""


def test_the_table_of_level_0_is_that_of_torch():
    comm = run_ranks(2, lambda: step(model()))[0]
    wanted = inspect.cleandoc(TABLE) + "\n"
    assert comm.generate_comm_debug_tracing_table(0) == wanted


def test_each_noise_level_adds_to_the_one_before():
    comm = run_ranks(2, lambda: step(model()))[0]
    tables = [comm.generate_comm_debug_tracing_table(level) for level in range(4)]
    names = [set(re.findall(r"\*\*(\w+)", table)) for table in tables]
    assert names[0] == set() and {"linear", "redistribute"} <= names[1]
    assert names[1] < names[2] < names[3]
    assert "relu" in names[2] - names[1], "its operand is of this rank alone"
    assert "reshape" in names[3] - names[2]
    assert "module type: class 'parallel_models.MLP'" in tables[1]
    assert "*weight: (Shard(dim=0),)" in tables[1]
    assert "sharding: [[P(sum)]]" in tables[1] and "moved to: [[R]]" in tables[1]
    assert comm.generate_comm_debug_tracing_table() == tables[3]
    with pytest.raises(ValueError, match="noise_level must be 0, 1, 2 or 3, not 4"):
        comm.generate_comm_debug_tracing_table(4)


def test_the_table_goes_to_a_file(tmp_path):
    comm = run_ranks(2, lambda: step(model()))[0]
    file = tmp_path / "log.txt"
    comm.log_comm_debug_tracing_table_to_file(str(file), 1)
    assert file.read_text() == comm.generate_comm_debug_tracing_table(1)
    with pytest.raises(OSError):
        comm.log_comm_debug_tracing_table_to_file(str(tmp_path / "no" / "log.txt"))
    assert [path.name for path in tmp_path.iterdir()] == ["log.txt"]


def test_hooks_are_there_inside_the_block_only(ranks):
    def tables(module):
        return [
            (len(m._forward_hooks), len(m._forward_pre_hooks), len(m._backward_hooks))
            for m in module.modules()
        ]

    def body():
        module = model()
        before = tables(module)
        x = leaf(numbers(3, 4))
        with CommDebugMode() as comm:
            y = module(x)
            assert tables(module) != before
        assert tables(module) == before and not comm._depth
        y.sum().backward()
        assert x.grad is not None
        assert "backward" not in {d for _, d in counted(comm)}

    ranks(body)
    assert not _hooks._global_forward_pre_hooks


def test_a_module_that_raised_is_left():
    class Fails(nn.Module):
        def forward(self, x):
            raise KeyError("mine")

    def body():
        x = rows()
        with CommDebugMode() as comm:
            with pytest.raises(KeyError):
                nn.Sequential(nn.Identity(), Fails())(x)
            x.full_tensor()
        return comm

    comm = run_ranks(2, body)[0]
    assert counted(comm) == {("Global", "forward"): {"all_gather": 1}}


def test_values_and_gradients_are_the_same_with_and_without():
    def body():
        results = []
        for watched in (False, True):
            module, x = model(), leaf(numbers(3, 4))
            for k, parameter in enumerate(module.parameters()):
                values = numbers(*parameter.shape, seed=k)
                whole = distribute_tensor(values, line(), parameter.placements)
                parameter.data = whole
            if watched:
                with CommDebugMode():
                    module(x).sum().backward()
            else:
                module(x).sum().backward()
            grads = [p.grad.full_tensor() for p in module.parameters()]
            results.append([np.asarray(g) for g in (x.grad, *grads)])
        return results

    for plain, watched in run_ranks(2, body):
        for a, b in zip(plain, watched, strict=True):
            np.testing.assert_array_equal(a, b)


def test_what_a_checkpoint_computes_again_is_told_as_such():
    def body():
        module, x = model(), leaf(numbers(3, 4))
        with CommDebugMode() as comm:
            checkpoint(module, x, use_reentrant=False).sum().backward()
        return comm

    comm = run_ranks(2, body)[0]
    again = [record for record in comm._records if record.recomputed]
    assert "linear" in [record.name for record in again if record.module == "MLP.up"]
    assert all(record.backward for record in again)
    where = {(r.module, r.name) for r in comm._records if r.backward} - {
        (r.module, r.name) for r in again
    }
    assert ("MLP.up", "linear_weight") in where


def test_names_of_torch_are_understood_where_counts_are_read():
    def all_to_all_single():
        """Stands for a function of torch."""

    def body():
        with CommDebugMode() as comm:
            rows().full_tensor()
            rows().redistribute(placements=[Shard(1)])
        return comm

    counts = run_ranks(2, body)[0].get_comm_counts()
    names = "all_gather_into_tensor c10d_functional.all_gather_into_tensor allgather_"
    for name in (*names.split(), "_c10d_functional.all_gather_into_tensor.default"):
        assert counts[name] == 1, name
    assert counts[all_to_all_single] == 1 and counts["all_reduce"] == 0


def test_threads_that_are_other_ranks_are_not_recorded():
    def body():
        rows().redistribute(placements=[R])

    with CommDebugMode() as comm:
        run_ranks(2, body)
    assert comm.get_call_sites() == [] and comm._records == []
