"""Scans and reductions of any ufunc along cut dims, against NumPy."""

import numpy as np
import pytest
from meshes import line, square
from order_parts import sent_parts
from placed import layouts, placed
from slow import slow

from dtensor import DTensor, Replicate, Shard, distribute_tensor
from dtensor.debug import CommDebugMode
from dtensor.testing import run_ranks

KINDS = {
    "f8": """maximum fmin logaddexp logaddexp2 hypot subtract divide floor_divide fmod
        arctan2 copysign float_power logical_and logical_xor power heaviside""".split(),
    "i8": """gcd lcm bitwise_xor bitwise_and left_shift subtract logical_or
        floor_divide maximum remainder""".split(),
}
SOME = {"f8": ["logaddexp", "divide", "power"], "i8": ["gcd", "left_shift"]}

# NumPy reduces a line by these otherwise than a column.
UNSOUND = (np.arctan2, np.power)


def same(got, want) -> None:
    assert got.shape == want.shape and got.dtype == want.dtype
    np.testing.assert_allclose(got.full_tensor(), want, 1e-12)


@np.errstate(all="ignore")
def check(function, x, whole) -> None:
    for dim in range(-1, whole.ndim - 1):
        same(function.accumulate(x, dim), function.accumulate(whole, dim))
        for keepdims in (False, True)[: 2 * (function not in UNSOUND)]:
            got = function.reduce(x, dim, keepdims=keepdims)
            want = np.asarray(function.reduce(whole, dim, keepdims=keepdims))
            same(got, want)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(7,), (5, 3), (2, 6)])
@pytest.mark.parametrize("names", [SOME, slow(KINDS)], ids=["some", "all"])
def test_they_are_those_of_numpy_in_all_layouts(ranks, names, shape, kind):
    rng = np.random.default_rng(5)
    array = rng.random(shape) + 0.5 if kind == "f8" else rng.integers(1, 5, shape)

    def body():
        for mesh in (line(), square()):
            for placements in layouts(len(shape), mesh.ndim):
                x, whole = placed(array, mesh, placements)
                for name in names[kind]:
                    check(getattr(np, name), x, whole)

    ranks(body)


def test_multiples_that_overflow_are_found_in_the_order_of_numpy(ranks):
    def body():
        array = np.random.default_rng(5).integers(-(2**40), 2**40, (11, 2))
        x = distribute_tensor(array, line(), [Shard(0)], src_data_rank=None)
        for dtype in (None, np.uint16):
            same(np.lcm.accumulate(x, 0, dtype), np.lcm.accumulate(array, 0, dtype))
            same(np.lcm.reduce(x, 0, dtype), np.lcm.reduce(array, 0, dtype))
        places = [0, 9, 4]
        same(np.lcm.reduceat(x, places, 0), np.lcm.reduceat(array, places, 0))

    ranks(body)


@pytest.mark.parametrize("sizes", [(0, 3, 0, 2), (0, 0, 0, 5), (5, 0, 0, 0)])
def test_parts_may_be_empty(sizes):
    def body():
        array = np.random.default_rng(6).random((sum(sizes), 2)) + 0.5
        at, rank = np.cumsum([0, *sizes]), line().get_local_rank()
        x = DTensor.from_local(array[at[rank] : at[rank + 1]], line(), [Shard(0)])
        for name in KINDS["f8"]:
            function = getattr(np, name)
            same(function.accumulate(x, 0), function.accumulate(array, 0))
            if function not in UNSOUND:
                same(function.reduce(x, 0), function.reduce(array, 0))

    run_ranks(4, body)


@pytest.mark.parametrize("dtype", ["f4", "i1", "?", "f2"])
def test_they_have_the_dtypes_of_numpy(ranks, dtype):
    @np.errstate(all="ignore")
    def body():
        array = (np.random.default_rng(7).random(9) * 3 + 1).astype(dtype)
        x = distribute_tensor(array, line(), [Shard(0)], src_data_rank=None)
        for name in sorted({*KINDS["f8"], *KINDS["i8"]}):
            function = getattr(np, name)
            try:
                want = function.accumulate(array)
            except TypeError as error:
                with pytest.raises(type(error)):
                    function.accumulate(x)
                continue
            got = function.accumulate(x)
            assert got.dtype == want.dtype, name
            np.testing.assert_allclose(got.full_tensor(), want, 1e-2)
            assert function.reduce(x).dtype == function.reduce(array).dtype

    ranks(body)


@pytest.mark.parametrize("name", ["maximum", "subtract", "logical_xor"])
def test_a_row_of_each_part_is_sent(ranks, name):
    def body():
        array = np.random.default_rng(8).random((400, 3))
        x = distribute_tensor(array, line(), [Shard(0)], src_data_rank=None)
        function = getattr(np, name)
        for call in (function.accumulate, function.reduce):
            with CommDebugMode() as comm:
                y = call(x, 0)
            same(y, call(array, 0))
            assert sum(comm.get_comm_bytes().values()) <= 8 * 3 * line().size()
        assert function.accumulate(x, 0).placements == x.placements

    ranks(body)


@pytest.mark.parametrize("name", ["maximum", "fmin", "logaddexp", "hypot"])
def test_gradients_are_those_of_one_rank(ranks, name):
    def body():
        array = np.random.default_rng(9).random((9, 2))
        function, grads = getattr(np, name), []
        for placement in (Replicate(), Shard(0)):
            x = distribute_tensor(array, line(), [placement], src_data_rank=None)
            x.requires_grad_()
            y = function.reduce(x, 0, keepdims=True) * np.array([1.0, 3.0])
            if name in ("maximum", "fmin"):
                y = y + function.accumulate(x, 0) * np.arange(18.0).reshape(9, 2)
            y.sum().backward()
            grads.append(np.asarray(x.grad.full_tensor()))
        np.testing.assert_allclose(*grads, rtol=1e-12)

    ranks(body)


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin"])
def test_gradients_of_running_extrema_stay_in_parts(ranks, name):
    def body():
        mesh, function = square(), getattr(np, name)
        for k, placements in enumerate(layouts(2, mesh.ndim)):
            rng = np.random.default_rng(k)
            array = rng.integers(0, 4, (11, 3)) * (-1.0) ** k
            if k % 3 == 0:
                array[rng.integers(0, 11), 1] = np.nan
            weights = rng.normal(size=(11, 3))
            for dim in (0, 1):
                grads = []
                for layout in (placements, [Replicate()] * mesh.ndim):
                    x, _ = placed(array, mesh, layout)
                    x.requires_grad_()
                    (function.accumulate(x, dim) * weights).sum().backward()
                    grads.append(np.asarray(x.grad.full_tensor()))
                np.testing.assert_allclose(*grads, atol=1e-12)
        x = distribute_tensor(np.arange(80_000.0) % 999, line(), [Shard(0)])
        x.requires_grad_()
        sent = sent_parts(lambda x: function.accumulate(x, 0).sum().backward(), x)
        assert sent < 0.01

    ranks(body)


def test_what_has_no_gradient_says_so(ranks):
    def body():
        x = distribute_tensor(np.ones(8), line(), [Shard(0)]).requires_grad_()
        with pytest.raises(NotImplementedError):
            np.arctan2.accumulate(x).sum().backward()

    ranks(body)
