"""Functions along the dim that is cut: what is counted, what is timed, and the aims."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dtensor import DTensor, Replicate, Shard, distribute_tensor, map_overlap

__all__ = ["COUNTED", "TIMED", "Counted", "Timed", "normal", "positive"]

la = np.linalg
PART = 1 << 18  # elements of a rank's part
LABELS = 1 << 18
ROWS, COLUMNS = np.arange(0, 4000, 7), np.arange(0, 16, 3)


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).normal(size=shape)


def positive(n: int) -> np.ndarray:
    a = normal(n, n)
    return a @ a.T / n + np.eye(n)


def line(ranks: int) -> np.ndarray:
    return normal(ranks * PART)


def box(ranks: int) -> np.ndarray:
    return normal(ranks * 16, 64, PART // 1024)


def tall(ranks: int) -> np.ndarray:
    return normal(ranks * PART // 16, 16)


def side(ranks: int, at_4: int) -> int:
    """Of a square matrix whose part is as large as on 4 ranks."""
    return int(at_4 * (ranks / 4) ** 0.5) // 16 * 16


def square(ranks: int) -> np.ndarray:
    n = side(ranks, 1024)
    return normal(n, n) + np.eye(n)


def definite(ranks: int) -> np.ndarray:
    return positive(side(ranks, 1024))


def symmetric(ranks: int) -> np.ndarray:
    return positive(side(ranks, 512))


def joined(x: DTensor) -> DTensor:
    """A result that may be a sum that is not added up yet, cut."""
    return x.redistribute(placements=[Shard(0)])


def added(x: DTensor) -> DTensor:
    which = np.random.default_rng(0).integers(0, LABELS, x.to_local().shape)
    labels = DTensor.from_local(which, x.device_mesh, [Shard(0)])
    sums = distribute_tensor(
        np.zeros(LABELS), x.device_mesh, [Replicate()], src_data_rank=None
    )
    np.add.at(sums, labels, x)
    return sums


def stencil(v: np.ndarray) -> np.ndarray:
    return v[2:] - 2 * v[1:-1] + v[:-2]


class Counted(NamedTuple):
    """A row whose bytes are counted. `aims` are what is sent, and the peak, at most."""

    make: Callable[[int], np.ndarray]
    call: Callable[[DTensor], Any]
    aims: tuple[float, float]
    unit: str = "parts"  # or what is sent is counted in these: as many elements
    elements: int = 0


COUNTED: dict[str, Counted] = {
    "fftn": Counted(box, np.fft.fftn, (1.6, 8)),
    "rfftn": Counted(box, np.fft.rfftn, (1.6, 8)),
    "fft of a line": Counted(line, np.fft.fft, (4.6, 12)),
    "sort": Counted(line, np.sort, (1.6, 5)),
    "argsort": Counted(line, lambda x: np.argsort(x, stable=True), (2.6, 7)),
    "unique": Counted(line, np.unique, (1.6, 6)),
    "median": Counted(line, np.median, (0.05, 1.5)),
    "percentile": Counted(line, lambda x: np.percentile(x, [1, 99]), (0.05, 1.5)),
    "tall qr": Counted(tall, la.qr, (0.05, 3)),
    "tall svd": Counted(tall, lambda x: la.svd(x, False), (0.05, 3)),
    "tall lstsq": Counted(tall, lambda x: la.lstsq(x, x[:, 0]), (0.05, 3)),
    "tall pinv": Counted(tall, la.pinv, (0.05, 3)),
    "tall cond": Counted(tall, la.cond, (0.05, 3)),
    "cholesky": Counted(definite, la.cholesky, (4, 6)),
    "solve": Counted(square, lambda x: la.solve(x, x[:, 0]), (4, 6)),
    "det": Counted(square, la.det, (4, 6)),
    "qr": Counted(square, la.qr, (4, 6)),
    "inv": Counted(square, la.inv, (5, 8)),
    "eigh": Counted(symmetric, la.eigh, (10, 10)),
    "svd": Counted(symmetric, la.svd, (10, 10)),
    "matmul": Counted(square, lambda x: x @ x, (np.inf, np.inf)),
    "ix_": Counted(
        tall,
        lambda x: joined(x[np.ix_(ROWS, COLUMNS)]),
        (1, np.inf),
        "results",
        len(ROWS) * len(COLUMNS),
    ),
    "pairs": Counted(
        tall, lambda x: joined(x[ROWS, ROWS % 16]), (1, np.inf), "results", len(ROWS)
    ),
    "stencil step": Counted(
        tall,
        lambda x: map_overlap(stencil, x, {0: 1}, boundary="wrap"),
        (2, np.inf),
        "rows",
        16,
    ),
    "add.at": Counted(line, added, (1, np.inf), "targets", LABELS),
}


class Timed(NamedTuple):
    """A row that is timed beside NumPy on one process. `aim`: of the seconds."""

    make: Callable[[], np.ndarray]
    call: Callable[[Any], Any]
    aim: float | None
    is_large: bool = False
    dask: Callable[[Any, Any], Any] | None = None  # of the module and an array of its
    heat: Callable[[Any, Any], Any] | None = None


TIMED: dict[str, Timed] = {
    "matmul 3000": Timed(
        lambda: normal(3000, 3000),
        lambda x: x @ x,
        None,
        dask=lambda da, x: x @ x,
        heat=lambda ht, x: ht.matmul(x, x),
    ),
    "fftn 256^3": Timed(
        lambda: normal(256, 256, 256),
        np.fft.fftn,
        0.7,
        heat=lambda ht, x: ht.fft.fftn(x),
    ),
    "svd 400000 x 32": Timed(
        lambda: normal(400_000, 32),
        lambda x: la.svd(x, False),
        0.7,
        dask=lambda da, x: da.linalg.svd(x),
    ),
    "qr 400000 x 32": Timed(
        lambda: normal(400_000, 32),
        la.qr,
        None,
        dask=lambda da, x: da.linalg.qr(x),
        heat=lambda ht, x: ht.linalg.qr(x),
    ),
    "sort 1e7": Timed(
        lambda: normal(10**7), np.sort, 0.9, heat=lambda ht, x: ht.sort(x)
    ),
    "argsort 1e7": Timed(
        lambda: normal(10**7), lambda x: np.argsort(x, stable=True), 0.7
    ),
    "median 1e7": Timed(
        lambda: normal(10**7), np.median, None, heat=lambda ht, x: ht.median(x)
    ),
    "unique 1e7": Timed(lambda: normal(10**7), np.unique, None),
    "cholesky 3000": Timed(lambda: positive(3000), la.cholesky, 0.75),
    "solve 3000": Timed(
        lambda: normal(3000, 3000), lambda x: la.solve(x, x[:, 0]), None
    ),
    "qr 3000": Timed(lambda: normal(3000, 3000), la.qr, None),
    "solve 6000": Timed(
        lambda: normal(6000, 6000), lambda x: la.solve(x, x[:, 0]), 0.8, True
    ),
    "qr 6000": Timed(lambda: normal(6000, 6000), la.qr, 0.8, True),
    "eigh 2000": Timed(lambda: positive(2000), la.eigh, None, True),
    "svd 2000": Timed(lambda: positive(2000), la.svd, None, True),
    "eigh 4000": Timed(lambda: positive(4000), la.eigh, None, True),
    "svd 4000": Timed(lambda: positive(4000), la.svd, None, True),
}
