"""What is filled, made and dropped by chance: layouts, memory, gradients, messages."""

import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import (
    DTensor,
    Layout,
    Partial,
    Replicate,
    Shard,
    Tensor,
    abstract,
    distribute_tensor,
    no_grad,
    random,
    tensor,
    zeros,
)
from dtensor._core import world as _world
from dtensor.testing import run_ranks


def numpy_stream(seed):
    return np.random.Generator(np.random.Philox(key=seed))


def whole(x):
    return np.asarray(x.full_tensor().detach() if isinstance(x, DTensor) else x)


# --- where it is written --------------------------------------------------------------


def test_nothing_is_sent(ranks):
    def body():
        mesh, world = line(), _world.current()
        before = world.counters()
        for placements in ([Shard(0)], [Shard(1)], [Replicate()], [Partial()]):
            options = {"device_mesh": mesh, "placements": placements}
            x = dtensor.rand(4, 6, **options)
            dtensor.randn(4, 6, **options)
            dtensor.randint(5, (4, 6), **options)
            x.uniform_(), x.normal_(), x.exponential_(), x.bernoulli_()
            if placements != [Partial()]:
                dtensor.dropout(x, 0.5)
        dtensor.randperm(9, device_mesh=mesh, placements=[Shard(0)])
        assert world.counters() == before

    ranks(body)


def test_laid_out_as_another(ranks):
    def body():
        mesh = line()
        for placements, after in [
            ([Shard(1)], (Shard(1),)),
            ([Partial()], (Replicate(),)),
        ]:
            x = zeros(3, 8, device_mesh=mesh, placements=placements)
            for y in (
                dtensor.rand_like(x),
                dtensor.randn_like(x, dtype="f8", requires_grad=True),
                dtensor.randint_like(x, 3, 9),
            ):
                assert (y.shape, y.placements) == ((3, 8), after)
            rng = random.Generator(1)
            noise = random.Generator(1).standard_normal((3, 8), "f4").numpy()
            y = dtensor.normal(x + 1, 2.0, generator=rng)
            assert np.array_equal(whole(y), 1 + 2 * noise)
        assert dtensor.randn_like(x, dtype="f8", requires_grad=True).requires_grad
        t = tensor(np.zeros((2, 3)))
        assert (
            type(dtensor.rand_like(t)) is Tensor and dtensor.rand_like(t).dtype == "f8"
        )
        rng = random.Generator(1)
        y = dtensor.normal(tensor([1.0, 2.0]), tensor([0.0, 0.0]), generator=rng)
        assert np.array_equal(y, [1, 2])

    ranks(body)


def test_memory_of_any_order_is_filled_in_the_order_of_indices():
    want = numpy_stream(1).random((4, 6))
    base = np.zeros((6, 4))
    for array in (base.T, np.zeros((8, 12))[::2, ::-2], np.zeros((4, 6), order="F")):
        x = dtensor.as_tensor(array)
        x.uniform_(generator=random.Generator(1))
        assert np.array_equal(array, want)
    base.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        dtensor.as_tensor(base).uniform_()


def test_a_leaf_is_filled_without_recording_only(ranks):
    def body():
        x = zeros(4, 3, device_mesh=line(), placements=[Shard(0)], requires_grad=True)
        for fill in (x.uniform_, x.normal_, x.random_, x.bernoulli_, x.exponential_):
            with pytest.raises(RuntimeError, match="a leaf Variable that requires"):
                fill()
            with no_grad():
                assert fill() is x
        assert x.requires_grad and x.is_leaf

    ranks(body)


def test_what_was_there_before_gets_no_gradient_and_what_is_needed_is_missed():
    x = tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.uniform_()
    (y * y).sum().backward()
    assert not whole(x.grad).any()
    z = x * 3
    square = z * z
    z.detach().uniform_()
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        square.sum().backward()


def test_generators_that_differ_are_found_with_the_check_on(monkeypatch):
    monkeypatch.setenv("DTENSOR_CHECK", "2")

    def body():
        mesh = line()
        random.manual_seed(mesh.get_rank() // 2)
        x = zeros(4, device_mesh=mesh, placements=[Shard(0)])
        for draw in (
            lambda: dtensor.rand(4, device_mesh=mesh),
            lambda: x.normal_(),
            lambda: random.default_generator().integers(3, size=4, device_mesh=mesh),
            lambda: dtensor.dropout(x),
        ):
            with pytest.raises((RuntimeError, ValueError), match="differ"):
                draw()
        random.manual_seed(1)
        assert whole(dtensor.rand(4, device_mesh=mesh)).shape == (4,)

    run_ranks(3, body)


# --- dropout --------------------------------------------------------------------------


def test_dropout_drops_where_rand_is_below_p_and_its_gradient_too(ranks):
    def body():
        mesh = line()
        for placements in ([Shard(0)], [Shard(1)], [Replicate()]):
            data = np.arange(1.0, 71).reshape(7, 10)
            x = distribute_tensor(data, mesh, placements)
            x.requires_grad_()
            rng = random.Generator(4)
            y = dtensor.dropout(x, 0.3, generator=rng)
            kept = numpy_stream(4).random((7, 10), dtype="f4") >= 0.3
            assert y.placements == x.placements
            assert np.array_equal(whole(y), np.where(kept, data * (1 / 0.7), 0))
            # the gradient comes in another layout than the input has
            (y.redistribute(mesh, [Replicate()]) * data).sum().backward()
            assert np.array_equal(whole(x.grad), np.where(kept, data * (1 / 0.7), 0))

    ranks(body)


def test_dropout_of_a_partial_is_that_of_its_sum(ranks):
    def body():
        mesh = line()
        part = np.ones((4, 5))
        x = DTensor.from_local(part, mesh, [Partial()])
        y = dtensor.dropout(x, 0.5, generator=random.Generator(1))
        kept = numpy_stream(1).random((4, 5), dtype="f4") >= 0.5
        assert np.array_equal(whole(y), 2.0 * mesh.size() * kept)

    ranks(body)


def test_dropout_does_what_torch_does_at_the_ends():
    x = tensor(np.arange(1.0, 9.0), requires_grad=True)
    before = random.get_rng_state()
    assert dtensor.dropout(x, 0.5, training=False) is x
    assert dtensor.dropout(x, 0.0) is x
    assert np.array_equal(before, random.get_rng_state())
    y = dtensor.dropout(x, 1.0)
    y.sum().backward()
    assert not whole(y.detach()).any() and not whole(x.grad).any()
    assert np.array_equal(
        dtensor.dropout(tensor([np.inf, np.nan]), 1.0), np.zeros(2, "f4")
    )
    z = tensor(np.ones(100))
    assert dtensor.dropout(z, 0.25, inplace=True) is z
    assert set(z.tolist()) == {0.0, 1 / 0.75}
    assert dtensor.dropout(tensor(2.0), 0.5).shape == ()
    assert dtensor.dropout(tensor(np.ones((0, 3))), 0.5).shape == (0, 3)
    assert isinstance(dtensor.dropout(np.ones(3), 0.5), Tensor)


def test_a_second_gradient_through_dropout_has_the_same_mask():
    x = tensor(np.arange(1.0, 9.0), requires_grad=True)
    y = dtensor.dropout(x, 0.5, generator=random.Generator(3))
    (grad,) = dtensor.autograd.grad((y * y).sum(), x, create_graph=True)
    grad.sum().backward()
    kept = numpy_stream(3).random(8, dtype="f4") >= 0.5
    assert np.array_equal(whole(x.grad), 8.0 * kept)


def test_dropout_works_without_data():
    mesh = dtensor.DeviceMesh.abstract((4,))
    layout = Layout(mesh, [Shard(0)], (8, 6), "float32")
    assert abstract(dtensor.dropout, layout) == layout
