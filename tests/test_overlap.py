"""Parts with the rows around them, against numpy.pad; and functions of these."""

import itertools

import numpy as np
import pytest
from meshes import line, square

import dtensor
from dtensor import DeviceMesh, Replicate, Shard, distribute_tensor, halo, map_overlap
from dtensor.debug import CommDebugMode
from dtensor.ops.shape.borders import BOUNDARIES
from dtensor.testing import run_ranks

PAD = {"wrap": "wrap", "reflect": "reflect", "constant": "constant", "nearest": "edge"}
DEPTHS = [1, {0: 1}, {0: (2, 0)}, {0: (0, 3)}, {0: (3, 4)}, {-1: 2}, {0: 1, -1: (1, 2)}]


def padded(whole: np.ndarray, pairs: list, boundary: str) -> np.ndarray:
    if boundary == "none":
        return whole
    more = {"constant_values": 7} if boundary == "constant" else {}
    return np.pad(whole, pairs, mode=PAD[boundary], **more)


def window(x, pairs: list, boundary: str) -> tuple[slice, ...]:
    """Where a rank's part with its borders is in the padded array."""
    start, count = x.layout.boxes()[0]
    if boundary != "none":
        return tuple(
            slice(s, s + n + a + b)
            for s, n, (a, b) in zip(start, count, pairs, strict=True)
        )
    return tuple(
        slice(max(0, s - a), min(length, s + n + b))
        for s, n, (a, b), length in zip(start, count, pairs, x.shape, strict=True)
    )


def fits(shape, pairs: list, boundary: str) -> bool:
    room = {"wrap": 0, "reflect": 1}.get(boundary)
    sizes = zip(shape, map(max, pairs), strict=True)
    return room is None or all(most <= n - room or most == 0 for n, most in sizes)


def check(x, whole: np.ndarray, depth: dict | int, boundary: str) -> None:
    if isinstance(depth, dict):
        depth = {d % x.ndim: n for d, n in depth.items()}
        pairs = [depth.get(dim, 0) for dim in range(x.ndim)]
    else:
        pairs = [depth] * x.ndim
    pairs = [pair if isinstance(pair, tuple) else (pair, pair) for pair in pairs]
    if not fits(x.shape, pairs, boundary):
        with pytest.raises(ValueError, match=r"has no \d+ rows"):
            halo(x, depth, boundary, 7)
        return
    got = halo(x, depth, boundary, 7)
    want = padded(whole, pairs, boundary)[window(x, pairs, boundary)]
    assert got.shape == want.shape and np.array_equal(got, want)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("shape", [(11,), (3,), (5, 6), (1, 4)])
def test_parts_and_their_borders_are_those_of_the_padded_array(ranks, shape, boundary):
    """Uneven and empty parts, borders longer than parts, corners."""

    def body():
        whole = np.arange(float(np.prod(shape))).reshape(shape)
        kinds = [Replicate(), *map(Shard, range(len(shape)))]
        for mesh in (line(), square()):
            for placements in itertools.product(kinds, repeat=mesh.ndim):
                x = distribute_tensor(whole, mesh, placements, src_data_rank=None)
                for depth in DEPTHS:
                    check(x, whole, depth, boundary)

    ranks(body)


def cut(whole: np.ndarray, mesh: DeviceMesh | None = None):
    return distribute_tensor(whole, mesh or line(), [Shard(0)], src_data_rank=None)


def test_a_stencil_sends_its_border_once(ranks):
    def body():
        whole = np.random.default_rng(1).random((40, 8))
        x, n = cut(whole), line().size()
        with CommDebugMode() as comm:
            y = map_overlap(
                lambda u: u[2:] - 2 * u[1:-1] + u[:-2], x, {0: 1}, "constant"
            )
        p = np.pad(whole, [(1, 1), (0, 0)])
        assert np.array_equal(y.full_tensor(), p[2:] - 2 * p[1:-1] + p[:-2])
        assert y.layout == x.layout
        assert sum(comm.get_comm_counts().values()) == (n > 1)
        assert sum(comm.get_comm_bytes().values()) <= 2 * 8 * 8

    ranks(body)


def test_results_may_keep_their_borders(ranks):
    def body():
        whole = np.arange(9.0)
        for boundary in BOUNDARIES:
            y = map_overlap(lambda u: u * 2, cut(whole), {0: (2, 1)}, boundary)
            assert np.array_equal(y.full_tensor(), whole * 2)

    ranks(body)


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_gradients_of_borders_come_back_to_their_rows(ranks, boundary):
    def body():
        whole = np.random.default_rng(2).random((9, 2))
        grads = []
        for placement in (Replicate(), Shard(0)):
            x = distribute_tensor(whole, line(), [placement], src_data_rank=None)
            x.requires_grad_()
            y = map_overlap(
                lambda u: np.concatenate([u[1:] * u[:-1], u[:1] * 0]),
                x,
                {0: (2, 1)},
                boundary,
            )
            (y * y).sum().backward()
            grads.append(np.asarray(x.grad.full_tensor()))
        assert np.allclose(*grads)

    ranks(body)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("length", [1, 2, 6])
def test_results_have_the_dtype_of_what_the_function_returns(ranks, boundary, length):
    def body():
        whole = np.arange(length)
        if not fits(whole.shape, [(1, 1)], boundary):
            return
        for step in (
            lambda u: u * 0.5,
            lambda u: u > 2,
            lambda u: u.astype(np.float32),
            lambda u: np.asarray(u) * 1j,
        ):
            for array in (whole, np.stack([whole] * 2, 1)):
                x, want = cut(array), step(array)
                y = map_overlap(step, x, {0: 1}, boundary)
                assert y.dtype == want.dtype and y.placements == x.placements
                assert np.array_equal(y.full_tensor(), want)
        x = distribute_tensor(
            whole.astype("f4"), line(), [Shard(0)], src_data_rank=None
        )
        x.requires_grad_()
        map_overlap(lambda u: u.astype(float) * 3, x, {0: 1}, boundary).sum().backward()
        assert x.grad.dtype == np.float32
        assert np.array_equal(x.grad.full_tensor(), np.full(length, 3))

    ranks(body)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_borders_cannot_be_taken_off_where_the_ends_have_none(n):
    """On two ranks each part lacks one border row: results have the parts' shapes."""

    def body():
        x = cut(np.arange(8.0) ** 2)
        for step in (lambda u: u[1:] - u[:-1], lambda u: u[2:] - u[:-2]):
            with pytest.raises(ValueError, match='pass boundary="nearest"') as info:
                map_overlap(step, x, {0: 1})
            assert "return as many rows as come in" in str(info.value)
            with pytest.raises(ValueError, match='pass boundary="nearest"'):
                map_overlap(lambda u, step=step: np.asarray(step(u)), x, {0: 1})
        y = map_overlap(lambda u: u[1:] - u[:-1], x, {0: (1, 0)}, "constant")
        assert np.array_equal(y.full_tensor(), np.diff(x.full_tensor(), prepend=0))

    run_ranks(n, body, timeout=60)


def test_what_cannot_be_had_is_refused_on_all_ranks(ranks):
    def body():
        x = cut(np.arange(8.0))
        for depth, boundary in [
            ({0: -1}, "none"),
            ({0: 1}, "mirror"),
            ({0: 9}, "wrap"),
        ]:
            with pytest.raises(ValueError, match=r"halo: "):
                halo(x, depth, boundary)
        with pytest.raises(TypeError, match="expected a DTensor"):
            halo(np.arange(3.0), {0: 1})
        with pytest.raises(TypeError, match="or a dict of numbers"):
            halo(x, (1, 2))
        with pytest.raises(TypeError, match="map_overlap: the function returned None"):
            map_overlap(lambda _: None, x, 1)
        with pytest.raises(ValueError, match=r"map_overlap: the function returned"):
            map_overlap(lambda u: u[:1][:0], x, {0: 1})
        if line().size() > 1:
            with pytest.raises(ValueError, match=r"Inconsistent.* float64 on rank"):
                map_overlap(lambda u: np.array(list(map(int, u))), cut(np.arange(1)), 0)
        assert dtensor.sum(x).item() == 28

    ranks(body)


def test_borders_are_moves_that_the_program_asks_for(ranks):
    def body():
        x = cut(np.arange(12.0)).requires_grad_()
        with dtensor.strict():
            y = map_overlap(lambda u: u[2:] - u[:-2], x, {0: 1}, "wrap")
            halo(x, {0: (0, 1)})
            y.sum().backward()
            if line().size() > 1:
                with pytest.raises(
                    dtensor.ImplicitRedistributeError, match="rebalance"
                ):
                    x[2:] - x[:-2]
        np.testing.assert_array_equal(x.grad.full_tensor(), np.zeros(12))

    ranks(body)
