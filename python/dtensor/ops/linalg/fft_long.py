"""The Fourier transform of a long line that is cut: parts in, parts out.

It is done in four steps: as a matrix, first its columns, then its rows (Bailey, "FFTs
in external or hierarchical memory", 1990). A length without two large divisors becomes
a convolution of another length (Bluestein, "A linear filtering approach to the
computation of the discrete Fourier transform", 1970).
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.axes import normalize_axis_index
from dtensor.ops._make.composite import as_dtype
from dtensor.ops._make.created import made
from dtensor.ops._make.operator import Operand, Part, call, letters, operator
from dtensor.ops._make.parts import positions
from dtensor.ops._make.words import Answer, rule
from dtensor.ops.linalg.adjoint import conj
from dtensor.ops.linalg.fft_parts import part_count, recut

__all__ = ["SWAPPED", "fit", "in_steps"]

Array = npt.NDArray[Any]
Kernel = Callable[..., Any]
# A transform along one dim, and its inverse: of ``(x, n, axis, norm)``.
Pair = tuple[Kernel, Kernel]

# The norm of a transform as one in the other direction.
SWAPPED = {
    None: "forward",
    "backward": "forward",
    "forward": "backward",
    "ortho": "ortho",
}


def fit(x: Any, shape: Sequence[int]) -> Any:
    """Return an array cropped or padded with zeros to a shape."""
    if tuple(x.shape) == tuple(shape):
        return x
    x = x[tuple(slice(n) for n in shape)]
    lacking = [(0, n - k) for n, k in zip(shape, x.shape, strict=True)]
    return np.pad(x, lacking) if tuple(x.shape) != tuple(shape) else x


# --- in four steps --------------------------------------------------------------------


def four_steps(
    name: str, x: Any, dim: int, norm: str | None, pair: Pair, sign: int
) -> Any:
    """Transform one long dim that is cut, and stays so.

    With n = n1 n2 points, x[j1, j2] at j = n2 j1 + j2, the result at k = k1 + n1 k2:
    transform the columns (over j1), multiply by exp(-2 pi i sign j2 k1 / n), transform
    the rows (over j2), and read the result by columns. Three all_to_all, the first of
    them of `x` as it comes.

    Parameters
    ----------
    name : str
        Of the function, for messages.
    pair : (callable, callable)
        The transform of a dim that is whole, and its inverse.
    sign : {1, -1}
        1: forward.
    """
    n = x.shape[dim]
    first = _divisor(n)
    if first < part_count(x.layout, dim):
        return _as_convolution(x, dim, norm, pair, sign)
    shape = list(x.shape)
    y = np.reshape(x, [*shape[:dim], first, n // first, *shape[dim + 1 :]])
    y = pair[0](recut(name, y, dim, dim + 1), None, dim, norm)
    y = _turned(y, dim, sign)
    y = pair[0](recut(name, y, dim + 1, dim), None, dim + 1, norm)
    y = np.swapaxes(y, dim, dim + 1)
    return np.reshape(recut(name, y, dim + 1, dim), shape)


@lru_cache(256)
def _divisor(n: int) -> int:
    """Return the largest divisor of `n` up to its root."""
    return next(k for k in range(math.isqrt(n), 0, -1) if n % k == 0)


@operator(name="fft_twiddle")
def _turned(y: Operand, dim: int, sign: int) -> Answer:
    """Multiply element (j, k) of dims `dim` and `dim` + 1, n points together, by
    exp(-2 pi i sign j k / n). Every dim may be cut."""
    names = letters(y.ndim)
    n = y.shape[dim] * y.shape[dim + 1]
    kernel = call(_turn, y, dim, sign, n, _places(dim), _places(dim + 1))
    return rule([names], [names], "all"), kernel, y.dtype


def _places(dim: int) -> Part:
    """Return the indices of this rank along a dim of operand 0."""

    def of(operands: tuple[_C.Layout, ...], _results: tuple[_C.Layout, ...]) -> Array:
        return positions(operands[0], dim)

    return Part(of)


@_turned.vjp
def _turned_back(grad: Any, _out: Any, _y: Any, dim: int, sign: int) -> Any:
    return _turned(grad, dim, -sign)


def _turn(y: Array, dim: int, sign: int, n: int, rows: Array, columns: Array) -> Array:
    """Return the product, made row by row: the factors of all take too much memory."""
    result = np.empty_like(y)
    old, new = (np.moveaxis(z, (dim, dim + 1), (-2, -1)) for z in (y, result))
    for at, row in enumerate(rows.tolist()):
        factors = _unit(row * columns % n, n, sign, y.dtype)
        np.multiply(old[..., at, :], factors, new[..., at, :])
    return result


def _unit(numbers: Array, n: int, sign: int, dtype: Any) -> Array:
    """Return exp(-2 pi i sign k / n) of whole numbers k from 0 to n."""
    real = np.result_type(np.finfo(dtype).dtype, np.float64).type
    angle = numbers * (-2 * sign * real(np.pi) / n)
    if real is not np.float64:
        angle = numbers * (-8 * sign * np.arctan(real(1)) / n)
    result = np.empty(angle.shape, dtype)
    result.real, result.imag = np.cos(angle), np.sin(angle)
    return result


# --- any length -----------------------------------------------------------------------


def _as_convolution(x: Any, dim: int, norm: str | None, pair: Pair, sign: int) -> Any:
    """Transform a dim of any length: 2 j k = j^2 + k^2 - (k - j)^2."""
    n = x.shape[dim]
    points = 1 << (2 * n - 2).bit_length()
    dtype = np.fft.fft(np.ones(1, x.dtype)).dtype

    def chirp(k: Array, sign: int) -> Array:
        return _unit(k * k % (2 * n), 2 * n, sign, dtype)

    def distance(k: Array) -> Array:
        k = np.minimum(k, points - k)
        return np.where(k < n, chirp(k, -sign), dtype.type(0))

    turned = _line(x, dim, n, dtype, lambda k: chirp(k, sign))
    lacking = [(0, points - n if d == dim else 0) for d in range(x.ndim)]
    forward, back = pair[::sign]
    product = forward(np.pad(x * turned, lacking), None, dim)
    product = product * forward(_line(x, dim, points, dtype, distance), None, dim)
    found = back(product, None, dim)[(slice(None),) * dim + (slice(n),)] * turned
    scale = {"ortho": n**-0.5, "forward": 1 / n if sign > 0 else 1.0}
    return found * scale.get(norm or "", 1.0 if sign > 0 else 1 / n)


def _line(
    x: Any, dim: int, length: int, dtype: Any, values: Callable[[Array], Array]
) -> Any:
    """Return an array made of the indices along one dim, cut as that of `x`; its length
    along the others is 1."""
    alike = x.layout.settled().like((x.shape[dim],), {dim: 0}, dtype)
    order = dict(alike.shard_order) or None
    to = _C.Layout(alike.mesh, alike.placements, (length,), dtype, shard_order=order)
    line = made(to, lambda layout: values(positions(layout, 0)))
    return np.reshape(line, [length if d == dim else 1 for d in range(x.ndim)])


# --- the functions --------------------------------------------------------------------


def _first(dim: int, count: int) -> tuple[slice, ...]:
    """Return the index of the first elements along a dim."""
    return (slice(None),) * dim + (slice(count),)


def _fit_line(x: Any, dim: int, points: int) -> Any:
    """Return an array cropped or padded with zeros along a dim."""
    return fit(x, [points if d == dim else n for d, n in enumerate(x.shape)])


def in_steps(kernel: Kernel, fft: Kernel, ifft: Kernel) -> Kernel:
    """Return a function of numpy.fft for a long dim that is cut; the others are not."""
    name = kernel.__name__

    def forward(x: Any, n: int, dim: int, norm: str | None) -> Any:
        return four_steps(name, _fit_line(x, dim, n), dim, norm, (fft, ifft), 1)

    def backward(x: Any, n: int, dim: int, norm: str | None) -> Any:
        return four_steps(name, _fit_line(x, dim, n), dim, norm, (ifft, fft), -1)

    def half(x: Any, n: int, dim: int, norm: str | None) -> Any:
        return forward(x, n, dim, norm)[_first(dim, n // 2 + 1)]

    def real(x: Any, n: int, dim: int, norm: str | None) -> Any:
        x = _fit_line(x, dim, n // 2 + 1)
        mirrored = np.flip(x[(slice(None),) * dim + (slice(1, (n + 1) // 2),)], dim)
        every = np.concatenate([x, conj(mirrored)], axis=dim)
        return np.real(backward(every, n, dim, norm))

    kinds: dict[Kernel, Kernel] = {
        np.fft.fft: forward,
        np.fft.ifft: backward,
        np.fft.rfft: half,
        np.fft.irfft: real,
        np.fft.hfft: lambda x, n, dim, norm: real(conj(x), n, dim, SWAPPED[norm]),
        np.fft.ihfft: lambda x, n, dim, norm: conj(half(x, n, dim, SWAPPED[norm])),
    }
    kind = kinds[kernel]

    def transform(
        a: Any, n: int | None = None, axis: int = -1, norm: str | None = None
    ) -> Any:
        dim = normalize_axis_index(axis, a.ndim)
        doubles = kernel in (np.fft.irfft, np.fft.hfft)
        points = 2 * (a.shape[dim] - 1) if doubles else a.shape[dim]
        found = kind(a, points if n is None else index(n), dim, norm)
        return as_dtype(found, kernel(np.ones(2, a.dtype)).dtype)

    return transform
