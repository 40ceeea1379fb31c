"""Every method of every ufunc, called at random, gives what NumPy gives."""

import collections

import numpy as np
import oracle
import pytest
from moves import grid
from prove import report
from rows import arrays_of
from ufunc_calls import METHODS, UFUNCS, calls
from validator import Verdict, check
from ways import Row, odd_rows, some_rows

SHAPES = [(1,), (2,), (3,), (4,), (2, 2)]
COUNT = 20  # calls of each method of each ufunc
QUICK = 25  # quick tests make one of so many


def rows_on(shape, count, seed, step=1):
    """Rows of calls on a mesh: each in two layouts, of which one is odd."""
    mesh = grid(*shape)
    found = []
    for k, sample in enumerate(calls(count, seed, step)):
        found += some_rows(sample, mesh, 1, seed + k)
        found += odd_rows(sample, mesh, 1, seed + k)
    return [row for row in found if not is_infinite(row)]


def is_infinite(row: Row) -> bool:
    """Whether complex addends are written of anything but a sum: some may be infinite,
    and sums, averages and products of infinite complex numbers are NaN."""
    if not row.sample.changes:
        return False
    return any(
        layout is not None
        and np.dtype(layout.dtype).kind == "c"
        and oracle.reductions(layout) & {"product", "max", "min", "avg"}
        for layout in row.layouts
    )


@np.errstate(all="ignore")
def is_refused(verdict: Verdict) -> bool:
    """Whether NumPy refuses the call, and all ranks do with the same type of error."""
    expected = verdict.row.sample.expected(arrays_of(verdict.row.sample))
    return isinstance(expected, Exception) and all(
        heard is not None
        and isinstance(heard.result, Exception)
        and type(heard.result) in type(expected).__mro__[:-3]
        for heard in verdict.heard
    )


def wrong_in(rows):
    """What is wrong in rows, and how many are calls that NumPy refuses."""
    wrong = [v for v in check(rows) if v.why]
    return [v for v in wrong if not is_refused(v)]


def test_all_methods_of_all_ufuncs_of_numpy_are_called():
    made = collections.Counter(sample.name for sample in calls(1, 0))
    for ufunc in UFUNCS:
        for method in METHODS:
            name = ufunc.__name__ + ("" if method == "__call__" else f".{method}")
            assert made[name], name
    public = {f for f in vars(np).values() if isinstance(f, np.ufunc)}
    assert public <= {*UFUNCS} and len(UFUNCS) >= 90


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_some_calls_of_ufuncs_give_what_numpy_gives(shape):
    rows = rows_on(shape, COUNT, SHAPES.index(shape), QUICK)
    wrong = wrong_in(rows)
    assert len(rows) > 400 and not wrong, report(wrong)


@pytest.mark.validate
@pytest.mark.parametrize("seed", range(100, 105))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_calls_of_ufuncs_give_what_numpy_gives(shape, seed, tell):
    rows = rows_on(shape, COUNT, seed)
    wrong = wrong_in(rows)
    tell(f"{len(rows)} calls of ufuncs on {shape}, {len(wrong)} wrong")
    assert not wrong, f"{len(rows)} calls, {len(wrong)} wrong\n{report(wrong)}"
