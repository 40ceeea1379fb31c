"""Sets: unique elements, and operations on two sets.

Each rank first finds the unique elements of its own part, in any layout; only these are
sent. The results are replicated, those of large arrays with many different elements cut
(`unique_parts`)."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.composite import settled
from dtensor.ops._make.fallback import composed, mesh_of, on_mesh, replicated
from dtensor.ops._make.operator import Operand, Rule, call, letters, operator
from dtensor.ops._make.parts import inside, local, make, move_all, positions, values_of
from dtensor.ops.order.sets_parts import Meeting, is_among
from dtensor.ops.order.unique_parts import is_large, line_of, unique_of_parts
from dtensor.ops.order.unique_rows import are_many, unique_rows

__all__ = [
    "intersect1d",
    "isin",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]

Array = npt.NDArray[Any]


# --- unique ---------------------------------------------------------------------------


def _gathered(name: str, x: _C.DTensor, *parts: Array) -> list[Array]:
    """Return one-dimensional arrays of all ranks of a tensor, concatenated.

    Collective. Ranks that hold the same part of `x` have the same arrays."""
    spread = [line_of(x, part) for part in parts]
    whole = move_all(name, spread, [y.layout.with_placements(None) for y in spread])
    return [local(y) for y in whole]


def _numbers(layout: _C.Layout) -> npt.NDArray[np.int64]:
    """Return where in the flattened whole the elements of this rank's part are."""
    grid = np.ix_(*(positions(layout, dim) for dim in range(layout.ndim)))
    if not inside(layout) or layout.ndim == 0:
        return np.zeros(int(layout.ndim == 0), np.int64)
    return np.ravel_multi_index(np.broadcast_arrays(*grid), layout.shape).ravel()


def _unique(
    name: str, x: _C.DTensor, equal_nan: bool
) -> tuple[Array, npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the unique elements, where each occurs first, and how often."""
    part = local(x).ravel()
    values, first, counts = np.unique(
        part, return_index=True, return_counts=True, equal_nan=equal_nan
    )
    first = _numbers(x.layout)[first] if part.size else first
    if not x.layout.is_replicated:
        values, first, counts = _gathered(name, x, values, first, counts)
    # In the order of the flattened whole, where the first of equal ones is found first.
    order = np.argsort(first, kind="stable")
    values, first, counts = values[order], first[order], counts[order]
    values, at, group = np.unique(
        values, return_index=True, return_inverse=True, equal_nan=equal_nan
    )
    total = np.zeros(values.size, np.intp)
    np.add.at(total, group, counts)
    return values, first[at], total


@composed(np.unique, gradient=False, orders=True)
def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """Return the sorted unique elements.

    Parameters
    ----------
    ar : DTensor
        Of any layout.
    return_index, return_inverse, return_counts : bool, default False
        Whether to return also the index of each first occurrence, the index of each
        element in the result, and the counts.
    axis : int, optional
        The dim whose slices are compared; `ar` is gathered if there are few of them.
        Default: the elements are.
    equal_nan : bool, default True
        Whether all NaN count as equal.
    sorted : bool, default True
        Without effect: they are, so that they are the same on any number of ranks.

    Returns
    -------
    DTensor, or tuple of DTensor
        Replicated, or cut if `ar` is, and has 2^14 different elements or more. The
        inverse is cut as `ar` is.
    """
    mesh = ar.device_mesh
    flags = (return_index, return_inverse, return_counts)
    options = {"axis": axis, "equal_nan": equal_nan}
    if axis is not None:
        normalize_axis_index(axis, ar.ndim)
        if ar.ndim > 1 and are_many(ar, axis % ar.ndim):
            rows = unique_rows(ar, axis % ar.ndim, flags)
            return rows if any(flags) else rows[0]
        if ar.ndim > 1:
            return _from_whole(ar, flags, options)
    ar = settled("unique", ar)
    if is_large(ar):
        found, more = unique_of_parts(ar, flags, equal_nan)
        return (found, *more) if more else found
    if not any(flags):
        part = np.unique(local(ar), equal_nan=equal_nan)
        if not ar.layout.is_replicated:
            (part,) = _gathered("unique", ar, part)
        return replicated(np.unique(part, equal_nan=equal_nan), mesh)
    values, first, counts = _unique("unique", ar, equal_nan)
    if return_inverse and not _searchable(values, equal_nan):
        return _from_whole(ar, flags, options)
    numbers = np.asarray(np.searchsorted(values, local(ar)))
    inverse = make(numbers, ar.layout.with_dtype(np.intp))
    parts = (replicated(first, mesh), inverse, replicated(counts, mesh))
    chosen = [part for part, flag in zip(parts, flags, strict=True) if flag]
    return (replicated(values, mesh), *chosen)


def _searchable(values: Array, equal_nan: bool) -> bool:
    """Return whether a search in sorted values finds NaN where `unique` has it."""
    if equal_nan and values.dtype.kind == "f":
        return True
    return not np.isnan(values).any()


def _from_whole(x: _C.DTensor, flags: tuple[bool, ...], options: dict[str, Any]) -> Any:
    function: Callable[..., Any] = np.unique
    found = function(values_of("unique", x.detach()), *flags, **options)
    if not any(flags):
        return replicated(found, x.device_mesh)
    return tuple(replicated(part, x.device_mesh) for part in found)


# NumPy's named tuples, which have no public names.
_ALL: Any = type(np.unique_all(np.empty(0)))
_COUNTS: Any = type(np.unique_counts(np.empty(0)))
_INVERSE: Any = type(np.unique_inverse(np.empty(0)))


@composed(np.unique_all, gradient=False, orders=True)
def unique_all(x: Any) -> Any:
    """Return all results of `unique`; each NaN counts as distinct."""
    return _ALL(*unique(x, True, True, True, equal_nan=False))


@composed(np.unique_counts, gradient=False, orders=True)
def unique_counts(x: Any) -> Any:
    """Return the unique elements and their counts; each NaN counts as distinct."""
    return _COUNTS(*unique(x, return_counts=True, equal_nan=False))


@composed(np.unique_inverse, gradient=False, orders=True)
def unique_inverse(x: Any) -> Any:
    """Return the unique elements and the inverse; each NaN counts as distinct."""
    return _INVERSE(*unique(x, return_inverse=True, equal_nan=False))


@composed(np.unique_values, gradient=False, orders=True)
def unique_values(x: Any) -> Any:
    """Return the unique elements, sorted; each NaN counts as distinct."""
    return unique(x, equal_nan=False)


# --- two sets -------------------------------------------------------------------------


def _set(x: Any) -> Array:
    """Return the elements of a set, on every rank."""
    if isinstance(x, _C.DTensor):
        return values_of("unique", unique(x.detach()))
    return np.asarray(x)


def _pair(*arrays: Any) -> tuple[_C.DTensor, _C.DTensor] | None:
    """Return two arrays as DTensors if they are to be treated in parts, else None."""
    large = [isinstance(x, _C.DTensor) and is_large(x) for x in arrays]
    if not any(large):
        return None
    one, two = (on_mesh(x, mesh_of(arrays)) for x in arrays)
    if not np.array_equal(one.device_mesh.ranks, two.device_mesh.ranks):
        raise ValueError(
            f"operands are on different meshes: {one.device_mesh} and "
            f"{two.device_mesh}; move one of them first: "
            "x.redistribute(device_mesh=mesh, placements=placements)"
        )
    kinds = {x.dtype.kind for x in (one, two)}
    # NumPy may compare signed and unsigned numbers exactly, or as floats.
    is_exact = np.result_type(one.dtype, two.dtype).kind in kinds
    return (one, two) if is_exact and kinds <= {*"biufc"} else None


@composed(np.union1d, gradient=False, orders=True)
def union1d(ar1: Any, ar2: Any) -> Any:
    """Return the sorted elements that are in either of two arrays."""
    pair = _pair(ar1, ar2)
    if pair:
        met = Meeting.of("union1d", *pair)
        return met.result(np.ones(met.values.size, np.intp))
    return replicated(np.union1d(_set(ar1), _set(ar2)), mesh_of((ar1, ar2)))


@composed(np.setxor1d, gradient=False, orders=True)
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """Return the sorted elements that are in one of two arrays only."""
    pair = _pair(ar1, ar2)
    if pair:
        met = Meeting.of("setxor1d", *pair)
        one, two = (held.astype(np.intp) for held in met.inside)
        return met.result(np.where(met.nan, one + two, one ^ two))
    return replicated(np.setxor1d(_set(ar1), _set(ar2)), mesh_of((ar1, ar2)))


@composed(np.setdiff1d, gradient=False, orders=True)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """Return the elements of one array that are not in another.

    Parameters
    ----------
    ar1, ar2 : array_like
        Of any shape and layout.
    assume_unique : bool, default False
        Whether `ar1` has each element once; the result is then in its order and cut as
        it is, else sorted.
    """
    mesh = mesh_of((ar1, ar2))
    if assume_unique:
        flat = np.ravel(on_mesh(ar1, mesh))
        return flat[isin(flat, ar2, invert=True)]
    pair = _pair(ar1, ar2)
    if pair is None or np.result_type(*pair) != pair[0].dtype:
        return replicated(np.setdiff1d(_set(ar1), _set(ar2)), mesh)
    met = Meeting.of("setdiff1d", *pair)
    one, two = met.inside
    return met.result((one & (met.nan | ~two)).astype(np.intp))


@composed(np.intersect1d, gradient=False, orders=True)
def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """Return the sorted elements that two arrays share.

    Parameters
    ----------
    ar1, ar2 : array_like
        Of any shape and layout.
    assume_unique : bool, default False
        Without effect.
    return_indices : bool, default False
        Whether also where they are found first in each of the two.
    """
    mesh, pair = mesh_of((ar1, ar2)), _pair(ar1, ar2)
    if pair:
        met = Meeting.of("intersect1d", *pair, return_indices)
        one, two = met.inside
        return met.result((one & two & ~met.nan).astype(np.intp), return_indices)
    if not return_indices:
        return replicated(np.intersect1d(_set(ar1), _set(ar2)), mesh)
    (one, first, _), (two, second, _) = (
        _unique("intersect1d", settled("intersect1d", on_mesh(x, mesh)), True)
        for x in (ar1, ar2)
    )
    common, in_one, in_two = np.intersect1d(one, two, True, return_indices=True)
    found = (common, first[in_one], second[in_two])
    return tuple(replicated(part, mesh) for part in found)


@composed(np.isin, gradient=False, orders=True)
def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Any = None,
) -> Any:
    """Return, element by element, whether it is among others.

    Parameters
    ----------
    element : array_like
        May be cut.
    test_elements : array_like
        The others. If they are cut and many, these and `element` meet by value, which
        sends each once; few are gathered.
    assume_unique, kind
        As NumPy's.
    invert : bool, default False
        Whether to return the opposite.

    Returns
    -------
    DTensor of bool
        Of the shape of `element`.
    """
    element = on_mesh(element, mesh_of((element, test_elements)))
    if isinstance(test_elements, _C.DTensor) and is_large(test_elements):
        pair = _pair(element, test_elements)
        if pair and kind != "table":
            one, two = (np.empty(0, x.dtype) for x in pair)
            np.isin(one, two, assume_unique, invert, kind=kind)  # or NumPy's error
            return is_among(*pair, invert)
    return _isin(element, _set(test_elements), assume_unique, invert, kind)


@operator(name="isin")
def _isin(
    element: Operand, tests: Operand, assume_unique: bool, invert: bool, kind: Any
) -> Any:
    names = " ".join(letters(element.ndim))
    kernel = call(np.isin, element, tests, assume_unique, invert, kind=kind)
    return Rule(f"{names},{'* ' * tests.ndim}->{names}"), kernel, np.dtype(bool)
