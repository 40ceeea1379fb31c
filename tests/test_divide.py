"""Tridiagonal and bidiagonal matrices divided among ranks, against LAPACK's."""

from itertools import pairwise

import numpy as np
import pytest
from slow import slow

import dtensor
from dtensor import DeviceMesh, Layout, Shard
from dtensor.ops.linalg.conquer import solved, spectrum
from dtensor.ops.linalg.line import Line
from dtensor.ops.linalg.merge import Symmetric
from dtensor.ops.linalg.merge_bidiagonal import Bidiagonal
from dtensor.ops.linalg.reflected import compact, reflect, reflection
from dtensor.ops.linalg.secular import Poles

RNG = np.random.default_rng(3)
N = 150


def decades(low: float, high: float) -> np.ndarray:
    return 10.0 ** np.linspace(low, high, N)


# Diagonals, and what is beside them.
MATRICES = {
    "random": (RNG.normal(size=N), RNG.normal(size=N)),
    "glued": (
        np.abs(np.arange(N) % 21 - 10.0),
        np.where(np.arange(N) % 21 == 20, 1e-8, 1),
    ),
    "0": (np.zeros(N), np.zeros(N)),
    "1": (np.ones(N), np.zeros(N)),
    "0 on the diagonal": (np.zeros(N), np.ones(N)),
    "alike": (np.full(N, 2.0), np.full(N, -1.0)),
    "going down": (decades(0, -30), decades(0, -30)),
    "going up": (decades(-30, 0), decades(-30, 0)),
    "diagonal": (RNG.normal(size=N), np.zeros(N)),
    "nearly diagonal": (RNG.normal(size=N), 1e-200 * RNG.normal(size=N)),
    "of low rank": (
        np.where(np.arange(N) % 3, 1e-17, RNG.normal(size=N)),
        np.where(np.arange(N) % 3, 1e-17, RNG.normal(size=N)),
    ),
    "clustered": (np.repeat([1.0, 1 + 1e-12, 2], N // 3), np.full(N, 1e-10)),
}


def full_of(kind: type, d: np.ndarray, e: np.ndarray) -> np.ndarray:
    upper = np.diag(d) + np.diag(e, 1)
    return upper + np.diag(e, -1) if kind is Symmetric else upper


def check(kind: type, d: np.ndarray, e: np.ndarray, found: np.ndarray, vectors: list):
    """Check values, and that vectors are orthogonal and give the matrix."""
    full = full_of(kind, d, e)
    if kind is Symmetric:
        want = np.linalg.eigh(full)[0]
    else:
        want = np.linalg.svd(full)[1][::-1]
    right, left = vectors[0], vectors[-1]
    eps = np.finfo(right.dtype).eps
    unit = eps * (np.abs(want).max() or 1)
    assert np.all(np.diff(found) >= 0)
    assert np.abs(found - want).max() <= 30 * unit
    for each in vectors:
        assert np.abs(each @ each.T - np.eye(len(d))).max() <= 50 * eps
    assert np.abs((left.T * found) @ right - full).max() <= 60 * unit


@pytest.mark.parametrize("dtype", ["d", "f"])
@pytest.mark.parametrize("kind", [Symmetric, Bidiagonal])
@pytest.mark.parametrize("name", MATRICES)
def test_divided_matrices_have_lapacks_spectra(name, kind, dtype):
    d, e = MATRICES[name][0], MATRICES[name][1][:-1]
    problem = kind(d, e, dtype)
    values, vectors = solved(problem, 0, N, True)
    assert all(each.dtype == dtype for each in vectors)
    check(kind, d, e, values, vectors)
    alone, (ends,) = solved(problem, 0, N, False)
    assert ends.shape == (N, 2)
    unit = np.finfo(dtype).eps * (np.abs(values).max() or 1)
    assert np.abs(alone - values).max() <= 30 * unit


@pytest.mark.parametrize(
    "count", [1, slow(2), 3, slow(4), 5, slow(6), slow(7), slow(8)]
)
@pytest.mark.parametrize("kind", [Symmetric, Bidiagonal])
def test_ranks_have_rows_of_the_vectors_and_the_same_values(count, kind):
    def body(d: np.ndarray, e: np.ndarray):
        mesh = DeviceMesh("cpu", list(range(count)))
        line = Line("test", Layout(mesh, [Shard(0)], (len(d), 1), np.dtype("d")))
        values, vectors = spectrum(line, kind(d, e, "d"), True)
        alone, _ = spectrum(line, kind(d, e, "d"), False)
        return values, vectors, alone, line.edges(len(d))

    for d, e in [*MATRICES.values(), (np.arange(3.0), np.ones(3)), (np.ones(1), [0.0])]:
        found = dtensor.testing.run_ranks(count, body, d, np.asarray(e)[:-1])
        values, first, alone, edges = found[0]
        for k, (start, stop) in enumerate(pairwise(edges)):
            assert np.array_equal(found[k][0], values)
            assert np.array_equal(found[k][2], alone)
            assert all(x.shape == (len(d), stop - start) for x in found[k][1])
        joined = [
            np.concatenate([each[1][side] for each in found], 1)
            for side in range(len(first))
        ]
        check(kind, d, np.asarray(e)[:-1], values, joined)
        assert np.allclose(alone, values, rtol=0, atol=1e-13 * (abs(values).max() or 1))


def test_a_nan_in_a_block_makes_all_values_nan():
    d = np.append(np.ones(60), np.nan)
    for kind in (Symmetric, Bidiagonal):
        values, _ = solved(kind(d, np.ones(60), "d"), 0, 61, True)
        assert np.any(np.isnan(values))


@pytest.mark.parametrize("kind", [Symmetric, Bidiagonal])
def test_a_block_that_lapack_does_not_solve_fails_on_all_ranks(kind):
    def body():
        mesh = DeviceMesh("cpu", [0, 1, 2, 3])
        line = Line("test", Layout(mesh, [Shard(0)], (80, 1), np.dtype("d")))
        d = np.ones(80)
        d[25] = np.nan  # of the second rank
        values, _ = spectrum(line, kind(d, np.ones(79), "d"), True)
        return bool(np.all(np.isfinite(values)))

    with np.errstate(all="ignore"):
        assert dtensor.testing.run_ranks(4, body) == [False] * 4


@pytest.mark.parametrize("is_squared", [False, True])
@pytest.mark.parametrize("least", [0, -6, -14])
def test_the_roots_of_the_secular_equation_are_between_its_poles(is_squared, least):
    d = np.cumsum(10.0 ** RNG.uniform(least, 0, 80))
    z = RNG.normal(size=80) * 10.0 ** RNG.uniform(least / 2, 0, 80)
    poles = Poles(d, is_squared)
    nearest, far = poles.roots(z * z, np.arange(80))
    values = poles.values(nearest, far)
    assert np.all(values >= d) and np.all(values[:-1] <= d[1:])
    squares = d**2 if is_squared else d
    want = np.linalg.eigvalsh(np.diag(squares) + np.outer(z, z))
    found = values**2 if is_squared else values
    assert np.abs(found - want).max() <= 1e-13 * want.max()
    weights = poles.weights(nearest, far)  # those of which the roots are exact
    assert np.allclose(weights, z * z, rtol=1e-9)
    vectors = np.sqrt(weights) / (poles.away(nearest) - far[:, None])
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    assert np.abs(vectors @ vectors.T - np.eye(80)).max() < 1e-13


@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
def test_reflections_make_all_but_the_first_element_0(dtype):
    rng = np.random.default_rng(1)
    kinds = [np.append(1, np.zeros(5)), np.zeros(6), rng.normal(size=6)]
    kinds += [1e-30 * rng.normal(size=6), np.append(-2, 1e-25 * rng.normal(size=5))]
    for x in kinds:
        if dtype in "FD":
            x = x * (0.6 + 0.8j)
        x = x.astype(dtype)
        beta, scale, t = reflection(x[0], float(np.linalg.norm(x[1:])))
        v = np.append(np.ones(1, dtype), x[1:] * scale).astype(dtype)
        h = np.eye(6, dtype=dtype) - t * np.outer(v, np.conj(v))
        eps = np.finfo(dtype).eps
        assert np.abs(np.conj(h.T) @ h - np.eye(6)).max() < 10 * eps
        far = np.abs(np.conj(h.T) @ x - np.append(beta, np.zeros(5))).max()
        assert far < 10 * eps * max(np.abs(x).max(), 1e-5)


def test_several_reflections_are_one_product():
    lines = RNG.normal(size=(4, 9)) + 1j * RNG.normal(size=(4, 9))
    scales = RNG.normal(size=4) + 1j * RNG.normal(size=4)
    want = np.eye(9, dtype=complex)
    for v, t in zip(lines, scales, strict=True):
        want = want @ (np.eye(9) - t * np.outer(v, np.conj(v)))
    vectors = RNG.normal(size=(9, 3)) + 0j
    found = np.ascontiguousarray(vectors.T)
    reflect(found, lines, compact(lines, scales))
    assert np.allclose(found.T, want @ vectors)
