"""What a row of samples.py is: a way to call an operator.

It is a function written with NumPy's names, which takes arrays or DTensors alike, and a
word for each array: the dtype's character, the shape, and after a colon the kind of
values, as in ``"d5,7 l7:0..5"``.
"""

import functools
import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

BITS = "bits"  # NumPy's bits where no operand is a sum
VALUE = "value"  # the same, but for the sign of zeros, which NumPy itself leaves open
SUM = "sum"  # adds up, or solves: equal within the bound of the dtype
SHAPE = "shape"  # the values say nothing


class Sample(NamedTuple):
    """A row. `reference` is what NumPy does where `fn` is not of NumPy's functions."""

    name: str
    fn: Callable[..., Any]
    arrays: str
    mode: str = BITS
    reference: Callable[..., Any] | None = None
    changes: bool = False  # it writes into an operand: none is a plain array
    also: Callable[..., Any] | None = None  # another answer that NumPy itself gives

    def expected(self, arrays: Sequence[np.ndarray]) -> Any:
        """What NumPy gives, or the exception that it raises."""
        try:
            return (self.reference or self.fn)(*[a.copy() for a in arrays])
        except Exception as error:
            return error

    def __str__(self) -> str:
        return f"{self.name}({self.arrays}) [{told(self.fn)}]"


def told(fn: Callable[..., Any]) -> str:
    """A function in words: where it is written, and with which arguments."""
    words = getattr(fn, "words", None)
    if words is not None:
        return words
    code = getattr(fn, "__code__", None)
    if code is None:
        return getattr(fn, "__name__", str(fn))
    return f"{code.co_filename.rsplit('/', 1)[-1]}:{code.co_firstlineno}"


def with_words(fn: Callable[..., Any], words: str) -> Callable[..., Any]:
    """The same function, which can say what it is."""

    def spoken(*xs):
        return fn(*xs)

    spoken.words = words  # type: ignore[attr-defined]
    return spoken


def each(
    name: str,
    fn: Callable[..., Any],
    arrays: str,
    arguments: Iterable[dict[str, Any] | tuple[Any, ...]] = ({},),
    mode: str = BITS,
    reference: Callable[..., Any] | None = None,
) -> list[Sample]:
    """A row for each set of further arguments, on each of several lists of arrays.

    Lists of arrays are separated by "|". Arguments are keywords, or what comes after
    the arrays.
    """

    def bound(target, more):
        if isinstance(more, dict):
            return with_words(lambda *xs: target(*xs, **more), f"{name} {more}")
        return with_words(lambda *xs: target(*xs, *more), f"{name} {more}")

    return [
        Sample(
            name,
            bound(fn, more),
            words.strip(),
            mode,
            reference and bound(reference, more),
        )
        for words in arrays.split("|")
        for more in arguments
    ]


def after(act: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives back its first argument as `act` left it, where it was."""

    def fn(x, *others):
        layout = getattr(x, "layout", None)
        act(x, *others)
        assert getattr(x, "layout", None) == layout, f"it is {x.layout} afterwards"
        return x

    return with_words(fn, told(act))


def itself(act: Callable[..., Any], which: int = 0) -> Callable[..., Any]:
    """A function that must give back its argument `which`, written into."""

    def fn(*xs):
        layout = getattr(xs[which], "layout", None)
        result = act(*xs)
        assert result is xs[which], "the result is another object"
        assert getattr(result, "layout", None) == layout, "its layout is another one"
        return result

    return with_words(fn, told(act))


# --- arrays ---------------------------------------------------------------------------

WORD = re.compile(r"(?P<dtype>[?a-zA-Z])(?P<shape>[\d,]*)(:(?P<kind>\S+))?")


def arrays_of(sample: Sample, turn: int = 0) -> list[np.ndarray]:
    """The arrays of a row: the same at each call; others at another turn."""
    return [array.copy("K") for array in arrays_of_words(sample.arrays, turn)]


@functools.lru_cache(maxsize=10_000)
def arrays_of_words(words: str, turn: int = 0) -> list[np.ndarray]:
    """The arrays that words name, which nobody may write into."""
    seed = zlib.crc32(words.encode()) + turn
    return [
        array_of(word, np.random.default_rng([seed, k]))
        for k, word in enumerate(words.split())
    ]


def array_of(word: str, rng: np.random.Generator) -> np.ndarray:
    """Random values of the kind that a word names."""
    match = WORD.fullmatch(word)
    assert match, f"{word} names no array"
    dtype = np.dtype(match["dtype"])
    shape = tuple(int(n) for n in match["shape"].split(",") if n)
    kind = match["kind"] or "any"
    low, dots, high = kind.partition("..")
    if dots:
        values = rng.integers(int(low), int(high), shape).astype(dtype)
        return np.asarray(values)
    return np.asarray(KINDS[kind](shape, dtype, rng)).astype(dtype)


def eighths(low: float, high: float) -> Callable[..., np.ndarray]:
    """Multiples of 1/8, of which sums and products of a few are exact."""

    def values(shape, dtype, rng):
        if dtype.kind == "b":
            return rng.integers(0, 2, shape)
        if dtype.kind in "iu":
            least = 0 if dtype.kind == "u" else int(low * 2)
            return rng.integers(max(least, int(low * 2)), int(high * 2) + 1, shape)
        real = rng.integers(int(low * 8), int(high * 8) + 1, shape) / 8
        if dtype.kind == "c":
            return real + 1j * rng.integers(int(low * 8), int(high * 8) + 1, shape) / 8
        return real

    return values


def with_nan(shape, dtype, rng):
    values = KINDS["any"](shape, dtype, rng)
    return np.where(rng.random(shape) < 0.25, np.nan, values)


def with_infinities(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The same values, but half of them are infinite; as they are where none can be."""
    if values.dtype.kind != "f":
        return values
    which = rng.integers(0, 4, values.shape)
    infinite = np.where(which == 2, np.inf, -np.inf).astype(values.dtype)
    return np.where(which < 2, values, infinite)


def special(shape, dtype, rng):
    """All that is not an ordinary number, and a few that are."""
    tiny = np.finfo(dtype).smallest_normal
    few = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -2.5, tiny, -1e4, 1.0]
    return rng.choice(np.array(few, dtype), shape)


def well(shape, dtype, rng):
    """Matrices with a large diagonal, far from singular ones."""
    values = KINDS["any"](shape, dtype, rng) / 8
    order = (np.arange(shape[-1]) % 3 + 2) * 1.0
    return values + order * np.eye(shape[-2], shape[-1])


def symmetric(shape, dtype, rng):
    """The same, symmetric or hermitian, positive definite, all eigenvalues distinct."""
    values = KINDS["any"](shape, dtype, rng) / 32
    values = values + np.conj(np.swapaxes(values, -1, -2))
    return values + np.diag(np.arange(shape[-1]) + 2.0)


KINDS: dict[str, Callable[..., np.ndarray]] = {
    "any": eighths(-4, 4),
    "pos": eighths(0.5, 4),
    "unit": eighths(-0.875, 0.875),
    "frac": eighths(0, 1),
    "over1": eighths(1, 5),
    "wide": lambda shape, dtype, rng: rng.integers(
        np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True
    ),
    "bits": lambda shape, dtype, rng: (
        (1 << rng.integers(0, 5, shape)) * (rng.random(shape) < 0.1)
    ),
    "nan": with_nan,
    "inf": lambda shape, dtype, rng: with_infinities(
        KINDS["any"](shape, dtype, rng), rng
    ),
    "special": special,
    "well": well,
    "spd": symmetric,
    "ties": lambda shape, dtype, rng: rng.integers(0, 3, shape),
    "sparse": lambda shape, dtype, rng: (
        KINDS["any"](shape, dtype, rng) * rng.integers(0, 2, shape)
    ),
    "distinct": lambda shape, dtype, rng: (
        rng.permutation(int(np.prod(shape))).reshape(shape) - 3
    ),
    "sorted": lambda shape, dtype, rng: np.sort(
        KINDS["any"](shape, dtype, rng), axis=None
    ).reshape(shape),
}
