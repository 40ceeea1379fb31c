"""Initialization of parameters: the functions of ``torch.nn.init``.

They write into a tensor, in place and without recording, and return it. Tensors without
data are left unchanged. The elements of a DTensor do not depend on its layout, and fans
are those of its global shape. Not collective.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.caller import warn
from dtensor._core.device import empty, is_meta
from dtensor.autograd import no_grad
from dtensor.nn._quantile import normal_quantile
from dtensor.ops._make.composite import within
from dtensor.ops.index.write import writing

__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

_GAINS = {
    "sigmoid": 1.0,
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
} | dict.fromkeys(
    ("linear", "conv1d", "conv2d", "conv3d")
    + ("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
    1.0,
)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the recommended factor for weights before a nonlinearity.

    Parameters
    ----------
    nonlinearity : str
        The function that follows: "linear", "conv1d" and the like, "sigmoid", "tanh",
        "relu", "leaky_relu", "selu".
    param : float, optional
        The negative slope of "leaky_relu"; default: 0.01.

    Raises
    ------
    ValueError
        If there is no such nonlinearity, or the slope is not a number.
    """
    if nonlinearity == "leaky_relu":
        if param is None:
            param = 0.01
        elif isinstance(param, bool) or not isinstance(param, int | float):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + param**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 "
            "dimensions"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor: Any, mode: str) -> int:
    modes = ["fan_in", "fan_out"]
    mode = mode.lower()
    if mode not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {modes}")
    return _calculate_fan_in_and_fan_out(tensor)[modes.index(mode)]


# --- values ---------------------------------------------------------------------------


def _set(tensor: Any, values: npt.ArrayLike, name: str, *made_of: Any) -> Any:
    """Write values that every rank has, and that are made of some things by a function
    of this name."""
    with within(name, tensor, *made_of):
        tensor.detach().copy_(np.asarray(values, tensor.dtype))
    return tensor


def constant_(tensor: Any, val: float) -> Any:
    """Set all elements to one value."""
    if not is_meta(tensor):
        tensor.detach().fill_(val)
    return tensor


def ones_(tensor: Any) -> Any:
    """Set all elements to 1."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Any) -> Any:
    """Set all elements to 0."""
    return constant_(tensor, 0.0)


def eye_(tensor: Any) -> Any:
    """Set a matrix to ones on its diagonal, and zeros elsewhere.

    Raises
    ------
    ValueError
        If the tensor does not have two dims.
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return tensor if is_meta(tensor) else _set(tensor, np.eye(*tensor.shape), "eye_")


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """Set the weight of a convolution to preserve as many input channels as possible.

    Parameters
    ----------
    tensor : Tensor or DTensor, shape (out channels, in channels / groups, ...)
        With one to three more dims.
    groups : int, default 1

    Raises
    ------
    ValueError
        If it has another number of dims, or `groups` does not divide the first one.
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if tensor.shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    if is_meta(tensor):
        return tensor
    values = np.zeros(tensor.shape)
    out = tensor.shape[0] // groups
    middle = tuple(length // 2 for length in tensor.shape[2:])
    for group in range(groups):
        for channel in range(min(out, tensor.shape[1])):
            values[(group * out + channel, channel, *middle)] = 1
    return _set(tensor, values, "dirac_", groups)


# --- random ---------------------------------------------------------------------------


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Draw the elements from the uniform distribution on [a, b)."""
    with no_grad():
        return tensor if is_meta(tensor) else tensor.uniform_(a, b, generator=generator)


def normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None
) -> Any:
    """Draw the elements from the normal distribution."""
    with no_grad():
        if is_meta(tensor):
            return tensor
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(
    tensor: Any,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
) -> Any:
    """Draw the elements from the normal distribution, between `a` and `b`."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect."
        )
    low, high = (math.erfc((mean - x) / (std * math.sqrt(2))) / 2 for x in (a, b))
    with within("trunc_normal_", tensor, mean, std, a, b), writing(tensor):
        uniform_(tensor, low, high, generator)
        if is_meta(tensor):
            return tensor
        part = tensor.detach()
        part = (part.to_local() if isinstance(part, _C.DTensor) else part).numpy()
        kind = np.finfo(np.float64)
        level = np.clip(part.astype(np.float64), kind.tiny, 1 - kind.epsneg)
        drawn = normal_quantile(level) * std + mean
        np.clip(drawn, a, b, out=part, casting="same_kind")
    return tensor


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Draw the elements from U(-a, a) with a = gain sqrt(6 / (fan_in + fan_out)).

    Raises
    ------
    ValueError
        If the tensor has fewer than two dims.
    """
    bound = gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Draw the elements from N(0, s^2) with s = gain sqrt(2 / (fan_in + fan_out)).

    Raises
    ------
    ValueError
        If the tensor has fewer than two dims.
    """
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return normal_(tensor, 0.0, std, generator)


def _kaiming_std(tensor: Any, a: float, mode: str, nonlinearity: str) -> float:
    if 0 in tensor.shape:
        warn("Initializing zero-element tensors is a no-op")
        return 0.0
    fan = _calculate_correct_fan(tensor, mode)
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Any:
    """Draw the elements from U(-b, b) with b = gain sqrt(3 / fan).

    Parameters
    ----------
    tensor : Tensor or DTensor
    a : float, default 0
        The negative slope of the "leaky_relu" that follows.
    mode : "fan_in" or "fan_out"
        Whether to preserve the variance in forward or in backward.
    nonlinearity : str
        As for `calculate_gain`.
    generator : optional
        The generator of the numbers.

    Raises
    ------
    ValueError
        If the tensor has fewer than two dims, or there is no such mode.
    """
    bound = math.sqrt(3.0) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Any:
    """Draw the elements from N(0, gain^2 / fan): see `kaiming_uniform_`."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return normal_(tensor, 0.0, std, generator)


# --- random matrices ------------------------------------------------------------------


def _whole(like: Any, draw: Any, *args: Any) -> Any:
    """Return a random matrix that every rank has whole; on the mesh of a DTensor."""
    shape = (like.shape[0], math.prod(like.shape[1:]))
    if not isinstance(like, _C.DTensor):
        return draw(empty(shape, like.dtype, "cpu"), *args)
    x = _C.empty(shape, dtype=like.dtype, device_mesh=like.device_mesh)
    return draw(x, *args)


def _values(x: Any) -> npt.NDArray[Any]:
    return np.array(x.to_local() if isinstance(x, _C.DTensor) else x)


def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Any:
    """Make the rows or the columns, whichever are fewer, orthogonal.

    Dims after the first count as one. Every rank computes the whole matrix.

    Raises
    ------
    ValueError
        If the tensor has fewer than two dims.
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if is_meta(tensor) or 0 in tensor.shape:
        return tensor
    drawn = _whole(tensor, normal_, 0.0, 1.0, generator)
    values = _values(drawn)
    wide = values.shape[0] < values.shape[1]
    single = values.dtype.itemsize < 4  # not supported by LAPACK
    values = values.astype(np.float32) if single else values
    q, r = np.linalg.qr(values.T if wide else values)
    q = q * np.sign(np.diagonal(r))
    q = (q.T if wide else q) * gain
    return _set(tensor, q.reshape(tensor.shape), "orthogonal_", drawn, gain)


def sparse_(
    tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None
) -> Any:
    """Draw the elements from N(0, std^2), and set a fraction of each column to 0.

    Parameters
    ----------
    tensor : Tensor or DTensor
        A matrix.
    sparsity : float
        The fraction of each column that is 0.
    std : float, default 0.01
    generator : optional
        The generator of the numbers.

    Raises
    ------
    ValueError
        If the tensor does not have two dims.
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    if is_meta(tensor):
        return tensor
    drawn = _whole(tensor, normal_, 0.0, std, generator)
    keys = _whole(tensor, uniform_, 0.0, 1.0, generator)
    values, order = _values(drawn), np.argsort(_values(keys), axis=0)
    zeros = math.ceil(sparsity * tensor.shape[0])
    np.put_along_axis(values, order[:zeros], 0, axis=0)
    return _set(tensor, values, "sparse_", drawn, keys, sparsity)
