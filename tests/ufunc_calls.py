"""Random calls of every method of every ufunc that NumPy has.

A call is a row of samples.py: what it is called with is drawn by a seed.
"""

import itertools
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
from rows import BITS, SHAPE, SUM, VALUE, Sample, with_words
from samples_ufunc import ALSO

METHODS = ("__call__", "reduce", "accumulate", "reduceat", "outer", "at")
DTYPES = "?bhilBHILefdgFDG"

# Reductions whose value does not depend on the order of the elements.
EXACT = set(
    """maximum minimum fmax fmin logical_and logical_or logical_xor bitwise_and
    bitwise_or bitwise_xor gcd lcm equal not_equal less less_equal greater
    greater_equal left_shift right_shift""".split()
)
EXTREMES = {"maximum", "minimum", "fmax", "fmin"}

SHAPES = [(), (1,), (4,), (7,), (0,), (5, 7), (3, 4), (1, 5), (4, 1), (0, 3), (3, 0)]
SHAPES += [(2, 3, 4), (2, 0, 3), (6, 2), (9,), (4, 3, 1, 2)]


def reachable() -> list[np.ufunc]:
    """All ufuncs in NumPy's public modules, by name."""
    found: dict[int, np.ufunc] = {}
    seen: set[str] = set()

    def look(module: ModuleType) -> None:
        seen.add(module.__name__)
        for name in dir(module):
            value = None if name.startswith("_") else getattr(module, name, None)
            if isinstance(value, np.ufunc):
                found[id(value)] = value
            elif isinstance(value, ModuleType) and value.__name__ not in seen:
                if re.match(r"numpy(\.[a-z]\w*)*$", value.__name__):
                    look(value)

    look(np)
    return sorted(found.values(), key=lambda f: (f.__name__, str(f.types)))


UFUNCS = reachable()


class Draw:
    """One call, as it is drawn: operands become words, the rest arguments."""

    def __init__(self, ufunc: np.ufunc, method: str, rng: np.random.Generator) -> None:
        self.ufunc, self.method, self.rng = ufunc, method, rng
        self.words: list[str] = []
        self.args: list[Any] = []
        self.options: dict[str, Any] = {}
        self.hollow = self.writes = False

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def one(self, choices: Any) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    # --- operands

    def array(self, dtype: str, shape: tuple[int, ...], kind: str = "") -> "Slot":
        """An operand of the call."""
        word = dtype + ",".join(map(str, shape))
        self.words.append(f"{word}:{kind}" if kind else word)
        return Slot(len(self.words) - 1)

    def kind(self, dtype: str) -> str:
        """What values, so that sums do not depend on where they overflow."""
        adds = self.method in ("reduce", "accumulate", "reduceat")
        exact = self.ufunc.__name__ in EXACT
        ordered = exact or not (adds or self.ufunc.nin > 1)  # or addends are infinite
        if dtype in "bhilBHIL" and self.chance(0.2):
            # Addends times 2**wide are infinite.
            return "" if self.ufunc is np.ldexp else "wide"
        if dtype in "efdg" and ordered and self.chance(0.2):
            return "special"
        if adds and not exact and dtype in "efdgFDG":
            return self.one(["any", "unit"]) if dtype in "dgDG" else "unit"
        return self.one(["", "", "sparse", "pos"])

    def dtypes(self) -> str:
        """The dtypes of the operands: mostly those of one of its loops."""
        known = [t.split("->")[0] for t in self.ufunc.types]
        known = [t.replace("q", "l").replace("Q", "L") for t in known]
        known = [t for t in known if set(t) <= set(DTYPES)]
        if known and self.chance(0.75):
            return self.one(known)
        return "".join(self.one(DTYPES) for _ in range(self.ufunc.nin))

    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes that are broadcast against each other; now and then they are not."""
        shape = self.one(SHAPES)
        if self.ufunc.signature:
            return self.core_shapes()
        others = [self.narrow(shape) for _ in range(self.ufunc.nin - 1)]
        if self.chance(0.05):
            others = [self.one(SHAPES) for _ in others]
        shapes = [shape, *others]
        return shapes if self.chance(0.7) else shapes[::-1]

    def narrow(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that is broadcast to this one."""
        if self.chance(0.5):
            return shape
        shape = tuple(1 if self.chance(0.3) else n for n in shape)
        return shape[int(self.rng.integers(len(shape) + 1)) :]

    def core_shapes(self) -> list[tuple[int, ...]]:
        """Those of a ufunc of vectors and matrices."""
        lengths = {name: self.one([0, 1, 2, 3, 5, 7]) for name in "nmpijk"}
        lead = self.one([(), (), (3,), (2, 3), (0,)])
        inputs = self.ufunc.signature.split("->")[0]
        cores = re.findall(r"\(([^)]*)\)", inputs)
        named = [[w.rstrip("?") for w in core.split(",") if w] for core in cores]
        if self.chance(0.2):
            named = [names[:-1] if len(names) > 1 else names for names in named]
        return [
            (*self.narrow(lead), *(lengths.get(name[0], 3) for name in names))
            for names in named
        ]

    # --- arguments

    def axis(self, ndim: int, several: bool) -> Any:
        ways: list[Any] = [-1, 0, ndim - 1, int(self.rng.integers(-ndim - 1, ndim + 1))]
        if several:
            some = self.rng.permutation(ndim)[: int(self.rng.integers(0, ndim + 1))]
            signs = [int(d) - ndim * self.chance(0.3) for d in some]
            ways += [None, tuple(signs), tuple(signs), (0, 0)]
        return self.one(ways)

    def mask(self, shape: tuple[int, ...]) -> Any:
        """A mask of this shape: an operand, an array, a list, or one boolean."""
        if self.chance(0.15):
            return self.one([True, False, np.True_, np.array(False)])
        shape = self.narrow(shape)
        if self.chance(0.5):
            return self.array("?", shape)
        plain = self.rng.integers(0, 2, shape).astype(bool)
        return plain if self.chance(0.4) or not shape else plain.tolist()

    def out(self, shape: tuple[int, ...], dtype: str) -> Any:
        """An array to write to: mostly one that fits."""
        self.writes = True
        if self.chance(0.1) and self.takes_any_out():
            shape = self.one(SHAPES)
        if self.chance(0.3):
            # What is rounded otherwise may be another integer.
            rounded = np.dtype(dtype).kind in "fc" and self.mode() == SUM
            dtype = self.one("efdgFDG" if rounded else DTYPES)
        return self.array(dtype, shape)

    def takes_any_out(self) -> bool:
        """Whether NumPy looks at the shape of `out`, and at each on its own."""
        return self.ufunc.nout == 1 and self.method not in ("accumulate", "reduceat")

    def probe(self) -> list[np.ndarray]:
        """What the call gives so far, by NumPy; nothing where it raises."""
        try:
            with np.errstate(all="ignore"):
                found = self.sample().expected(self.ones())
        except Exception:
            return []
        results = found if isinstance(found, tuple) else (found,)
        return [x for x in map(np.asarray, results) if x.dtype.char in DTYPES]

    def ones(self) -> list[np.ndarray]:
        words = [re.match(r"(.)([\d,]*)", word).groups() for word in self.words]
        return [np.ones([int(n) for n in s.split(",") if n], t) for t, s in words]

    def more(self) -> None:
        """dtype=, out= and where=, where the method has them."""
        if self.chance(0.2):
            self.options["dtype"] = np.dtype(self.one(DTYPES))
        # An integer power may be wrong in two ways.
        casts = self.method in ("__call__", "outer") and self.ufunc is not np.power
        if casts and self.chance(0.1):
            self.options["casting"] = self.one(["unsafe", "safe", "no", "same_kind"])
        masks = self.method != "reduce" and self.chance(0.25)
        masks &= self.method in ("__call__", "outer") and not self.ufunc.signature
        if not (masks or self.chance(0.25)):
            return
        results = self.probe()
        if not results or len(results) != self.ufunc.nout:
            return
        if masks:
            self.options["where"] = self.mask(results[0].shape)
        self.hollow = masks
        if self.chance(0.8):
            shape = results[0].shape  # NumPy wants one of all
            outs = tuple(self.out(shape, x.dtype.char) for x in results)
            self.options["out"] = outs if len(outs) > 1 or self.chance(0.3) else outs[0]
            self.hollow = False

    def call(self) -> None:
        for dtype, shape in zip(self.dtypes(), self.shapes(), strict=True):
            scalar = self.words and self.chance(0.15) and not self.ufunc.signature
            self.args.append(
                self.one([2, -1, 2.5, True, np.float32(1.5), 1j])
                if scalar
                else self.array(dtype, shape, self.kind(dtype))
            )
        self.more()

    outer = call

    def scanned(self) -> int:
        """The first operand of a reduction; its number of dims."""
        dtype, shape = self.dtypes()[0], self.one(SHAPES)
        self.args = [self.array(dtype, shape, self.kind(dtype))]
        return len(shape)

    def reduce(self) -> None:
        ndim = self.scanned()
        shape = self.ones()[0].shape
        if self.chance(0.8):
            self.options["axis"] = self.axis(ndim, True)
        if self.chance(0.3):
            self.options["keepdims"] = self.chance(0.8)
        if self.chance(0.35):
            self.options["initial"] = self.one([0, 1, 3, 2.5, None, True, np.int8(2)])
        if self.chance(0.35):
            self.options["where"] = self.mask(shape)
        self.more()
        self.positional("axis dtype out keepdims initial where".split())

    def accumulate(self) -> None:
        ndim = self.scanned()
        if self.chance(0.7):
            self.options["axis"] = self.axis(ndim, False)
        self.more()
        self.positional("axis dtype out".split())

    def reduceat(self) -> None:
        ndim = self.scanned()
        shape = self.ones()[0].shape
        axis = self.axis(ndim, False) if self.chance(0.7) else 0
        length = shape[axis] if -ndim <= axis < ndim else 3
        count = self.one([0, 1, 2, 3, 5]) if length else 0
        if self.chance(0.5) and length:
            self.args.append(self.array(self.one("lil"), (count,), f"0..{length}"))
        else:
            self.args.append(self.rng.integers(0, length or 1, count).tolist())
        self.options["axis"] = axis
        self.more()
        if count and self.chance(0.15) and self.probe():
            self.args[1] = [-1, length][int(self.chance(0.5))]  # there is none
            self.args[1] = [self.args[1]] * count
        self.positional("axis dtype out".split())

    def positional(self, names: list[str]) -> None:
        """Give options by their place, now and then."""
        while names and names[0] in self.options and self.chance(0.4):
            given = self.options.pop(names.pop(0))
            one = isinstance(given, tuple) and [*map(type, given)] == [Slot]
            self.args.append(given[0] if one else given)  # no tuple of one `out`

    def at(self) -> None:
        self.writes = True
        dtypes, shape = self.dtypes(), self.one(SHAPES)
        self.args = [self.array(dtypes[0], shape, self.kind(dtypes[0]))]
        length = shape[0] if shape else 1
        count = self.one([0, 1, 3, 6])
        some = f"{-length}..{length}"
        ways = [[], 0, -1, slice(None), slice(1, None, 2), ..., length, (), np.True_]
        ways += [self.rng.integers(-length, length or 1, count).tolist()] * 4
        ways += [[True] * length, (slice(None), [0, 0])]
        index = self.one(ways)
        if self.chance(0.35) and length:
            index = self.array(self.one("lib"), (count,), some)
        elif self.chance(0.1):
            index = self.array("?", shape[:1])
        self.args.append(index)
        try:
            plain = self.slots(index, self.zeros(index))
            shape = np.empty(shape)[plain].shape
        except IndexError:
            pass
        for dtype in dtypes[1:]:
            shape = self.narrow(shape)
            self.args.append(
                self.one([2, 1.5])
                if self.chance(0.3)
                else self.array(dtype, shape, "pos")
            )

    def zeros(self, index: Any) -> list[np.ndarray]:
        words = [re.match(r"(.)([\d,]*)", word).groups() for word in self.words]
        return [np.zeros([int(n) for n in s.split(",") if n], t) for t, s in words]

    # --- the row

    def slots(self, x: Any, arrays: Any) -> Any:
        """An argument with arrays in the place of slots."""
        if isinstance(x, Slot):
            return arrays[x]
        if isinstance(x, tuple):
            return tuple(self.slots(y, arrays) for y in x)
        return x

    def sample(self) -> Sample:
        args, options = list(self.args), dict(self.options)
        ufunc, method, slots = self.ufunc, self.method, self.slots

        def fn(*arrays: Any) -> Any:
            given = [slots(x, arrays) for x in args]
            named = {key: slots(x, arrays) for key, x in options.items()}
            result = getattr(ufunc, method)(*given, **named)
            return arrays[0] if method == "at" else result

        name = ufunc.__name__ + ("" if method == "__call__" else f".{method}")
        words = f"{name} {args} {options}"
        row = Sample(name, with_words(fn, words), " ".join(self.words), self.mode())
        row = row._replace(changes=self.writes)
        plain = not options and all(isinstance(x, Slot) for x in args) and len(args) > 1
        return row._replace(also=ALSO[name]) if plain and name in ALSO else row

    def mode(self) -> str:
        if self.hollow:
            return SHAPE
        if self.ufunc.__name__ in EXTREMES:
            return VALUE
        if self.method in ("__call__", "outer", "at") and not self.ufunc.signature:
            return BITS
        return BITS if self.ufunc.__name__ in EXACT else SUM


class Slot(int):
    """An operand, by its place among the arrays."""

    def __repr__(self) -> str:
        return f"#{int(self)}"


def draw(ufunc: np.ufunc, method: str, seed: list[int]) -> Sample:
    """A call: the same for the same seed."""
    drawn = Draw(ufunc, method, np.random.default_rng(seed))
    make: Callable[[], None] = getattr(
        drawn, "call" if method == "__call__" else method
    )
    make()
    return drawn.sample()


def calls(count: int, seed: int, step: int = 1) -> Iterator[Sample]:
    """`count` calls of each method of each ufunc, a tenth of what it does not have;
    of all these every `step`-th."""
    pairs = itertools.product(enumerate(UFUNCS), enumerate(METHODS))
    numbers = (
        (f, m, turn)
        for (f, ufunc), (m, method) in pairs
        for turn in range(count if has(ufunc, method) else -(-count // 10))
    )
    for f, m, turn in itertools.islice(numbers, seed % step, None, step):
        yield draw(UFUNCS[f], METHODS[m], [seed, f, m, turn])


def has(ufunc: np.ufunc, method: str) -> bool:
    """Whether NumPy does anything but raise."""
    plain = ufunc.nin == 2 and ufunc.nout == 1 and ufunc.signature is None
    return plain or method == "__call__" or (method == "at" and ufunc.nout == 1)
