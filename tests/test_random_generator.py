"""Generators, the default one of each thread, and what may not be drawn."""

import math

import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import DTensor, Shard, Tensor, distribute_tensor, random, tensor, zeros
from dtensor._core import world as _world
from dtensor.testing import run_ranks


def numpy_stream(seed):
    return np.random.Generator(np.random.Philox(key=seed))


def whole(x):
    return np.asarray(x.full_tensor().detach() if isinstance(x, DTensor) else x)


# --- generators -----------------------------------------------------------------------


def test_the_default_generator_is_the_same_on_all_ranks_from_the_start(ranks):
    def body():
        mesh = line()
        if random.initial_seed() != 67280421310721:  # a test of before has seeded it
            random.manual_seed(67280421310721)
        x = dtensor.randn(6, 2, device_mesh=mesh)
        mine = np.asarray(x.to_local()).tobytes()
        assert len(set(_world.current().share(mine))) == 1

    ranks(body)


def test_a_new_thread_has_a_generator_of_its_own():
    random.manual_seed(1)
    assert run_ranks(2, random.initial_seed) == [67280421310721] * 2
    assert random.initial_seed() == 1


def test_seeds_are_torchs(ranks):
    def body():
        mesh = line()
        assert random.manual_seed(3, mesh) is random.default_generator()
        assert random.initial_seed() == 3
        assert random.manual_seed(-1).initial_seed() == 2**64 - 1
        assert random.manual_seed(2**100).initial_seed() == 2**100
        chosen = random.seed()
        assert len(set(_world.current().share(chosen.to_bytes(8, "little")))) == 1
        assert random.initial_seed() == chosen
        for seed in (2**128, -(2**63) - 1, "x"):
            with pytest.raises(ValueError):
                random.manual_seed(seed)
        assert random.is_rng_supported_mesh(mesh)

    ranks(body)


def test_a_rank_outside_of_the_mesh_cannot_be_seeded_for_it():
    def body():
        mesh = dtensor.DeviceMesh("cpu", [0])
        if _world.current().rank == 0:
            random.manual_seed(1, mesh)
        else:
            with pytest.raises(RuntimeError, match="part of the device mesh"):
                random.manual_seed(1, mesh)

    run_ranks(2, body)


def test_states_are_kept_and_set_and_forked():
    random.manual_seed(8)
    tensor([0.0] * 3).uniform_()
    state = random.get_rng_state()
    assert state.dtype == np.uint8 and isinstance(state, Tensor)
    first = tensor([0.0] * 5).uniform_().tolist()
    random.set_rng_state(state)
    assert tensor([0.0] * 5).uniform_().tolist() == first
    random.set_rng_state(state)
    with random.fork_rng():
        random.manual_seed(1)
        tensor([0.0] * 7).normal_()
    assert tensor([0.0] * 5).uniform_().tolist() == first
    other = random.default_generator().clone_state()
    assert other.random(4).tolist() == random.default_generator().random(4).tolist()
    for wrong in (np.zeros(3, np.uint8), np.zeros(32), tensor([1.0])):
        with pytest.raises(TypeError, match="RNG state must be"):
            random.set_rng_state(wrong)


def test_a_generator_that_is_given_moves_and_the_others_do_not():
    random.manual_seed(2)
    before, numpys = random.get_rng_state(), np.random.get_state()[1].copy()
    rng, same = random.Generator(6), numpy_stream(6)
    x = tensor(np.zeros(5))
    for _ in range(2):
        assert np.array_equal(x.uniform_(generator=rng), same.random(5))
    assert np.array_equal(dtensor.rand_like(x, generator=rng), same.random(5))
    x.normal_(generator=rng)
    dtensor.bernoulli(x * 0, generator=rng)
    assert np.array_equal(before, random.get_rng_state())
    assert np.array_equal(numpys, np.random.get_state()[1])


def test_permutations_and_choices_have_what_they_are_made_of(ranks):
    def body():
        mesh = line()
        rng = random.Generator(2)
        array = np.arange(30.0).reshape(6, 5)
        x = distribute_tensor(array, mesh, [Shard(0)])
        order = dtensor.randperm(11, device_mesh=mesh, placements=[Shard(0)])
        assert np.array_equal(np.sort(whole(order)), np.arange(11))
        assert np.array_equal(np.sort(whole(rng.permutation(x)), 0), array)
        assert np.array_equal(np.sort(whole(rng.permutation(x, axis=1)), 1), array)
        rng.shuffle(x)
        assert np.array_equal(np.sort(whole(x), 0), array)
        spread = {"device_mesh": mesh, "placements": [Shard(0)]}
        some = whole(rng.choice(5, 40, **spread))
        assert some.shape == (40,) and set(some) == set(range(5))
        assert len(set(whole(rng.choice(9, 9, replace=False, **spread)))) == 9
        often = whole(rng.choice(3, 4000, p=[0.5, 0, 0.5], **spread))
        assert set(often) == {0, 2} and abs(np.mean(often) - 1) < 0.07
        assert set(np.asarray(rng.choice(array[0], (4, 2))).flat) <= set(array[0])
        assert whole(rng.integers(5, **spread | {"placements": None})) in range(5)

    ranks(body)


# --- bad input ------------------------------------------------------------------------

MISTAKES = [
    (RuntimeError, r"found from=1 > to=0", lambda x: x.uniform_(1, 0)),
    (RuntimeError, r"to-from to be finite", lambda x: x.uniform_(-1e308, 1e308)),
    (RuntimeError, r"to-from to be finite", lambda x: x.uniform_(0, math.inf)),
    (RuntimeError, r"from=nan > to=1", lambda x: x.uniform_(math.nan)),
    (TypeError, r"unexpected keyword", lambda x: x.uniform_(form=1)),
    (RuntimeError, r"std >= 0.0, but found std -1", lambda x: x.normal_(0, -1)),
    (RuntimeError, r"lambda > 0.0, but found lambda=0", lambda x: x.exponential_(0)),
    (RuntimeError, r"p to be in \[0, 1\]", lambda x: x.bernoulli_(1.5)),
    (RuntimeError, r"p to be in \[0, 1\]", lambda x: dtensor.bernoulli(x, -0.5)),
    (RuntimeError, r"in \[0, 1\]", lambda x: dtensor.bernoulli(x + 2)),
    (RuntimeError, r"in \[0, 1\]", lambda x: x.bernoulli_(x * math.nan)),
    (RuntimeError, r"from=5 >= to=5", lambda x: x.random_(5, 5)),
    (TypeError, r"the ends are integers", lambda x: x.random_(2.5)),
    (
        RuntimeError,
        r"to - 1 is out of bounds",
        lambda x: x.astype("i1").random_(0, 129),
    ),
    (RuntimeError, r"from is out of bounds", lambda x: x.astype("u1").random_(-1, 3)),
    (RuntimeError, r"from=0 >= to=0", lambda x: dtensor.randint_like(x, 0)),
    (NotImplementedError, r"uniform.*int64", lambda x: x.astype("i8").uniform_()),
    (NotImplementedError, r"normal.*bool", lambda x: x.astype("?").normal_()),
    (NotImplementedError, r"complex", lambda x: x.astype("D").bernoulli_()),
    (NotImplementedError, r"int64", lambda x: dtensor.bernoulli(x.astype("i8"))),
    (ValueError, r"between 0 and 1, but got 1.5", lambda x: dtensor.dropout(x, 1.5)),
    (ValueError, r"between 0 and 1", lambda x: dtensor.dropout(x, math.nan)),
    (RuntimeError, r"can't be cast", lambda x: dtensor.dropout(x.astype("i8"))),
    (RuntimeError, r"all elements of std", lambda x: dtensor.normal(x, x - 1)),
    (TypeError, r"takes a size", lambda x: dtensor.normal(x, 1.0, (2,))),
    (TypeError, r"takes a size", lambda x: dtensor.normal(0.0, 1.0)),
    (TypeError, r"randint\(\) takes", lambda x: dtensor.randint(3)),
]
NEW = [
    (NotImplementedError, "int64", lambda **o: dtensor.rand(2, dtype="i8", **o)),
    (NotImplementedError, "int64", lambda **o: dtensor.randn(2, dtype="i8", **o)),
    (ValueError, "negative", lambda **o: dtensor.rand(-1, **o)),
    (RuntimeError, "negative", lambda **o: dtensor.randperm(-1, **o)),
    (RuntimeError, "from=5 >= to=5", lambda **o: dtensor.randint(5, 5, (2,), **o)),
    (
        RuntimeError,
        "out of bounds",
        lambda **o: dtensor.randint(300, (2,), dtype="u1", **o),
    ),
    (RuntimeError, "std >= 0", lambda **o: dtensor.normal(0.0, -1.0, (2,), **o)),
    (
        RuntimeError,
        "gradients|require",
        lambda **o: dtensor.randint(3, (2,), requires_grad=True, **o),
    ),
    (
        ValueError,
        "cannot choose",
        lambda **o: random.Generator().choice(3, 4, replace=False, **o),
    ),
    (
        ValueError,
        "add up to 1",
        lambda **o: random.Generator().choice(2, 4, p=[1, 1], **o),
    ),
    (
        RuntimeError,
        "from=3 >= to=1",
        lambda **o: random.Generator().integers(3, 1, **o),
    ),
]


@pytest.mark.parametrize("error, words, call", MISTAKES)
def test_what_cannot_be_drawn_is_refused_on_every_rank(error, words, call):
    def body():
        for x in (
            zeros(4, 3, device_mesh=line(), placements=[Shard(0)]),
            tensor([0.5]),
        ):
            with pytest.raises(error, match=words):
                call(x)

    run_ranks(3, body)


@pytest.mark.parametrize("error, words, call", NEW)
def test_what_cannot_be_made_is_refused_on_every_rank(error, words, call):
    def body():
        with pytest.raises(error, match=words):
            call(device_mesh=line())

    run_ranks(2, body)


def test_errors_of_factories_are_those_of_zeros(ranks):
    def body():
        mesh = line()
        for wrong in (
            {},
            {"device_mesh": mesh, "placements": [Shard(0), Shard(0)]},
            {"device_mesh": mesh, "placements": [Shard(5)]},
            {"device_mesh": mesh, "layout": "sparse"},
        ):
            errors = []
            for make in (zeros, dtensor.rand, dtensor.randn):
                with pytest.raises(Exception) as caught:
                    make(3, 2, **wrong)
                errors.append(type(caught.value))
            assert len(set(errors)) == 1, errors
        with mesh:
            assert dtensor.rand(3, 2).device_mesh == mesh

    ranks(body)
