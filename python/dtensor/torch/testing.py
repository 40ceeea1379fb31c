"""``torch.testing``: `assert_close`."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dtensor import _C

__all__ = ["assert_close"]

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
