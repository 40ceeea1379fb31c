"""Gradients that are computed without their Python functions: the same bits as with
them, for every operator, and the same messages."""

import sys

import numpy as np
import pytest
from gradcheck import like, place, results_of, seeds, values, ways_of, whole
from gradients import EXTRA, NO_GRADIENT
from meshes import line
from test_gradients import first_of_each, operators

import dtensor
import dtensor.nn.functional as F
from dtensor import _C, DTensor, Replicate, Shard, distribute_tensor
from dtensor.autograd import backward
from dtensor.ops._make.elementwise import broadcast
from dtensor.ops._make.operator import call, operator
from dtensor.testing import run_ranks

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

TURNS = 4  # the third backward through a call is the first that can be played
R, S0 = Replicate(), Shard(0)


def placed(array, *placements, grad=True):
    x = distribute_tensor(np.asarray(array), line(), placements or [R])
    return x.requires_grad_(grad)


def local(x):
    return x.to_local().detach().numpy()


def turned(array, turn):
    """Other values for each turn; the last ones are the given ones."""
    if array.dtype.kind not in "fc" or turn + 1 == TURNS:
        return array
    return array * (1 - 2.0 ** (turn - TURNS - 3))


def operands_of(arrays, ways, rank, turn):
    """Tensors, or DTensors in some layouts."""
    for k, array in enumerate(arrays):
        moved = turned(array, turn)
        floats = array.dtype.kind in "fc"
        if ways is None:
            yield dtensor.tensor(moved.copy(), requires_grad=floats)
        else:
            part = place(moved, ways[k], k)[rank]
            yield DTensor(part, ways[k], requires_grad=floats)


def gradients(fn, arrays, ways, rank):
    """The bits of the gradients of the last turn."""
    for turn in range(TURNS):
        operands = list(operands_of(arrays, ways, rank, turn))
        results = [y for y in results_of(fn, operands) if y.requires_grad]
        grads = [like(g, y) for y, g in zip(results, seeds(results, turn), strict=True)]
        if results:
            backward(results, grads)
    return [x.grad if x.grad is None else whole(x.grad).tobytes() for x in operands]


def outcome(*call):
    with np.errstate(all="ignore"):
        try:
            return gradients(*call)
        except (NotImplementedError, ValueError, TypeError, RuntimeError) as error:
            return type(error), str(error)


def on_ranks(rows, shape, most, playing):
    mesh = dtensor.init_device_mesh("cpu", shape)
    rank = mesh.get_rank()
    _C.set_programs(rank in playing)
    found = []
    for fn, arrays in rows:
        found.append(outcome(fn, arrays, None, rank))
        for ways in ways_of(arrays, mesh, most, 0):
            found.append(outcome(fn, arrays, ways, rank))
    return found


def compare(rows, shape, most, playing=None):
    """Return how many gradients were played."""
    size = int(np.prod(shape))
    plain = run_ranks(size, on_ranks, rows, shape, most, ())
    count = _C.played_count()
    playing = range(size) if playing is None else playing
    played = run_ranks(size, on_ranks, rows, shape, most, playing)
    assert plain == played
    return _C.played_count() - count


def chosen(samples):
    return [(s.fn, arrays) for s, arrays in samples if s.name not in NO_GRADIENT]


def words(extra):
    for fn, text in extra:
        yield fn, [values(word, k) for k, word in enumerate(text.split())]


def test_gradients_of_every_operator_are_the_same_bits():
    assert compare(chosen(first_of_each()), (1,), 1) > 200


def test_gradients_of_every_operator_are_the_same_bits_on_two_ranks():
    assert compare(chosen(first_of_each())[::4], (2,), 2) > 200
    assert compare(list(words(EXTRA)), (2,), 2) > 50


def test_a_rank_may_play_what_another_one_does_not():
    assert compare(chosen(first_of_each())[1::4], (2,), 2, playing=[1]) > 100


@pytest.mark.validate
@pytest.mark.parametrize("shape, most", [((2,), 40), ((3,), 40), ((2, 2), 12)])
def test_gradients_of_every_sample_are_the_same_bits(shape, most):
    compare(chosen(operators()), shape, most)


def test_what_is_played_needs_what_the_call_needs():
    """A program of another call must not stand for one whose parameters are fixed."""

    def normed(trained, mesh):
        x = distribute_tensor(A, mesh, [S0]).requires_grad_()
        v, w = (distribute_tensor(y, mesh, [R]).requires_grad_(trained) for y in (V, W))
        F.layer_norm(x, (6,), v, w).sum().backward(inputs=[x])
        return x.grad.full_tensor().numpy()

    def body():
        mesh = line()
        for _ in range(TURNS):
            normed(True, mesh)
        before = _C.set_programs(mesh.get_rank() > 0)  # as if it had forgotten them
        try:
            return [normed(False, mesh).tobytes() for _ in range(TURNS)]
        finally:
            _C.set_programs(before)

    assert len({bits for answer in run_ranks(2, body) for bits in answer}) == 1


# --- what is played, and what is not --------------------------------------------------

RNG = np.random.default_rng(7)
A, B, C = (RNG.standard_normal(s).astype("f4") for s in ((4, 6), (6, 4), (4, 6)))
V, W = (RNG.standard_normal(6).astype("f4") for _ in "vw")
QUERY = RNG.standard_normal((2, 2, 5, 4)).astype("f4")
CLASSES = np.array([0, 5, 2, 3])

MODEL = {
    "matmul": (lambda x, y: (x @ y).sum(), A, B),
    "add": (lambda x, v: (x + v).sum(), A, V),
    "multiply": (lambda x, y: (x * y * 2.0).sum(), A, C),
    "square": (lambda x: (x * x).sum(), A),
    "subtract": (lambda x, y: (x - y).mean(), A, C),
    "divide": (lambda x, y: (x / (y * y + 1)).sum(), A, C),
    "softmax": (lambda x: (F.softmax(x, -1) * x).sum(), A),
    "gelu": (lambda x: F.gelu(x).sum(), A),
    "relu": (lambda x: F.relu(x).sum(), A),
    "layer_norm": (lambda x, v, w: F.layer_norm(x, (6,), v, w).sum(), A, V, W),
    "rms_norm": (lambda x, v: F.rms_norm(x, (6,), v).sum(), A, V),
    "attention": (
        lambda q, k: F.scaled_dot_product_attention(q, k, k + q, is_causal=True).sum(),
        QUERY,
        QUERY[::-1].copy(),
    ),
    "cross_entropy": (lambda x, t: F.cross_entropy(x, t), A, CLASSES),
    "reshape": (lambda x: (x.reshape(2, 12).T * 2.0).sum(), A),
    "transpose": (lambda q: (q.transpose(0, 2, 1, 3) * 0.5).mean(), QUERY),
    "redistribute": (lambda x: x.redistribute(placements=[S0]).sum(), A),
}


def on_mesh(arrays):
    return [placed(x, grad=x.dtype.kind == "f") for x in arrays]


def frames(function):
    """The Python functions of this library that are called meanwhile."""
    found = []

    def note(frame, event, _):
        if event == "call" and "dtensor" in frame.f_globals.get("__name__", ""):
            found.append(frame.f_code.co_qualname)

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize("name", MODEL)
def test_what_models_are_made_of_goes_back_without_python(name):
    fn, *arrays = MODEL[name]

    def body():
        options = (None, False, False, None, True, True)
        for _ in range(TURNS):
            loss = fn(*on_mesh(arrays))
            called = frames(lambda y=loss: _C.run_backward((y,), *options))
        assert called == []

    run_ranks(1, body)


def grads_of(fn, arrays, playing, times=TURNS):
    """Bits of the gradients, and how many of them were played the last time."""
    before = _C.set_programs(playing)
    try:
        for _ in range(times):
            operands = on_mesh(arrays)
            count = _C.played_count()
            fn(*operands)
            count = _C.played_count() - count
    finally:
        _C.set_programs(before)
    return [
        x.grad if x.grad is None else local(x.grad).tobytes() for x in operands
    ], count


def same(fn, *arrays):
    """Return how many gradients were played; they have the same bits."""
    plain, none = grads_of(fn, arrays, False)
    played, count = grads_of(fn, arrays, True)
    assert plain == played and none == 0
    return count


def test_a_number_is_that_of_each_call():
    def body():
        counts = 0
        for number in (3, 2.5, 3, -0.0, 0.0, True, 2 + 0j, 3):
            counts += same(lambda x, n=number: (abs(x) ** n).sum().backward(), A)
            counts += same(lambda x, n=number: (n * x / 3).sum().backward(), A)
        assert counts > 20

    run_ranks(1, body)


def test_twins_are_told_apart():
    def body():
        assert same(lambda x: (x * x).sum().backward(), A) > 0
        assert same(lambda x, y: (x * y).sum().backward(), A, C) > 0
        assert same(lambda x, y: (y * y + x * y).sum().backward(), A, C) > 0

    run_ranks(1, body)


def test_hooks_and_kept_graphs_and_gradients_of_gradients_are_the_same():
    def hooked(x, y):
        z = x @ y
        z.register_hook(lambda g: g * 2)
        z.retain_grad()
        loss = (z * z).sum()
        loss.backward(retain_graph=True)
        loss.backward()
        x.grad.add_(z.grad.sum())

    def twice(x, y):
        (first,) = dtensor.autograd.grad((x @ y).sum() ** 2, x, create_graph=True)
        (first * first).sum().backward()

    def body():
        assert same(hooked, A, B) > 0
        assert same(twice, A, B) > 0

    run_ranks(1, body)


def test_what_was_written_to_is_found_before_anything_is_played():
    def body():
        for _ in range(TURNS):
            x, y = on_mesh([A, C])
            z = x * 1.0
            loss = (z * y).sum()
            z.add_(1.0)
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                loss.backward()

    run_ranks(1, body)


def test_a_function_of_the_user_is_always_called():
    calls = []

    @operator
    def tripled(x):
        """Return three times the elements."""
        return broadcast([x], "any"), call(np.multiply, x, 3.0)

    def back(grad, _out, _x):
        calls.append(len(calls))
        return grad * (3.0 + len(calls))

    tripled.vjp(back)

    def body():
        for turn in range(TURNS):
            (x,) = on_mesh([A])
            tripled(x).sum().backward()
            assert (local(x.grad) == 4.0 + turn).all()

    run_ranks(1, body)
    assert len(calls) == TURNS


def test_only_the_gradients_that_are_wanted_are_played():
    def some(x, y):
        z = (x @ y).sum()
        z.backward(inputs=[y])
        assert x.grad is None

    def body():
        assert same(some, A, B) > 0
        assert same(lambda x, y: (x @ y).sum().backward(), A, B) > 0

    run_ranks(1, body)


def test_gradients_that_nobody_wants_are_not_computed():
    calls = []

    @operator
    def product(x, y):
        """Return the products of the elements."""
        return broadcast([x, y], "any"), call(np.multiply, x, y)

    product.vjp(
        lambda grad, _out, _x, y: calls.append("x") or grad * y,
        lambda grad, _out, x, _y: calls.append("y") or grad * x,
    )
    x, y = (dtensor.tensor(A, requires_grad=True) for _ in range(2))
    loss = product(x, y).sum()
    dtensor.autograd.grad(loss, [y], retain_graph=True)
    assert calls == ["y"]
    loss.backward()
    assert calls == ["y", "x", "y"]


def test_gradients_of_a_part_of_the_results_are_played():
    def first(x):
        a, b = dtensor.split(x, 2)
        (a * a).sum().backward()
        del b

    def body():
        same(first, A)

    run_ranks(1, body)
