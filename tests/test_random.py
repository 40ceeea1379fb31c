"""Random arrays do not depend on layouts and rank counts, and are NumPy's as said."""

import functools
import hashlib
import math

import numpy as np
import oracle
import pytest
from cases import BFLOAT16, random_layout, random_mesh
from meshes import line, square
from moves import on_world

import dtensor
from dtensor import DTensor, Replicate, Shard, random, tensor, zeros
from dtensor._core import world as _world
from dtensor.testing import run_ranks

SHAPES = [(7, 10), (3, 4, 5), (1,), (0, 3), (), (97,), (2, 1, 3, 4)]


def numpy_stream(seed):
    return np.random.Generator(np.random.Philox(key=seed))


def whole(x):
    return np.asarray(x.full_tensor().detach() if isinstance(x, DTensor) else x)


def empty_as(layout):
    """A DTensor of any layout at all."""
    inside = layout.mesh.get_coordinate() is not None
    shape = layout.local_shape() if inside else (0,)
    return DTensor(np.empty(shape, layout.dtype), layout, requires_grad=False)


# --- every layout ---------------------------------------------------------------------


def dropped(x):
    """What dropout makes of ones: its mask."""
    x[...] = 1
    return dtensor.dropout(x, 0.3)


WAYS = {
    "uniform f8": ("f8", lambda x: x.uniform_()),
    "uniform f4": ("f4", lambda x: x.uniform_()),
    "uniform in (-2, 3) f2": ("f2", lambda x: x.uniform_(-2, 3)),
    "uniform F": ("F", lambda x: x.uniform_()),
    "normal f8": ("f8", lambda x: x.normal_()),
    "normal (1, 2) f4": ("f4", lambda x: x.normal_(1, 2)),
    "normal D": ("D", lambda x: x.normal_()),
    "exponential f4": ("f4", lambda x: x.exponential_(2)),
    "bernoulli f4": ("f4", lambda x: x.bernoulli_(0.3)),
    "bernoulli i1": ("i1", lambda x: x.bernoulli_(0.7)),
    "integers i8": ("i8", lambda x: x.random_(-5, 2**40)),
    "all integers u8": ("u8", lambda x: x.random_()),
    "dropout f4": ("f4", dropped),
    "dropout f8": ("f8", dropped),
    "dropout D": ("D", dropped),
    "longdouble": ("g", lambda x: x.uniform_()),
}
LAYOUTS = 30


@functools.cache
def expected(way, shape):
    """Of one process without a mesh."""
    dtype, draw = WAYS[way]
    random.manual_seed(11)
    tensor([0.0] * 5, dtype="f4").uniform_()  # half a word is kept
    return whole(draw(tensor(np.zeros(shape, dtype))))


def digest(array):
    if array.dtype.char == "g":  # it has bytes of padding
        array = array.astype("f8")
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


@pytest.mark.parametrize(
    "size, count",
    [
        *((size, LAYOUTS) for size in (1, 2, 3, 4, 6)),
        pytest.param(6, 1000, marks=pytest.mark.validate),
    ],
)
def test_an_array_has_one_hash_over_30_layouts_and_all_rank_counts(size, count):
    wanted = {
        (way, k): expected(way, SHAPES[k % len(SHAPES)])
        for way in WAYS
        for k in range(count)
    }

    def body():
        rng = np.random.default_rng(size)
        rank = _world.current().rank
        for k in range(count):
            shape = SHAPES[k % len(SHAPES)]
            op = ["sum", "max", "product"][k % 3]
            like = random_layout(
                rng, random_mesh(rng, size), shape, "f8", op, partial=k % 4 == 0
            )
            like = on_world(like)
            mesh = like.mesh
            for way, (dtype, draw) in WAYS.items():
                complex_product = np.dtype(dtype).kind == "c" and op != "sum"
                if like.is_partial and complex_product:
                    continue
                layout = like.with_dtype(dtype)
                random.manual_seed(11)
                zeros(5, device_mesh=mesh).uniform_()
                x = draw(empty_as(layout))
                array = wanted[way, k]
                if rank in mesh.ranks:
                    assert digest(whole(x)) == digest(array), (way, layout)
                    if not x.layout.is_partial:
                        box = oracle.boxes(x.layout)[rank]
                        part = np.asarray(x.to_local())
                        assert oracle.same_bits(part, oracle.take(array, box))
                else:
                    whole(x)

    run_ranks(size, body)


@pytest.mark.mpi
def test_the_ranks_of_mpiexec_have_the_same_numbers():
    mesh = square()
    for way, (dtype, draw) in WAYS.items():
        for placements in (
            [Shard(0), Shard(1)],
            [Shard(1), Shard(1)],
            [Replicate()] * 2,
        ):
            array = expected(way, (7, 10))
            random.manual_seed(11)
            zeros(5, device_mesh=mesh).uniform_()
            x = draw(zeros(7, 10, dtype=dtype, device_mesh=mesh, placements=placements))
            assert digest(whole(x)) == digest(array), way


# --- NumPy's stream -------------------------------------------------------------------


def test_rand_is_numpys_stream_whatever_is_drawn_one_after_the_other(ranks):
    def body():
        mesh = line()
        rng = np.random.default_rng(3)
        random.manual_seed(5)
        same = numpy_stream(5)
        for k in range(60):
            shape = SHAPES[k % len(SHAPES)]
            dtype = ["f8", "f4"][int(rng.integers(2))]
            layout = random_layout(rng, mesh, shape, dtype, "sum")
            placements = [Shard(0)] if len(shape) else [Replicate()]
            want = same.random(shape, dtype=dtype)
            if k % 3 == 0:
                x = dtensor.rand(
                    *shape, dtype=dtype, device_mesh=mesh, placements=placements
                )
            elif k % 3 == 1:
                x = empty_as(layout).uniform_()
            else:
                x = dtensor.rand_like(empty_as(layout))
            assert oracle.same_bits(whole(x), want)

    ranks(body)


@pytest.mark.parametrize("seed", [0, 1, 2**64 - 1, 2**64, 2**128 - 1])
def test_a_generator_is_numpys_for_every_key(seed):
    rng, same = random.Generator(seed), numpy_stream(seed)
    for size in (None, 3, (2, 5), (0,), 1000):
        for dtype in ("f8", "f4"):
            made = rng.random(size, dtype)
            assert np.array_equal(made, same.random(size, dtype=dtype))
    made = rng.uniform(-3, 2.5, 1000)
    assert np.array_equal(made, same.uniform(-3, 2.5, 1000))
    assert rng.initial_seed() == seed


def test_smaller_dtypes_have_the_leading_bits_of_float32():
    single = random.Generator(1).random(1000, "f4").numpy().astype("f8")
    for dtype, bits in [("f2", 11), *((t, 8) for t in BFLOAT16)]:
        made = random.Generator(1).random(1000, dtype).numpy()
        assert np.array_equal(made.astype("f8"), np.floor(single * 2**bits) / 2**bits)


def test_wider_and_complex_dtypes_have_the_numbers_of_float64():
    double = random.Generator(1).random(1000).numpy()
    assert np.array_equal(random.Generator(1).random(1000, "g").numpy(), double)
    pairs = random.Generator(1).random(500, "D").numpy()
    assert np.array_equal(pairs.view("f8"), double)
    normal = random.Generator(1).standard_normal(1000).numpy()
    for dtype in ("f4", "f2", "g", *BFLOAT16):
        made = random.Generator(1).standard_normal(1000, dtype).numpy()
        assert np.array_equal(
            made, normal.astype("f4" if dtype == "f2" else dtype).astype(dtype)
        )
    pairs = random.Generator(1).standard_normal(500, "D").numpy()
    assert np.allclose(pairs.view("f8"), normal * math.sqrt(0.5), rtol=1e-15)


# --- distributions --------------------------------------------------------------------

MANY = 200_000


def distance(sample, cdf):
    """That of Kolmogorov and Smirnov, times the root of the count."""
    x = np.sort(np.asarray(sample, np.float64))
    at = cdf(x)
    n = len(x)
    above = np.max(np.arange(1, n + 1) / n - at)
    return max(above, np.max(at - np.arange(n) / n)) * math.sqrt(n)


def normal_cdf(x):
    return np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in x])


UNLIKELY = 1.95  # a distance that one sample of a thousand has


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_numbers_are_distributed_as_they_should_be(seed):
    rng = random.Generator(seed)
    assert distance(rng.random(MANY), lambda x: x) < UNLIKELY
    assert distance(rng.uniform(-1, 3, MANY, "f4"), lambda x: (x + 1) / 4) < UNLIKELY
    assert distance(rng.exponential(2.0, MANY), lambda x: -np.expm1(-x / 2)) < UNLIKELY
    z = rng.standard_normal(MANY).numpy()
    assert distance(z, normal_cdf) < UNLIKELY
    for power, moment in enumerate([0, 1, 0, 3, 0, 15], 1):
        spread = math.sqrt(math.prod(range(1, 2 * power, 2)) - moment**2)
        assert abs(np.mean(z**power) - moment) < 4 * spread / math.sqrt(MANY)
    assert abs(np.mean(z[::2] * z[1::2])) < 4 / math.sqrt(MANY / 2)  # of one pair
    pairs = rng.standard_normal(MANY, "D").numpy()
    assert abs(np.mean(np.abs(pairs) ** 2) - 1) < 4 / math.sqrt(MANY)


def test_integers_and_orders_are_equally_likely():
    rng = random.Generator(9)
    seen = np.bincount(rng.integers(-3, 8, MANY).numpy() + 3, minlength=11)
    chi = np.sum((seen - MANY / 11) ** 2) / (MANY / 11)
    assert chi < 29.6  # one sample of a thousand, 10 degrees of freedom
    orders = [tuple(rng.permutation(3).tolist()) for _ in range(6000)]
    counts = np.array([orders.count(o) for o in set(orders)])
    assert len(counts) == 6 and np.sum((counts - 1000) ** 2) / 1000 < 20.5
    big = rng.integers(0, 2**63, MANY).numpy()
    assert distance(big / 2.0**63, lambda x: x) < UNLIKELY
    kept = np.mean(dtensor.bernoulli(tensor(np.full(MANY, 0.3))).numpy())
    assert abs(kept - 0.3) < 4 * math.sqrt(0.21 / MANY)


def test_integers_reach_both_ends_of_every_dtype():
    for dtype in "?bhilBHIL":
        info = np.iinfo(dtype if dtype != "?" else np.uint8)
        low, high = (0, 2) if dtype == "?" else (int(info.min), int(info.max) + 1)
        x = random.Generator(1).integers(low, high, 50_000, dtype).numpy()
        assert x.dtype == np.dtype(dtype)
        width = high - low
        for end in (low, high - 1):
            assert min(abs(int(v) - end) for v in x) <= max(width // 1000, 0)
        y = (
            tensor(np.zeros(50_000, dtype))
            .random_(generator=random.Generator(1))
            .numpy()
        )
        assert y.min() >= 0 and int(y.max()) > (high - 1) * 0.99
    for dtype, most in [("f2", 2**11), ("f4", 2**24), ("f8", 2**53)]:
        y = (
            tensor(np.zeros(100_000, dtype))
            .random_(generator=random.Generator(1))
            .numpy()
        )
        assert np.all(y == np.floor(y)) and 0.999 * most < y.max() <= most


def test_the_gradient_of_bernoulli_is_zeros(ranks):
    def body():
        x = dtensor.distribute_tensor(np.full(5, 0.5), line(), [Shard(0)])
        for given in (x.requires_grad_(), tensor(np.full(5, 0.5)).requires_grad_()):
            (dtensor.bernoulli(given) * 3).sum().backward()
            assert np.array_equal(whole(given.grad), np.zeros(5))

    ranks(body)


def test_a_shape_of_too_many_bytes_is_refused_as_numpy_does():
    for rng in (dtensor.random.default_rng(1), np.random.default_rng(1)):
        with pytest.raises(ValueError, match="array"):
            rng.random((2**31, 2**31))


def test_generators_say_what_they_lack():
    rng = dtensor.random.default_rng(0)
    for call in (
        lambda: rng.normal(np.arange(3.0), 1.0),
        lambda: rng.uniform(0, np.ones(3)),
        lambda: rng.exponential(np.ones(2)),
        lambda: rng.integers(np.array([3, 4])),
    ):
        with pytest.raises(TypeError, match="parameters are numbers"):
            call()
    with pytest.raises(AttributeError, match="distributions has more"):
        rng.poisson(3, 5)
    assert not hasattr(rng, "nothing")
