"""Two calls with other results have other lineages: no argument is lost in between.

Of the same arrays, with another function, number or keyword. Where two values differ
and their lineages do not, ranks that make one each would not notice.
"""

import hashlib
import inspect
import re
import warnings
import zlib
from collections import defaultdict
from fnmatch import fnmatch

import numpy as np
import pytest
from rows import arrays_of
from samples import SAMPLES
from tried_calls import ARRAYS, Call, tried

import dtensor
import dtensor.torch as torch
from dtensor import (
    _C,
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    init_device_mesh,
)
from dtensor.testing import run_ranks
from dtensor.torch.distributed.tensor import DTensor as TorchDTensor

PARTED = re.compile("ranks (have|are in) different")


def leaves(value):
    """The DTensors in what a function gave."""
    if isinstance(value, DTensor):
        yield value
    elif isinstance(value, list | tuple):
        for part in value:
            yield from leaves(part)
    elif isinstance(value, dict):
        yield from leaves([*value.values()])


class Lineages:
    """Which value each lineage has stood for, and those that stood for two."""

    def __init__(self):
        self.seen = {}
        self.lost = []
        self.count = 0

    def add(self, words, results):
        """Results of a call. Elements that nobody computed are not compared."""
        self.count += 1
        for place, x in enumerate(results):
            value = np.ascontiguousarray(x.detach().full_tensor())
            if value.dtype.kind not in "?biufc":
                continue
            digest = hashlib.blake2b(value.tobytes(), digest_size=16).digest()
            me = f"{words} [{place}]", (value.shape, value.dtype.str, digest)
            number = _C.lineage(x)
            other = self.seen.setdefault(number, me)
            if other[1] != me[1]:
                self.lost.append(f"{other[0]} and {me[0]}")
            if number == 0:
                self.lost.append(f"{me[0]} has no lineage")


def placed(array, mesh, kind):
    if kind == "P" and array.dtype != bool:
        addend = array if mesh.get_rank() == 0 else array * 0
        return DTensor.from_local(addend, mesh, [Partial("sum")])
    dim = max(array.ndim - 1, 0) if kind == "last" else 0
    cut = array.ndim and kind in ("0", "last")
    return distribute_tensor(array, mesh, [Shard(dim) if cut else Replicate()])


# --- the rows of operators ------------------------------------------------------------

TOGETHER = defaultdict(list)  # those that take the same arrays
for _row in SAMPLES:
    if _row.mode != "shape":
        TOGETHER[_row.arrays].append(_row)


def lost_in_rows(part, parts, kind):
    """Of the rows of operators, those whose constants are lost."""
    mesh = init_device_mesh("cpu", (2,))
    lost, count = [], 0
    for words, rows in TOGETHER.items():
        if zlib.crc32(words.encode()) % parts != part:
            continue
        arrays = [placed(a, mesh, kind) for a in arrays_of(rows[0])]
        lineages = Lineages()
        for row in rows:
            operands = [np.copy(a) for a in arrays]
            try:
                with np.errstate(all="ignore"):
                    results = [*leaves(row.fn(*operands)), *operands]
            except Exception as error:
                assert not PARTED.search(str(error)), error
                continue
            lineages.add(str(row), results)
        lost += lineages.lost
        count += lineages.count
    return lost, count


@pytest.mark.parametrize("kind", ["0", pytest.param("R", marks=pytest.mark.validate)])
@pytest.mark.parametrize("part", range(4))
def test_no_row_loses_a_constant(part, kind):
    lost, count = run_ranks(2, lost_in_rows, part, 4, kind)[0]
    assert not lost, "\n".join(lost)
    assert count > 500


# --- every function with every keyword ------------------------------------------------

# What is not computed, what says, draws or sets something, waits or writes files, what
# takes functions, whose names and closures are the constants, and what is as large as
# the product of all arrays.
LEFT_OUT = """_* array2string array_repr array_str backward barrier cartesian_prod
    compile data_ptr dump* empty* exit* fork* from_file* fromfile* fromfunction
    frompyfunc fromregex genfromtxt get_* geterr* info* init* is_* load* manual* memmap
    meshgrid new new_empty* numpy* plot printoptions register* requires* resize* save*
    seed* set_* seterr* share* show* test* to_* tofile* use_* vectorize vmap*""".split()


def functions_of(place, prefix=""):
    for name in sorted(dir(place)):
        if any(fnmatch(name, pattern) for pattern in LEFT_OUT):
            continue
        function = getattr(place, name, None)
        if callable(function) and not inspect.isclass(function):
            yield prefix + name, function


SPACES = {
    "numpy": [(np, "np."), (np.linalg, "np.linalg."), (np.fft, "np.fft.")],
    "methods": [(DTensor, "DTensor.")],
    "ops": [(dtensor.ops, "ops."), (dtensor, "dtensor.")],
    "functional": [(torch.nn.functional, "F.")],
    "torch": [(torch, "torch.")],
    "rooms": [(getattr(torch, x), f"torch.{x}.") for x in ("linalg", "fft", "special")],
    "torch methods": [(TorchDTensor, "x.")],
}
DIALECT = {"functional", "torch", "rooms", "torch methods"}

# Makes bins of complex numbers, and where they do not fit fails as NumPy does: on one
# rank, as the others then hear, and what follows would have to be `resync`.
UNFIT = {("histogram", "Z"), ("histogram", "ZZ")}


def lost_in_functions(space, part, parts, kind, most):
    """Of functions with all that they take, the calls whose constants are lost."""
    warnings.simplefilter("ignore")
    mesh = init_device_mesh("cpu", (2,))
    as_tensor = torch.from_numpy if space in DIALECT else np.asarray
    arrays = {x: placed(as_tensor(a), mesh, kind) for x, a in ARRAYS.items()}
    lost, count = [], 0
    everything = [f for place in SPACES[space] for f in functions_of(*place)]
    for name, function in everything[part::parts]:
        lineages = Lineages()

        def works(call: Call, name=name, function=function, lineages=lineages) -> bool:
            if (name.rpartition(".")[2], call.operands) in UNFIT:
                return False
            args, keywords = call.arguments(arrays)
            torch.manual_seed(0)
            try:
                with np.errstate(all="ignore"):
                    result = function(*args, **keywords)
                    found = [*leaves(result), *leaves(args)]
            except RuntimeError as error:
                assert not PARTED.search(str(error)), error
                return False
            except Exception:
                return False
            lineages.add(f"{name}({call})", found)
            return True

        for _ in tried(name.rpartition(".")[2], function, works, most):
            pass
        lost += lineages.lost
        count += lineages.count
    return lost, count


@pytest.mark.validate
@pytest.mark.parametrize("kind", ["0", "last", "R", "P"])
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("space", SPACES)
def test_no_function_loses_an_argument(space, part, kind):
    lost, count = run_ranks(2, lost_in_functions, space, part, 8, kind, 3)[0]
    assert not lost, "\n".join(lost)
    assert count > 100
