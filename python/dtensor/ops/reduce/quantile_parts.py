"""Medians and quantiles along cut dims: NumPy's formulas on the elements they need.

NumPy is called with a line that has no elements. It says which ones it wants when it
partitions it; these are selected (`selection`), and NumPy is called once more.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.ops._make.composite import settled, within
from dtensor.ops._make.parts import inside, key_of, local, make
from dtensor.ops.reduce.quantile_gradient import Places, put_back
from dtensor.ops.reduce.selection import (
    Lines,
    numbers_of,
    others_of,
    selected,
    sorted_lines,
    told_of,
)

__all__ = ["of_parts"]

Array = npt.NDArray[Any]
Function = Callable[..., Any]

# --- lines without elements -----------------------------------------------------------


class _WantedError(Exception):
    """NumPy partitions a line of which nothing is known."""

    def __init__(self, numbers: list[int]) -> None:
        self.numbers = numbers


class _Line(np.ndarray):
    """Sorted lines of which only some elements are known, if any.

    It has what NumPy's medians and quantiles do with an array whose dim 0 they reduce,
    and does not serve for anything else."""

    known: list[int] | None = None  # numbers of elements, ascending
    values: Array  # these elements, of shape (known, ...)

    @classmethod
    def of(cls, shape: tuple[int, ...], dtype: np.dtype[Any]) -> "_Line":
        return np.broadcast_to(np.zeros((), dtype), shape).view(cls)

    def _same(self, *_args: Any, **_options: Any) -> "_Line":
        return self

    copy = flatten = ravel = _same

    def partition(self, kth: Any, *_args: Any, **_options: Any) -> None:
        numbers = np.unique(np.asarray(kth, np.intp) % self.shape[0]).tolist()
        if self.known is None:
            raise _WantedError(numbers)

    def take(self, indices: Any, *_args: Any, **_options: Any) -> Any:
        at = np.searchsorted(self.known or [], np.asarray(indices) % self.shape[0])
        return self.values[at]

    def __getitem__(self, key: Any) -> Any:
        first = key[0] if isinstance(key, tuple) else key
        if isinstance(first, slice):
            first = np.arange(*first.indices(self.shape[0]))
        return self.take(first)

    def __array_ufunc__(self, ufunc: Any, *_args: Any, **_options: Any) -> Any:
        if ufunc is np.isnan:  # of lines without them
            return np.zeros(0, bool)
        return NotImplemented


def _wanted(evaluate: Function, line: _Line) -> list[int]:
    """Return which elements of a line NumPy wants; its errors, if it has any."""
    try:
        evaluate(line)
    except _WantedError as wanted:
        return wanted.numbers
    return []


# --- medians and quantiles ------------------------------------------------------------


class Reduced(NamedTuple):
    """What is computed, and along which dims."""

    function: Function
    """NumPy's."""
    options: dict[str, Any]
    """The arguments after the array and the axis."""
    axes: tuple[int, ...]
    keepdims: bool

    @property
    def leaves_out(self) -> bool:
        """Whether NaN are left out."""
        return self.function.__name__.startswith("nan")

    @property
    def levels(self) -> Any:
        """The quantiles that are wanted."""
        return self.options.get("q", 0.5)

    def of(self, line: Array) -> Any:
        """Return NumPy's result along dim 0."""
        return self.function(line, axis=0, **self.options)

    def layout(self, x: _C.Layout) -> _C.Layout:
        """Return the layout of the result: dims that are left are cut as they were."""
        first = np.ndim(self.levels)
        rest = others_of(x.ndim, self.axes)
        dtype = np.asarray(self.of(np.ones(1, x.dtype))).dtype
        shape = [*np.shape(self.levels)]
        if self.keepdims:
            shape += [1 if d in self.axes else n for d, n in enumerate(x.shape)]
            return x.like(shape, {dim: first + dim for dim in rest}, dtype)
        shape += [x.shape[dim] for dim in rest]
        dims = {dim: first + place for place, dim in enumerate(rest)}
        return x.like(shape, dims, dtype)


def of_parts(x: Any, what: Reduced) -> Any:
    """Return a median or quantiles along axes that are cut.

    Each rank sorts a copy of its part; a few thousand elements are sent.
    """
    name = what.function.__name__
    arguments = [*what.options.values(), what.axes, what.keepdims]
    recorded = x.requires_grad and _C.is_grad_enabled()
    with within(name, x, *arguments):
        line = settled(name, x.detach())
        result, places = _reduced(name, line, what, recorded)
    if not recorded:
        return result
    kept, known = _C.save(x), what

    def back(grad: Any) -> Any:
        return put_back(grad, kept.unpack(), places, known.axes, known.keepdims)

    _C.record_function(name, back, (x,), (result,))
    return result


def _reduced(name: str, x: _C.DTensor, what: Reduced, recorded: bool) -> Any:
    """Return the result and, if it is to be recorded, which elements it is made of."""
    to = what.layout(x.layout)
    if is_meta(x):
        return _C.without_data(to), None
    if not inside(to):
        return make((), to), None
    length = math.prod(x.shape[dim] for dim in what.axes)
    _wanted(what.of, _Line.of((length,), x.dtype))  # or NumPy's error
    rows = np.moveaxis(local(x), what.axes, range(-len(what.axes), 0))
    rest = rows.shape[: x.ndim - len(what.axes)]
    size = math.prod(rows.shape[len(rest) :])
    rows, order = _in_order(rows.reshape(math.prod(rest), size), recorded)
    lines = sorted_lines(name, x, what.axes, rows)
    if what.leaves_out:
        lines = lines.without_nan()
    found = _found(lines, what)
    values = [_value(line, what, x.dtype) for line in found]
    whole = np.stack(values, -1).reshape(to.shape)
    result = make(np.array(whole[key_of(to)], to.dtype, order="C"), to)
    if order is None:
        return result, None
    numbers = np.take(numbers_of(x.layout, what.axes), order)
    return result, _places(lines, found, numbers, what, to)


def _in_order(rows: Array, recorded: bool) -> tuple[Array, Array | None]:
    """Return sorted lines, and in which order they were if that is asked for."""
    if recorded:
        order = np.argsort(rows, -1, kind="stable")
        return np.take_along_axis(rows, order, -1), order
    rows = np.array(rows, order="C")
    rows.sort(axis=-1)
    return rows, None


class _Known(NamedTuple):
    """What is known of a line."""

    length: int
    numbers: list[int]
    """Which elements are known, ascending."""
    values: Array
    owners: list[int]
    """Whose parts they are in."""
    places: list[int]
    """Where they are there."""


def _found(lines: Lines, what: Reduced) -> list[_Known]:
    """Return what NumPy wants of all lines. Collective."""
    dtype = lines.part.dtype
    lengths = lines.counts.sum(1).tolist()
    wanted = {n: _wanted(what.of, _Line.of((n,), dtype)) for n in {*lengths} - {0}}
    numbers = [wanted.get(n, []) for n in lengths]
    runs = [(line, *run) for line, many in enumerate(numbers) for run in _runs(many)]
    known = [
        _Known(n, many, np.empty(0, dtype), [], [])
        for n, many in zip(lengths, numbers, strict=True)
    ]
    for (line, _, _), (values, owners, places) in zip(
        runs, selected(lines, runs), strict=True
    ):
        one = known[line]
        one.owners.extend(owners.tolist())
        one.places.extend(places.tolist())
        known[line] = one._replace(values=np.concatenate([one.values, values]))
    return known


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first of successive numbers, and how many they are.

    >>> _runs([0, 4, 5, 9])
    [(0, 1), (4, 2), (9, 1)]
    """
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and sum(runs[-1]) == number:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((number, 1))
    return runs


def _value(known: _Known, what: Reduced, dtype: Any, values: Any = None) -> Array:
    """Return NumPy's result for a line; for other elements than its own if given."""
    if known.length == 0:
        return np.asarray(what.of(np.full(1, np.nan, dtype)))  # NumPy's warning
    line = _Line.of((known.length,), dtype)
    line.known = known.numbers
    line.values = known.values if values is None else np.array(values, dtype)
    return np.asarray(what.of(line))


def _places(
    lines: Lines, found: list[_Known], numbers: Array, what: Reduced, to: _C.Layout
) -> Places:
    """Return which elements of their lines the results are between. Collective.

    NumPy itself says where a quantile is: it is that of the numbers from 0 on.
    """
    said = told_of(lines, [(k.owners, k.places) for k in found], numbers)
    low: list[Array] = []
    high: list[Array] = []
    way: list[Array] = []
    for known, where in zip(found, said, strict=True):
        place = np.zeros(np.shape(what.levels))
        if known.length:
            place = _value(known, what, np.dtype(float), known.numbers)
            if not what.leaves_out and (known.values != known.values).any():
                place = np.full_like(place, known.length - 1)  # that NaN is the result
        first = np.floor(place).astype(np.intp)
        second = np.minimum(first + 1, max(known.length - 1, 0))
        way.append(place - first)
        for elements, numbered in ((first, low), (second, high)):
            at = np.searchsorted(known.numbers, elements)
            at = np.minimum(at, max(len(known.numbers) - 1, 0))
            numbered.append(where[at] if len(where) else np.zeros(at.shape, np.intp))
    parts = (np.stack(each, -1).reshape(to.shape) for each in (low, high, way))
    return Places(*parts)
