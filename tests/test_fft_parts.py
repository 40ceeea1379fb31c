"""Fourier transforms along cut dims, against NumPy; and what they send."""

import itertools

import numpy as np
import pytest
from meshes import line, square
from placed import layouts, placed
from slow import slow

import dtensor
from dtensor import DTensor, Replicate, Shard
from dtensor.debug import CommDebugMode
from dtensor.ops.linalg import fft_parts

LINES = [np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.irfft, np.fft.hfft, np.fft.ihfft]
GRIDS = [np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn]
REAL = [np.fft.rfft, np.fft.ihfft, np.fft.rfftn]


@pytest.fixture
def all_long(monkeypatch):
    """Lines of any length are transformed in steps, as far as the ranks allow."""
    monkeypatch.setattr(fft_parts, "LEAST_POINTS", 1)


def values(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    rng = np.random.default_rng(sum(shape))
    found = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    return (found if np.dtype(dtype).kind == "c" else 5 * found.real).astype(dtype)


def check(got: DTensor, want: np.ndarray, scale: float) -> None:
    eps = np.finfo(want.dtype).eps
    assert got.dtype == want.dtype and got.shape == want.shape
    error = np.abs(np.asarray(got.full_tensor()) - want).max(initial=0)
    assert error <= 40 * eps * scale


# --- against NumPy --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["f4", "D", "g"])
@pytest.mark.parametrize("length", [37, 120, slow(144)])
def test_long_lines_are_numpys(ranks, all_long, length, dtype):
    """Lengths with large divisors and without; cropped, padded, each norm."""

    def body():
        x, whole = placed(values((length,), dtype), line(), [Shard(0)])
        for fn in LINES:
            if fn in REAL and whole.dtype.kind == "c":
                with pytest.raises(TypeError):
                    fn(x)
                continue
            for n, norm in itertools.product(
                (None, length + 5, length - 3), (None, "ortho", "forward")
            ):
                scale = np.abs(whole).sum() + 1
                check(fn(x, n=n, norm=norm), fn(whole, n=n, norm=norm), scale)

    ranks(body)


@pytest.mark.parametrize("dtype", ["f8", "D"])
@pytest.mark.parametrize("shape", [(5, 7), (2, 3, 4), slow((2, 40))])
def test_grids_are_numpys_in_every_layout(ranks, all_long, shape, dtype):
    def body():
        mesh = square()
        for placements in layouts(len(shape), mesh.ndim):
            x, whole = placed(values(shape, dtype), mesh, placements)
            for fn in GRIDS:
                if fn in REAL and dtype == "D":
                    continue
                for options in ({}, {"axes": (0,)}, {"norm": "ortho"}):
                    want = fn(whole, **options)
                    check(fn(x, **options), want, np.abs(whole).sum() + 1)

    ranks(body)


def test_lines_beside_short_dims_are_numpys(ranks, all_long):
    def body():
        for shape, dim in [((300, 2), 0), ((1, 300), 1), ((2, 300, 1), 1)]:
            x, whole = placed(values(shape, "D"), line(), [Shard(dim)])
            for fn in (np.fft.fft, np.fft.irfft):
                want = fn(whole, axis=dim)
                check(fn(x, axis=dim), want, np.abs(whole).sum())

    ranks(body)


@pytest.mark.parametrize("length", [37, 120])
def test_long_lines_of_narrow_numbers_have_numpys_dtypes(ranks, all_long, length):
    def body():
        for dtype in ("b", "B", "h", "H", "?", "e"):
            array = np.arange(length).astype(dtype)
            x, whole = placed(array, line(), [Shard(0)])
            for fn in (*LINES, *GRIDS):
                check(fn(x), fn(whole), np.abs(whole.astype("d")).sum() + 1)

    ranks(body)


@pytest.mark.filterwarnings("ignore:.axes. should not be .None.:DeprecationWarning")
def test_grids_of_no_dims_are_the_values(ranks):
    def body():
        for dtype in ("b", "f4", "D"):
            x, whole = placed(values((6, 4), dtype), line(), [Shard(0)])
            for fn in (np.fft.fftn, np.fft.ifftn, np.fft.fft2):
                for options in ({"s": ()}, {"axes": ()}, {"s": (), "axes": ()}):
                    if fn is np.fft.fft2 and "axes" not in options:
                        continue
                    got, want = fn(x, **options), fn(whole, **options)
                    assert got.dtype == want.dtype
                    assert np.array_equal(got.full_tensor(), want)

    ranks(body)


def test_gradients_of_long_lines_are_those_of_whole_ones(ranks, all_long):
    def body():
        mesh = line()
        for dtype, fn in (("D", np.fft.fft), ("f8", np.fft.rfft), ("D", np.fft.irfft)):
            array = values((96,), dtype)
            grads = []
            for placement in (Replicate(), Shard(0)):
                x, _ = placed(array, mesh, [placement])
                x.requires_grad_()
                y = fn(x)
                np.sum(np.abs(y) ** 2).backward()
                grads.append(np.asarray(x.grad.full_tensor()))
            assert np.allclose(*grads, rtol=1e-10, atol=1e-10)

    ranks(body)


# --- what moves -----------------------------------------------------------------------


def sent_parts(fn, x: DTensor) -> float:
    """What this rank sends, in parts of 8 bytes an element; the result is cut."""
    with CommDebugMode() as comm:
        y = fn(x)
    assert x.device_mesh.size() == 1 or any(isinstance(p, Shard) for p in y.placements)
    part = 8 * x.size / x.device_mesh.size()
    return sum(comm.get_comm_bytes().values()) / part


def test_a_grid_sends_two_parts_and_a_line_five(ranks):
    """Of real input: complex results have two numbers an element."""

    def body():
        n = line().size()
        grid, _ = placed(values((32, 24, 20), "f8"), line(), [Shard(0)])
        assert sent_parts(np.fft.fftn, grid) <= 2.0 * (n - 1) / n + 0.3 * (n > 1)
        long, _ = placed(values((1 << 16,), "f8"), line(), [Shard(0)])
        assert sent_parts(np.fft.fft, long) <= 5.0 * (n - 1) / n + 0.3 * (n > 1)

    ranks(body)


@pytest.mark.parametrize("n", [4, 8, 16])
def test_what_others_have_gives_a_part_of_a_grid_so_many_numbers(n):
    """That is, a rank must be sent 2 (n - 1) / n parts, by any algorithm: the part of
    the result that is cut along another dim, as a function of what the others have."""
    rows = np.eye(n)[1:]  # rank 0 has row 0 of (n, 4 n) real numbers
    columns = np.eye(4 * n)
    others = np.multiply.outer(rows, columns).swapaxes(1, 2).reshape(-1, n, 4 * n)
    part = np.fft.fft2(others)[..., 4:8].reshape(len(others), -1)
    numbers = np.linalg.matrix_rank(np.concatenate([part.real, part.imag], 1))
    assert numbers == 2 * (n - 1) / n * (4 * n)


def test_pencils_stay_cut_on_two_mesh_dims(ranks):
    def body():
        mesh = square()
        x, whole = placed(values((12, 16, 20), "f8"), mesh, [Shard(0), Shard(1)])
        y = np.fft.fftn(x)
        assert y.to_local().size * mesh.size() <= 1.3 * y.size
        check(y, np.fft.fftn(whole), np.abs(whole).sum())

    ranks(body)


def test_dims_may_be_named_as_in_torch(ranks, all_long):
    def body():
        x, whole = placed(values((200,), "f8"), line(), [Shard(0)])
        check(dtensor.fft.fft(x, dim=0), np.fft.fft(whole), np.abs(whole).sum())
        assert np.array_equal(dtensor.flip(x, dim=0).full_tensor(), whole[::-1])
        assert np.array_equal(
            dtensor.roll(x, 3, dim=0).full_tensor(), np.roll(whole, 3)
        )

    ranks(body)


def test_results_may_be_written_into_a_tensor(ranks, all_long):
    def body():
        for shape in ((200,), (6, 8)):
            x, whole = placed(values(shape, "f8"), line(), [Shard(0)])
            out, _ = placed(np.zeros(shape, "D"), line(), [Shard(0)])
            found = np.fft.fftn(x, out=out)
            assert found is out
            check(out, np.fft.fftn(whole), np.abs(whole).sum())

    ranks(body)
