"""Every method of every ufunc, called at random, gives what NumPy gives."""

import collections
import itertools

import numpy as np
import oracle
import pytest
from moves import grid
from prove import report
from rows import arrays_of
from ufunc_calls import METHODS, UFUNCS, calls
from validator import Verdict, check
from ways import Row, odd_rows, some_rows

from dtensor import Layout

SHAPES = [(1,), (2,), (3,), (4,), (2, 2)]
COUNT = 20  # calls of each method of each ufunc
QUICK = 25  # quick tests make one of so many
# NumPy's answer for one column, and that for it beside others.
TWO_ANSWERS = {"arctan2.reduce", "ldexp.reduce", "power.reduce"}
PRODUCTS = {f"multiply.{method}" for method in ("reduce", "accumulate", "reduceat")}


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


@np.errstate(all="ignore")
def depends_on_the_order(row: Row) -> bool:
    """Whether a product of NumPy's has a factor 0 beside others whose product is
    infinite: it is 0 in one order of them, and inf * 0, which is NaN, in another."""
    if row.sample.name not in PRODUCTS:
        return False
    factors, *others = arrays_of(row.sample)
    product = row.sample.expected([factors, *others])
    largest = row.sample.expected([np.maximum(np.abs(factors), 1), *others])
    if isinstance(product, Exception) or isinstance(largest, Exception):
        return False
    return bool((np.isinf(largest) & ((product == 0) | (product != product))).any())


@np.errstate(all="ignore")
def has_two_answers(row: Row) -> bool:
    """Whether NumPy reduces a line of the array to something else if it is alone."""
    if row.sample.name not in TWO_ANSWERS:
        return False
    ufunc = getattr(np, row.sample.name.removesuffix(".reduce"))
    array = arrays_of(row.sample)[0]
    for axis, dtype in itertools.product(range(array.ndim), (None, np.float64)):
        together = ufunc.reduce(array, axis, dtype)
        alone = np.apply_along_axis(ufunc.reduce, axis, array, dtype=dtype)
        if not np.array_equal(together, alone, equal_nan=True):
            return True
    return False


@np.errstate(all="ignore")
def is_beyond_an_average(row: Row) -> bool:
    """Whether numbers are written into an average that are larger than the largest one
    divided by the number of ranks: NumPy's mean of as many of them is infinite, too."""
    written = row.sample.expected(arrays_of(row.sample)) if row.sample.changes else ()
    results = written if isinstance(written, tuple) else (written,)
    return any(
        np.abs(result[np.isfinite(result)]).max(initial=0) > most
        for most in (most_in_an_average(x) for x in row.layouts if x is not None)
        for result in map(np.asarray, results)
        if result.dtype.kind in "fc"
    )


def most_in_an_average(layout: Layout) -> float:
    """The largest number of which an average of Partials is finite."""
    averages = [p.is_partial() and p.reduce_op == "avg" for p in layout.placements]
    ranks = np.array(layout.mesh.shape)[averages].prod()
    exact = np.dtype(layout.dtype).kind in "fc" and ranks > 1
    return float(np.finfo(layout.dtype).max) / float(ranks) if exact else np.inf


def wrong_in(rows):
    """What is wrong in rows, but for calls that NumPy refuses, and for those to which
    it has several answers itself."""
    return [
        verdict
        for verdict in check(rows)
        if verdict.why
        and not is_refused(verdict)
        and not depends_on_the_order(verdict.row)
        and not has_two_answers(verdict.row)
        and not is_beyond_an_average(verdict.row)
    ]


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
