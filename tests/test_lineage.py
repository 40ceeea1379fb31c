"""Ranks that do the same call on different values get an error that says where they
parted; programs that do not part get none."""

import contextlib
import functools
import tempfile

import numpy as np
import pytest

import dtensor
from dtensor import (
    DTensor,
    Replicate,
    Shard,
    checkpoint,
    init_device_mesh,
    nn,
    optim,
)
from dtensor._core import world
from dtensor.testing import run_ranks

pytestmark = pytest.mark.filterwarnings("ignore::dtensor.FallbackWarning")


def start(n=4):
    mesh = init_device_mesh("cpu", (n,))
    numbers = np.arange(12.0).reshape(4, 3)
    a = dtensor.distribute_tensor(numbers, mesh, [Shard(0)])
    b = dtensor.distribute_tensor(numbers + 1, mesh, [Shard(0)])
    return mesh, a, b, mesh.get_rank() == 1


def other_array():
    _, a, b, odd = start()
    return (b if odd else a).redistribute(placements=[Shard(1)])


def one_of_many(count=14, which=2):
    mesh, a, b, odd = start()
    many = [(b if odd and k == which else a) * float(k) for k in range(count)]
    return dtensor.redistribute(many, mesh, [[Replicate()]] * count)[0]


def other_operator():
    _, a, _, odd = start()
    return (np.cumprod if odd else np.cumsum)(a, axis=1).full_tensor()


def other_constant():
    _, a, _, odd = start()
    return np.quantile(a, 0.9 if odd else 0.5, axis=1).full_tensor()


def other_number():
    _, a, _, odd = start()
    return (a * (3.0 if odd else 2.0)).full_tensor()


def other_lambda():
    _, a, _, odd = start()
    function = (lambda v: v.sum() + 2) if odd else (lambda v: v.sum() + 1)
    return np.apply_along_axis(function, 1, a).full_tensor()


def other_small_array():
    _, a, _, odd = start()
    return (a + np.array([0, 0, float(odd)])).full_tensor()


def other_slice():
    _, a, _, odd = start()
    return a[:, 1 : 3 if odd else 2 :].sum().item()


def other_element_written():
    _, a, _, odd = start()
    a[2 if odd else 1] = 5
    return a.full_tensor()


def other_value_written():
    _, a, _, odd = start()
    a[1] = 7 if odd else 5
    return a.full_tensor()


def write_left_out():
    _, a, _, odd = start()
    if not odd:
        a *= 2
    return a.full_tensor()


def write_through_a_view():
    _, a, _, odd = start()
    view = a[:, 1:]
    if odd:
        view += 1
    return a.full_tensor()


def write_seen_by_a_view():
    _, a, _, odd = start()
    view = a[:, 1:]
    if odd:
        a += 1
    return view.full_tensor()


def extra_leaf():
    mesh, a, _, odd = start()
    if odd:
        x = DTensor.from_local(np.ones(3), mesh, [Replicate()], run_check=False)
    x = DTensor.from_local(np.ones(3), mesh, [Replicate()], run_check=False)
    return (a + x).full_tensor()


def other_seed():
    mesh, a, _, odd = start()
    dtensor.random.manual_seed(1 if odd else 0, mesh)
    return (a + dtensor.rand(4, 3, device_mesh=mesh)).full_tensor()


def other_fill():
    mesh, a, _, odd = start()
    filled = dtensor.full((3,), 2.0 if odd else 1.0, device_mesh=mesh)
    return (a + filled).full_tensor()


def other_range():
    mesh, a, _, odd = start()
    steps = dtensor.arange(0, 6 if odd else 3, 2 if odd else 1, device_mesh=mesh)
    return (a + steps).full_tensor()


def other_sorted():
    _, a, b, odd = start()
    return np.sort(b if odd else a, axis=0).full_tensor()


def other_part_of_a_composite():
    _, a, b, odd = start()
    return np.unique(b if odd else a).full_tensor()


def other_reduction():
    _, a, _, odd = start()
    target = dtensor.zeros(4, dtype=np.int64, device_mesh=a.device_mesh)
    how = "sum" if odd else "mean"
    loss = nn.functional.cross_entropy(
        a, target.redistribute(placements=[Shard(0)]), reduction=how
    )
    return loss.full_tensor()


def model_of(mesh):
    dtensor.random.manual_seed(0, mesh)
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)).to(np.float64)
    return dtensor.distribute_module(model, mesh)


def other_order_of_blocks():
    mesh, a, _, odd = start()
    first, second = model_of(mesh)
    y = first(second(a)) if odd else second(first(a))
    return y.full_tensor()


def step_left_out():
    mesh, a, _, odd = start()
    model = model_of(mesh)
    sgd = optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        sgd.zero_grad()
        model(a).sum().backward()
        if not odd:
            sgd.step()
    return model(a).full_tensor()


def step_of_halves_left_out():
    """Of a dtype that is not the kernels'."""
    mesh, a, _, odd = start()
    w = a.astype("float16").requires_grad_()
    sgd = optim.SGD([w], lr=0.1)
    w.sum().backward()
    if not odd:
        sgd.step()
    return w.detach().full_tensor()


def step_of_complex_numbers_left_out():
    mesh, a, _, odd = start()
    w = a.astype("complex64").requires_grad_()
    adam = optim.Adam([w], lr=0.1)
    for k in range(2):
        w.grad = a.astype("complex64")
        if k == 0 or not odd:
            adam.step()
    return w.detach().full_tensor()


def other_learning_rate():
    mesh, a, _, odd = start()
    model = model_of(mesh)
    model(a).sum().backward()
    optim.Adam(model.parameters(), lr=0.2 if odd else 0.1).step()
    return model(a).full_tensor()


def other_clip():
    mesh, a, _, odd = start()
    model = model_of(mesh)
    model(a).sum().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 2.0 if odd else 1.0)
    optim.SGD(model.parameters(), lr=0.1).step()
    return model(a).full_tensor()


def other_seen_by_a_sibling():
    """What is drawn into a tensor is seen by what shares its memory."""
    mesh, a, _, odd = start()
    alias = a.detach()
    if odd:
        a.uniform_()
    return alias.full_tensor()


def other_product_in_place():
    mesh, a, b, odd = start()
    square = dtensor.distribute_tensor(np.eye(3), mesh, [Shard(1)])
    x = (b if odd else a).redistribute(placements=[Replicate()])
    x @= square
    return x.full_tensor()


def other_array_in_a_constructor():
    mesh, a, _, odd = start()
    layout = a.layout.with_placements([Shard(0)])
    x, y = (DTensor(a.to_local() * k, layout, requires_grad=False) for k in (2, 3))
    return (y if odd else x).full_tensor()


def other_state_saved():
    mesh, a, b, odd = start()
    with tempfile.TemporaryDirectory() as place:
        mine = world.current().share(place.encode())[0].decode()
        checkpoint.save({"x": b if odd else a}, checkpoint_id=f"{mine}/x")


PARTED = [
    other_array, other_operator, other_constant, other_number, other_lambda,
    other_small_array, other_slice, other_element_written, other_value_written,
    write_left_out, write_through_a_view, write_seen_by_a_view, extra_leaf,
    other_seed, other_fill,
    other_range, other_sorted, other_part_of_a_composite, other_reduction,
    other_order_of_blocks, step_left_out, step_of_halves_left_out,
    step_of_complex_numbers_left_out, other_learning_rate, other_clip,
    other_seen_by_a_sibling, other_product_in_place, other_array_in_a_constructor,
    other_state_saved,
]  # fmt: skip


def raised(program):
    """What every rank raises, or returns."""

    def run():
        try:
            return program()
        except Exception as error:
            return error

    return run_ranks(4, run)


@pytest.mark.parametrize("program", PARTED, ids=lambda f: f.__name__)
def test_ranks_whose_values_differ_all_raise(program):
    answers = raised(program)
    assert all(isinstance(answer, RuntimeError) for answer in answers), answers
    assert len({str(answer) for answer in answers}) == 1
    assert "different" in str(answers[0])


@pytest.mark.parametrize(
    "program, words",
    [
        (other_array, "ranks 0, 2, 3 computed distribute_tensor #1 of (4, 3) float64, "
                      "rank 1 computed distribute_tensor #2 of (4, 3) float64"),
        *[
            (functools.partial(one_of_many, count, which), "ranks 0, 2, 3 computed dist"
             "ribute_tensor #1 of (4, 3) float64, rank 1 computed distribute_tensor #2")
            for count in (2, 5, 6, 9, 10, 14) for which in (0, count // 2, count - 1)
        ],
        (other_operator, "rank 1 computed cumprod((4, 3) float64"),
        (other_number, "with 2.0, rank 1 computed multiply((4, 3) float64, float) "
                       "with 3.0, with other numbers or arrays (if they are meant to"),
        (write_left_out, "ranks 0, 2, 3 computed a write of multiply((4, 3) float64, "
                         "int) with 2, rank 1 computed distribute_tensor #1"),
        (other_element_written, "ranks 0, 2, 3 computed setitem with 1, rank 1 comp"
                                "uted setitem with 2"),
        (other_learning_rate, "ranks 0, 2, 3 computed a step of Adam with lr=0.1, rank "
                              "1 computed a step of Adam with lr=0.2"),
    ],
    ids=lambda f: getattr(f, "__name__", ""),
)  # fmt: skip
def test_the_error_says_where_they_parted(program, words):
    assert words in str(raised(program)[0])


def moved_async(program=None):
    mesh, a, b, odd = start()
    x = (b if odd else a) * 2
    for _ in range(3):
        x = x + 1
    x = x.redistribute(placements=[Shard(1)], async_op=True)
    if program is not None:
        with contextlib.suppress(RuntimeError):
            program(x)
        ones = dtensor.ones((8, 3), device_mesh=mesh, placements=[Shard(0)])
        return ones.full_tensor().numpy().sum().item()
    return (x + 1).full_tensor()


def test_the_error_of_an_async_move_says_where_they_parted():
    answers = raised(moved_async)
    assert len({str(answer) for answer in answers}) == 1
    assert "they part here: ranks 0, 2, 3 computed distribute_tensor #1" in str(
        answers[0]
    )
    assert "test_lineage.py:" in str(answers[0])


def test_a_rank_that_does_not_wait_for_an_async_move_holds_up_nobody():
    def waited_for_on_some(x):
        if x.layout.mesh.get_rank() % 2:
            x.to_local()

    assert raised(functools.partial(moved_async, waited_for_on_some)) == [24.0] * 4


def far_apart():
    _, a, _, odd = start()
    a = a * (3.0 if odd else 2.0)
    for _ in range(5000):
        a = a + 1
    return a.full_tensor()


def test_what_is_older_than_the_journal_is_said_to_be():
    assert "not among the last 4096" in str(raised(far_apart)[0])


@pytest.mark.parametrize("check", ["0", "1"])
def test_without_checks_values_are_not_compared(check, monkeypatch):
    monkeypatch.setenv("DTENSOR_CHECK", check)
    kinds = {type(answer) for answer in raised(functools.partial(other_number))}
    assert kinds == ({RuntimeError} if check == "1" else {dtensor.Tensor})
