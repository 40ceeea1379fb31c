"""Bits of bytes: `packbits` and `unpackbits`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.numbers import as_python_int
from dtensor.ops._make.operator import Operand, call, implements, letters, operator
from dtensor.ops._make.routes import ranges_of, reachable
from dtensor.ops._make.words import Answer, hollow, rule
from dtensor.ops.shape.borders import resized
from dtensor.ops.shape.reach import by_rows
from dtensor.ops.shape.view import ravel

__all__ = ["packbits", "unpackbits"]

BITS = 8


def _check(function: Callable[..., Any], a: Operand, bitorder: str) -> None:
    """Raise NumPy's error for a dtype or an order that it does not take."""
    function(np.empty(0, a.dtype), bitorder=bitorder)


def _replaced(
    function: Callable[..., Any], a: Operand, dim: int, length: int, **options: Any
) -> Answer:
    """Return the rule and the call of a function along a dim that is whole."""
    names = letters(a.ndim, whole=[dim])
    after = [*names[:dim], str(length), *names[dim + 1 :]]
    return rule([names], [after]), call(function, a, axis=dim, **options)


@implements(np.packbits)
@operator
def packbits(
    a: Operand, axis: int | None = None, bitorder: str = "big"
) -> Answer | Callable[..., Any]:
    """Pack elements that are 0 or not into bits: see `numpy.packbits`.

    Along a cut axis ranks send at most 7 rows; a byte is where its first bit was.

    Parameters
    ----------
    a : array_like of bool or int
    axis : int, optional
        Default: those of the flattened array.
    bitorder : {"big", "little"}
        Which bit of a byte is the first element.

    Returns
    -------
    array of uint8
    """
    _check(np.packbits, a, bitorder)
    if axis is None and a.ndim != 1:
        return _packed_flat
    dim = normalize_axis_index(axis or 0, a.ndim)
    if reachable(a.layout, dim):
        return _packed_parts
    length = -(-a.shape[dim] // BITS)
    return _replaced(np.packbits, a, dim, length, bitorder=bitorder)


def _packed_flat(a: Any, axis: None = None, bitorder: str = "big") -> Any:
    return packbits(ravel(a), 0, bitorder)


def _packed_parts(a: _C.DTensor, axis: int | None = None, bitorder: str = "big") -> Any:
    dim = normalize_axis_index(axis or 0, a.ndim)
    own = [(-(-n // BITS), -(-m // BITS)) for n, m in ranges_of(a.layout, dim)]
    wanted = [
        (first * BITS, min(last * BITS, a.shape[dim])) if first < last else (0, 0)
        for first, last in own
    ]
    to = resized(a.layout, dim, [last - first for first, last in own])

    def inner(rows: Any, _number: int) -> Any:
        return packbits(rows, dim, bitorder)

    return by_rows("packbits", a, dim, wanted, to.with_dtype(np.uint8), inner)


def _bits_of(a: Any, dim: int, count: int | None) -> int:
    """Return how many bits are wanted of all bytes along a dim."""
    length, count = BITS * int(a.shape[dim]), as_python_int(count)
    wanted = length if count is None else count if count >= 0 else length + count
    if wanted < 0:
        np.unpackbits(np.array(hollow((a.shape[dim],), np.uint8)), count=count)
    return wanted


@implements(np.unpackbits)
@operator
def unpackbits(
    a: Operand,
    axis: int | None = None,
    count: int | None = None,
    bitorder: str = "big",
) -> Answer | Callable[..., Any]:
    """Unpack bytes into bits: see `numpy.unpackbits`. The bits of a byte stay with it.

    Parameters
    ----------
    a : array_like of uint8
    axis : int, optional
        Default: those of the flattened array.
    count : int, optional
        How many bits are unpacked; a negative one: how many are left out at the end.
    bitorder : {"big", "little"}
        Which bit of a byte becomes the first element.

    Returns
    -------
    array of uint8
        0 or 1.
    """
    _check(np.unpackbits, a, bitorder)
    if axis is None and a.ndim != 1:
        return _unpacked_flat
    dim = normalize_axis_index(axis or 0, a.ndim)
    length = _bits_of(a, dim, count)
    if reachable(a.layout, dim):
        return _unpacked_parts
    return _replaced(_unpacked, a, dim, length, count=length, bitorder=bitorder)


def _unpacked(a: npt.NDArray[np.uint8], **options: Any) -> npt.NDArray[np.uint8]:
    found = np.unpackbits(a, **options)
    if a.size == 0:  # NumPy leaves them as they are
        found[...] = 0
    return found


def _unpacked_flat(
    a: Any, axis: None = None, count: int | None = None, bitorder: str = "big"
) -> Any:
    return unpackbits(ravel(a), 0, count, bitorder)


def _unpacked_parts(
    a: _C.DTensor,
    axis: int | None = None,
    count: int | None = None,
    bitorder: str = "big",
) -> Any:
    dim = normalize_axis_index(axis or 0, a.ndim)
    length, own = _bits_of(a, dim, count), ranges_of(a.layout, dim)
    ends = [min(last * BITS, length) for _, last in own[:-1]] + [length]
    sizes = np.diff([0, *ends]).tolist()
    to = resized(a.layout, dim, sizes).with_dtype(np.uint8)

    def inner(rows: Any, number: int) -> Any:
        return unpackbits(rows, dim, sizes[number], bitorder)

    return by_rows("unpackbits", a, dim, own, to, inner)
