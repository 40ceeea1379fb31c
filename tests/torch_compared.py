"""Runs here what PyTorch ran, and compares: see data/torch_samples.py."""

import re
from collections import Counter, defaultdict

import numpy as np

import dtensor.torch as torch
from dtensor import DTensor, Partial, Replicate, Shard, distribute_tensor

# How far a value may be off, beside its size: the dtype's rounding, and a bit more.
TOLERANCES = {
    "float32": (1.3e-5, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-5, 1e-5),
    "complex128": (1e-7, 1e-7),
    "bfloat16": (1.6e-2, 1e-3),
    "float16": (2e-3, 1e-3),
}

# Of these the dtypes and shapes are compared alone: elements are drawn, or left over.
DRAWN = set(
    """
    alpha_dropout bernoulli cauchy dropout dropout1d dropout2d dropout3d empty
    empty_like empty_permuted empty_strided exponential feature_alpha_dropout
    fractional_max_pool2d fractional_max_pool3d geometric log_normal multinomial
    new_empty new_empty_strided normal rand rand_like randint randint_like randn
    randn_like random rrelu uniform
    """.split()
)
# Which one of equal elements is picked is not said: of their indices as well.
PICKS = set("argsort kthvalue median mode nanmedian sort topk".split())


def decoded(given, make=lambda x: x):
    """The value of `torch_samples.encoded`; `make` is called with each tensor."""
    letter, *of = given
    match letter:
        case "T":
            return make(tensor_of(*of))
        case "Z":
            return torch.Size(of[0])
        case "D" | "L" | "M":
            return getattr(torch, of[0])
        case "V":
            return torch.device(of[0])
        case "S":
            return slice(*(decoded(x, make) for x in of))
        case "l":
            return [decoded(x, make) for x in of[0]]
        case "t":
            return tuple(decoded(x, make) for x in of[0])
        case "d":
            return {key: decoded(x, make) for key, x in of[0].items()}
    return of[0]


def array_of(dtype, shape, raw):
    """The array of an encoded tensor."""
    of = np.dtype(getattr(torch, dtype).dtype)
    return np.frombuffer(raw, of).reshape(shape).copy()


def tensor_of(dtype, shape, raw):
    return torch.from_numpy(array_of(dtype, shape, raw))


LAYOUTS = ("R", "S(0)", "S(-1)", "P")


def placed(layout, mesh):
    """What makes a DTensor of each tensor of a call."""

    def make(x):
        if layout == "P" and x.dtype != torch.bool:
            part = x if mesh.get_local_rank() == 0 else torch.zeros_like(x)
            return DTensor.from_local(part, mesh, [Partial()])
        if layout[0] == "S" and x.ndim:
            return distribute_tensor(x, mesh, [Shard(0 if "0" in layout else -1)])
        return distribute_tensor(x, mesh, [Replicate()])

    return make


def resolved(path):
    """The object of a name of the list, such as Tensor.add_ or nn.functional.relu."""
    x = torch
    for part in path.removeprefix("torch.").split("."):
        x = getattr(x, part)
    return x


def whole(x):
    return x.full_tensor() if isinstance(x, DTensor) else x


def last(path):
    """A name without its room, and without the underscore of one in place."""
    return path.split(".")[-1].removesuffix("_")


def difference(got, want, name=""):
    """What is wrong with a result, in a few words; None if nothing is."""
    letter, *of = want
    if letter == "T":
        alike = name in DRAWN or (name in PICKS and of[0] == "int64")
        return tensor_difference(whole(got), *of, alike)
    if letter in "lt":
        if not isinstance(got, list | tuple):
            return f"{type(got).__name__} for several results"
        if len(got) != len(of[0]):
            return f"{len(got)} results for {len(of[0])}"
        found = [difference(x, y, name) for x, y in zip(got, of[0], strict=True)]
        return next((f for f in found if f), None)
    if letter == "=" and isinstance(of[0], float | complex):
        return None if np.isclose(got, of[0], equal_nan=True) else f"{got} for {of[0]}"
    value = decoded(want)
    return None if got == value else f"{got!r:.40} for {value!r:.40}"


def tensor_difference(got, dtype, shape, raw, alike=False):
    if not isinstance(got, torch.Tensor):
        return f"{type(got).__module__}.{type(got).__name__} for a tensor"
    if str(got.dtype) != f"torch.{dtype}":
        return f"dtype {str(got.dtype).removeprefix('torch.')} for {dtype}"
    if tuple(got.shape) != shape:
        return f"shape {tuple(got.shape)} for {shape}"
    if alike:
        return None
    want, found = array_of(dtype, shape, raw), np.asarray(got.detach())
    if dtype not in TOLERANCES:
        return None if np.array_equal(found, want) else "other values"
    kind = np.complex128 if "complex" in dtype else np.float64
    relative, absolute = TOLERANCES[dtype]
    finite = np.abs(want[np.isfinite(want)]).astype(np.float64)
    absolute *= max(1.0, finite.max(initial=0.0))
    with np.errstate(all="ignore"):
        close = np.isclose(
            found.astype(kind), want.astype(kind), relative, absolute, equal_nan=True
        )
    return None if close.all() else "other values"


def called(path, call, make=lambda x: x):
    """What a name gives here: a result, or an exception."""
    function = resolved(path)
    try:
        args, options = (decoded(x, make) for x in call)
        if callable(function):
            return function(*args, **options)
        return function.__get__(*args)
    except Exception as error:
        return error


def near(got, want, exact):
    """Whether 16-bit floats are about as near to what is exact as PyTorch's."""
    if not (isinstance(got, torch.Tensor) and want[0] == exact[0] == "T"):
        return False
    if str(got.dtype) != f"torch.{want[1]}" or tuple(got.shape) != want[2]:
        return False
    found = np.asarray(whole(got).detach()).astype(np.float64)
    theirs = array_of(*want[1:]).astype(np.float64)
    right = array_of(*exact[1:]).astype(np.float64)
    with np.errstate(all="ignore"):
        off, most = np.abs(found - right), np.nanmax(np.abs(theirs - right))
    undefined = np.isnan(found) & np.isnan(theirs)
    return bool((undefined | (off <= 2 * most + 1e-6)).all())


def judged(got, want, name="", exact=None):
    """As `difference`; an exception is right where PyTorch has one, too.

    `exact` is what PyTorch computes of the same 16-bit floats in float32.
    """
    if want[0] == "E":
        if isinstance(got, Exception):
            return None
        return f"no {want[1]}: {want[2]:.60}"
    if isinstance(got, Exception):
        return re.sub(r"\s+", " ", f"{type(got).__name__}: {got}")[:110]
    found = difference(got, want, name)
    if found == "other values" and exact is not None and near(got, want, exact):
        return None
    return found


def few(records, dtypes, count):
    """The first records of each operator and dtype."""
    seen, chosen = Counter(), []
    for record in records:
        key = record["op"], record["dtype"]
        seen[key] += 1
        if record["dtype"] in dtypes and seen[key] <= count:
            chosen.append(record)
    return chosen


def compared(records, make=lambda x: x, first=False):
    """For each name how often it was compared, and what was found wrong, of what.

    With `first` it is the first name of each operator alone, and none in place.
    """
    counts, wrong = Counter(), defaultdict(list)
    for record in records:
        paths = record["outputs"]
        if first:
            paths = [path for path in paths if not path.endswith("_")][:1]
        for path in paths:
            counts[path] += 1
            try:
                resolved(path)
            except AttributeError:
                wrong[path].append(("", "", "missing"))
                continue
            torch.manual_seed(0)
            with np.errstate(all="ignore"):
                found = called(path, record["call"], make)
                want, exact = record["outputs"][path], record.get("exact")
                text = judged(found, want, last(path), exact)
            if text:
                wrong[path].append((record["op"], record["dtype"], text))
    return counts, wrong
