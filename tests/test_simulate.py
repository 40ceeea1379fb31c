"""A simulated rank counts what a real one does, on meshes that no machine has."""

import itertools
import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import dtensor
from dtensor import (
    _C,
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    functional_collectives as funcol,
    init_device_mesh,
    nn,
    redistribute,
)
from dtensor.debug import CommDebugMode, explain, simulate
from dtensor.experimental import context_parallel
from dtensor.experimental.attention import set_rotate_method
from dtensor.nn import functional as F
from dtensor.optim import AdamW
from dtensor.testing import run_ranks

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))

import train_transformer as example  # noqa: E402  of the folder above

R, S, P = Replicate(), Shard, Partial()
NAMES = ("dp", "tp")
MOST_BYTES = 500e6


def build(mesh, layers=1, width=24, heads=6, length=20, batch=6):
    """Spread the model of the example; return a step of training."""
    model = example.GPT(layers, width, heads, length)
    example.parallelize(model, mesh)
    optimizer = AdamW(model.parameters(), lr=1e-3)
    ids = dtensor.as_tensor(np.zeros((batch // mesh["dp"].size(), length), np.int64))
    return lambda: example.train_step(model, ids, ids, optimizer, 0.1)


def simulated(fn, shape=(2, 2), names=NAMES):
    """Simulate this rank, with the costs that were measured for it."""
    world = _C.World.current()
    return simulate(shape, fn, mesh_dim_names=names, rank=world.rank)


def told(report):
    messages = {name: m.messages for name, m in report.moves.items() if m.calls}
    return report.comm_counts, report.comm_bytes, messages


def counted(comm):
    return comm.get_comm_counts(), comm.get_comm_bytes(), comm.get_comm_messages()


def unsent(counts):  # where ranks read each other's memory
    return *counts[:2], dict.fromkeys(counts[2], 0)


# --- the same as on real ranks --------------------------------------------------------


@pytest.fixture
def by_messages(monkeypatch):
    """Ranks that are threads send messages, as those that are simulated."""
    monkeypatch.setenv("DTENSOR_WAY", "messages")


def check_example(expected=tuple):
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=NAMES)
    with CommDebugMode() as building:
        step = build(mesh)
    with CommDebugMode() as stepping:
        step()

    assert expected(told(simulated(lambda mesh: build(mesh) and None))) == counted(
        building
    )
    assert expected(told(simulated(build))) == counted(stepping)


def test_the_example_sends_what_it_sends_on_threads(by_messages):
    run_ranks(4, check_example)


@pytest.mark.mpi
def test_the_example_sends_what_it_sends_on_4_processes(world):
    if world.size == 4:
        x = distribute_tensor(np.ones(4000), init_device_mesh("cpu", (4,)), [S(0)])
        check_example(unsent if explain(x, [R]).steps[0].way == "read" else tuple)


def test_every_pair_of_layouts_is_counted_as_it_moves(by_messages):
    """Two arrays of uneven parts that go together, the first of them small or large."""
    ways = list(itertools.product([R, S(0), S(1), P], repeat=2))

    def move(mesh, source, target, columns):
        arrays = []
        for shape in ((5, columns), (7, 4)):
            layout = _C.Layout(mesh, source, shape, np.float32)
            part = np.zeros(layout.local_shape(), np.float32)
            arrays.append(DTensor(part, layout, requires_grad=False))
        redistribute(arrays, mesh, target)

    def body():
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=NAMES)
        for k, (source, target) in enumerate(itertools.product(ways, repeat=2)):
            if any(t == P and s != P for s, t in zip(source, target, strict=True)):
                continue
            case = source, target, 3 + 60_000 * (k % 2)
            with CommDebugMode() as comm:
                move(mesh, *case)
            report = simulated(lambda mesh, case=case: move(mesh, *case))
            assert told(report) == counted(comm), case

    run_ranks(4, body)


def test_operands_that_operators_move_are_counted(by_messages):
    def program(mesh):
        x = distribute_tensor(np.ones((8, 6)), mesh, [S(0), R])
        y = distribute_tensor(np.ones((6, 8)), mesh, [S(0), S(1)])
        (x @ y + y.sum(0)).full_tensor()

    def body():
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=NAMES)
        with CommDebugMode() as comm:
            program(mesh)
        assert comm.get_total_counts() > 2
        assert told(simulated(program)) == counted(comm)

    run_ranks(4, body)


def of_parts(mesh):
    """Functions that look at this rank's part, where it has data."""
    x = distribute_tensor(np.zeros((7, 5)), mesh, [S(0)])
    np.concatenate([x, x[2:]]).rebalance()
    np.pad(np.roll(np.cumsum(x, 0), 1, 0), 1, "edge")
    np.argmax(x), x[np.array([6, 0, 3])], np.cumsum(np.ones((4, 3)) + x[:4, :3], 0)


def collectives(mesh):
    x, ring = np.zeros((12, 4)), [*range(1, mesh.size()), 0]
    funcol.all_reduce_coalesced([x, funcol.broadcast(x, 0, mesh)], "sum", mesh)
    parts = funcol.all_gather_tensor(funcol.permute_tensor(x, ring, mesh), 1, mesh)
    funcol.shard_dim_alltoall(
        funcol.reduce_scatter_tensor(parts, "sum", 0, mesh), 1, 0, mesh
    )


def long_sequence(mesh):
    layer, x = nn.Linear(4, 4), dtensor.as_tensor(np.zeros((2, 2, 24, 4), np.float32))
    for method in ("allgather", "alltoall"):
        set_rotate_method(method)
        with context_parallel(mesh, buffers=[x], buffer_seq_dims=[2]):
            h = layer(x)
            F.scaled_dot_product_attention(h, h, h, is_causal=True).sum().backward()
    funcol.all_reduce(layer.weight.grad, "sum", mesh)


@pytest.mark.parametrize("program", [of_parts, collectives, long_sequence])
@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_programs_of_parts_are_counted_by_line_and_module(program, ranks):
    def watched(mesh):
        with CommDebugMode() as comm:
            program(mesh)
        return comm

    def by_place(comm):
        sites = [(s.line, s.calls, s.bytes) for s in comm.get_call_sites()]
        return sites, {**comm.comm_module_counts}

    def body():
        found = []
        comm = watched(init_device_mesh("cpu", (ranks,)))
        report = simulated(lambda mesh: found.append(watched(mesh)), (ranks,), None)
        assert told(report)[:2] == counted(comm)[:2]
        assert told(report) == counted(found[0])
        assert by_place(found[0]) == by_place(comm)

    run_ranks(ranks, body)


# --- large meshes ---------------------------------------------------------------------

LARGE = """
import json, sys
from pathlib import Path
sys.path[:0] = {paths!r}
import test_simulate as here

class Hsdp:
    "The mesh of the example, with replicas of the data-parallel ranks."
    def __init__(self, mesh):
        self.mesh = mesh
    def __getitem__(self, name):
        return self.mesh["replica", "dp"] if name == "dp" else self.mesh[name]

def fn(mesh):
    return here.build(Hsdp(mesh), layers=3, width=96, heads=96, length=96, batch=4096)

report = here.simulate((64, 32, 32), fn, mesh_dim_names=("replica", "dp", "tp"))
status = Path("/proc/self/status").read_text().split()
most = int(status[status.index("VmHWM:") + 1]) * 1024
print(json.dumps([most, json.loads(report.to_json())]))
"""


def test_65536_ranks_take_little_memory():
    paths = [str(Path(__file__).parent), str(EXAMPLES)]
    done = subprocess.run(
        [sys.executable, "-c", LARGE.format(paths=paths)],
        capture_output=True,
        text=True,
        check=True,
        timeout=50,
    )
    most, report = json.loads(done.stdout)
    assert most < MOST_BYTES
    # A layer, and the rest, is gathered before forward, and a layer before backward;
    # reduced once over 32 ranks, and what is left of it over 64.
    assert report["comm_counts"]["all_gather"] > 0
    assert report["comm_counts"]["reduce_scatter"] > 0
    assert report["comm_counts"]["all_reduce"] >= 4
    assert report["predicted_seconds"] > 0


def test_an_all_gather_of_65536_ranks_takes_16_messages_and_no_byte_twice():
    def gather(mesh):
        x = distribute_tensor(meta(65536, 4), mesh, [S(0)])
        return x.full_tensor

    report = simulate(65536, gather, rank=65535)
    assert report.comm_counts == {"all_gather": 1}
    assert report.comm_bytes == {"all_gather": 65535 * 16}
    assert report.moves["all_gather"].messages == 16
    assert report.live_bytes == 65536 * 16 + 16


# --- memory ---------------------------------------------------------------------------


def meta(*shape):
    return nn.Parameter(_C.without_data(shape, np.float32)).detach()


def test_memory_is_that_of_tensors_that_live():
    def program(mesh):
        x = meta(100, 10)  # 4000 bytes
        y = x + 1
        del x
        z = y * 2
        return z.sum

    report = simulate(1, program)
    assert report.live_bytes == 4000 + 4 and report.peak_bytes == 4004

    def whole(mesh):
        program(mesh)()

    report = simulate(1, whole)
    assert report.peak_bytes == 8000 and report.live_bytes == 0


def test_what_backward_needs_lives_until_then():
    def program(mesh):
        x = meta(1000).requires_grad_()
        y = x.exp()  # its result is kept
        loss = y.sum()
        del y
        return loss.backward

    report = simulate(1, program)
    assert report.live_bytes >= 8000  # x and its gradient; y is gone
    assert report.live_bytes < 12000 <= report.peak_bytes


def test_views_and_moves_that_do_nothing_take_no_memory():
    def program(mesh):
        x = distribute_tensor(meta(64, 10), mesh, [R])
        y = x.reshape(10, 64).T.reshape(64, 2, 5)[:, 1]
        kept.append((y, x.redistribute(placements=[R]), x.to_local().detach()))
        return lambda: None

    kept = []
    assert simulate(4, program).live_bytes == 2560


def test_a_step_of_an_optimizer_leaves_four_times_the_parameters():
    def program(mesh):
        model = nn.Linear(64, 32, bias=False)
        for name, parameter in list(model.named_parameters()):
            spread = distribute_tensor(parameter.detach(), mesh, [S(0)])
            model.register_parameter(name, nn.Parameter(spread))
        optimizer = AdamW(model.parameters())

        def step():
            model(dtensor.zeros(8, 64, device_mesh=mesh)).sum().backward()
            optimizer.step()

        return step

    assert simulate(8, program).live_bytes == 4 * 64 * 32 * 4 // 8


# --- reports, and what is refused -----------------------------------------------------


class Cells(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.words, self.tags = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)

    def handle_data(self, data):
        self.words.append(data)


def test_the_report_is_text_json_and_html():
    def gather(mesh):
        distribute_tensor(meta(8, 8), mesh, [S(0), R]).full_tensor()

    report = simulate((2, 4), gather, mesh_dim_names=("<b>", "tp"))
    text, document = str(report), json.loads(report.to_json())
    assert text.startswith("rank 0 of 8 (<b>=2 x tp=4)\ncollective")
    assert "all_gather" in text and "peak" in text
    assert document["comm_bytes"] == dict(report.comm_bytes)
    assert document["peak_bytes"] == report.peak_bytes
    assert document["predicted_seconds"] == report.predicted_seconds > 0
    page = Cells(report.to_html())
    assert "all_gather" in page.words and "b" not in page.tags
    assert "<b>=2" in "".join(page.words)


def test_a_faster_network_takes_less_time():
    def gather(mesh):
        return distribute_tensor(meta(1000, 1000), mesh, [S(0)]).full_tensor

    slow = simulate(8, gather, cost=(1e-6, 1e9, 1e10))
    fast = simulate(8, gather, cost=(1e-6, 1e11, 1e10))
    assert fast.predicted_seconds < slow.predicted_seconds
    assert slow.predicted_seconds == pytest.approx(7e-6 + 3.5e-3 + 5e-5, rel=0.01)


def test_what_is_sent_comes_without_data():
    def program(mesh):
        x = distribute_tensor(np.ones((4, 4)), mesh, [S(0)])
        assert x.device == "meta" and x.full_tensor().device == "meta"
        assert DTensor.from_local(np.ones(3), mesh, [R]).sum().item() == 3
        for y in (x, dtensor.ones((4, 4), device_mesh=mesh, placements=[S(0)])):
            with pytest.raises(NotImplementedError, match="no data"):
                float(y.sum())

    simulate(4, program)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (((2, 2), lambda mesh: 1 / 0), ZeroDivisionError, "division"),
        (((2, 0), print), ValueError, "no ranks"),
    ],
)
def test_what_the_program_raises_is_raised(arguments, error, message):
    with pytest.raises(error, match=message):
        simulate(*arguments)


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match="rank 4 of 4"):
        simulate(4, print, rank=4)
    with pytest.raises(ValueError, match="bandwidth"):
        simulate(4, print, cost=(1e-6, 0.0, 1e10))
    with pytest.raises(RuntimeError, match="names"):
        simulate(4, print, mesh_dim_names=("a", "b"))


def test_nothing_of_it_is_left_for_real_ranks():
    kept = []
    before = init_device_mesh("cpu", (1,))
    simulate(4, kept.append)
    assert init_device_mesh("cpu", (1,)) == before
    assert distribute_tensor(np.ones(3), before, [S(0)]).sum().item() == 3
    with pytest.raises(RuntimeError, match="world"):
        distribute_tensor(np.ones(4), kept[0], [S(0)])
