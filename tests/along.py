"""What happens to the dim that is cut: counted, for long samples of operators.

A dim of a sample is made long and is cut. What the ranks send then, and how much memory
they take beside their operands, is counted in parts: the part of the largest operand or
of the largest result, on 4, 8 and 16 ranks.
"""

import contextlib
import functools
import itertools
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from unittest import mock

import meshes
import numpy as np
from rows import WORD, Sample, array_of
from validator import NOW, listening

from dtensor import _C, DTensor, Layout, Replicate, Shard, Tensor
from dtensor._core import world as _world
from dtensor.ops.linalg import large, product_parts
from dtensor.testing import run_ranks

RANKS = (4, 8, 16)
ELEMENTS = 1 << 17  # of a rank's part of the longest array
SIDE = 320  # of a square matrix on 4 ranks
SAMPLES, LONG = 2, 4  # samples of an operator, and ways to make them long, at most

STEPS = {("polyval", 3)}  # lengths of which every element is a step of the function

CLASSES = ("stays", "sum", "selection", "borders", "all_to_all", "blocks", "gather")
FEW = 0.25  # parts: less is no array's

# What grows with the ranks grows by so much if they are twice as many. If it is more,
# they have taken another way.
LEAST, MOST_HELD, MOST_SENT = 1.5, 2.25, 2.5


class Long(NamedTuple):
    """A sample of which one length is to be another one, and is cut."""

    sample: Sample
    length: int

    def __str__(self) -> str:
        return f"{self.sample}, {self.length} is cut"


class Counted(NamedTuple):
    """What the busiest rank sends and holds, in parts."""

    sent: float
    joins: float  # of this, what is added up
    passes: float  # of this, what goes from rank to rank
    peak: float
    is_sum: bool  # a result is Partial
    fell_back: bool


# --- long samples ---------------------------------------------------------------------


def shapes_of(sample: Sample) -> list[tuple[int, ...]]:
    """The shapes of the arrays of a sample."""
    matches = [WORD.fullmatch(word) for word in sample.arrays.split()]
    return [tuple(int(n) for n in m["shape"].split(",") if n) for m in matches if m]


def lengthened(long: Long, ranks: int, elements: int = ELEMENTS) -> int:
    """How long a dim is for so many elements on each rank; 0 if it cannot be."""
    shapes = shapes_of(long.sample)
    times = max(shape.count(long.length) for shape in shapes)
    rest = max(
        math.prod(n for n in shape if n != long.length)
        for shape in shapes
        if shape.count(long.length) == times
    )
    if times > 2:
        return 0
    if times == 2:
        elements = min(elements, SIDE**2 // 4)
    return int((ranks * elements / rest) ** (1 / times)) // 48 * 48


def longer(long: Long, length: int) -> list[np.ndarray]:
    """The arrays with the dim of another length."""
    seed = zlib.crc32(long.sample.arrays.encode())
    arrays = []
    for k, word in enumerate(long.sample.arrays.split()):
        match = WORD.fullmatch(word)
        assert match
        lengths = [int(n) for n in match["shape"].split(",") if n]
        shape = ",".join(str(length if n == long.length else n) for n in lengths)
        more = f":{match['kind']}" if match["kind"] else ""
        rng = np.random.default_rng([seed, k])
        arrays.append(array_of(f"{match['dtype']}{shape}{more}", rng))
    return arrays


def long_samples(samples: Iterable[Sample]) -> list[Long]:
    """Ways to make samples of one operator long: of float64 first, of many shapes."""
    found: dict[tuple[Any, ...], Long] = {}
    ordered = sorted(samples, key=lambda s: not re.match(r"d\d", s.arrays))
    count = 0
    for sample in ordered:
        shapes = shapes_of(sample)
        if any(0 in shape for shape in shapes) or count == SAMPLES:
            continue
        key = tuple(shapes)
        lengths = sorted({n for shape in shapes for n in shape} - {1})
        fresh = [Long(sample, n) for n in lengths if (key, n) not in found]
        fresh = [long for long in fresh if is_possible(long)]
        found |= {(key, long.length): long for long in fresh}
        count += bool(fresh)
    return list(found.values())[:LONG]


def is_possible(long: Long) -> bool:
    """Whether longer arrays are taken, and give as many results, which grow no faster
    than they do."""
    if (long.sample.name, long.length) in STEPS or lengthened(long, 4) < 48:
        return False
    little, much = (sizes(long, length) for length in (24, 48))
    if not little or len(little) != len(much):
        return False
    (few, *small), (many, *large) = little, much
    return sum(large) * few <= 1.2 * sum(small) * many + 100 * few


def sizes(long: Long, length: int) -> list[int]:
    """The elements of all plain arrays, and of each that comes of them; nothing for an
    exception."""
    arrays = longer(long, length)
    given = sum(array.size for array in arrays)
    try:
        with np.errstate(all="ignore"):
            result = long.sample.fn(*arrays)
    except Exception:
        return []
    return [given, *(x.size for x in arrays_in(result))]


def arrays_in(value: Any) -> Iterator[Any]:
    """The arrays and tensors of a result."""
    if isinstance(value, np.ndarray | np.generic | Tensor):
        yield value
    elif isinstance(value, tuple | list):
        yield from itertools.chain.from_iterable(map(arrays_in, value))


# --- counting -------------------------------------------------------------------------


def part_bytes(x: DTensor) -> int:
    """Bytes of an even part."""
    cut = {m for dim in range(x.ndim) for m in x.layout.cut_by(dim)}
    parts = math.prod(x.device_mesh.shape[m] for m in cut)
    return x.size * x.dtype.itemsize // parts


def count(long: Long, ranks: int) -> Counted:
    """Call a long sample on ranks that are threads."""
    arrays = longer(long, lengthened(long, ranks))

    def body() -> tuple[Any, ...]:
        mesh, world = meshes.line(), _world.current()
        operands = [cut(array, long.length, mesh, k) for k, array in shaped]
        NOW.fell_back, NOW.rules = False, []
        before = world.counters()
        _C._count_memory(True)
        try:
            result = long.sample.fn(*operands)
            peak = _C._count_memory(False)
        finally:
            _C._count_memory(False)
        sent = {op: c[1] - before[op][1] for op, c in world.counters().items()}
        found = [y for y in arrays_in(result) if isinstance(y, DTensor)]
        unit = max(map(part_bytes, [*operands, *found]))
        return sent, peak, unit, any(y.layout.is_partial for y in found), NOW.fell_back

    shaped = list(zip(shapes_of(long.sample), arrays, strict=True))
    with np.errstate(all="ignore"), listening(), in_parts():
        heard = run_ranks(ranks, body)
    unit = heard[0][2]
    return Counted(
        max(sum(h[0].values()) for h in heard) / unit,
        max(h[0]["all_reduce"] + h[0]["reduce_scatter"] for h in heard) / unit,
        max(h[0]["all_to_all"] + h[0]["exchange"] for h in heard) / unit,
        max(h[1] for h in heard) / unit,
        heard[0][3],
        any(h[4] for h in heard),
    )


def cut(array: np.ndarray, length: int, mesh: Any, shape: tuple[int, ...]) -> DTensor:
    """This rank's part of an array, cut along the dim that was made long."""
    place = Shard(shape.index(length)) if length in shape else Replicate()
    layout = Layout(mesh, [place], array.shape, array.dtype)
    start, count = layout.boxes()[0]
    key = tuple(slice(a, a + n) for a, n in zip(start, count, strict=True))
    return DTensor(array[key].copy(), layout, requires_grad=False)


@contextlib.contextmanager
def in_parts() -> Iterator[None]:
    """Square matrices are treated as those of more than 64 MiB."""
    with (
        mock.patch.object(large, "LEAST_BYTES", 1),
        mock.patch.object(product_parts, "LEAST_BYTES", 1 << 18),
        mock.patch.object(product_parts, "SCRATCH_BYTES", 1 << 18),
    ):
        yield


# --- in words -------------------------------------------------------------------------


def class_of(few: Counted, many: Counted) -> str:
    """A word for what was counted on some ranks and on twice as many."""
    is_held = LEAST * few.peak < many.peak <= MOST_HELD * few.peak
    if few.fell_back or (is_held and few.peak > 2 * FEW and few.sent > FEW):
        return "gather"
    if few.sent > 2 * FEW and LEAST * few.sent < many.sent <= MOST_SENT * few.sent:
        return "blocks"
    if max(few.sent, many.sent) > FEW:
        return "all_to_all"
    if few.sent == 0 or few.joins > few.sent / 2:
        return "sum" if few.is_sum or few.joins else "stays"
    return "borders" if few.passes > few.sent / 2 else "selection"


@functools.lru_cache(maxsize=10_000)
def counted(long: Long) -> tuple[str, float]:
    """The word, and the peak; that of a gather is for 4 ranks.

    Four and eight ranks may take different ways: sixteen tell what grows.
    """
    found = [count(long, ranks) for ranks in RANKS[:2]]
    word = class_of(*found)
    if word in ("blocks", "gather") and not found[0].fell_back:
        found.append(count(long, RANKS[2]))
        word = class_of(*found[1:])
    peaks = [each.peak for each in found]
    return word, peaks[0] if word == "gather" else max(peaks)


class Cells(NamedTuple):
    """What the table says of an operator."""

    words: str
    peaks: str

    def agrees(self, other: "Cells") -> bool:
        """Whether they say the same; peaks are a little different in every run."""
        ours, theirs = (
            [float(peak) for peak in each.peaks.split(", ") if peak]
            for each in (self, other)
        )
        return self.words == other.words and np.allclose(ours, theirs, 0.1, 0.2)


def cells(samples: Sequence[Sample]) -> Cells:
    """The cells of an operator, of which these are all samples."""
    if not any(any(shapes_of(sample)) for sample in samples):
        return Cells("no operand", "")
    found = [counted(long) for long in long_samples(samples)]
    if not found:
        return Cells("fixed lengths", "")
    peaks = {word: max(p for w, p in found if w == word) for word, _ in found}
    words = sorted(peaks, key=CLASSES.index)
    return Cells(", ".join(words), ", ".join(f"{peaks[word]:.1f}" for word in words))
