"""Ranges: arange, linspace, logspace, geomspace, fftfreq.

The formulas are NumPy's, applied to the indices of a rank's own part."""

import math
import operator as python
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.dtype import dtype_of
from dtensor.ops._make.created import Placements, layout_of, made, mesh_like
from dtensor.ops._make.fallback import replicated
from dtensor.ops._make.operator import implements
from dtensor.ops._make.parts import alone, key_of, positions, values_of
from dtensor.ops.create.between import layout_between, sampled_between

__all__ = ["arange", "fftfreq", "geomspace", "linspace", "logspace", "rfftfreq"]

Array = npt.NDArray[Any]


@implements(np.arange)
def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    dtype: Any = None,
    *,
    device: Any = None,
    device_mesh: _C.Mesh | None = None,
    placements: Placements = None,
) -> _C.DTensor:
    """Return evenly spaced numbers: ``start + i * step`` for all that are below `stop`.

    Parameters
    ----------
    start, stop, step : number
        With one of them only it is `stop`, and `start` is 0.
    dtype : dtype_like, optional
        Default: that of the numbers.
    device : optional
        Without effect.
    device_mesh : DeviceMesh, optional
        Default: the one of the ``with mesh:`` block.
    placements : sequence of Placement, optional
        Default: Replicate on all mesh dims.

    Returns
    -------
    DTensor, shape (n,)
        The bits of ``numpy.arange``.
    """
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    kinds = [np.asarray(value).dtype for value in (start, stop, step)]
    kind = np.result_type(np.int_, *kinds) if dtype is None else dtype_of(dtype)
    count = _steps(start, stop, step)
    if count > np.iinfo(np.intp).max:
        raise ValueError("Maximum allowed size exceeded")
    layout = layout_of((count,), kind, device_mesh, placements)
    if count <= 2 or kind.kind == "b" or alone(layout):
        array = np.arange(start, stop, step, kind)  # type: ignore[call-overload]
        if alone(layout):
            return made(layout, lambda _own: array)
        return made(layout, lambda own: array[positions(own, 0)])
    first, second = (np.array(value).astype(kind) for value in (start, start + step))
    return made(layout, lambda own: _progression(positions(own, 0), first, second))


def _steps(start: Any, stop: Any, step: Any) -> int:
    """Return the length of a range."""
    steps = (stop - start) / step
    if isinstance(steps, complex | np.complexfloating):
        return max(0, min(math.ceil(steps.real), math.ceil(steps.imag)))
    return max(0, int(math.ceil(steps)))


def _progression(index: Array, first: Array, second: Array) -> Array:
    """Return elements of a range from their indices, by NumPy's formula."""
    kind = first.dtype
    if kind.kind == "c":
        pairs = np.empty(index.shape, kind)
        pairs.real = _progression(index, first.real, second.real)
        pairs.imag = _progression(index, first.imag, second.imag)
        return pairs
    wide = np.dtype(np.float32) if kind == np.float16 else kind
    delta = second.astype(wide) - first.astype(wide)
    result: Array = (first.astype(wide) + index.astype(wide) * delta).astype(kind)
    result[index == 0] = first
    result[index == 1] = second
    return result


def _line(
    index: Array, start: Any, stop: Any, num: int, endpoint: bool, dtype: Any
) -> Array:
    """Return elements of ``linspace``, in `dtype` before any cast, from their indices.

    The steps are those of numpy._core.function_base.linspace."""
    div = num - 1 if endpoint else num
    delta = np.subtract(stop, start, dtype=type(dtype))
    y = index.astype(dtype)
    if div > 0:
        step = delta / div
        if step == 0:  # a denormal number
            y /= div
            y *= delta
        else:
            y *= step
    else:
        y = y * delta
    y += start
    if endpoint and num > 1:
        y[index == num - 1] = stop
    return y


def _sampled(
    function: Callable[..., Any],
    ends: Sequence[Any],
    num: int,
    options: dict[str, Any],
    device_mesh: _C.Mesh | None,
    placements: Placements,
    part: Callable[[Array, Any], Array],
) -> _C.DTensor:
    """Return samples of a NumPy function: a rank's own between numbers, else all."""
    layout = None
    if placements is None and device_mesh is None:
        layout = layout_between(ends)
    if layout is not None and not np.ndim(options.get("base", 0)) and num >= 0:
        if isinstance(options.get("base"), _C.Tensor):
            options["base"] = values_of(function.__name__, options["base"])[()]
        return sampled_between(function, ends, num, options, layout)[0]
    name = function.__name__
    how = (name, *ends, num, dict(options))
    device_mesh = mesh_like(device_mesh, *ends, options.get("base"))
    numbers = (int, float, complex)  # which leave dtypes as they are
    ends = [end if isinstance(end, numbers) else values_of(name, end) for end in ends]
    if isinstance(options.get("base"), _C.Tensor):
        options["base"] = values_of(name, options["base"])[()]
    one = device_mesh is not None and math.prod(device_mesh.shape) == 1
    spread = any(np.ndim(end) for end in (*ends, options.get("base", 0)))
    if num < 0 or one or spread:
        whole = function(*ends, num, **options)
        layout = layout_of(whole.shape, whole.dtype, device_mesh, placements)
        return _C.made_of(made(layout, lambda own: whole[key_of(own)]), *how)
    like = function(*ends, 1, **options)
    layout = layout_of((num,), like.dtype, device_mesh, placements)
    return _C.made_of(made(layout, lambda own: part(positions(own, 0), ends)), *how)


@implements(np.linspace)
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
    device_mesh: _C.Mesh | None = None,
    placements: Placements = None,
) -> Any:
    """Return `num` numbers from `start` to `stop`, evenly spaced.

    Parameters
    ----------
    start, stop : array_like
        The ends; arrays may be cut, the result is then cut as they are.
    num : int, default 50
        How many.
    endpoint : bool, default True
        Whether `stop` is one of them.
    retstep : bool, default False
        Whether to return the distance too.
    dtype : dtype_like, optional
        Default: the floating dtype of the ends.
    axis : int, default 0
        Where the new dim is, if the ends are arrays.
    device : optional
        Without effect.
    device_mesh, placements : optional
        As of `arange`.

    Returns
    -------
    DTensor
        The bits of ``numpy.linspace``.
    step : number or array
        With `retstep`; of ends that are DTensors a replicated one, or cut as they are.
    """

    def part(index: Array, ends: Any) -> Array:
        start, stop = ends
        kind = np.linspace(start, stop, 1).dtype
        y = _line(index, start, stop, num, endpoint, kind)
        wanted = kind if dtype is None else dtype_of(dtype)
        return np.floor(y) if wanted.kind in "iu" else y

    num = python.index(num)
    options = {"endpoint": endpoint, "dtype": dtype, "axis": axis}
    ends = (start, stop)
    layout = layout_between(ends) if placements is None and retstep else None
    if layout is not None and device_mesh is None and num >= 0:
        return sampled_between(np.linspace, ends, num, options, layout)
    x = _sampled(np.linspace, ends, num, options, device_mesh, placements, part)
    if not retstep:
        return x
    div = num - 1 if endpoint else num
    first, last = (values_of("linspace", end) for end in ends)
    kind = np.linspace(first, last, 1).dtype
    delta = np.subtract(last, first, dtype=type(kind))
    step = delta / div if div > 0 else math.nan
    if div > 0 and mesh_like(None, start, stop) is not None:
        step = replicated(np.asarray(step), x.device_mesh)
        _C.made_of(step, "the step of linspace", *ends, num, endpoint)
    return x, step


@implements(np.logspace)
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
    *,
    device_mesh: _C.Mesh | None = None,
    placements: Placements = None,
) -> _C.DTensor:
    """Return `num` powers of `base`, their exponents evenly spaced.

    Parameters
    ----------
    start, stop : array_like
        The first and the last exponent.
    base : array_like, default 10.0
        The base.
    num, endpoint, dtype, axis, device_mesh, placements
        As of `linspace`.
    """

    def part(index: Array, ends: Any) -> Array:
        start, stop = ends
        kind = np.linspace(start, stop, 1).dtype
        return np.asarray(
            np.power(options["base"], _line(index, start, stop, num, endpoint, kind))
        )

    num = python.index(num)
    options = {"endpoint": endpoint, "dtype": dtype, "axis": axis, "base": base}
    ends = (start, stop)
    return _sampled(np.logspace, ends, num, options, device_mesh, placements, part)


@implements(np.geomspace)
def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
    *,
    device_mesh: _C.Mesh | None = None,
    placements: Placements = None,
) -> _C.DTensor:
    """Return `num` numbers from `start` to `stop`, each the same multiple of the last.

    Parameters
    ----------
    start, stop : array_like
        The ends, not 0.
    num, endpoint, dtype, axis, device_mesh, placements
        As of `linspace`.
    """

    def part(index: Array, ends: Any) -> Array:
        # The steps are those of numpy._core.function_base.geomspace.
        kind = np.result_type(*ends, float(num), np.zeros((), dtype))
        first, last = (np.asarray(end).astype(kind) for end in ends)
        sign = np.sign(first)
        first, last = np.asarray(first / sign), np.asarray(last / sign)
        logs = np.log10(first), np.log10(last)
        line = _line(index, *logs, num, endpoint, np.linspace(*logs, 1).dtype)
        result = np.power(10.0, line).astype(kind)
        result[index == 0] = first
        if num > 1 and endpoint:
            result[index == num - 1] = last
        return np.asarray(result * sign)

    num = python.index(num)
    options = {"endpoint": endpoint, "dtype": dtype, "axis": axis}
    ends = (start, stop)
    return _sampled(np.geomspace, ends, num, options, device_mesh, placements, part)


@implements(np.fft.fftfreq)
def fftfreq(
    n: int,
    d: float = 1.0,
    device: Any = None,
    *,
    device_mesh: _C.Mesh | None = None,
    placements: Placements = None,
) -> _C.DTensor:
    """Return the frequencies of a discrete Fourier transform.

    Parameters
    ----------
    n : int
        The length of the transform.
    d : float, default 1.0
        The distance of the samples.
    device : optional
        Without effect.
    device_mesh, placements : optional
        As of `arange`.

    Returns
    -------
    DTensor, shape (n,)
        Not negative ones first.
    """
    np.fft.fftfreq(1 if isinstance(n, int | np.integer) else n)  # its error
    layout = layout_of((n,), np.result_type(d, 1.0), device_mesh, placements)
    unit = 1.0 / (n * d)

    def part(own: _C.Layout) -> Array:
        index = positions(own, 0)
        return np.where(index < (n - 1) // 2 + 1, index, index - n) * unit

    return made(layout, part)


@implements(np.fft.rfftfreq)
def rfftfreq(
    n: int,
    d: float = 1.0,
    device: Any = None,
    *,
    device_mesh: _C.Mesh | None = None,
    placements: Placements = None,
) -> _C.DTensor:
    """Return the frequencies of a transform of real numbers; see `fftfreq`."""
    np.fft.rfftfreq(1 if isinstance(n, int | np.integer) else n)  # its error
    layout = layout_of((n // 2 + 1,), np.result_type(d, 1.0), device_mesh, placements)
    unit = 1.0 / (n * d)
    return made(layout, lambda own: positions(own, 0) * unit)
