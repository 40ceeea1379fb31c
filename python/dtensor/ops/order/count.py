"""Counting: bincount and histograms.

Each rank counts its own elements, in any layout; the counts are Partial(sum)."""

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core import world
from dtensor.ops._make.composite import settled
from dtensor.ops._make.fallback import composed, mesh_of, on_mesh, replicated
from dtensor.ops._make.known import ndim
from dtensor.ops._make.numbers import numbers_of
from dtensor.ops._make.operator import Operand, Rule, call, letters, operator
from dtensor.ops._make.parts import local, values_of
from dtensor.ops.order.bins import RULES, count_of

__all__ = ["bincount", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd"]

Array = npt.NDArray[Any]


def extremes(x: _C.DTensor) -> Array:
    """Return the least and the largest element; of no elements an array without any.

    Collective: the ranks tell each other theirs. NaN is both, if there is one.
    """
    part = local(x)
    own = np.array([part.min(), part.max()] if part.size else [], x.dtype)
    if x.layout.is_replicated:
        return own
    shared = world.current().share(own.tobytes(), x.device_mesh, "min and max")
    every = np.frombuffer(b"".join(shared), own.dtype)
    return np.array([every.min(), every.max()] if every.size else [], own.dtype)


def _spread(name: str, *arrays: Any, like: Any = None) -> list[Any]:
    """Return arrays as DTensors of one mesh with no addends pending; None stays."""
    mesh = mesh_of((arrays, like))
    return [
        x
        if x is None
        else settled(name, x)
        if isinstance(x, _C.DTensor)
        else on_mesh(x, mesh)
        for x in arrays
    ]


# --- bincount -------------------------------------------------------------------------


@composed(np.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """Count how often each number occurs.

    Parameters
    ----------
    x : array_like of int, shape (n,)
        The numbers, not negative; may be cut.
    weights : array_like, shape (n,), optional
        The weight of each number; default: 1.
    minlength : int, default 0
        The least length of the result.

    Returns
    -------
    DTensor of int64, or float64 with weights
        Of the largest number + 1 elements at least; Partial(sum) where `x` is cut.
        Collective: the ranks find the largest number.
    """
    x, weights = _spread("bincount", x, weights)
    if x.ndim != 1 or not np.can_cast(x.dtype, np.intp):
        np.bincount(np.zeros((1,) * x.ndim, x.dtype))  # raises
    if weights is not None and x.size:
        np.bincount([0], np.ones(1, weights.dtype))  # raises
    if weights is not None and weights.shape != x.shape:
        raise ValueError("The weights and list don't have the same length.")
    minlength = numbers_of("bincount", minlength)
    np.bincount(np.empty(0, np.intp), minlength=minlength)  # raises if negative
    found = extremes(x)
    if found.size and found[0] < 0:
        raise ValueError("'list' argument must have no negative elements")
    return _bincount(
        x, weights, max(int(found[-1]) + 1 if found.size else 0, index(minlength))
    )


@operator(name="bincount")
def _bincount(x: Operand, weights: Operand | None, length: int) -> Any:
    if weights is None or x.size == 0:  # NumPy's dtype of nothing
        text = f"{'a' if weights is None else 'a,a'}->{length}"
        kernel = call(np.bincount, x, minlength=length)
        return Rule(text), kernel, np.dtype(np.intp)
    kernel = call(_weighted, x, weights, length)
    return Rule(f"a,a->{length}"), kernel, np.dtype(np.float64)


_bincount.vjp(None, lambda g, _out, x, _weights, _length: np.take(g, x))


def _weighted(x: Array, weights: Array, length: int) -> Array:
    return np.bincount(x, weights, length).astype(np.float64, copy=False)


# --- histograms -----------------------------------------------------------------------


def _countable(a: _C.DTensor) -> _C.DTensor:
    """Return booleans as numbers, which have differences, with NumPy's warning."""
    if a.dtype != bool:
        return a
    np.histogram_bin_edges(np.empty(0, bool), np.arange(2))  # warns
    return a.astype(np.uint8)


def _edges(
    name: str, a: _C.DTensor, bins: Any, range: Any, weights: _C.DTensor | None
) -> tuple[Array, Any, Any]:
    """Return the edges of bins, and bins and range as NumPy reads them for a part."""
    if isinstance(bins, str) and bins in RULES and a.dtype.kind in "biuf":
        if weights is not None:
            np.histogram_bin_edges(np.zeros(1), bins, weights=np.ones(1))  # raises
        found = extremes(a)
        np.histogram_bin_edges(found, 1, range)  # its errors
        bins = count_of(bins, a, range, extremes)
    elif isinstance(bins, str):
        given = None if weights is None else values_of(name, weights)
        edges = np.histogram_bin_edges(values_of(name, a), bins, range, given)
        return edges, edges, None
    if ndim(bins) == 0 and range is None:
        found = extremes(a)
        range = found if found.size else None
    ends = None if range is None else (range[0], range[1])
    return np.histogram_bin_edges(np.empty(0, a.dtype), bins, ends), bins, range


@composed(np.histogram_bin_edges, gradient=False)
def histogram_bin_edges(
    a: Any, bins: Any = 10, range: Any = None, weights: Any = None
) -> Any:
    """Return the edges that `histogram` uses, replicated; parameters as there."""
    a, weights = _spread("histogram_bin_edges", a, weights, like=bins)
    a = _countable(a)
    bins, range = numbers_of("histogram_bin_edges", (bins, range))
    edges = _edges("histogram_bin_edges", a, bins, range, weights)[0]
    return replicated(edges, a.device_mesh)


@composed(np.histogram, gradient=False)
def histogram(
    a: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Any, Any]:
    """Count the elements in bins.

    Parameters
    ----------
    a : array_like
        Of any shape and layout; each rank counts its own elements.
    bins : int, sequence or str, default 10
        How many, or the edges, or a rule of NumPy's that finds them; `a` is gathered
        for "stone" only.
    range : (float, float), optional
        The ends; default: the least and the largest element, which the ranks find
        together.
    density : bool, optional
        Whether the integral is to be 1.
    weights : array_like, optional
        The weight of each element, of the shape of `a`.

    Returns
    -------
    DTensor
        Counts, Partial(sum) where `a` is cut; densities are replicated.
    DTensor
        The edges, replicated.
    """
    a, weights = _spread("histogram", a, weights, like=bins)
    a = _countable(a)
    if weights is not None and weights.shape != a.shape:
        raise ValueError("weights should have the same shape as a.")
    bins, range = numbers_of("histogram", (bins, range))
    edges, bins, ends = _edges("histogram", a, bins, range, weights)
    if not isinstance(bins, int):
        bins = int(bins) if ndim(bins) == 0 else np.asarray(bins)
    ends = ends if ends is None or isinstance(ends, np.ndarray) else tuple(ends)
    if weights is not None and a.size:
        _counts(np.ones(1, a.dtype), np.ones(1, weights.dtype), bins, ends)  # raises
    counts = _histogram(a, weights, bins, ends, edges.size - 1)
    if density:
        n = values_of("histogram", counts)
        counts = replicated(
            n / np.array(np.diff(edges), float) / n.sum(), a.device_mesh
        )
    return counts, replicated(edges, a.device_mesh)


@operator(name="histogram")
def _histogram(a: Operand, weights: Any, bins: Any, ends: Any, count: int) -> Any:
    names = " ".join(letters(a.ndim))
    terms = [names] if weights is None else [names, names]
    terms += ["*" for given in (bins, ends) if isinstance(given, Operand)]
    dtype = np.dtype(np.intp) if weights is None else weights.dtype
    kernel = call(_counts, a, weights, bins, ends)
    return Rule(f"{','.join(terms)}->{count}"), kernel, dtype


def _counts(a: Array, weights: Array | None, bins: Any, ends: Any) -> Array:
    ends = None if ends is None else (ends[0], ends[1])
    return np.histogram(a, bins, ends, weights=weights)[0]


# --- in several dimensions ------------------------------------------------------------


@composed(np.histogramdd, gradient=False)
def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Any, list[Any]]:
    """Count points in boxes.

    Parameters
    ----------
    sample : array_like, shape (n, d), or sequence of d arrays of shape (n,)
        The points; may be cut along n.
    bins : int, or sequence of d int or arrays, default 10
        How many along each dimension, or the edges.
    range : sequence of d pairs or None, optional
        The ends along each dimension; default: of the points.
    density : bool, optional
        Whether the integral is to be 1.
    weights : array_like, shape (n,), optional
        The weight of each point.

    Returns
    -------
    DTensor of float64
        Counts, Partial(sum) where the points are cut; densities are replicated.
    list of DTensor
        The edges along each dimension, replicated.
    """
    columns = _columns(sample)
    *columns, weights = _spread("histogramdd", *columns, weights, like=bins)
    mesh = columns[0].device_mesh
    ends = [extremes(column) for column in columns]
    probe = np.stack(ends, axis=1)
    bins, range = numbers_of("histogramdd", (bins, range))
    edges = np.histogramdd(probe, bins, range)[1]
    if weights is not None and columns[0].size:
        ones = [np.ones(1, column.dtype) for column in columns]
        _box_counts(ones, np.ones(1, weights.dtype), list(edges))  # raises
    counts = _histogramdd(columns, weights, [np.asarray(e) for e in edges])
    if density:
        n = values_of("histogramdd", counts)
        for dim, edge in enumerate(edges):
            shape = [1] * len(edges)
            shape[dim] = edge.size - 1
            n = n / np.diff(edge).reshape(shape)
        counts = replicated(n / values_of("histogramdd", counts).sum(), mesh)
    return counts, [replicated(edge, mesh) for edge in edges]


def _columns(sample: Any) -> list[Any]:
    """Return the coordinates of points along each dimension."""
    if not isinstance(sample, list | tuple):
        sample = sample if sample.ndim != 1 else sample[:, None]
        return [sample[:, d] for d in range(sample.shape[1])]
    return list(sample)


@operator(name="histogramdd")
def _histogramdd(
    columns: Sequence[Operand], weights: Operand | None, edges: Sequence[Operand]
) -> Any:
    terms = ["a"] * (len(columns) + (weights is not None)) + ["*"] * len(edges)
    shape = " ".join(str(edge.size - 1) for edge in edges)
    kernel = call(_box_counts, list(columns), weights, list(edges))
    return Rule(f"{','.join(terms)}->{shape}"), kernel, np.dtype(np.float64)


def _box_counts(columns: list[Array], weights: Array | None, edges: list[Array]) -> Any:
    return np.histogramdd(np.stack(columns, 1), edges, weights=weights)[0]


@composed(np.histogram2d, gradient=False)
def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Any, Any, Any]:
    """Count points of a plane in rectangles.

    Parameters
    ----------
    x, y : array_like, shape (n,)
        Coordinates of the points; may be cut.
    bins : int, array or pair of these, default 10
        How many along each dimension, or the edges; an array is for both.
    range, density, weights
        As of `histogramdd`.

    Returns
    -------
    counts, x_edges, y_edges : DTensor
    """
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    is_several = hasattr(bins, "__len__") and getattr(bins, "ndim", 1) > 0
    if is_several and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]
