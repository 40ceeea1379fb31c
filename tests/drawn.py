"""Calls whose arguments are drawn by chance, beside the rows that are written by hand.

A call is a text with holes, which draws fill:

    np.resize(x, {shape})  ->  np.resize(x, (3, np.int8(5)))

`x` and `y` are arrays of any dtype and shape. Only calls that NumPy answers count: what
it refuses, rows of other tests say.
"""

import itertools
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import oracle
from moves import grid
from rows import SUM, Sample, after, arrays_of, with_words
from ways import SUMS, Row, rows_of

DTYPES = "?bBhHiIlLefdFD"
SHAPES = [
    "5",
    "7",
    "1",
    "4,3",
    "3,5",
    "6,2",
    "1,4",
    "4,1",
    "2,3,4",
    "3,1,2",
    "0,3",
    "9,2",
]
NARROW = ["np.int8", "np.uint8", "np.int16", "np.int64", "np.uint64"]
FLOATS = ["np.float16", "np.float32", "np.float64"]
METHODS = [
    *("inverted_cdf averaged_inverted_cdf closest_observation hazen weibull".split()),
    *("linear lower higher midpoint nearest median_unbiased normal_unbiased".split()),
]
PADS = ["constant", "edge", "reflect", "symmetric", "wrap", "mean", "maximum"]

CALLS = """
np.{reduction}(x, axis={axis}, keepdims={bool})
np.{extreme}(x, axis={axis}, initial={number})
np.{extreme}(x, axis={axis}, initial={number}, where={mask})
np.sum(x, axis={axis}, dtype={dtype})
np.{adds}(x, {axis}, where={mask})
np.{spread}(x, axis={axis}, ddof={number})
np.{scan}(x, {dim})
np.{accumulating}.accumulate(x, {dim})
np.{accumulating}.reduce(x, {dim}, initial={number})
np.{accumulating}.reduceat(x, {places}, {dim})
np.cumulative_sum(x, axis={dim}, include_initial={bool})
np.{quantile}(x, {fraction}, axis={axis}, method={method})
np.median(x, axis={axis}, keepdims={bool})
np.average(x, axis={dim}, weights=np.arange(1, x.shape[{dim}] + 1))
np.resize(x, {shape})
np.tile(x, {counts})
np.repeat(x, {int}, {dim})
np.roll(x, {int}, {dim})
np.rot90(x, {int})
np.flip(x, {axis})
np.pad(x, {int}, {pad})
np.pad(x, {int}, constant_values={number})
np.array_split(x, {int} + 1, {dim})
np.array_split(x, [{int}, 9], {dim})
np.split(x, [{signed}], {dim})
np.insert(x, {int}, {number}, {dim})
np.insert(x, [0, {int}], {list}, {dim})
np.delete(x, {signed}, {dim})
np.append(x, y)
np.concatenate([x, y], None)
np.stack([x, x], {dim})
np.diff(x, {int}, {dim})
np.ediff1d(x, {number}, {list})
np.gradient(x, {number}, axis={dim})
np.trapezoid(x, dx={number}, axis={dim})
np.unwrap(x, period={number}, axis={dim})
np.convolve(x.ravel(), y.ravel(), {convolution})
np.correlate(x.ravel(), y.ravel(), {convolution})
np.interp(x, [0.0, 1.0, 3.0], [2.0, -1.0, 5.0], left={number})
np.digitize(x, [{number}, 100])
np.searchsorted(np.sort(x, None), {number}, {side})
np.searchsorted(np.sort(x, None), y, {side})
np.histogram(x, {int} + 1)
np.histogram(x, {int} + 1, weights=x)
np.bincount(np.abs(x.ravel()).astype(np.int8), minlength={int})
np.unique(x, axis={dim})
np.unique_counts(x)
np.isin(x, {list}, invert={bool})
np.sort(x, {dim})
np.argsort(x, {dim}, kind="stable")
np.argmax(x, {dim})
np.nanargmin(x, {dim})
np.trace(x, {signed})
np.diagonal(x, {signed})
np.diag(x, {signed})
np.tril(x, {signed})
np.triu(x, {signed})
np.dot(x, {number})
np.inner(x, x)
np.outer(x, y)
np.tensordot(x, y, 0)
np.kron(x, y)
np.cov(x, ddof={int})
np.corrcoef(x)
np.linalg.norm(x)
np.linalg.norm(x, axis={dim})
np.linalg.vector_norm(x, ord={int} + 1, axis={axis})
np.where({mask}, x, {number})
np.where({mask}, {number}, x)
np.clip(x, {number}, {number})
np.select([{mask}, {mask}], [x, {number}], {number})
np.nan_to_num(x, nan={number})
np.full_like(x, {number}, dtype={dtype})
np.round(x, {signed})
np.take(x, {places}, {dim}, mode="wrap")
np.take(x, {places}, mode="clip")
np.compress([True, False, True][: x.shape[{dim}]], x, {dim})
np.{binary}(x, {number})
np.{binary}({number}, x)
np.{binary}(x, y)
np.{binary}.outer(x, y)
np.{unary}(x)
x.astype({dtype})
x[{key}]
x[{key}, ...]
x[{mask}]
x[..., {places}]
""".strip().splitlines()

WRITES = """
x[{key}] = {number}
x[{mask}] = {number}
x[..., {places}] = {number}
x += x[{key}].sum()
np.put(x, {places}, {list})
np.put(x, {places}, {number}, mode="wrap")
np.putmask(x, {mask}, {list})
np.place(x, {mask}, {list})
np.copyto(x, {number}, where={mask})
np.copyto(x, {list}[0], "unsafe")
np.fill_diagonal(x, {number})
np.put_along_axis(x, np.argmax(x, {dim}, keepdims=True), {number}, {dim})
np.add.at(x, {places}, 1)
np.maximum(x, {number}, out=x)
np.add(x, x, out=x, where={mask})
np.negative(x[{key}], out=x[{key}])
x[1:] = x[:-1]
x[::-1] += x
x.T[...] = {number}
np.swapaxes(x, 0, -1)[{key}] = {number}
np.resize(x, x.shape)[...] = 0
np.array_split(x, [{signed}], {dim})[0][...] = {number}
""".strip().splitlines()

# BLAS leaves out products with 0, or does not, by the shape of the arrays; variances of
# equal numbers divide 0 by 0, or by what rounding leaves.
EXACT = re.compile("dot|inner|kron|outer|corrcoef|convolve|correlate")

CHOICES = {
    "reduction": "sum prod max min mean any all ptp nansum nanmax nanmin nanmean "
    "nanprod median std var count_nonzero",
    "extreme": "max min nanmax nanmin sum prod nansum nanprod",
    "adds": "sum prod mean std var nansum nanmean",
    "spread": "std var nanstd nanvar",
    "scan": "cumsum cumprod nancumsum nancumprod",
    "accumulating": "add multiply maximum minimum logical_or bitwise_xor fmax",
    "quantile": "quantile percentile nanquantile",
    "binary": "add subtract multiply divide floor_divide remainder fmod maximum fmin "
    "greater equal less_equal logical_xor hypot arctan2 copysign bitwise_and divmod",
    "unary": "negative abs sign sqrt square exp floor rint isnan isfinite logical_not "
    "conjugate real imag angle signbit reciprocal cbrt sinc i0 nan_to_num",
    "convolution": '"full" "same" "valid"',
    "side": '"left" "right"',
    "bool": "True False",
}


class Draw:
    """Fills the holes of a call, for one array."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.shape = self.one(SHAPES)
        self.ndim = self.shape.count(",") + 1
        self.exact = False  # whether arrays have ordinary numbers only

    def one(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def filled(self, call: str) -> str:
        return re.sub(r"{(\w+)}", lambda hole: self.draw(hole[1]), call)

    def draw(self, hole: str) -> str:
        if hole in CHOICES:
            return str(self.one(CHOICES[hole].split()))
        return str(getattr(self, hole)())

    def word(self, shape: str) -> str:
        """The word of an array: see rows.py."""
        dtype = self.one(DTYPES)
        kinds = ["any", "any", "ties", *(["nan"] if dtype in "efdFD" else [])]
        kinds = ["any"] if self.exact else kinds
        return f"{dtype}{shape}:{self.one(kinds)}"

    def dim(self) -> str:
        n = int(self.rng.integers(-self.ndim, self.ndim))
        return self.one([str(n), f"{self.one(NARROW[:3])}({n % self.ndim})"])

    def axis(self) -> str:
        both = tuple(self.rng.permutation(self.ndim)[:2].tolist())
        return self.one(["None", self.dim(), str(both)])

    def int(self) -> str:
        n = int(self.rng.integers(0, 6))
        return self.one([str(n), f"{self.one(NARROW)}({n})"])

    def signed(self) -> str:
        return str(int(self.rng.integers(-6, 10)))

    def number(self) -> str:
        n = int(self.rng.integers(-3, 7))
        return self.one(
            [
                *(str(n), f"{n}.5", "0.1", "True", "0", "-0.0", "np.nan", "np.inf"),
                f"{self.one(FLOATS)}({n / 3})",
                f"{self.one(NARROW)}({abs(n)})",
                f"np.array({n})",
                *("1j", "100", "2**40", "np.float32(1e30)"),
            ]
        )

    def list(self) -> str:
        return f"[{self.number()}, {self.number()}]"

    def places(self) -> str:
        items = self.rng.integers(-1, 2, int(self.rng.integers(1, 4))).tolist()
        return self.one([str(np.abs(items).tolist()), f"np.array({items}, np.int8)"])

    def shape_(self) -> str:
        sizes = self.rng.integers(0, 5, int(self.rng.integers(1, 4))).tolist()
        return self.one([str(tuple(sizes)), str(sizes[0])])

    def counts(self) -> str:
        return self.one([self.int(), str(tuple(self.rng.integers(0, 3, 2).tolist()))])

    def dtype(self) -> str:
        return self.one(["None", *(f"np.dtype({c!r})" for c in DTYPES)])

    def mask(self) -> str:
        return self.one(["x > 1", "x == x", "(x != 0)", "np.isfinite(x)"])

    def key(self) -> str:
        a, b = (int(n) for n in self.rng.integers(-4, 6, 2))
        step = self.one(["", ":-1", ":2", ":-2"])
        return self.one(
            [f"{a}:{b}{step}", f":{b}", f"{a}:", f"::{step[1:]}", "None", "0"]
        )

    def fraction(self) -> str:
        return self.one(
            ["0.5", "0.3", "[0, 0.25, 1]", "np.float64(0.3)", "np.float32(.5)"]
        )

    def method(self) -> str:
        return repr(self.one(METHODS))

    def pad(self) -> str:
        return repr(self.one(PADS))


def rows(seed: int, count: int, shapes: Iterable[tuple[int, ...]]) -> Iterator[Row]:
    """So many calls that NumPy answers, each in some layouts on each mesh."""
    rng = np.random.default_rng(seed)
    calls = list(itertools.islice(filter(None, iter(lambda: drawn(rng), 0)), count))
    for shape in shapes:
        for k, (sample, infinite) in enumerate(calls):
            for row in rows_of(sample, grid(*shape), 2, 1, seed + 31 * k):
                if is_promised(row, infinite):
                    yield row


def is_promised(row: Row, infinite: bool) -> bool:
    """Whether NumPy's answer is promised: docs/sharp_bits.md says that pending sums may
    lose infinities and complex NaN, and that strided shards move. Without degrees of
    freedom a covariance is what rounding left, divided by 0."""
    if row.sample.name == "np.cov" and infinite and ":nan" not in row.sample.arrays:
        return False
    layouts = [x for x in row.layouts if x]
    ops = {op for x in layouts for op in oracle.reductions(x)}
    odd = any(x.dtype.kind == "c" for x in layouts) and (
        ":nan" in row.sample.arrays or ops & {"min", "max"}
    )
    strided = any(x.is_strided(d) for x in layouts for d in range(x.ndim))
    return not (ops & SUMS and (infinite or odd)) and not (
        strided and row.sample.name.startswith("np.array_split")
    )


def drawn(rng: np.random.Generator) -> tuple[Sample, bool] | None:
    """A call, and whether there are infinities; None: NumPy refuses it."""
    draw = Draw(rng)
    writes = rng.random() < 0.25
    template = draw.one(WRITES if writes else CALLS)
    draw.exact = bool(EXACT.search(template))
    text = draw.filled(template.replace("{shape}", "{shape_}"))
    names = ["x", "y"] if re.search(r"\by\b", text) else ["x"]
    shapes = [draw.shape, draw.one([draw.shape, "1", "3"])]
    words = " ".join(draw.word(shape) for shape in shapes[: len(names)])
    env: dict[str, Any] = {"np": np}
    if writes:
        exec(f"def act({', '.join(names)}):\n    {text}", env)
        fn = after(env["act"])
    else:
        fn = eval(f"lambda {', '.join(names)}: {text}", env)
    name, fn = template.split("(")[0], with_words(fn, text)
    sample = Sample(name, fn, words, SUM, changes=writes)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sample.expected(arrays_of(sample))
    leaves = found if isinstance(found, tuple | list) else [found]
    if not all(isinstance(x, np.ndarray | np.generic) for x in leaves):
        return None
    return sample, "inf" in text or any(np.isinf(x).any() for x in leaves)
