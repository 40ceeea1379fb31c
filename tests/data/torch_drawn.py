"""Calls of PyTorch's functions with drawn arguments, and what PyTorch gives for them.

``python torch_drawn.py FILE SEED COUNT`` by Python with PyTorch writes to the file a
pickle of answers, results and gradients, without objects of PyTorch: see `played`. The
calls are those of torch_drawn.txt, and depend on the seed alone.
"""

import math
import os
import pickle
import random
import re
import sys
import warnings
from pathlib import Path

import numpy as np
from torch_samples import encoded

TABLE = Path(__file__).with_suffix(".txt")
DTYPES = {
    "f": "float32 float32 float64 bfloat16 float16",
    "F": "float32 float64",
    "i": "int64 int64 int32 uint8 int8 int16",
    "b": "bool",
    "c": "complex64 complex128",
}
DTYPES["n"] = f"float32 {DTYPES['f']} float64 int64 int32 uint8 bool"
DTYPES["a"] = f"{DTYPES['n']} {DTYPES['n']} {DTYPES['c']}"
SPECIAL = (np.nan, np.inf, -np.inf, -0.0)


# --- the table ------------------------------------------------------------------------


def blocks():
    """For each name its forms of a call, and the letters and texts of tensors."""
    for text in re.split(r"\n{2,}", TABLE.read_text()):
        lines = [line for line in text.splitlines() if not line.startswith("# ")]
        names = [line for line in lines if not re.match(r"> |[a-z]: ", line)]
        forms = [line[2:] for line in lines if line.startswith("> ")]
        tensors = dict(line.split(": ", 1) for line in lines if line[1:3] == ": ")
        for name in " ".join(names).split():
            yield name, forms, tensors


class Draws:
    """What the table's expressions draw with. One of them is one call."""

    def __init__(self, seed, number):
        self.random = random.Random(f"{seed}/{number}")
        self.numbers = np.random.default_rng(self.random.getrandbits(64))
        self.names = {
            name: getattr(self, name) for name in vars(Draws) if name[0] != "_"
        }
        self.names |= {"tuple": tuple, "range": range, "max": max, "min": self.least}
        self.names |= {"prod": math.prod, "len": len, "g": self.one(1, 1, 2)}
        self.names |= {letter: self.n(0, 4) for letter in "abc"}
        self.names |= {"N": self.n(1, 3), "C": self.one(1, 2, 4)}

    def _value(self, text):
        return eval(text, {"__builtins__": {}} | self.names)

    def _filled(self, form):
        """A form with what its braces draw."""

        def drawn(match):
            text = match[1].removesuffix("!r")
            value = self._value(text)
            return repr(value) if match[1].endswith("!r") else str(value)

        return re.sub(r"\{(.*?)\}", drawn, form)

    def _of(self, name, forms, tensors):
        """The text of a call, and its tensors: dtype, array and view of each."""
        made = {}
        self.names["f"] = name
        for letter, text in tensors.items():
            made[letter] = dtype, array, _ = self._tensor(text)
            if letter == "x":
                self._told_of(dtype, array.shape)
            elif letter == "i":
                self.names["i"] = array.shape
        text = self._filled(self.one(*forms))
        used = {word for word in re.findall(r"\b[a-z]\b", text)}
        return text, {letter: x for letter, x in made.items() if letter in used}

    def _told_of(self, dtype, shape):
        """Draw with dtype and shape of x from here on."""
        self._shape = shape
        self.names |= {"t": dtype, "s": shape, "d": (d := self.dim())}
        self.names["L"] = shape[d] if -len(shape) <= d < len(shape) else 1

    def _tensor(self, text):
        kind, rest = text.split(" ", 1)
        shape, _, what = rest.partition(" | ")
        dtype, shape = self._dtype(kind), self._value(shape)
        what, _, limit = what.partition(" ")
        if limit:
            array = self._indices(shape, max(self._value(limit), 1), what == "each")
        else:
            array = self._elements(dtype, shape, what)
            if kind in ("n", "a", "f") and not what and "float" in dtype:
                self._mark(array)
        return dtype, np.asarray(array), self.one("", "", "", "turned", "slice")

    def _indices(self, shape, limit, each):
        """Numbers below a limit, or from its other end; with `each` no one twice, if
        there are enough."""
        if each:
            count = math.prod(shape)
            numbers = self.numbers.permutation(max(limit, count))
            return numbers[:count].reshape(shape) % limit
        return self.numbers.integers(0, limit, shape)

    def _dtype(self, kind):
        if kind == "t":
            return self.names["t"]
        if kind == "int64":
            return kind
        letter = self.random.choice(kind)
        return self.random.choice(DTYPES[letter].split())

    def _elements(self, dtype, shape, what):
        draw = self.numbers
        if dtype == "bool":
            return draw.random(shape) < 0.5
        if "int" in dtype:
            return draw.integers(0 if dtype == "uint8" else -5, 6, shape)
        if what in ("positive", "unit"):
            return draw.random(shape) + 0.1 * (what == "positive")
        if what == "sign":
            return np.where(draw.random(shape) < 0.5, 1, -1)
        if dtype.startswith("complex"):
            return draw.normal(size=shape) + 1j * draw.normal(size=shape)
        array = np.asarray(draw.normal(size=shape) * 3).round(self.one(0, 1, 3))
        return np.sort(array) if what == "sorted" else array

    def _mark(self, array):
        """Put something else than a normal number into some arrays."""
        if array.size and self.random.random() < 0.1:
            array.flat[self.random.randrange(array.size)] = self.one(*SPECIAL)

    # --- names of the table -----------------------------------------------------------

    def n(self, least, most):
        return self.random.randint(least, most)

    def one(self, *choices):
        return self.random.choice(choices)

    def least(self, numbers):
        return min(numbers, default=1)

    def number(self):
        return self.one(2, -1, 0, 0.5, True, 3.7, -2.25)

    def keep(self):
        return self.one(True, False)

    def order(self):
        return self.one(2, 1, 0, 3, "float('inf')", "-float('inf')")

    def reduction(self):
        return repr(self.one("mean", "sum", "none"))

    def shape(self, least=0, most=4, shortest=0):
        """The lengths of some dims, now and then 0."""
        dims = self.one(*[k for k in (0, 1, 1, 2, 2, 2, 3, 3, 4) if least <= k <= most])
        lengths = (1, 2, 3, 4, 5, 7) if shortest else (1, 2, 3, 4, 5, 7) * 6 + (0,)
        return tuple(self.one(*lengths) for _ in range(dims))

    def near(self, shape):
        """One that is broadcast with it."""
        some = tuple(self.one(1, length, length) for length in shape)
        return self.one(shape, some, shape[1:], ())

    def along(self, length):
        """The shape of x with another length in dim d."""
        d = self.names["d"]
        inside = -len(self._shape) <= d < len(self._shape)
        at = d % len(self._shape) if inside else -1
        return tuple(length if k == at else n for k, n in enumerate(self._shape))

    def rest(self):
        """The shape of x without dim d, if there is one."""
        d = self.names["d"] % len(self._shape)
        return self._shape[:d] + self._shape[d + 1 :]

    def dim(self):
        count = len(self._shape)
        if self.random.random() < 0.03:
            return self.one(count, -count - 1)
        return self.random.randrange(-count, count) if count else self.one(0, -1)

    def dims(self):
        count = len(self._shape)
        some = self.random.sample(range(count), self.n(min(1, count), count))
        return tuple(d - count * self.keep() for d in some)

    def order_of_dims(self):
        count = len(self._shape)
        order = self.random.sample(range(count), count)
        return [d - count * self.keep() for d in order]

    def sizes(self):
        """A shape of as many elements, or nearly."""
        count = math.prod(self._shape)
        whole = self.one(*(k for k in range(1, 7) if count % k == 0))
        return self.one((-1,), (whole, -1), (-1, whole), (count,), self._shape[::-1])

    def wider(self):
        return tuple(self.one(n, -1, *(3,) * (n == 1)) for n in self._shape)

    def times(self, count):
        return tuple(self.n(0, 3) for _ in range(count))

    def ends(self):
        return [self.n(-1, 2) for _ in range(2 * self.n(1, len(self._shape)))]

    def key(self):
        """The text of an index of integers and slices."""
        items = []
        for length in self._shape[: self.n(1, len(self._shape))]:
            number = str(self.random.randrange(-length, length)) if length else ":"
            step = self.one(":", "1:", ":-1", "::2", "1:3", "-2:", "0:0", "::1")
            items.append(self.one(number, step, step, "None, :"))
        if self.random.random() < 0.2:
            items.append("...")
        return ", ".join(items)


def calls(seed, count):
    """So many drawn calls: the text of each, and its tensors."""
    rows = list(blocks())
    for number in range(count):
        draws = Draws(seed, number)
        yield draws._of(*draws.one(*rows))


# --- what they give -------------------------------------------------------------------


class At:
    def __getitem__(self, key):
        return key


def put_in(x, key, value):
    x = x.clone()
    x[key] = value
    return x


def definite(x, torch):
    """A symmetric matrix with large eigenvalues."""
    square = x @ x.mT
    return square + torch.ones_like(square).tril().triu()


def tensor(torch, dtype, array, view):
    """A tensor of an array; also with its first dims in the other order in memory, or
    with gaps."""
    made = torch.tensor(array.tolist(), dtype=getattr(torch, dtype))
    made = made.reshape(array.shape)
    if view == "turned" and made.ndim > 1:
        made = made.transpose(0, 1).contiguous().transpose(0, 1)
    if view == "slice" and made.ndim:
        made = torch.stack([made, made], made.ndim)[..., 0]
    return made


def failure(error):
    """Of an exception: its type's name and what it says."""
    return "E", type(error).__name__, str(error)[:200]


def leaves_of(value, torch):
    """The tensors of a result."""
    if isinstance(value, torch.Tensor):
        return [value]
    parts = value if isinstance(value, (list, tuple)) else ()
    return [x for part in parts for x in leaves_of(part, torch)]


def evaluated(text, tensors, torch):
    """The value of the text of a call."""
    names = {"torch": torch, "F": torch.nn.functional, "at": At(), "put_in": put_in}
    names["definite"] = lambda x: definite(x, torch)
    return eval(text, names | tensors)


def gradients(text, tensors, torch, beside=lambda x: x):
    """The gradients of a call with respect to tensors of wide floats.

    The results are added with weights, which `beside` places beside them.
    """
    wide = torch.float32, torch.float64
    for x in tensors.values():
        if x.dtype in wide:
            x.requires_grad_()
    found = leaves_of(evaluated(text, tensors, torch), torch)
    found = [x for x in found if x.requires_grad]
    total = 0
    for x in found:
        weights = torch.arange(1, x.numel() + 1, dtype=x.dtype).reshape(x.shape)
        weights = weights / max(x.numel(), 1)
        one = (x * beside(weights)).sum()
        total = total + (one.abs() if x.dtype.is_complex else one)
    if found:
        total.backward()
    leaves = [x for x in tensors.values() if x.requires_grad]
    return [torch.zeros_like(x) if x.grad is None else x.grad for x in leaves]


def answer(call, torch):
    """What PyTorch gives for a call: the result, and its gradients."""
    text, given = call
    found = []
    for play in (evaluated, gradients):
        tensors = {letter: tensor(torch, *x) for letter, x in given.items()}
        try:
            found.append(encoded(play(text, tensors, torch), torch))
        except Exception as error:
            found.append(failure(error))
    return found


def answers(drawn, torch):
    """What PyTorch gives for calls, in a process of their own: some of them end it, for
    which the answer is None."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        with os.fdopen(write, "wb") as file:
            pickle.dump([answer(call, torch) for call in drawn], file)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        data = file.read()
    os.waitpid(child, 0)
    if data:
        return pickle.loads(data)
    half = len(drawn) // 2
    if not half:
        return [None]
    return answers(drawn[:half], torch) + answers(drawn[half:], torch)


def main(file, seed, count):
    import torch  # noqa: PLC0415

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    drawn = list(calls(seed, int(count)))
    found = []
    for start in range(0, len(drawn), 100):
        found += answers(drawn[start : start + 100], torch)
    with open(file, "wb") as out:
        pickle.dump(found, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
