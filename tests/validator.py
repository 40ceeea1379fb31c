"""Operators against NumPy, for operands that are placed in every way.

Rows (ways.py) are played by ranks that are threads of this process, many in one run,
and judged here. What a rank holds of a Partial array is random, and adds up exactly.
"""

import contextlib
import functools
import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import oracle
from moves import scattered
from rows import BITS, SHAPE, VALUE, Sample, arrays_of, arrays_of_words
from ways import SUMS, Row, place, placed

from dtensor import DeviceMesh, DTensor, Layout, Tensor
from dtensor._core import world as _world
from dtensor.testing import run_ranks

SECONDS = 20  # that a rank waits for another one
LATE = 0.3  # that a rank waits for the others after a failure, before it ends them


class Part(NamedTuple):
    """What one rank has of a DTensor."""

    array: np.ndarray
    layout: Layout


class Heard(NamedTuple):
    """What one rank saw of one row."""

    result: Any  # DTensors are Parts; an exception is itself
    changed: tuple[int, ...] = ()  # operands that are not what they were
    sent: int = 0  # bytes
    fell_back: bool = False
    rules: tuple[Any, ...] = ()  # that were made while it ran


class Verdict(NamedTuple):
    """What is wrong with a row: nothing, if `why` is empty."""

    row: Row
    why: str
    heard: list[Heard | None]


# --- playing --------------------------------------------------------------------------

NOW = threading.local()  # what happens to the row that this rank plays


class Stop(Exception):
    """The ranks do not agree, or have failed: a new world is needed."""


def told(result: Any) -> Any:
    """A result without DTensors."""
    if isinstance(result, DTensor):
        return Part(np.asarray(result.to_local()).copy(), result.layout)
    if isinstance(result, Tensor):
        return np.asarray(result).copy()
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*map(told, result))
    if isinstance(result, tuple | list):
        return type(result)(map(told, result))
    return result


def play(row: Row, parts: list[Any], rank: int) -> Heard:
    """Call the sample on this rank."""
    NOW.fell_back, NOW.rules = False, []
    mine = [scattered(part[rank].copy(), row.seed) for part in parts]
    number = _world.current().number
    operands = [
        x
        if layout is None
        else DTensor(x, of_world(layout, number), requires_grad=False)
        for x, layout in zip(mine, row.layouts, strict=True)
    ]
    before = sum(c[1] for c in _world.current().counters().values())
    try:
        result = told(row.sample.fn(*operands))
    except Exception as error:
        result = error
    sent = sum(c[1] for c in _world.current().counters().values()) - before
    changed = tuple(
        k
        for k, (x, part) in enumerate(zip(mine, parts, strict=True))
        if not row.sample.changes and not oracle.same_bits(x, part[rank])
    )
    return Heard(result, changed, sent, NOW.fell_back, tuple(NOW.rules))


WORLD_LAYOUTS: dict[tuple[Layout, int], Layout] = {}


def of_world(layout: Layout, number: int) -> Layout:
    """The same layout for the ranks of one world."""
    known = WORLD_LAYOUTS.get((layout, number))
    if known is None:
        mesh = layout.mesh
        mesh = DeviceMesh._make("cpu", mesh.shape, mesh.ranks, None, number)
        known = Layout(
            mesh, layout.placements, layout.shape, layout.dtype, cuts=layout.cuts
        )
        WORLD_LAYOUTS[layout, number] = known
    return known


class Session:
    """Rows that are played one after the other, as far as the ranks agree."""

    def __init__(self, rows: Sequence[Row], size: int) -> None:
        self.rows = rows
        self.heard: list[list[Heard | None]] = [[None] * size for _ in rows]
        self.parts: list[list[Any]] = []
        placed_before: dict[Any, Any] = {}
        for row in rows:
            words = row.sample.arrays
            for k, layout in enumerate(row.layouts):
                if (words, k, layout) not in placed_before:
                    array = arrays_of_words(words)[k]
                    placed_before[words, k, layout] = (
                        place(array, layout, row.seed * 8 + k)
                        if layout is not None
                        else dict.fromkeys(range(size), array)
                    )
            self.parts.append(
                [placed_before[words, k, x] for k, x in enumerate(row.layouts)]
            )
        self.expected = expectations(rows)
        self.size = size

    def be_rank(self, start: int, barrier: threading.Barrier) -> None:
        """What a rank does: all rows from `start` on."""
        rank = _world.current().rank
        with np.errstate(all="ignore"):
            for k in range(start, len(self.rows)):
                heard = play(self.rows[k], self.parts[k], rank)
                self.heard[k][rank] = heard
                raised = isinstance(heard.result, Exception)
                raised &= not isinstance(self.expected[k], Exception)
                barrier.wait(LATE if raised else SECONDS * 2)
                if self.is_over(k):
                    raise Stop

    def is_over(self, k: int) -> bool:
        """Whether an exception came that NumPy does not raise."""
        raised = [isinstance(h.result, Exception) for h in self.heard[k]]
        return any(raised) and not (
            all(raised) and isinstance(self.expected[k], Exception)
        )

    def run(self, worlds: int) -> None:
        """Play all rows, in a new world after each failure; at most so many worlds."""
        start = 0
        while start < len(self.rows) and worlds > 0:
            worlds -= 1
            try:
                barrier = threading.Barrier(self.size)
                run_ranks(self.size, self.be_rank, start, barrier, timeout=SECONDS)
            except (Stop, threading.BrokenBarrierError, RuntimeError):
                pass
            WORLD_LAYOUTS.clear()
            while start < len(self.rows) and None not in self.heard[start]:
                start += 1
            if start < len(self.rows) and not self.was_played(start):
                continue
            start += 1

    def was_played(self, k: int) -> bool:
        return any(heard is not None for heard in self.heard[k])


def expectations(rows: Sequence[Row]) -> list[Any]:
    """What NumPy says to each row."""
    known: dict[int, Any] = {}
    for row in rows:
        if id(row.sample) not in known:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                known[id(row.sample)] = row.sample.expected(arrays_of(row.sample))
    return [known[id(row.sample)] for row in rows]


@contextlib.contextmanager
def listening() -> Iterator[None]:
    """`NOW` says which calls gather for want of an operator."""
    fallback = import_module("dtensor.ops._make.fallback")
    gathered = fallback._gathered

    def noted(*args):
        NOW.fell_back = True
        return gathered(*args)

    fallback._gathered = noted
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        fallback._gathered = gathered


def check(rows: Sequence[Row], worlds: int = 10**6) -> list[Verdict]:
    """Play rows of meshes of one size, and judge them.

    After as many failures as there are `worlds` the rest is not played.
    """
    size = max(int(x.mesh.ranks.max()) for r in rows for x in r.layouts if x) + 1
    session = Session(rows, size)
    with listening():
        session.run(worlds)
    verdicts = []
    for row, expected, heard in zip(rows, session.expected, session.heard, strict=True):
        try:
            judge(row, expected, heard)
        except AssertionError as error:
            verdicts.append(Verdict(row, str(error) or "it is wrong", heard))
        else:
            verdicts.append(Verdict(row, "", heard))
    return verdicts


# --- judging --------------------------------------------------------------------------


def judge(row: Row, expected: Any, heard: Sequence[Heard | None]) -> None:
    """AssertionError where the ranks did not do what NumPy does."""
    missing = [rank for rank, h in enumerate(heard) if h is None]
    failures = [h.result for h in heard if h and isinstance(h.result, Exception)]
    assert not missing, f"ranks {missing} did not come back; {failures}"
    for h in heard:
        assert not h.changed, f"operand {h.changed[0]} was written into"
    if isinstance(expected, Exception):
        for h in heard:
            assert isinstance(h.result, Exception), f"NumPy raises {expected!r}"
            assert type(h.result) is type(expected), f"{h.result!r}, not {expected!r}"
            assert words(h.result) == words(expected), f"{h.result!r}, not {expected!r}"
        return
    assert not failures, f"it raises {failures[0]!r}"
    compare(row, expected, [h.result for h in heard])


def words(error: Exception) -> str:
    """What an error says, without the rank that it came from."""
    try:
        return re.sub(r"^rank \d+: ", "", str(error))
    except Exception as other:
        return f"a {type(error).__name__} that cannot speak: {other}"


def compare(row: Row, expected: Any, results: Sequence[Any]) -> None:
    """Compare results of all ranks, piece by piece."""
    if isinstance(expected, np.ndarray | np.generic):
        compare_arrays(row, np.asarray(expected), results)
        return
    for result in results:
        assert type(result) is type(expected), (
            f"{result!r}, where NumPy has {expected!r}"
        )
    if isinstance(expected, tuple | list):
        for result in results:
            assert len(result) == len(expected), f"{len(result)} results"
        for k, each in enumerate(expected):
            compare(row, each, [result[k] for result in results])
    else:
        for result in results:
            assert result == expected, f"{result!r}, not {expected!r}"


def compare_arrays(row: Row, expected: np.ndarray, results: Sequence[Any]) -> None:
    """Compare one array."""
    for result in results:
        assert isinstance(result, Part), f"{type(result).__name__} and no DTensor"
    layout = results[0].layout
    assert all(part.layout == layout for part in results), "the layouts differ"
    assert layout.dtype == expected.dtype, f"{layout.dtype}, not {expected.dtype}"
    assert layout.shape == expected.shape, f"{layout.shape}, not {expected.shape}"
    ranks = layout.mesh.ranks.ravel().tolist()
    if row.sample.mode == SHAPE:
        for rank in ranks:
            whole = layout.local_shape(layout.mesh.coordinate(rank))
            assert results[rank].array.shape == whole, "a part has another shape"
        return
    got = oracle.assemble({rank: results[rank].array for rank in ranks}, layout)
    reductions = {op for x in row.layouts if x for op in oracle.reductions(x)}
    if expected.dtype.kind in "biu" or (
        row.sample.mode in (BITS, VALUE) and not reductions & SUMS
    ):
        right = (got == expected) | ((got != got) & (expected != expected))
        if row.sample.also is not None:
            right |= got == other_answer(row.sample)
        if row.sample.mode == BITS and not reductions:  # max(0.0, -0.0) is either
            right &= signs(got) == signs(expected)
    else:
        atol = bound(row, expected)
        right = np.isclose(got, expected, rtol=0, atol=atol, equal_nan=True)
    assert right.all(), f"{different(got, expected, right)} ({placed(layout)})"


@functools.lru_cache(maxsize=256)
def other_answer(sample: Sample) -> np.ndarray:
    """What NumPy gives to a sample where it takes another way."""
    with np.errstate(all="ignore"):
        return np.asarray(sample.also(*arrays_of(sample)))


def different(got: np.ndarray, expected: np.ndarray, right: np.ndarray) -> str:
    """The first element that is wrong, in words."""
    wrong = np.argwhere(~np.asarray(right))
    at = tuple(wrong[0].tolist())
    count = f"{len(wrong)} of {got.size} elements"
    return f"[{', '.join(map(str, at))}] is {got[at]}, not {expected[at]}; {count}"


def signs(array: np.ndarray) -> np.ndarray:
    """The sign bits of floats; NaN has none."""
    if array.dtype.kind == "c":
        return 2 * signs(array.real) + signs(array.imag)
    if array.dtype.kind != "f":
        return np.zeros(array.shape, int)
    return (np.signbit(array) & (array == array)).astype(int)


def bound(row: Row, expected: np.ndarray) -> float:
    """The error that a sum may have: so many roundings of the largest addend."""
    largest = float(np.abs(expected[np.isfinite(expected)]).max(initial=1.0))
    eps = float(np.finfo(expected.dtype).eps)
    for array, layout in zip(
        arrays_of_words(row.sample.arrays), row.layouts, strict=True
    ):
        if array.dtype.kind in "fc":
            top = float(np.abs(array[np.isfinite(array)]).max(initial=0.0))
            largest = max(
                largest, top, 8.0 * len(row.layouts)
            )  # so far off are addends
            if layout is not None and layout.is_partial:
                eps = max(eps, float(np.finfo(array.dtype).eps))
    return 64 * eps * largest
