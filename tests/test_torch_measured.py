"""Operators of users, futures, timers, and the counter of multiplications.

The expected values are what PyTorch 2.13 prints, returns and raises.
"""

import threading

import pytest
from meshes import line

import dtensor.torch as torch
from dtensor import Replicate, Shard, distribute_tensor
from dtensor.torch import nn
from dtensor.torch.futures import Future, collect_all, wait_all
from dtensor.torch.utils.benchmark import Compare, Measurement, TaskSpec, Timer
from dtensor.torch.utils.flop_counter import FlopCounterMode, register_flop_formula

# --- operators of users ---------------------------------------------------------------


def new_square():
    @torch.library.custom_op("tests::square", mutates_args=())
    def square(x: torch.Tensor, n: int = 1) -> torch.Tensor:
        return x * x * n

    return square


def keep(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])
    ctx.n = inputs[1]


def test_an_operator_of_a_user_has_a_gradient(ranks):
    x, square = torch.tensor([1.0, 3.0], requires_grad=True), new_square()
    y = square(x)
    assert y.requires_grad and y.tolist() == [1.0, 9.0]
    with pytest.raises(RuntimeError, match="Please use register_autograd to add one"):
        y.sum().backward()
    square.register_autograd(
        lambda ctx, g: (2 * ctx.saved_tensors[0] * ctx.n * g, None), setup_context=keep
    )
    torch.ops.tests.square(x, n=2).sum().backward()
    assert x.grad.tolist() == [4.0, 12.0]
    assert torch.ops.tests.square.default is square

    def body():
        z = distribute_tensor(torch.tensor([1.0, 3.0]), line(), [Shard(0)])
        z.requires_grad_()
        square(z, 3).sum().backward()
        assert z.grad.full_tensor().tolist() == [6.0, 18.0]

    ranks(body)


def test_an_operator_of_meta_tensors_needs_a_function_for_them():
    meta, square = torch.ones(2, device="meta"), new_square()
    with pytest.raises(RuntimeError, match="There was no fake impl registered"):
        square(meta)
    torch.library.register_fake("tests::square", lambda x, n=1: torch.empty_like(x))
    assert square(meta).shape == (2,)


def test_operators_that_write_or_are_not_there():
    @torch.library.custom_op("tests::add_one", mutates_args=("x",))
    def add_one(x: torch.Tensor) -> None:
        x.add_(1)

    x = torch.zeros(2)
    assert add_one(x) is None and x.tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="non-functional operator"):
        add_one.register_autograd(lambda ctx, g: g)
    torch.library.define("tests::twice", "(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match="tests::twice"):
        torch.ops.tests.twice(x)
    torch.library.impl("tests::twice", "cpu", lambda x: 2 * x)
    assert torch.ops.tests.twice(x).tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="does not exist"):
        torch.library.register_fake("tests::none", lambda: None)
    with pytest.raises(AttributeError, match="no 'other'"):
        _ = torch.ops.tests.other


def test_schemas_of_functions():
    def f(
        x: torch.Tensor,
        y: torch.Tensor | None,
        n: int,
        t: list[torch.Tensor],
        s: float = 1.5,
        b: bool = True,
        name: str = "a",
        *,
        k: int = 3,
    ) -> tuple[torch.Tensor, torch.Tensor]: ...

    assert torch.library.infer_schema(f, mutates_args=("x",)) == (
        "(Tensor(a0!) x, Tensor? y, SymInt n, Tensor[] t, float s=1.5, bool b=True, "
        'str name="a", *, SymInt k=3) -> (Tensor, Tensor)'
    )
    with pytest.raises(ValueError, match="Parameter x must have a type annotation"):
        torch.library.infer_schema(lambda x: x, mutates_args=())


# --- futures --------------------------------------------------------------------------


def test_futures_are_done_once_and_call_back():
    future, said = Future(), []
    after = future.then(lambda f: f.wait() + 1)
    future.add_done_callback(lambda f: said.append(f.value()))
    assert not future.done()
    threading.Timer(0.01, future.set_result, [3]).start()
    assert after.wait() == 4 and future.wait() == 3 and said == [3]
    with pytest.raises(RuntimeError, match="can only be marked completed once"):
        future.set_result(4)
    failed = Future()
    failed.set_exception(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        failed.wait()
    with pytest.raises(RuntimeError, match="running the callback: ValueError: no"):
        failed.then(lambda f: f.wait()).wait()
    both = collect_all([future, Future()])
    assert not both.done() and wait_all([future, after]) == [3, 4]
    with pytest.raises(ValueError, match="no"):
        wait_all([future, failed])


# --- times ----------------------------------------------------------------------------


def spec(**names):
    return TaskSpec("x", "pass", **names)


def test_measurements_print_as_pytorchs():
    names = dict(label="L", sub_label="sub", description="desc")
    found = Measurement(10, [1e-4, 1.1e-4, 1.2e-4, 3e-4], spec(**names))
    assert repr(found).split("\n", 1)[1] == (
        "L: sub\ndesc\n  Median: 11.50 us\n  IQR:    5.75 us (10.75 to 16.50)\n"
        "  4 measurements, 10 runs per measurement, 1 thread\n"
        "  WARNING: Interquartile range is 50.0% of the median measurement.\n"
        "           This suggests significant environmental influence."
    )
    assert found.significant_figures == 1 and found.has_warnings
    assert found.as_row_name == "sub" and found.title == "L: sub"
    one = Measurement(1, [1e-4], spec())
    assert repr(one).split("\n", 1)[1] == (
        "x\n  100.00 us\n  1 measurement, 1 runs , 1 thread"
    )


def test_tables_print_as_pytorchs():
    rows = [
        ("s1", "d1", 1, 1e-4),
        ("s2", "d1", 1, 2e-4),
        ("s1", "d2", 1, 3e-4),
        ("s2", "d2", 1, 1e-3),
        ("s1", "d1", 4, 1.234e-5),
        ("s1", "d2", 4, 1e-6),
    ]
    table = Compare(
        [
            Measurement(
                1,
                [seconds] * 5,
                spec(label="Lab", sub_label=s, description=d, num_threads=n),
            )
            for s, d, n, seconds in rows
        ]
    )
    assert str(table) == (
        "[----------- Lab -----------]\n"
        "          |    d1   |    d2  \n"
        "1 threads: ------------------\n"
        "      s1  |  100.0  |  300.0 \n"
        "      s2  |  200.0  |  1000.0\n"
        "4 threads: ------------------\n"
        "      s1  |   12.3  |    1.0 \n"
        "\nTimes are in microseconds (us).\n"
    )
    table.trim_significant_figures()
    assert "      s1  |   12  |    1.0 \n" in str(table)
    table.colorize()
    assert "\033[92m\033[1m100\033[0m\033[0m" in str(table)
    assert "\033[2m\033[91m200\033[0m\033[0m" in str(table)
    with pytest.raises(ValueError, match="instance of `Measurement`"):
        Compare([1])


def test_timers_count_runs():
    said = []
    timer = Timer("f()", globals={"f": lambda: said.append(0)}, label="f")
    found = timer.timeit(100)
    assert found.number_per_run == 100 and len(said) >= 100 and found.median > 0
    blocks = timer.blocked_autorange(min_run_time=0.001)
    assert sum(blocks.raw_times) >= 0.001
    assert Timer("pass").adaptive_autorange(max_run_time=0.01).median > 0
    with pytest.raises(ValueError, match="Invalid language `zz`"):
        Timer("x", language="zz")
    with pytest.raises(NotImplementedError, match="only Python"):
        Timer("x", language="cpp")


# --- multiplications and additions ----------------------------------------------------

o = torch.ones
F = nn.functional
COUNTS = [
    (lambda: torch.addmm(o(2, 4), o(2, 3), o(3, 4)), {"aten.addmm": 48}),
    (lambda: o(5, 2, 3) @ o(5, 3, 4), {"aten.bmm": 240}),
    (lambda: o(5, 2, 3) @ o(3, 4), {"aten.mm": 240}),
    (lambda: torch.mv(o(2, 3), o(3)), {}),
    (lambda: torch.einsum("ij,jk->ik", o(2, 3), o(3, 4)), {"aten.bmm": 48}),
    (lambda: torch.einsum("bij,bij->b", o(2, 3, 4), o(2, 3, 4)), {"aten.bmm": 48}),
    (lambda: torch.einsum("i,j->ij", o(3), o(2)), {}),
    (lambda: torch.tensordot(o(2, 3), o(3, 4), 1), {"aten.mm": 48}),
    (lambda: torch.inner(o(2, 3), o(4, 3)), {"aten.mm": 48}),
    (lambda: F.conv1d(o(1, 4, 5), o(4, 2, 3), groups=2), {"aten.convolution": 144}),
    (lambda: F.conv_transpose1d(o(1, 2, 5), o(2, 4, 3)), {"aten.convolution": 240}),
]


@pytest.mark.parametrize("place", range(len(COUNTS)))
def test_operators_count_as_in_pytorch(place):
    call, expected = COUNTS[place]
    with FlopCounterMode(display=False) as counter:
        call()
    assert counter.get_flop_counts().get("Global", {}) == expected


def test_modules_count_forward_and_backward(capsys):
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(128, 10)
    )
    with FlopCounterMode() as counter:
        model(o(2, 3, 4, 4)).sum().backward()
    assert counter.get_total_flops() == 43008
    assert counter.get_flop_counts()["Sequential.0"] == {
        "aten.convolution": 13824,
        "aten.convolution_backward": 13824,
    }
    assert counter.get_flop_counts()["Sequential.3"] == {
        "aten.addmm": 5120,
        "aten.mm": 10240,
    }
    table = capsys.readouterr().out
    assert " - aten.convolution              13.824K     32.14%\n" in table


def test_attention_counts_forward_and_backward():
    query, key = o(2, 4, 8, 16, requires_grad=True), o(2, 4, 6, 16, requires_grad=True)
    value = o(2, 4, 6, 4, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        F.scaled_dot_product_attention(query, key, value).sum().backward()
    name = "aten._scaled_dot_product_flash_attention"
    scores, sums = 2 * 8 * 8 * 6 * 16, 2 * 8 * 8 * 6 * 4  # of 2 * 4 heads
    assert counter.get_flop_counts()["Global"] == {
        name: scores + sums,
        f"{name}_backward": 3 * scores + 2 * sums,
    }


def test_dtensors_count_as_a_whole_and_formulas_can_be_added(ranks):
    register_flop_formula("sort")(lambda x, *_: x[0])

    def body():
        x = distribute_tensor(o(4, 6), line(), [Shard(0)])
        w = distribute_tensor(o(6, 2), line(), [Replicate()])
        with FlopCounterMode(display=False) as counter:
            x @ w
        assert counter.get_total_flops() == 96

    ranks(body)
    with FlopCounterMode(display=False) as counter:
        o(7).sort()
    assert counter.get_flop_counts()["Global"] == {"sort": 7}
