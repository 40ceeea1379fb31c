"""``torch.testing``: `assert_close`, and tensors of random numbers."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.caller import warn
from dtensor.torch import _create
from dtensor.torch._types import numpy_dtype, torch_dtype

__all__ = ["assert_close", "make_tensor"]

# dtype: rtol, atol; other dtypes need equal elements
TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Any = None,
) -> None:
    """Raise AssertionError unless two tensors, or all in two collections, are close.

    Collective if there are DTensors, whose whole values are compared.

    Parameters
    ----------
    actual, expected : tensor, number, or sequences or mappings of these
    rtol, atol : float, optional
        The allowed difference is ``atol + rtol * abs(expected)``. Give both or neither;
        the default depends on the dtype, and is the looser one if the dtypes differ.
    equal_nan : bool, default False
        Whether NaN is close to NaN.
    check_dtype : bool, default True
        Whether the dtypes of tensors must be equal.
    msg : str or callable, optional
        The message, or a function that makes it from the default message.
    allow_subclasses, check_device, check_layout, check_stride
        Ignored.

    Raises
    ------
    AssertionError
        If they are not close, or differ in shape, dtype, length or keys.
    ValueError
        If one tolerance is given without the other.
    """
    if (rtol is None) != (atol is None):
        raise ValueError(
            "rtol and atol must both be specified or both be unspecified, but got "
            f"{rtol=} and {atol=} instead."
        )
    try:
        _compare(actual, expected, (rtol, atol), equal_nan, check_dtype)
    except AssertionError as error:
        if msg is None:
            raise
        raise AssertionError(msg(str(error)) if callable(msg) else msg) from None


def _compare(actual: Any, expected: Any, bounds: Any, nan: bool, dtype: bool) -> None:
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if actual.keys() != expected.keys():
            raise AssertionError(
                f"The keys of the mappings do not match: {list(actual)}, "
                f"{list(expected)}"
            )
        actual, expected = [*actual.values()], [expected[key] for key in actual]
    if isinstance(actual, Sequence) and isinstance(expected, Sequence):
        if len(actual) != len(expected):
            raise AssertionError(
                "The length of the sequences do not match: "
                f"{len(actual)} != {len(expected)}"
            )
        for pair in zip(actual, expected, strict=True):
            _compare(*pair, bounds, nan, dtype)
        return
    both = _whole(actual), _whole(expected)
    types = [array.dtype for array in both]
    tensors = isinstance(actual, _C.Tensor) and isinstance(expected, _C.Tensor)
    if dtype and tensors and types[0] != types[1]:
        raise AssertionError(
            f"The values for attribute 'dtype' do not match: {types[0]} != {types[1]}."
        )
    if both[0].shape != both[1].shape:
        raise AssertionError(
            "The values for attribute 'shape' do not match: "
            f"{both[0].shape} != {both[1].shape}."
        )
    if bounds[0] is None:
        loose = [TOLERANCES.get(each.name, (0.0, 0.0)) for each in types]
        bounds = [max(column) for column in zip(*loose, strict=True)]
    np.testing.assert_allclose(*both, rtol=bounds[0], atol=bounds[1], equal_nan=nan)


def _whole(x: Any) -> Any:
    if isinstance(x, _C.DTensor):
        x = x.full_tensor()
    return np.asarray(x.detach() if isinstance(x, _C.Tensor) else x)


# --- tensors of random numbers --------------------------------------------------------


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any = None,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Any:
    """Return a tensor of uniform random numbers, from the default generator.

    Parameters
    ----------
    *shape : int, or one sequence of int
    dtype : dtype
    device : optional
        ``"cpu"``, or ``"meta"``.
    low, high : float, optional
        The numbers are at least `low` and below `high`: -9 and 9, of signed integers
        -9 and 10, of unsigned ones 0 and 10, of booleans 0 and 2. They are clamped to
        what the dtype can hold.
    requires_grad : bool, default False
    noncontiguous : bool, default False
        Whether other elements lie in between.
    exclude_zero : bool, default False
        Whether zeros become the least positive (normal) number.
    memory_format : optional
        Accepted, but not with `noncontiguous`.

    Raises
    ------
    ValueError
        If no number is between `low` and `high`, one of them is NaN, or integers would
        require a gradient.
    TypeError
        If numbers of the dtype cannot be drawn.
    """
    told, to = torch_dtype(dtype), numpy_dtype(dtype)
    sizes: Any = shape[0] if len(shape) == 1 and np.iterable(shape[0]) else shape
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive,"
            f" but got {noncontiguous=} and {memory_format=}"
        )
    whole = to.kind in "bui"
    if requires_grad and whole:
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but"
            f" got dtype={told}"
        )
    bounds = _bounds(told, to, low, high)
    wide = (*sizes[:-1], 2 * sizes[-1]) if noncontiguous and math.prod(sizes) > 1 else 0
    drawn = _drawn(wide or tuple(sizes), to, *bounds)
    if exclude_zero:
        least: Any = 1 if whole else np.finfo(to).tiny
        least = least + 1j * least if to.kind == "c" else least
        drawn = np.where(drawn == 0, np.asarray(least, to), drawn)
    found = _create.tensor(drawn, dtype=told, device=device)
    found = found[..., ::2] if wide else found
    return found.requires_grad_(requires_grad)


# kind: the least number, and the one that all are below
_RANGES = {"b": (0, 2), "u": (0, 10), "i": (-9, 10), "f": (-9, 9), "c": (-9, 9)}


def _bounds(
    told: Any, to: np.dtype[Any], low: float | None, high: float | None
) -> tuple[Any, Any]:
    if to.kind not in _RANGES:
        raise TypeError(
            f"The requested dtype '{told}' is not supported by torch.testing"
        )
    usual = _RANGES[to.kind]
    low = usual[0] if low is None else low
    high = usual[1] if high is None else high
    if any(isinstance(x, float) and math.isnan(x) for x in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    if low == high and to.kind in "fc":
        warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex"
            " types is deprecated. Use `torch.full(...)` instead.",
            FutureWarning,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    info: Any = np.finfo(to) if to.kind in "fc" else None
    if info is None:
        info = np.iinfo(to) if to.kind != "b" else None
    least, most = (0, 2) if info is None else (info.min, info.max)
    end = most if info is None or to.kind in "fc" else int(most) + 1
    if low > most or high < least or (to.kind not in "fc" and low >= end):
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but "
            f"{told} only supports [{least}, {end})"
        )
    return max(low, least), min(high, end)


def _drawn(shape: Any, to: np.dtype[Any], low: Any, high: Any) -> Any:
    if to.kind in "bui":
        first, end = math.ceil(low), math.ceil(high)
        if end - first >= 1 << 53:  # more than uniform numbers tell apart
            found = _create.rand(*shape, dtype="float64").numpy() * (float(end) - first)
            top = np.iinfo(to)
            return np.clip(
                np.floor(found + first), float(top.min), 2.0**63 - 1025
            ).astype(to)
        unit = _create.rand(*shape, dtype="float64").numpy()
        return (np.floor(unit * (end - first)).astype(np.int64) + first).astype(to)
    if to.kind == "c":
        part = np.dtype(f"f{to.itemsize // 2}")
        pair = [_drawn(shape, part, low, high) for _ in range(2)]
        return (pair[0] + 1j * pair[1]).astype(to)
    unit = _create.rand(*shape, dtype="float64").numpy()
    found = (unit * (high - low) + low).astype(to)
    return (
        np.minimum(found, np.nextafter(to.type(high), to.type(low)))
        if low < high
        else found
    )
