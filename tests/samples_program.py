"""Rows of several operators in a row: results, however they are placed, go on.

A program is a random walk over a pool of arrays. Which operator comes next, and on
what, depends on shapes alone, so that it is the same for arrays and for DTensors. All
that it makes on the way is compared.
"""

import numpy as np
from rows import SUM, Sample, with_words

STEPS = 8
LARGEST = 200  # elements


def some_axis(x, rng):
    return int(rng.integers(x.ndim)) if x.ndim else None


def some_slice(length, rng):
    start, stop = sorted(rng.integers(0, length + 1, 2).tolist())
    step = int(rng.choice([1, 1, 2, -1]))
    return slice(start, stop, step) if step > 0 else slice(None, None, step)


def sliced(x, rng):
    key = tuple(some_slice(n, rng) for n in x.shape[: int(rng.integers(1, 3))])
    return x[key] if x.ndim else None


def one_row(x, rng):
    return x[int(rng.integers(x.shape[0]))] if x.ndim and x.shape[0] else None


def picked(x, rng):
    if x.ndim == 0 or x.shape[0] == 0:
        return None
    return x[rng.integers(0, x.shape[0], 4)]


def set_row(x, rng):
    if x.ndim == 0 or x.shape[0] == 0:
        return None
    y = x.copy()
    y[int(rng.integers(x.shape[0]))] = 1.5
    return y


def reshaped(x, rng):
    shapes = [(x.size,), (1, x.size), (*x.shape, 1)]
    shapes += [(x.size // n, n) for n in (2, 3, 4) if x.size % n == 0]
    return np.reshape(x, shapes[int(rng.integers(len(shapes)))])


def reduced(x, rng):
    fn = [np.sum, np.max, np.min, np.mean][int(rng.integers(4))]
    axis = some_axis(x, rng)
    if x.size == 0:
        return None
    return fn(x, axis=axis, keepdims=bool(rng.integers(2)))


def along(fn):
    """A function of one axis."""
    return lambda x, rng: fn(x, axis=some_axis(x, rng)) if x.ndim else None


def joined(x, y, rng):
    if x.shape != y.shape or x.ndim == 0:
        return None
    fn = np.concatenate if rng.integers(2) else np.stack
    return fn([x, y], axis=some_axis(x, rng))


def product(x, y, rng):
    if x.ndim and y.ndim and x.shape[-1] == y.shape[max(0, y.ndim - 2)]:
        return (x @ y) / 8
    return None


def pairwise(fn):
    """A ufunc of two operands, where they can be broadcast."""

    def call(x, y, rng):
        fits = all(
            a == b or 1 in (a, b)
            for a, b in zip(x.shape[::-1], y.shape[::-1], strict=False)
        )
        return np.clip(fn(x, y), -64, 64) if fits else None

    return call


def in_place(x, y, rng):
    if x.shape != y.shape:
        return None
    z = x.copy()
    z += y
    return z


ONE = [
    *(sliced, one_row, picked, set_row, reshaped, reduced, reduced),
    *(lambda x, rng: -x, lambda x, rng: x / 2 + 1, lambda x, rng: np.tanh(x)),
    *(lambda x, rng: np.abs(x), lambda x, rng: x.T, lambda x, rng: np.flip(x)),
    along(np.sort),
    along(np.cumsum),
    lambda x, rng: np.roll(x, 2, axis=some_axis(x, rng)),
    lambda x, rng: np.expand_dims(x, int(rng.integers(x.ndim + 1))),
    lambda x, rng: np.squeeze(x),
    lambda x, rng: np.where(x > 0, x, 0.5),
    lambda x, rng: np.broadcast_to(x, (2, *x.shape)),
    lambda x, rng: np.astype(x, np.float32).astype(np.float64),
]
TWO = [
    *map(pairwise, (np.add, np.subtract, np.multiply, np.maximum)),
    *(joined, joined, product, product, in_place),
]


def program(seed):
    """What one walk makes."""

    def run(*arrays):
        rng, pool = np.random.default_rng(seed), list(arrays)
        for _ in range(STEPS):
            x, y = (pool[k] for k in rng.integers(0, len(pool), 2))
            if rng.integers(2):
                made = ONE[int(rng.integers(len(ONE)))](x, rng)
            else:
                made = TWO[int(rng.integers(len(TWO)))](x, y, rng)
            if made is not None and made.size <= LARGEST:
                pool.append(made)
        return pool[len(arrays) :]

    return with_words(run, f"program {seed}")


ROWS = [
    Sample("program", program(seed), arrays, SUM)
    for seed, arrays in enumerate(
        ["d6,4 d6,4 d4", "d5,7 d7,5 d7", "d3,4,2 d4,2 d"] * 40
    )
]
