"""Made by `./run exec python tests/stubs.py`."""

# ruff: noqa: F403, F405
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._C import (
    _T,
    DTensor,
    Mesh,
    _ArrayLike,
    _Axis,
    _Index,
    _Out,
    _Picked,
    _Plain,
    _Shape,
    _UniqueAllResult,
    _UniqueCountsResult,
    _UniqueInverseResult,
)
from dtensor.ops._make.fallback import FallbackWarning as FallbackWarning
from dtensor.ops._make.strict import (
    ImplicitRedistributeError as ImplicitRedistributeError,
    strict as strict,
)
from dtensor.placement_types import Placement
from dtensor.random import Generator

__all__ = [
    "FallbackWarning",
    "ImplicitRedistributeError",
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "all",
    "allclose",
    "amax",
    "amin",
    "angle",
    "any",
    "append",
    "apply_along_axis",
    "apply_over_axes",
    "arange",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "argwhere",
    "around",
    "array",
    "array_equal",
    "array_equiv",
    "array_split",
    "asarray",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "average",
    "bernoulli",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "bincount",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "block",
    "bmm",
    "broadcast_arrays",
    "broadcast_to",
    "can_cast",
    "cat",
    "cbrt",
    "ceil",
    "celu",
    "choose",
    "chunk",
    "clamp",
    "clip",
    "column_stack",
    "common_type",
    "compress",
    "concat",
    "concatenate",
    "conj",
    "conjugate",
    "convolve",
    "copy",
    "copysign",
    "copyto",
    "corrcoef",
    "correlate",
    "cos",
    "cosh",
    "count_nonzero",
    "cov",
    "cross",
    "cross_entropy",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "deg2rad",
    "degrees",
    "delete",
    "diag",
    "diag_indices",
    "diag_indices_from",
    "diagflat",
    "diagonal",
    "diff",
    "digitize",
    "div",
    "divide",
    "divmod",
    "dot",
    "dropout",
    "dsplit",
    "dstack",
    "ediff1d",
    "einsum",
    "elu",
    "empty_like",
    "equal",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expand",
    "expand_as",
    "expand_dims",
    "expm1",
    "extract",
    "eye",
    "fabs",
    "fftfreq",
    "fill",
    "fill_diagonal",
    "fix",
    "flatnonzero",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "fromfunction",
    "full_like",
    "gcd",
    "gelu",
    "geomspace",
    "glu",
    "gradient",
    "greater",
    "greater_equal",
    "group_norm",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "heaviside",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "hsplit",
    "hstack",
    "huber_loss",
    "hypot",
    "i0",
    "identity",
    "imag",
    "index_select",
    "indices",
    "inner",
    "insert",
    "interp",
    "intersect1d",
    "invert",
    "isclose",
    "iscomplex",
    "iscomplexobj",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "isnat",
    "isneginf",
    "isposinf",
    "isreal",
    "isrealobj",
    "ix_",
    "kl_div",
    "kron",
    "l1_loss",
    "layer_norm",
    "lcm",
    "ldexp",
    "leaky_relu",
    "left_shift",
    "less",
    "less_equal",
    "lexsort",
    "linspace",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logsigmoid",
    "logspace",
    "logsumexp",
    "masked_fill",
    "matmul",
    "matrix_transpose",
    "matvec",
    "max",
    "maximum",
    "mean",
    "median",
    "meshgrid",
    "min",
    "min_scalar_type",
    "minimum",
    "mish",
    "mm",
    "mod",
    "modf",
    "moveaxis",
    "mse_loss",
    "mul",
    "multiply",
    "mv",
    "nan_to_num",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanpercentile",
    "nanprod",
    "nanquantile",
    "nanstd",
    "nansum",
    "nanvar",
    "ndim",
    "neg",
    "negative",
    "nextafter",
    "nll_loss",
    "nonzero",
    "normal",
    "not_equal",
    "ones_like",
    "outer",
    "packbits",
    "pad",
    "partition",
    "percentile",
    "permute_dims",
    "piecewise",
    "place",
    "polyfit",
    "polyval",
    "positive",
    "pow",
    "power",
    "prelu",
    "prod",
    "ptp",
    "put",
    "put_along_axis",
    "putmask",
    "quantile",
    "rad2deg",
    "radians",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "ravel",
    "ravel_multi_index",
    "real",
    "real_if_close",
    "reciprocal",
    "relu",
    "relu6",
    "remainder",
    "repeat",
    "reshape",
    "resize",
    "result_type",
    "rfftfreq",
    "right_shift",
    "rint",
    "rms_norm",
    "roll",
    "rollaxis",
    "rot90",
    "round",
    "rsqrt",
    "searchsorted",
    "select",
    "selu",
    "setdiff1d",
    "setxor1d",
    "shape",
    "sigmoid",
    "sign",
    "signbit",
    "silu",
    "sin",
    "sinc",
    "sinh",
    "size",
    "sliding_window_view",
    "smooth_l1_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "sort",
    "sort_complex",
    "spacing",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "strict",
    "sub",
    "subtract",
    "sum",
    "swapaxes",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tanhshrink",
    "tensor_split",
    "tensordot",
    "threshold",
    "tile",
    "topk",
    "trace",
    "transpose",
    "trapezoid",
    "tri",
    "tril",
    "tril_indices",
    "tril_indices_from",
    "trim_zeros",
    "triu",
    "triu_indices",
    "triu_indices_from",
    "true_divide",
    "trunc",
    "unbind",
    "unflatten",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unpackbits",
    "unravel_index",
    "unsqueeze",
    "unstack",
    "unwrap",
    "vander",
    "var",
    "vdot",
    "vecdot",
    "vecmat",
    "vsplit",
    "vstack",
    "where",
    "zeros_like",
]

@overload
def abs(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def abs(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def absolute(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def absolute(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def acos(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def acos(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def acosh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def acosh(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def add(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def add(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def add(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def all(
    a: _T,
    axis: _Axis | None = None,
    out: _Out = None,
    keepdims: bool = False,
    *,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def all(
    a: _Plain,
    axis: _Axis | None = None,
    out: _Out = None,
    keepdims: bool = False,
    *,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def all(
    a: _T,
    *,
    dim: _Axis | None,
    out: _Out = None,
    keepdim: bool = False,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def all(
    a: _Plain,
    *,
    dim: _Axis | None,
    out: _Out = None,
    keepdim: bool = False,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def allclose(
    a: _T,
    b: _ArrayLike,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool: ...
@overload
def allclose(
    a: _Plain, b: _T, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool: ...
@overload
def allclose(
    a: _Plain,
    b: _Plain,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool: ...
@overload
def amax(
    a: _T,
    axis: _Axis | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def amax(
    a: _Plain,
    axis: _Axis | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def amax(
    a: _T,
    *,
    dim: _Axis | None,
    out: _Out = None,
    keepdim: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def amax(
    a: _Plain,
    *,
    dim: _Axis | None,
    out: _Out = None,
    keepdim: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def amin(
    a: _T,
    axis: _Axis | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def amin(
    a: _Plain,
    axis: _Axis | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def amin(
    a: _T,
    *,
    dim: _Axis | None,
    out: _Out = None,
    keepdim: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def amin(
    a: _Plain,
    *,
    dim: _Axis | None,
    out: _Out = None,
    keepdim: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def angle(z: _T, deg: bool = False) -> _T: ...
@overload
def angle(z: _Plain, deg: bool = False) -> _C.Tensor: ...
@overload
def any(
    a: _T,
    axis: _Axis | None = None,
    out: _Out = None,
    keepdims: bool = False,
    *,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def any(
    a: _Plain,
    axis: _Axis | None = None,
    out: _Out = None,
    keepdims: bool = False,
    *,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def any(
    a: _T,
    *,
    dim: _Axis | None,
    out: _Out = None,
    keepdim: bool = False,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def any(
    a: _Plain,
    *,
    dim: _Axis | None,
    out: _Out = None,
    keepdim: bool = False,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def append(arr: _T, values: _ArrayLike, axis: int | None = None) -> _T: ...
@overload
def append(arr: _Plain, values: _ArrayLike, axis: int | None = None) -> _C.Tensor: ...
def apply_along_axis(
    func1d: Callable[..., Any],
    axis: int,
    arr: _ArrayLike,
    *args: _ArrayLike,
    **kwargs: Any,
) -> DTensor: ...
def apply_over_axes(
    func: Callable[..., Any], a: _ArrayLike, axes: _Axis
) -> DTensor: ...
def arange(
    start: _ArrayLike,
    stop: _ArrayLike | None = None,
    step: _ArrayLike = 1,
    dtype: npt.DTypeLike | None = None,
    *,
    device: str | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
@overload
def arccos(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def arccos(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def arccosh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def arccosh(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def arcsin(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def arcsin(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def arcsinh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def arcsinh(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def arctan(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def arctan(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def arctan2(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def arctan2(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def arctan2(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def arctanh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def arctanh(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def argmax(
    a: _T, axis: int | None = None, out: _Out = None, *, keepdims: bool = False
) -> _T: ...
@overload
def argmax(
    a: _Plain, axis: int | None = None, out: _Out = None, *, keepdims: bool = False
) -> _C.Tensor: ...
@overload
def argmax(
    a: _T, *, dim: int | None, out: _Out = None, keepdim: bool = False
) -> _T: ...
@overload
def argmax(
    a: _Plain, *, dim: int | None, out: _Out = None, keepdim: bool = False
) -> _C.Tensor: ...
@overload
def argmin(
    a: _T, axis: int | None = None, out: _Out = None, *, keepdims: bool = False
) -> _T: ...
@overload
def argmin(
    a: _Plain, axis: int | None = None, out: _Out = None, *, keepdims: bool = False
) -> _C.Tensor: ...
@overload
def argmin(
    a: _T, *, dim: int | None, out: _Out = None, keepdim: bool = False
) -> _T: ...
@overload
def argmin(
    a: _Plain, *, dim: int | None, out: _Out = None, keepdim: bool = False
) -> _C.Tensor: ...
@overload
def argpartition(
    a: _T,
    kth: _Shape,
    axis: int | None = -1,
    kind: str = "introselect",
    order: None = None,
) -> _T: ...
@overload
def argpartition(
    a: _Plain,
    kth: _Shape,
    axis: int | None = -1,
    kind: str = "introselect",
    order: None = None,
) -> _C.Tensor: ...
@overload
def argpartition(
    a: _T,
    kth: _Shape,
    *,
    dim: int | None,
    kind: str = "introselect",
    order: None = None,
) -> _T: ...
@overload
def argpartition(
    a: _Plain,
    kth: _Shape,
    *,
    dim: int | None,
    kind: str = "introselect",
    order: None = None,
) -> _C.Tensor: ...
@overload
def argsort(
    a: _T,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
) -> _T: ...
@overload
def argsort(
    a: _Plain,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
) -> _C.Tensor: ...
@overload
def argsort(
    a: _T,
    *,
    dim: int | None,
    kind: str | None = None,
    order: None = None,
    stable: bool | None = None,
) -> _T: ...
@overload
def argsort(
    a: _Plain,
    *,
    dim: int | None,
    kind: str | None = None,
    order: None = None,
    stable: bool | None = None,
) -> _C.Tensor: ...
@overload
def argwhere(a: _T) -> _T: ...
@overload
def argwhere(a: _Plain) -> _C.Tensor: ...
@overload
def around(a: _T, decimals: int = 0, out: _Out = None) -> _T: ...
@overload
def around(a: _Plain, decimals: int = 0, out: _Out = None) -> _C.Tensor: ...
def array(
    object: _ArrayLike,
    dtype: npt.DTypeLike | None = None,
    *,
    copy: bool | None = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
@overload
def array_equal(a1: _T, a2: _ArrayLike, equal_nan: bool = False) -> bool: ...
@overload
def array_equal(a1: _Plain, a2: _ArrayLike, equal_nan: bool = False) -> bool: ...
@overload
def array_equiv(a1: _T, a2: _ArrayLike) -> bool: ...
@overload
def array_equiv(a1: _Plain, a2: _ArrayLike) -> bool: ...
@overload
def array_split(
    ary: _T, indices_or_sections: _ArrayLike, axis: int = 0
) -> list[_T]: ...
@overload
def array_split(
    ary: _Plain, indices_or_sections: _ArrayLike, axis: int = 0
) -> list[_C.Tensor]: ...
@overload
def asarray(
    a: _T,
    dtype: npt.DTypeLike | None = None,
    order: str | None = None,
    *,
    device: str | None = None,
    copy: bool | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
@overload
def asarray(
    a: _Plain,
    dtype: npt.DTypeLike | None = None,
    order: str | None = None,
    *,
    device: str | None = None,
    copy: bool | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
@overload
def asin(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def asin(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def asinh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def asinh(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def astype(
    x: _T,
    dtype: npt.DTypeLike,
    order: str = "K",
    casting: str = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> _T: ...
@overload
def astype(
    x: _Plain,
    dtype: npt.DTypeLike,
    order: str = "K",
    casting: str = "unsafe",
    subok: bool = True,
    copy: bool = True,
) -> _C.Tensor: ...
@overload
def atan(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def atan(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def atan2(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def atan2(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def atan2(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def atanh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def atanh(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def atleast_1d(a: _T, /) -> _T: ...
@overload
def atleast_1d(a: _T, b: _T, /, *arys: _T) -> tuple[_T, ...]: ...
@overload
def atleast_1d(a: _Plain, /) -> _C.Tensor: ...
@overload
def atleast_2d(a: _T, /) -> _T: ...
@overload
def atleast_2d(a: _T, b: _T, /, *arys: _T) -> tuple[_T, ...]: ...
@overload
def atleast_2d(a: _Plain, /) -> _C.Tensor: ...
@overload
def atleast_3d(a: _T, /) -> _T: ...
@overload
def atleast_3d(a: _T, b: _T, /, *arys: _T) -> tuple[_T, ...]: ...
@overload
def atleast_3d(a: _Plain, /) -> _C.Tensor: ...
@overload
def average(
    a: _T,
    axis: _Axis | None = None,
    weights: _ArrayLike | None = None,
    returned: Literal[False] = False,
    *,
    keepdims: bool = False,
) -> _T: ...
@overload
def average(
    a: _Plain,
    axis: _Axis | None = None,
    weights: _ArrayLike | None = None,
    returned: Literal[False] = False,
    *,
    keepdims: bool = False,
) -> _C.Tensor: ...
@overload
def average(
    a: _T,
    *,
    dim: _Axis | None,
    weights: _ArrayLike | None = None,
    returned: Literal[False] = False,
    keepdim: bool = False,
) -> _T: ...
@overload
def average(
    a: _Plain,
    *,
    dim: _Axis | None,
    weights: _ArrayLike | None = None,
    returned: Literal[False] = False,
    keepdim: bool = False,
) -> _C.Tensor: ...
@overload
def average(
    a: _T,
    axis: _Axis | None = None,
    weights: _ArrayLike | None = None,
    *,
    returned: Literal[True],
    keepdims: bool = False,
) -> tuple[_T, _T]: ...
@overload
def average(
    a: _Plain,
    axis: _Axis | None = None,
    weights: _ArrayLike | None = None,
    *,
    returned: Literal[True],
    keepdims: bool = False,
) -> tuple[_C.Tensor, _C.Tensor]: ...
@overload
def average(
    a: _T,
    *,
    dim: _Axis | None,
    weights: _ArrayLike | None = None,
    returned: Literal[True],
    keepdim: bool = False,
) -> tuple[_T, _T]: ...
@overload
def average(
    a: _Plain,
    *,
    dim: _Axis | None,
    weights: _ArrayLike | None = None,
    returned: Literal[True],
    keepdim: bool = False,
) -> tuple[_C.Tensor, _C.Tensor]: ...
@overload
def average(
    a: _T,
    axis: _Axis | None = None,
    weights: _ArrayLike | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any: ...
@overload
def average(
    a: _Plain,
    axis: _Axis | None = None,
    weights: _ArrayLike | None = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any: ...
@overload
def average(
    a: _T,
    *,
    dim: _Axis | None,
    weights: _ArrayLike | None = None,
    returned: bool = False,
    keepdim: bool = False,
) -> Any: ...
@overload
def average(
    a: _Plain,
    *,
    dim: _Axis | None,
    weights: _ArrayLike | None = None,
    returned: bool = False,
    keepdim: bool = False,
) -> Any: ...
@overload
def bernoulli(
    input: _T, p: float | None = None, *, generator: Generator | None = None
) -> _T: ...
@overload
def bernoulli(
    input: _Plain, p: float | None = None, *, generator: Generator | None = None
) -> _C.Tensor: ...
@overload
def binary_cross_entropy(
    input: _T,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _T: ...
@overload
def binary_cross_entropy(
    input: _Plain,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _C.Tensor: ...
@overload
def binary_cross_entropy_with_logits(
    input: _T,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: _ArrayLike | None = None,
) -> _T: ...
@overload
def binary_cross_entropy_with_logits(
    input: _Plain,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def bincount(x: _T, /, weights: _ArrayLike | None = None, minlength: int = 0) -> _T: ...
@overload
def bincount(
    x: _Plain, /, weights: _ArrayLike | None = None, minlength: int = 0
) -> _C.Tensor: ...
@overload
def bitwise_and(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def bitwise_and(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def bitwise_and(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def bitwise_count(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def bitwise_count(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def bitwise_invert(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def bitwise_invert(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def bitwise_left_shift(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def bitwise_left_shift(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def bitwise_left_shift(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def bitwise_not(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def bitwise_not(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def bitwise_or(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def bitwise_or(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def bitwise_or(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def bitwise_right_shift(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def bitwise_right_shift(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def bitwise_right_shift(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def bitwise_xor(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def bitwise_xor(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def bitwise_xor(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
def block(arrays: Any) -> DTensor: ...
@overload
def bmm(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def bmm(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def bmm(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def broadcast_arrays(*args: _T, subok: bool = False) -> tuple[_T, ...]: ...
@overload
def broadcast_arrays(*args: _Plain, subok: bool = False) -> tuple[_C.Tensor, ...]: ...
@overload
def broadcast_to(array: _T, shape: _Shape, subok: bool = False) -> _T: ...
@overload
def broadcast_to(array: _Plain, shape: _Shape, subok: bool = False) -> _C.Tensor: ...
def can_cast(
    from_: npt.DTypeLike, to: npt.DTypeLike, casting: str = "safe"
) -> bool: ...
@overload
def cat(
    arrays: Sequence[_T],
    /,
    axis: int | None = 0,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def cat(
    arrays: Sequence[_Plain],
    /,
    axis: int | None = 0,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def cat(
    arrays: Sequence[_T],
    /,
    *,
    dim: int | None,
    out: _Out = None,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def cat(
    arrays: Sequence[_Plain],
    /,
    *,
    dim: int | None,
    out: _Out = None,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def cbrt(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def cbrt(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def ceil(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def ceil(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def celu(x: _T, alpha: float = 1.0) -> _T: ...
@overload
def celu(x: _Plain, alpha: float = 1.0) -> _C.Tensor: ...
@overload
def choose(a: _T, choices: _ArrayLike, out: _Out = None, mode: str = "raise") -> _T: ...
@overload
def choose(
    a: _Plain, choices: _ArrayLike, out: _Out = None, mode: str = "raise"
) -> _C.Tensor: ...
@overload
def chunk(x: _T, chunks: int, axis: int = 0) -> tuple[_T, ...]: ...
@overload
def chunk(x: _Plain, chunks: int, axis: int = 0) -> tuple[_C.Tensor, ...]: ...
@overload
def chunk(x: _T, chunks: int, *, dim: int) -> tuple[_T, ...]: ...
@overload
def chunk(x: _Plain, chunks: int, *, dim: int) -> tuple[_C.Tensor, ...]: ...
@overload
def clamp(
    x: _T,
    min: _ArrayLike | None = None,
    max: _ArrayLike | None = None,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def clamp(
    x: _Plain,
    min: _ArrayLike | None = None,
    max: _ArrayLike | None = None,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _C.Tensor: ...
@overload
def clip(
    a: _T,
    a_min: _ArrayLike | None = ...,
    a_max: _ArrayLike | None = ...,
    out: _Out = None,
    *,
    min: _ArrayLike | None = ...,
    max: _ArrayLike | None = ...,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def clip(
    a: _Plain,
    a_min: _ArrayLike | None = ...,
    a_max: _ArrayLike | None = ...,
    out: _Out = None,
    *,
    min: _ArrayLike | None = ...,
    max: _ArrayLike | None = ...,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _C.Tensor: ...
@overload
def column_stack(tup: Sequence[_T]) -> _T: ...
@overload
def column_stack(tup: Sequence[_Plain]) -> _C.Tensor: ...
@overload
def common_type(*arrays: _T) -> type[Any]: ...
@overload
def common_type(*arrays: _Plain) -> type[Any]: ...
def compress(
    condition: _ArrayLike, a: _ArrayLike, axis: int | None = None, out: _Out = None
) -> DTensor: ...
@overload
def concat(
    arrays: Sequence[_T],
    /,
    axis: int | None = 0,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def concat(
    arrays: Sequence[_Plain],
    /,
    axis: int | None = 0,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def concat(
    arrays: Sequence[_T],
    /,
    *,
    dim: int | None,
    out: _Out = None,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def concat(
    arrays: Sequence[_Plain],
    /,
    *,
    dim: int | None,
    out: _Out = None,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def concatenate(
    arrays: Sequence[_T],
    /,
    axis: int | None = 0,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def concatenate(
    arrays: Sequence[_Plain],
    /,
    axis: int | None = 0,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def concatenate(
    arrays: Sequence[_T],
    /,
    *,
    dim: int | None,
    out: _Out = None,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def concatenate(
    arrays: Sequence[_Plain],
    /,
    *,
    dim: int | None,
    out: _Out = None,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def conj(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def conj(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def conjugate(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def conjugate(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def convolve(a: _T, v: _ArrayLike, mode: str = "full") -> _T: ...
@overload
def convolve(a: _Plain, v: _T, mode: str = "full") -> _T: ...
@overload
def convolve(a: _Plain, v: _Plain, mode: str = "full") -> _C.Tensor: ...
@overload
def copy(a: _T, order: str = "K", subok: bool = False) -> _T: ...
@overload
def copy(a: _Plain, order: str = "K", subok: bool = False) -> _C.Tensor: ...
@overload
def copysign(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def copysign(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def copysign(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
def copyto(
    dst: _C.Tensor,
    src: _ArrayLike,
    casting: str = "same_kind",
    where: _ArrayLike = True,
) -> None: ...
@overload
def corrcoef(
    x: _T,
    y: _ArrayLike | None = None,
    rowvar: bool = True,
    *,
    dtype: npt.DTypeLike | None = None,
) -> _T: ...
@overload
def corrcoef(
    x: _Plain,
    y: _ArrayLike | None = None,
    rowvar: bool = True,
    *,
    dtype: npt.DTypeLike | None = None,
) -> _C.Tensor: ...
@overload
def correlate(a: _T, v: _ArrayLike, mode: str = "valid") -> _T: ...
@overload
def correlate(a: _Plain, v: _T, mode: str = "valid") -> _T: ...
@overload
def correlate(a: _Plain, v: _Plain, mode: str = "valid") -> _C.Tensor: ...
@overload
def cos(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def cos(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def cosh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def cosh(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def count_nonzero(
    a: _T, axis: _Axis | None = None, *, keepdims: bool = False
) -> _T: ...
@overload
def count_nonzero(
    a: _Plain, axis: _Axis | None = None, *, keepdims: bool = False
) -> _C.Tensor: ...
@overload
def count_nonzero(a: _T, *, dim: _Axis | None, keepdim: bool = False) -> _T: ...
@overload
def count_nonzero(
    a: _Plain, *, dim: _Axis | None, keepdim: bool = False
) -> _C.Tensor: ...
@overload
def cov(
    m: _T,
    y: _ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: _ArrayLike | None = None,
    aweights: _ArrayLike | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
) -> _T: ...
@overload
def cov(
    m: _Plain,
    y: _ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: _ArrayLike | None = None,
    aweights: _ArrayLike | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
) -> _C.Tensor: ...
@overload
def cross(
    a: _T,
    b: _ArrayLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> _T: ...
@overload
def cross(
    a: _Plain,
    b: _T,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> _T: ...
@overload
def cross(
    a: _Plain,
    b: _Plain,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> _C.Tensor: ...
@overload
def cross(
    a: _T,
    b: _ArrayLike,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    *,
    dim: int | None,
) -> _T: ...
@overload
def cross(
    a: _Plain,
    b: _T,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    *,
    dim: int | None,
) -> _T: ...
@overload
def cross(
    a: _Plain,
    b: _Plain,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    *,
    dim: int | None,
) -> _C.Tensor: ...
@overload
def cross_entropy(
    input: _T,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> _T: ...
@overload
def cross_entropy(
    input: _Plain,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> _C.Tensor: ...
@overload
def cumprod(
    a: _T, axis: int | None = None, dtype: npt.DTypeLike | None = None, out: _Out = None
) -> _T: ...
@overload
def cumprod(
    a: _Plain,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def cumprod(
    a: _T, *, dim: int | None, dtype: npt.DTypeLike | None = None, out: _Out = None
) -> _T: ...
@overload
def cumprod(
    a: _Plain, *, dim: int | None, dtype: npt.DTypeLike | None = None, out: _Out = None
) -> _C.Tensor: ...
@overload
def cumsum(
    a: _T, axis: int | None = None, dtype: npt.DTypeLike | None = None, out: _Out = None
) -> _T: ...
@overload
def cumsum(
    a: _Plain,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def cumsum(
    a: _T, *, dim: int | None, dtype: npt.DTypeLike | None = None, out: _Out = None
) -> _T: ...
@overload
def cumsum(
    a: _Plain, *, dim: int | None, dtype: npt.DTypeLike | None = None, out: _Out = None
) -> _C.Tensor: ...
@overload
def cumulative_prod(
    x: _T,
    /,
    *,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    include_initial: bool = False,
) -> _T: ...
@overload
def cumulative_prod(
    x: _Plain,
    /,
    *,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    include_initial: bool = False,
) -> _C.Tensor: ...
@overload
def cumulative_sum(
    x: _T,
    /,
    *,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    include_initial: bool = False,
) -> _T: ...
@overload
def cumulative_sum(
    x: _Plain,
    /,
    *,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    include_initial: bool = False,
) -> _C.Tensor: ...
@overload
def deg2rad(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def deg2rad(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def degrees(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def degrees(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def delete(arr: _T, obj: _ArrayLike | slice, axis: int | None = None) -> _T: ...
@overload
def delete(
    arr: _Plain, obj: _ArrayLike | slice, axis: int | None = None
) -> _C.Tensor: ...
@overload
def diag(v: _T, k: int = 0) -> _T: ...
@overload
def diag(v: _Plain, k: int = 0) -> _C.Tensor: ...
def diag_indices(
    n: int, ndim: int = 2, *, device_mesh: Mesh | None = None
) -> tuple[DTensor, ...]: ...
@overload
def diag_indices_from(arr: _T) -> tuple[_T, ...]: ...
@overload
def diag_indices_from(arr: _Plain) -> tuple[_C.Tensor, ...]: ...
@overload
def diagflat(v: _T, k: int = 0) -> _T: ...
@overload
def diagflat(v: _Plain, k: int = 0) -> _C.Tensor: ...
@overload
def diagonal(a: _T, offset: int = 0, axis1: int = 0, axis2: int = 1) -> _T: ...
@overload
def diagonal(
    a: _Plain, offset: int = 0, axis1: int = 0, axis2: int = 1
) -> _C.Tensor: ...
@overload
def diff(
    a: _T,
    n: int = 1,
    axis: int = -1,
    prepend: _ArrayLike = ...,
    append: _ArrayLike = ...,
) -> _T: ...
@overload
def diff(
    a: _Plain,
    n: int = 1,
    axis: int = -1,
    prepend: _ArrayLike = ...,
    append: _ArrayLike = ...,
) -> _C.Tensor: ...
@overload
def diff(
    a: _T, n: int = 1, *, dim: int, prepend: _ArrayLike = ..., append: _ArrayLike = ...
) -> _T: ...
@overload
def diff(
    a: _Plain,
    n: int = 1,
    *,
    dim: int,
    prepend: _ArrayLike = ...,
    append: _ArrayLike = ...,
) -> _C.Tensor: ...
@overload
def digitize(x: _T, bins: _ArrayLike, right: bool = False) -> _T: ...
@overload
def digitize(x: _Plain, bins: _ArrayLike, right: bool = False) -> _C.Tensor: ...
@overload
def div(
    x: _T,
    other: _ArrayLike,
    *,
    rounding_mode: str | None = None,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def div(
    x: _Plain,
    other: _T,
    *,
    rounding_mode: str | None = None,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def div(
    x: _Plain,
    other: _Plain,
    *,
    rounding_mode: str | None = None,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _C.Tensor: ...
@overload
def divide(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def divide(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def divide(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def divmod(
    x1: _T,
    x2: _ArrayLike,
    /,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> tuple[_T, _T]: ...
@overload
def divmod(
    x1: _Plain,
    x2: _T,
    /,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> tuple[_T, _T]: ...
@overload
def divmod(
    x1: _Plain,
    x2: _Plain,
    /,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> tuple[_C.Tensor, _C.Tensor]: ...
@overload
def dot(a: _T, b: _ArrayLike, out: _Out = None) -> _T: ...
@overload
def dot(a: _Plain, b: _T, out: _Out = None) -> _T: ...
@overload
def dot(a: _Plain, b: _Plain, out: _Out = None) -> _C.Tensor: ...
@overload
def dropout(
    input: _T,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> _T: ...
@overload
def dropout(
    input: _Plain,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> _C.Tensor: ...
@overload
def dsplit(ary: _T, indices_or_sections: _ArrayLike) -> list[_T]: ...
@overload
def dsplit(ary: _Plain, indices_or_sections: _ArrayLike) -> list[_C.Tensor]: ...
@overload
def dstack(tup: Sequence[_T]) -> _T: ...
@overload
def dstack(tup: Sequence[_Plain]) -> _C.Tensor: ...
@overload
def ediff1d(
    ary: _T, to_end: _ArrayLike | None = None, to_begin: _ArrayLike | None = None
) -> _T: ...
@overload
def ediff1d(
    ary: _Plain, to_end: _ArrayLike | None = None, to_begin: _ArrayLike | None = None
) -> _C.Tensor: ...
@overload
def einsum(
    subscripts: str,
    /,
    *operands: _T,
    out: _Out = None,
    optimize: object = False,
    dtype: npt.DTypeLike | None = None,
    order: str = "K",
    casting: str = "safe",
) -> _T: ...
@overload
def einsum(
    subscripts: str,
    /,
    *operands: _ArrayLike,
    out: _Out = None,
    optimize: object = False,
    dtype: npt.DTypeLike | None = None,
    order: str = "K",
    casting: str = "safe",
) -> _C.Tensor: ...
@overload
def einsum(
    operand: _T,
    sublist: Sequence[int],
    /,
    *operands: Any,
    out: _Out = None,
    optimize: object = False,
) -> _T: ...
@overload
def elu(x: _T, alpha: float = 1.0) -> _T: ...
@overload
def elu(x: _Plain, alpha: float = 1.0) -> _C.Tensor: ...
@overload
def empty_like(
    a: _T,
    dtype: npt.DTypeLike | None = None,
    order: str = "K",
    subok: bool = True,
    shape: _Shape | None = None,
    *,
    device: str | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> _T: ...
@overload
def empty_like(
    a: _Plain,
    dtype: npt.DTypeLike | None = None,
    order: str = "K",
    subok: bool = True,
    shape: _Shape | None = None,
    *,
    device: str | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> _C.Tensor: ...
@overload
def equal(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def equal(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def equal(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def erf(x: _T) -> _T: ...
@overload
def erf(x: _Plain) -> _C.Tensor: ...
@overload
def erfc(x: _T) -> _T: ...
@overload
def erfc(x: _Plain) -> _C.Tensor: ...
@overload
def erfinv(x: _T) -> _T: ...
@overload
def erfinv(x: _Plain) -> _C.Tensor: ...
@overload
def exp(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def exp(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def exp2(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def exp2(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def expand(a: _T, /, *sizes: _Shape) -> _T: ...
@overload
def expand(a: _Plain, /, *sizes: _Shape) -> _C.Tensor: ...
@overload
def expand_as(a: _T, other: _ArrayLike) -> _T: ...
@overload
def expand_as(a: _Plain, other: _T) -> _T: ...
@overload
def expand_as(a: _Plain, other: _Plain) -> _C.Tensor: ...
@overload
def expand_dims(a: _T, axis: _Axis) -> _T: ...
@overload
def expand_dims(a: _Plain, axis: _Axis) -> _C.Tensor: ...
@overload
def expand_dims(a: _T, *, dim: _Axis) -> _T: ...
@overload
def expand_dims(a: _Plain, *, dim: _Axis) -> _C.Tensor: ...
@overload
def expm1(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def expm1(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
def extract(condition: _ArrayLike, arr: _ArrayLike) -> DTensor: ...
def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: npt.DTypeLike = ...,
    order: str = "C",
    *,
    device: str | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
@overload
def fabs(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def fabs(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
def fftfreq(
    n: int,
    d: float = 1.0,
    device: str | None = None,
    *,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
@overload
def fill(x: _T, value: _ArrayLike) -> None: ...
@overload
def fill(x: _Plain, value: _ArrayLike) -> None: ...
@overload
def fill_diagonal(a: _T, val: _ArrayLike, wrap: bool = False) -> None: ...
@overload
def fill_diagonal(a: _Plain, val: _ArrayLike, wrap: bool = False) -> None: ...
@overload
def fix(
    x: _T,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def fix(
    x: _Plain,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _C.Tensor: ...
@overload
def flatnonzero(a: _T) -> _T: ...
@overload
def flatnonzero(a: _Plain) -> _C.Tensor: ...
@overload
def flatten(
    a: _T,
    start_dim: int | str | None = None,
    end_dim: int | None = None,
    *,
    order: str = "C",
) -> _T: ...
@overload
def flatten(
    a: _Plain,
    start_dim: int | str | None = None,
    end_dim: int | None = None,
    *,
    order: str = "C",
) -> _C.Tensor: ...
@overload
def flip(m: _T, axis: _Axis | None = None) -> _T: ...
@overload
def flip(m: _Plain, axis: _Axis | None = None) -> _C.Tensor: ...
@overload
def flip(m: _T, *, dim: _Axis | None) -> _T: ...
@overload
def flip(m: _Plain, *, dim: _Axis | None) -> _C.Tensor: ...
@overload
def fliplr(m: _T) -> _T: ...
@overload
def fliplr(m: _Plain) -> _C.Tensor: ...
@overload
def flipud(m: _T) -> _T: ...
@overload
def flipud(m: _Plain) -> _C.Tensor: ...
@overload
def float_power(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def float_power(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def float_power(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def floor(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def floor(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def floor_divide(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def floor_divide(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def floor_divide(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def fmax(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def fmax(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def fmax(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def fmin(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def fmin(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def fmin(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def fmod(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def fmod(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def fmod(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def frexp(
    x: _T,
    /,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> tuple[_T, _T]: ...
@overload
def frexp(
    x: _Plain,
    /,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> tuple[_C.Tensor, _C.Tensor]: ...
def fromfunction(
    function: Callable[..., Any],
    shape: _Shape,
    *,
    dtype: npt.DTypeLike = ...,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
    **kwargs: Any,
) -> Any: ...
@overload
def full_like(
    a: _T,
    fill_value: _ArrayLike,
    dtype: npt.DTypeLike | None = None,
    order: str = "K",
    subok: bool = True,
    shape: _Shape | None = None,
    *,
    device: str | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> _T: ...
@overload
def full_like(
    a: _Plain,
    fill_value: _ArrayLike,
    dtype: npt.DTypeLike | None = None,
    order: str = "K",
    subok: bool = True,
    shape: _Shape | None = None,
    *,
    device: str | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> _C.Tensor: ...
@overload
def gcd(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def gcd(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def gcd(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def gelu(x: _T, approximate: str = "none") -> _T: ...
@overload
def gelu(x: _Plain, approximate: str = "none") -> _C.Tensor: ...
def geomspace(
    start: _ArrayLike,
    stop: _ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
    *,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
@overload
def glu(x: _T, dim: int = -1) -> _T: ...
@overload
def glu(x: _Plain, dim: int = -1) -> _C.Tensor: ...
@overload
def gradient(
    f: _T, *varargs: _ArrayLike, axis: _Axis | None = None, edge_order: int = 1
) -> _T | tuple[_T, ...]: ...
@overload
def gradient(
    f: _Plain, *varargs: _ArrayLike, axis: _Axis | None = None, edge_order: int = 1
) -> _C.Tensor | tuple[_C.Tensor, ...]: ...
@overload
def gradient(
    f: _T, *varargs: _ArrayLike, dim: _Axis | None, edge_order: int = 1
) -> _T | tuple[_T, ...]: ...
@overload
def gradient(
    f: _Plain, *varargs: _ArrayLike, dim: _Axis | None, edge_order: int = 1
) -> _C.Tensor | tuple[_C.Tensor, ...]: ...
@overload
def greater(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def greater(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def greater(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def greater_equal(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def greater_equal(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def greater_equal(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def group_norm(
    input: _T,
    num_groups: int,
    weight: _ArrayLike | None = None,
    bias: _ArrayLike | None = None,
    eps: float = 1e-05,
) -> _T: ...
@overload
def group_norm(
    input: _Plain,
    num_groups: int,
    weight: _ArrayLike | None = None,
    bias: _ArrayLike | None = None,
    eps: float = 1e-05,
) -> _C.Tensor: ...
@overload
def hardshrink(x: _T, lambd: float = 0.5) -> _T: ...
@overload
def hardshrink(x: _Plain, lambd: float = 0.5) -> _C.Tensor: ...
@overload
def hardsigmoid(x: _T) -> _T: ...
@overload
def hardsigmoid(x: _Plain) -> _C.Tensor: ...
@overload
def hardswish(x: _T) -> _T: ...
@overload
def hardswish(x: _Plain) -> _C.Tensor: ...
@overload
def hardtanh(x: _T, min_val: float = -1.0, max_val: float = 1.0) -> _T: ...
@overload
def hardtanh(x: _Plain, min_val: float = -1.0, max_val: float = 1.0) -> _C.Tensor: ...
@overload
def heaviside(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def heaviside(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def heaviside(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def histogram(
    a: _T,
    bins: _ArrayLike | str = 10,
    range: _ArrayLike | None = None,
    density: bool | None = None,
    weights: _ArrayLike | None = None,
) -> tuple[_T, _T]: ...
@overload
def histogram(
    a: _Plain,
    bins: _ArrayLike | str = 10,
    range: _ArrayLike | None = None,
    density: bool | None = None,
    weights: _ArrayLike | None = None,
) -> tuple[_C.Tensor, _C.Tensor]: ...
@overload
def histogram2d(
    x: _T,
    y: _ArrayLike,
    bins: _ArrayLike | Sequence[_ArrayLike] = 10,
    range: _ArrayLike | None = None,
    density: bool | None = None,
    weights: _ArrayLike | None = None,
) -> tuple[_T, _T, _T]: ...
@overload
def histogram2d(
    x: _Plain,
    y: _T,
    bins: _ArrayLike | Sequence[_ArrayLike] = 10,
    range: _ArrayLike | None = None,
    density: bool | None = None,
    weights: _ArrayLike | None = None,
) -> tuple[_T, _T, _T]: ...
@overload
def histogram2d(
    x: _Plain,
    y: _Plain,
    bins: _ArrayLike | Sequence[_ArrayLike] = 10,
    range: _ArrayLike | None = None,
    density: bool | None = None,
    weights: _ArrayLike | None = None,
) -> tuple[_C.Tensor, _C.Tensor, _C.Tensor]: ...
@overload
def histogram_bin_edges(
    a: _T,
    bins: _ArrayLike | str = 10,
    range: _ArrayLike | None = None,
    weights: _ArrayLike | None = None,
) -> _T: ...
@overload
def histogram_bin_edges(
    a: _Plain,
    bins: _ArrayLike | str = 10,
    range: _ArrayLike | None = None,
    weights: _ArrayLike | None = None,
) -> _C.Tensor: ...
def histogramdd(
    sample: _ArrayLike,
    bins: _ArrayLike = 10,
    range: _ArrayLike | None = None,
    density: bool | None = None,
    weights: _ArrayLike | None = None,
) -> tuple[DTensor, list[DTensor]]: ...
@overload
def hsplit(ary: _T, indices_or_sections: _ArrayLike) -> list[_T]: ...
@overload
def hsplit(ary: _Plain, indices_or_sections: _ArrayLike) -> list[_C.Tensor]: ...
@overload
def hstack(
    tup: Sequence[_T], *, dtype: npt.DTypeLike | None = None, casting: str = "same_kind"
) -> _T: ...
@overload
def hstack(
    tup: Sequence[_Plain],
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def huber_loss(
    input: _T,
    target: _ArrayLike,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: _ArrayLike | None = None,
) -> _T: ...
@overload
def huber_loss(
    input: _Plain,
    target: _ArrayLike,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def hypot(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def hypot(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def hypot(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def i0(
    x: _T,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def i0(
    x: _Plain,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _C.Tensor: ...
def identity(
    n: int,
    dtype: npt.DTypeLike | None = None,
    *,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
@overload
def imag(
    x: _T,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def imag(
    x: _Plain,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _C.Tensor: ...
def index_select(self: Any, dim: int, index: _ArrayLike) -> DTensor: ...
def indices(
    dimensions: _Shape,
    dtype: npt.DTypeLike = ...,
    sparse: bool = False,
    *,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
@overload
def inner(a: _T, b: _ArrayLike, /) -> _T: ...
@overload
def inner(a: _Plain, b: _T, /) -> _T: ...
@overload
def inner(a: _Plain, b: _Plain, /) -> _C.Tensor: ...
@overload
def insert(
    arr: _T, obj: _ArrayLike | slice, values: _ArrayLike, axis: int | None = None
) -> _T: ...
@overload
def insert(
    arr: _Plain, obj: _ArrayLike | slice, values: _ArrayLike, axis: int | None = None
) -> _C.Tensor: ...
@overload
def interp(
    x: _T,
    xp: _ArrayLike,
    fp: _ArrayLike,
    left: complex | None = None,
    right: complex | None = None,
    period: float | None = None,
) -> _T: ...
@overload
def interp(
    x: _Plain,
    xp: _ArrayLike,
    fp: _ArrayLike,
    left: complex | None = None,
    right: complex | None = None,
    period: float | None = None,
) -> _C.Tensor: ...
@overload
def intersect1d(
    ar1: _T,
    ar2: _ArrayLike,
    assume_unique: bool = False,
    return_indices: Literal[False] = False,
) -> _T: ...
@overload
def intersect1d(
    ar1: _Plain,
    ar2: _T,
    assume_unique: bool = False,
    return_indices: Literal[False] = False,
) -> _T: ...
@overload
def intersect1d(
    ar1: _Plain,
    ar2: _Plain,
    assume_unique: bool = False,
    return_indices: Literal[False] = False,
) -> _C.Tensor: ...
@overload
def intersect1d(
    ar1: _T,
    ar2: _ArrayLike,
    assume_unique: bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[_T, _T, _T]: ...
@overload
def intersect1d(
    ar1: _Plain, ar2: _T, assume_unique: bool = False, *, return_indices: Literal[True]
) -> tuple[_T, _T, _T]: ...
@overload
def intersect1d(
    ar1: _Plain,
    ar2: _Plain,
    assume_unique: bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[_C.Tensor, _C.Tensor, _C.Tensor]: ...
@overload
def intersect1d(
    ar1: _T, ar2: _ArrayLike, assume_unique: bool, return_indices: Literal[True]
) -> tuple[_T, _T, _T]: ...
@overload
def intersect1d(
    ar1: _Plain, ar2: _T, assume_unique: bool, return_indices: Literal[True]
) -> tuple[_T, _T, _T]: ...
@overload
def intersect1d(
    ar1: _Plain, ar2: _Plain, assume_unique: bool, return_indices: Literal[True]
) -> tuple[_C.Tensor, _C.Tensor, _C.Tensor]: ...
@overload
def intersect1d(
    ar1: _T, ar2: _ArrayLike, assume_unique: bool = False, return_indices: bool = False
) -> Any: ...
@overload
def intersect1d(
    ar1: _Plain, ar2: _T, assume_unique: bool = False, return_indices: bool = False
) -> Any: ...
@overload
def intersect1d(
    ar1: _Plain, ar2: _Plain, assume_unique: bool = False, return_indices: bool = False
) -> Any: ...
@overload
def invert(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def invert(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def isclose(
    a: _T,
    b: _ArrayLike,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> _T: ...
@overload
def isclose(
    a: _Plain, b: _T, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> _T: ...
@overload
def isclose(
    a: _Plain,
    b: _Plain,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> _C.Tensor: ...
@overload
def iscomplex(
    x: _T,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def iscomplex(
    x: _Plain,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _C.Tensor: ...
@overload
def iscomplexobj(x: _T) -> bool: ...
@overload
def iscomplexobj(x: _Plain) -> bool: ...
@overload
def isfinite(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def isfinite(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def isin(
    element: _T,
    test_elements: _ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> _T: ...
@overload
def isin(
    element: _Plain,
    test_elements: _ArrayLike,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> _C.Tensor: ...
@overload
def isinf(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def isinf(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def isnan(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def isnan(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def isnat(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def isnat(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def isneginf(
    x: _T,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def isneginf(
    x: _Plain,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _C.Tensor: ...
@overload
def isposinf(
    x: _T,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def isposinf(
    x: _Plain,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _C.Tensor: ...
@overload
def isreal(
    x: _T,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def isreal(
    x: _Plain,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _C.Tensor: ...
@overload
def isrealobj(x: _T) -> bool: ...
@overload
def isrealobj(x: _Plain) -> bool: ...
@overload
def ix_(*args: _T) -> tuple[_T, ...]: ...
@overload
def ix_(*args: _Plain) -> tuple[_C.Tensor, ...]: ...
@overload
def kl_div(
    input: _T,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> _T: ...
@overload
def kl_div(
    input: _Plain,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> _C.Tensor: ...
@overload
def kron(a: _T, b: _ArrayLike) -> _T: ...
@overload
def kron(a: _Plain, b: _T) -> _T: ...
@overload
def kron(a: _Plain, b: _Plain) -> _C.Tensor: ...
@overload
def l1_loss(
    input: _T,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: _ArrayLike | None = None,
) -> _T: ...
@overload
def l1_loss(
    input: _Plain,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def layer_norm(
    input: _T,
    normalized_shape: _Shape,
    weight: _ArrayLike | None = None,
    bias: _ArrayLike | None = None,
    eps: float = 1e-05,
) -> _T: ...
@overload
def layer_norm(
    input: _Plain,
    normalized_shape: _Shape,
    weight: _ArrayLike | None = None,
    bias: _ArrayLike | None = None,
    eps: float = 1e-05,
) -> _C.Tensor: ...
@overload
def lcm(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def lcm(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def lcm(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def ldexp(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def ldexp(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def ldexp(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def leaky_relu(x: _T, negative_slope: float = 0.01) -> _T: ...
@overload
def leaky_relu(x: _Plain, negative_slope: float = 0.01) -> _C.Tensor: ...
@overload
def left_shift(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def left_shift(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def left_shift(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def less(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def less(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def less(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def less_equal(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def less_equal(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def less_equal(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
def lexsort(keys: Sequence[_ArrayLike], axis: int = -1) -> DTensor: ...
@overload
def linspace(
    start: _ArrayLike,
    stop: _ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
    *,
    device: str | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
@overload
def linspace(
    start: _ArrayLike,
    stop: _ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    *,
    retstep: Literal[True],
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
    device: str | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> tuple[DTensor, DTensor]: ...
@overload
def linspace(
    start: _ArrayLike,
    stop: _ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
    *,
    device: str | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> Any: ...
@overload
def log(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def log(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def log10(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def log10(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def log1p(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def log1p(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def log2(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def log2(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def log_softmax(x: _T, axis: int = -1, dtype: npt.DTypeLike | None = None) -> _T: ...
@overload
def log_softmax(
    x: _Plain, axis: int = -1, dtype: npt.DTypeLike | None = None
) -> _C.Tensor: ...
@overload
def log_softmax(x: _T, *, dim: int, dtype: npt.DTypeLike | None = None) -> _T: ...
@overload
def log_softmax(
    x: _Plain, *, dim: int, dtype: npt.DTypeLike | None = None
) -> _C.Tensor: ...
@overload
def logaddexp(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def logaddexp(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def logaddexp(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def logaddexp2(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def logaddexp2(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def logaddexp2(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def logical_and(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def logical_and(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def logical_and(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def logical_not(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def logical_not(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def logical_or(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def logical_or(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def logical_or(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def logical_xor(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def logical_xor(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def logical_xor(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def logsigmoid(x: _T) -> _T: ...
@overload
def logsigmoid(x: _Plain) -> _C.Tensor: ...
def logspace(
    start: _ArrayLike,
    stop: _ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    base: _ArrayLike = 10.0,
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
    *,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
@overload
def logsumexp(a: _T, axis: _Axis | None = None, keepdims: bool = False) -> _T: ...
@overload
def logsumexp(
    a: _Plain, axis: _Axis | None = None, keepdims: bool = False
) -> _C.Tensor: ...
@overload
def logsumexp(a: _T, *, dim: _Axis | None, keepdim: bool = False) -> _T: ...
@overload
def logsumexp(a: _Plain, *, dim: _Axis | None, keepdim: bool = False) -> _C.Tensor: ...
def masked_fill(self: Any, mask: _ArrayLike, value: _ArrayLike) -> DTensor: ...
@overload
def matmul(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def matmul(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def matmul(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def matrix_transpose(x: _T, /) -> _T: ...
@overload
def matrix_transpose(x: _Plain, /) -> _C.Tensor: ...
@overload
def matvec(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def matvec(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def matvec(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def max(
    a: _T,
    axis: _Axis | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def max(
    a: _Plain,
    axis: _Axis | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def max(
    a: _T,
    *,
    dim: _Axis | None,
    out: _Out = None,
    keepdim: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def max(
    a: _Plain,
    *,
    dim: _Axis | None,
    out: _Out = None,
    keepdim: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def maximum(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def maximum(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def maximum(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def mean(
    a: _T,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdims: bool = False,
    *,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def mean(
    a: _Plain,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdims: bool = False,
    *,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def mean(
    a: _T,
    *,
    dim: _Axis | None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdim: bool = False,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def mean(
    a: _Plain,
    *,
    dim: _Axis | None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdim: bool = False,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def median(
    a: _T,
    axis: _Axis | None = None,
    out: _Out = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> _T: ...
@overload
def median(
    a: _Plain,
    axis: _Axis | None = None,
    out: _Out = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> _C.Tensor: ...
@overload
def median(
    a: _T,
    *,
    dim: _Axis | None,
    out: _Out = None,
    overwrite_input: bool = False,
    keepdim: bool = False,
) -> _T: ...
@overload
def median(
    a: _Plain,
    *,
    dim: _Axis | None,
    out: _Out = None,
    overwrite_input: bool = False,
    keepdim: bool = False,
) -> _C.Tensor: ...
@overload
def meshgrid(
    *xi: _T, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[_T, ...]: ...
@overload
def meshgrid(
    *xi: _Plain, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[_C.Tensor, ...]: ...
@overload
def min(
    a: _T,
    axis: _Axis | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def min(
    a: _Plain,
    axis: _Axis | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def min(
    a: _T,
    *,
    dim: _Axis | None,
    out: _Out = None,
    keepdim: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def min(
    a: _Plain,
    *,
    dim: _Axis | None,
    out: _Out = None,
    keepdim: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def min_scalar_type(a: _T) -> np.dtype[Any]: ...
@overload
def min_scalar_type(a: _Plain) -> np.dtype[Any]: ...
@overload
def minimum(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def minimum(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def minimum(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def mish(x: _T) -> _T: ...
@overload
def mish(x: _Plain) -> _C.Tensor: ...
@overload
def mm(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def mm(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def mm(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def mod(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def mod(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def mod(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def modf(
    x: _T,
    /,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> tuple[_T, _T]: ...
@overload
def modf(
    x: _Plain,
    /,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> tuple[_C.Tensor, _C.Tensor]: ...
@overload
def moveaxis(a: _T, source: _Shape, destination: _Shape) -> _T: ...
@overload
def moveaxis(a: _Plain, source: _Shape, destination: _Shape) -> _C.Tensor: ...
@overload
def mse_loss(
    input: _T,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: _ArrayLike | None = None,
) -> _T: ...
@overload
def mse_loss(
    input: _Plain,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def mul(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def mul(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def mul(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def multiply(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def multiply(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def multiply(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def mv(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def mv(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def mv(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def nan_to_num(
    x: _T,
    copy: bool = True,
    nan: _ArrayLike = 0.0,
    posinf: _ArrayLike | None = None,
    neginf: _ArrayLike | None = None,
) -> _T: ...
@overload
def nan_to_num(
    x: _Plain,
    copy: bool = True,
    nan: _ArrayLike = 0.0,
    posinf: _ArrayLike | None = None,
    neginf: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def nanargmax(
    a: _T, axis: int | None = None, out: _Out = None, *, keepdims: bool = False
) -> _T: ...
@overload
def nanargmax(
    a: _Plain, axis: int | None = None, out: _Out = None, *, keepdims: bool = False
) -> _C.Tensor: ...
@overload
def nanargmin(
    a: _T, axis: int | None = None, out: _Out = None, *, keepdims: bool = False
) -> _T: ...
@overload
def nanargmin(
    a: _Plain, axis: int | None = None, out: _Out = None, *, keepdims: bool = False
) -> _C.Tensor: ...
@overload
def nancumprod(
    a: _T, axis: int | None = None, dtype: npt.DTypeLike | None = None, out: _Out = None
) -> _T: ...
@overload
def nancumprod(
    a: _Plain,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def nancumsum(
    a: _T, axis: int | None = None, dtype: npt.DTypeLike | None = None, out: _Out = None
) -> _T: ...
@overload
def nancumsum(
    a: _Plain,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def nanmax(
    a: _T,
    axis: _Axis | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def nanmax(
    a: _Plain,
    axis: _Axis | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def nanmean(
    a: _T,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdims: bool = False,
    *,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def nanmean(
    a: _Plain,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdims: bool = False,
    *,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def nanmean(
    a: _T,
    *,
    dim: _Axis | None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdim: bool = False,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def nanmean(
    a: _Plain,
    *,
    dim: _Axis | None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdim: bool = False,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def nanmedian(
    a: _T,
    axis: _Axis | None = None,
    out: _Out = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> _T: ...
@overload
def nanmedian(
    a: _Plain,
    axis: _Axis | None = None,
    out: _Out = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> _C.Tensor: ...
@overload
def nanmedian(
    a: _T,
    *,
    dim: _Axis | None,
    out: _Out = None,
    overwrite_input: bool = False,
    keepdim: bool = False,
) -> _T: ...
@overload
def nanmedian(
    a: _Plain,
    *,
    dim: _Axis | None,
    out: _Out = None,
    overwrite_input: bool = False,
    keepdim: bool = False,
) -> _C.Tensor: ...
@overload
def nanmin(
    a: _T,
    axis: _Axis | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def nanmin(
    a: _Plain,
    axis: _Axis | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def nanpercentile(
    a: _T,
    q: _ArrayLike,
    axis: _Axis | None = None,
    out: _Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: _ArrayLike | None = None,
) -> _T: ...
@overload
def nanpercentile(
    a: _Plain,
    q: _ArrayLike,
    axis: _Axis | None = None,
    out: _Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def nanpercentile(
    a: _T,
    q: _ArrayLike,
    *,
    dim: _Axis | None,
    out: _Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdim: bool = False,
    weights: _ArrayLike | None = None,
) -> _T: ...
@overload
def nanpercentile(
    a: _Plain,
    q: _ArrayLike,
    *,
    dim: _Axis | None,
    out: _Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdim: bool = False,
    weights: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def nanprod(
    a: _T,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def nanprod(
    a: _Plain,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def nanprod(
    a: _T,
    *,
    dim: _Axis | None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdim: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def nanprod(
    a: _Plain,
    *,
    dim: _Axis | None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdim: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def nanquantile(
    a: _T,
    q: _ArrayLike,
    axis: _Axis | None = None,
    out: _Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: _ArrayLike | None = None,
) -> _T: ...
@overload
def nanquantile(
    a: _Plain,
    q: _ArrayLike,
    axis: _Axis | None = None,
    out: _Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def nanquantile(
    a: _T,
    q: _ArrayLike,
    *,
    dim: _Axis | None,
    out: _Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdim: bool = False,
    weights: _ArrayLike | None = None,
) -> _T: ...
@overload
def nanquantile(
    a: _Plain,
    q: _ArrayLike,
    *,
    dim: _Axis | None,
    out: _Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdim: bool = False,
    weights: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def nanstd(
    a: _T,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: _ArrayLike = True,
    mean: _ArrayLike = ...,
    correction: float = ...,
) -> _T: ...
@overload
def nanstd(
    a: _Plain,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: _ArrayLike = True,
    mean: _ArrayLike = ...,
    correction: float = ...,
) -> _C.Tensor: ...
@overload
def nansum(
    a: _T,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def nansum(
    a: _Plain,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def nansum(
    a: _T,
    *,
    dim: _Axis | None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdim: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def nansum(
    a: _Plain,
    *,
    dim: _Axis | None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdim: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def nanvar(
    a: _T,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: _ArrayLike = True,
    mean: _ArrayLike = ...,
    correction: float = ...,
) -> _T: ...
@overload
def nanvar(
    a: _Plain,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: _ArrayLike = True,
    mean: _ArrayLike = ...,
    correction: float = ...,
) -> _C.Tensor: ...
@overload
def ndim(a: _T) -> int: ...
@overload
def ndim(a: _Plain) -> int: ...
@overload
def neg(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def neg(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def negative(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def negative(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def nextafter(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def nextafter(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def nextafter(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def nll_loss(
    input: _T,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _T: ...
@overload
def nll_loss(
    input: _Plain,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _C.Tensor: ...
@overload
def nonzero(a: _T) -> tuple[_T, ...]: ...
@overload
def nonzero(a: _Plain) -> tuple[_C.Tensor, ...]: ...
def normal(
    mean: _ArrayLike = 0.0,
    std: _ArrayLike = 1.0,
    size: _Shape | None = None,
    *,
    requires_grad: bool = False,
    generator: Generator | None = None,
    dtype: npt.DTypeLike | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
@overload
def not_equal(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def not_equal(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def not_equal(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def ones_like(
    a: _T,
    dtype: npt.DTypeLike | None = None,
    order: str = "K",
    subok: bool = True,
    shape: _Shape | None = None,
    *,
    device: str | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> _T: ...
@overload
def ones_like(
    a: _Plain,
    dtype: npt.DTypeLike | None = None,
    order: str = "K",
    subok: bool = True,
    shape: _Shape | None = None,
    *,
    device: str | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> _C.Tensor: ...
@overload
def outer(a: _T, b: _ArrayLike, out: _Out = None) -> _T: ...
@overload
def outer(a: _Plain, b: _T, out: _Out = None) -> _T: ...
@overload
def outer(a: _Plain, b: _Plain, out: _Out = None) -> _C.Tensor: ...
@overload
def packbits(a: _T, axis: int | None = None, bitorder: str = "big") -> _T: ...
@overload
def packbits(
    a: _Plain, axis: int | None = None, bitorder: str = "big"
) -> _C.Tensor: ...
@overload
def packbits(a: _T, *, dim: int | None, bitorder: str = "big") -> _T: ...
@overload
def packbits(a: _Plain, *, dim: int | None, bitorder: str = "big") -> _C.Tensor: ...
@overload
def pad(
    array: _T,
    pad_width: _ArrayLike | Mapping[int, int | tuple[int, int]],
    mode: str | Callable[..., Any] = "constant",
    *,
    constant_values: _ArrayLike = 0,
    end_values: _ArrayLike = 0,
    stat_length: _ArrayLike | None = None,
    reflect_type: str = "even",
) -> _T: ...
@overload
def pad(
    array: _Plain,
    pad_width: _ArrayLike | Mapping[int, int | tuple[int, int]],
    mode: str | Callable[..., Any] = "constant",
    *,
    constant_values: _ArrayLike = 0,
    end_values: _ArrayLike = 0,
    stat_length: _ArrayLike | None = None,
    reflect_type: str = "even",
) -> _C.Tensor: ...
@overload
def partition(
    a: _T,
    kth: _Shape,
    axis: int | None = -1,
    kind: str = "introselect",
    order: None = None,
) -> _T: ...
@overload
def partition(
    a: _Plain,
    kth: _Shape,
    axis: int | None = -1,
    kind: str = "introselect",
    order: None = None,
) -> _C.Tensor: ...
@overload
def partition(
    a: _T,
    kth: _Shape,
    *,
    dim: int | None,
    kind: str = "introselect",
    order: None = None,
) -> _T: ...
@overload
def partition(
    a: _Plain,
    kth: _Shape,
    *,
    dim: int | None,
    kind: str = "introselect",
    order: None = None,
) -> _C.Tensor: ...
@overload
def percentile(
    a: _T,
    q: _ArrayLike,
    axis: _Axis | None = None,
    out: _Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: _ArrayLike | None = None,
) -> _T: ...
@overload
def percentile(
    a: _Plain,
    q: _ArrayLike,
    axis: _Axis | None = None,
    out: _Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def percentile(
    a: _T,
    q: _ArrayLike,
    *,
    dim: _Axis | None,
    out: _Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdim: bool = False,
    weights: _ArrayLike | None = None,
) -> _T: ...
@overload
def percentile(
    a: _Plain,
    q: _ArrayLike,
    *,
    dim: _Axis | None,
    out: _Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdim: bool = False,
    weights: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def permute_dims(a: _T, axes: _Axis | None = None) -> _T: ...
@overload
def permute_dims(a: _Plain, axes: _Axis | None = None) -> _C.Tensor: ...
@overload
def piecewise(
    x: _T,
    condlist: Sequence[_ArrayLike],
    funclist: Sequence[complex | Callable[..., Any]],
    *args: _ArrayLike,
    **kw: Any,
) -> _T: ...
@overload
def piecewise(
    x: _Plain,
    condlist: Sequence[_ArrayLike],
    funclist: Sequence[complex | Callable[..., Any]],
    *args: _ArrayLike,
    **kw: Any,
) -> _C.Tensor: ...
@overload
def place(arr: _T, mask: _ArrayLike, vals: _ArrayLike) -> None: ...
@overload
def place(arr: _Plain, mask: _ArrayLike, vals: _ArrayLike) -> None: ...
@overload
def polyfit(
    x: _T,
    y: _ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: Literal[False] = False,
    w: Any = None,
    cov: Literal[False] = False,
) -> _T: ...
@overload
def polyfit(
    x: _Plain,
    y: _T,
    deg: int,
    rcond: float | None = None,
    full: Literal[False] = False,
    w: Any = None,
    cov: Literal[False] = False,
) -> _T: ...
@overload
def polyfit(
    x: _Plain,
    y: _Plain,
    deg: int,
    rcond: float | None = None,
    full: Literal[False] = False,
    w: Any = None,
    cov: Literal[False] = False,
) -> _C.Tensor: ...
@overload
def polyfit(
    x: _T,
    y: _ArrayLike,
    deg: int,
    rcond: float | None = None,
    *,
    full: Literal[True],
    w: Any = None,
    cov: bool | str = False,
) -> tuple[_T, _T, int, _T, float]: ...
@overload
def polyfit(
    x: _Plain,
    y: _T,
    deg: int,
    rcond: float | None = None,
    *,
    full: Literal[True],
    w: Any = None,
    cov: bool | str = False,
) -> tuple[_T, _T, int, _T, float]: ...
@overload
def polyfit(
    x: _Plain,
    y: _Plain,
    deg: int,
    rcond: float | None = None,
    *,
    full: Literal[True],
    w: Any = None,
    cov: bool | str = False,
) -> tuple[_C.Tensor, _C.Tensor, int, _C.Tensor, float]: ...
@overload
def polyfit(
    x: _T,
    y: _ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: Literal[False] = False,
    w: Any = None,
    *,
    cov: Literal[True, "unscaled"],
) -> tuple[_T, _T]: ...
@overload
def polyfit(
    x: _Plain,
    y: _T,
    deg: int,
    rcond: float | None = None,
    full: Literal[False] = False,
    w: Any = None,
    *,
    cov: Literal[True, "unscaled"],
) -> tuple[_T, _T]: ...
@overload
def polyfit(
    x: _Plain,
    y: _Plain,
    deg: int,
    rcond: float | None = None,
    full: Literal[False] = False,
    w: Any = None,
    *,
    cov: Literal[True, "unscaled"],
) -> tuple[_C.Tensor, _C.Tensor]: ...
@overload
def polyfit(
    x: _T,
    y: _ArrayLike,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: bool | str = False,
) -> Any: ...
@overload
def polyfit(
    x: _Plain,
    y: _T,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: bool | str = False,
) -> Any: ...
@overload
def polyfit(
    x: _Plain,
    y: _Plain,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: bool | str = False,
) -> Any: ...
@overload
def polyval(p: _T, x: _ArrayLike) -> _T: ...
@overload
def polyval(p: _Plain, x: _ArrayLike) -> _C.Tensor: ...
@overload
def positive(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def positive(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def pow(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def pow(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def pow(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _C.Tensor: ...
@overload
def power(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def power(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def power(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _C.Tensor: ...
@overload
def prelu(x: _T, weight: _ArrayLike) -> _T: ...
@overload
def prelu(x: _Plain, weight: _ArrayLike) -> _C.Tensor: ...
@overload
def prod(
    a: _T,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def prod(
    a: _Plain,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def prod(
    a: _T,
    *,
    dim: _Axis | None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdim: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def prod(
    a: _Plain,
    *,
    dim: _Axis | None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdim: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def ptp(
    a: _T, axis: _Axis | None = None, out: _Out = None, keepdims: bool = False
) -> _T: ...
@overload
def ptp(
    a: _Plain, axis: _Axis | None = None, out: _Out = None, keepdims: bool = False
) -> _C.Tensor: ...
@overload
def ptp(a: _T, *, dim: _Axis | None, out: _Out = None, keepdim: bool = False) -> _T: ...
@overload
def ptp(
    a: _Plain, *, dim: _Axis | None, out: _Out = None, keepdim: bool = False
) -> _C.Tensor: ...
@overload
def put(a: _T, ind: _ArrayLike, v: _ArrayLike, mode: str = "raise") -> None: ...
@overload
def put(a: _Plain, ind: _ArrayLike, v: _ArrayLike, mode: str = "raise") -> None: ...
@overload
def put_along_axis(
    arr: _T, indices: _ArrayLike, values: _ArrayLike, axis: int | None
) -> None: ...
@overload
def put_along_axis(
    arr: _Plain, indices: _ArrayLike, values: _ArrayLike, axis: int | None
) -> None: ...
@overload
def put_along_axis(
    arr: _T, indices: _ArrayLike, values: _ArrayLike, *, dim: int | None
) -> None: ...
@overload
def put_along_axis(
    arr: _Plain, indices: _ArrayLike, values: _ArrayLike, *, dim: int | None
) -> None: ...
@overload
def putmask(a: _T, mask: _ArrayLike, values: _ArrayLike) -> None: ...
@overload
def putmask(a: _Plain, mask: _ArrayLike, values: _ArrayLike) -> None: ...
@overload
def quantile(
    a: _T,
    q: _ArrayLike,
    axis: _Axis | None = None,
    out: _Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: _ArrayLike | None = None,
) -> _T: ...
@overload
def quantile(
    a: _Plain,
    q: _ArrayLike,
    axis: _Axis | None = None,
    out: _Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def quantile(
    a: _T,
    q: _ArrayLike,
    *,
    dim: _Axis | None,
    out: _Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdim: bool = False,
    weights: _ArrayLike | None = None,
) -> _T: ...
@overload
def quantile(
    a: _Plain,
    q: _ArrayLike,
    *,
    dim: _Axis | None,
    out: _Out = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdim: bool = False,
    weights: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def rad2deg(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def rad2deg(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def radians(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def radians(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
def rand(
    *size: _Shape,
    requires_grad: bool = False,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
    generator: Generator | None = None,
) -> DTensor: ...
@overload
def rand_like(
    input: _T,
    *,
    requires_grad: bool = False,
    generator: Generator | None = None,
    dtype: npt.DTypeLike | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> _T: ...
@overload
def rand_like(
    input: _Plain,
    *,
    requires_grad: bool = False,
    generator: Generator | None = None,
    dtype: npt.DTypeLike | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> _C.Tensor: ...
@overload
def randint(
    *args: _T,
    size: _Shape | None = None,
    low: _ArrayLike | None = None,
    high: _ArrayLike | None = None,
    dtype: npt.DTypeLike = ...,
    requires_grad: bool = False,
    generator: Generator | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> _T: ...
@overload
def randint(
    *args: _Plain,
    size: _Shape | None = None,
    low: _ArrayLike | None = None,
    high: _ArrayLike | None = None,
    dtype: npt.DTypeLike = ...,
    requires_grad: bool = False,
    generator: Generator | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> _C.Tensor: ...
@overload
def randint_like(
    input: _T,
    low: int,
    high: int | None = None,
    *,
    requires_grad: bool = False,
    generator: Generator | None = None,
    dtype: npt.DTypeLike | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> _T: ...
@overload
def randint_like(
    input: _Plain,
    low: int,
    high: int | None = None,
    *,
    requires_grad: bool = False,
    generator: Generator | None = None,
    dtype: npt.DTypeLike | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> _C.Tensor: ...
def randn(
    *size: _Shape,
    requires_grad: bool = False,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
    generator: Generator | None = None,
) -> DTensor: ...
@overload
def randn_like(
    input: _T,
    *,
    requires_grad: bool = False,
    generator: Generator | None = None,
    dtype: npt.DTypeLike | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> _T: ...
@overload
def randn_like(
    input: _Plain,
    *,
    requires_grad: bool = False,
    generator: Generator | None = None,
    dtype: npt.DTypeLike | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> _C.Tensor: ...
def randperm(
    n: int,
    *,
    dtype: npt.DTypeLike = ...,
    requires_grad: bool = False,
    generator: Generator | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
@overload
def ravel(a: _T, order: str = "C") -> _T: ...
@overload
def ravel(a: _Plain, order: str = "C") -> _C.Tensor: ...
def ravel_multi_index(
    multi_index: _ArrayLike, dims: _Shape, mode: str = "raise", order: str = "C"
) -> DTensor: ...
@overload
def real(
    x: _T,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def real(
    x: _Plain,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _C.Tensor: ...
@overload
def real_if_close(a: _T, tol: float = 100) -> _T: ...
@overload
def real_if_close(a: _Plain, tol: float = 100) -> _C.Tensor: ...
@overload
def reciprocal(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def reciprocal(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def relu(x: _T) -> _T: ...
@overload
def relu(x: _Plain) -> _C.Tensor: ...
@overload
def relu6(x: _T) -> _T: ...
@overload
def relu6(x: _Plain) -> _C.Tensor: ...
@overload
def remainder(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def remainder(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def remainder(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def repeat(a: _T, repeats: _ArrayLike, axis: int | None = None) -> _T: ...
@overload
def repeat(a: _Plain, repeats: _ArrayLike, axis: int | None = None) -> _C.Tensor: ...
@overload
def repeat(a: _T, repeats: _ArrayLike, *, dim: int | None) -> _T: ...
@overload
def repeat(a: _Plain, repeats: _ArrayLike, *, dim: int | None) -> _C.Tensor: ...
@overload
def reshape(
    a: _T, /, shape: _Shape, order: str = "C", *, copy: bool | None = None
) -> _T: ...
@overload
def reshape(
    a: _Plain, /, shape: _Shape, order: str = "C", *, copy: bool | None = None
) -> _C.Tensor: ...
@overload
def resize(a: _T, new_shape: _Shape) -> _T: ...
@overload
def resize(a: _Plain, new_shape: _Shape) -> _C.Tensor: ...
def result_type(*arrays_and_dtypes: _ArrayLike | npt.DTypeLike) -> np.dtype[Any]: ...
def rfftfreq(
    n: int,
    d: float = 1.0,
    device: str | None = None,
    *,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
@overload
def right_shift(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def right_shift(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def right_shift(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def rint(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def rint(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def rms_norm(
    input: _T,
    normalized_shape: _Shape,
    weight: _ArrayLike | None = None,
    eps: float | None = None,
) -> _T: ...
@overload
def rms_norm(
    input: _Plain,
    normalized_shape: _Shape,
    weight: _ArrayLike | None = None,
    eps: float | None = None,
) -> _C.Tensor: ...
@overload
def roll(a: _T, shift: _Shape, axis: _Axis | None = None) -> _T: ...
@overload
def roll(a: _Plain, shift: _Shape, axis: _Axis | None = None) -> _C.Tensor: ...
@overload
def roll(a: _T, shift: _Shape, *, dim: _Axis | None) -> _T: ...
@overload
def roll(a: _Plain, shift: _Shape, *, dim: _Axis | None) -> _C.Tensor: ...
@overload
def rollaxis(a: _T, axis: int, start: int = 0) -> _T: ...
@overload
def rollaxis(a: _Plain, axis: int, start: int = 0) -> _C.Tensor: ...
@overload
def rollaxis(a: _T, *, dim: int, start: int = 0) -> _T: ...
@overload
def rollaxis(a: _Plain, *, dim: int, start: int = 0) -> _C.Tensor: ...
@overload
def rot90(m: _T, k: int = 1, axes: _Axis = ...) -> _T: ...
@overload
def rot90(m: _Plain, k: int = 1, axes: _Axis = ...) -> _C.Tensor: ...
@overload
def round(a: _T, decimals: int = 0, out: _Out = None) -> _T: ...
@overload
def round(a: _Plain, decimals: int = 0, out: _Out = None) -> _C.Tensor: ...
@overload
def rsqrt(x: _T) -> _T: ...
@overload
def rsqrt(x: _Plain) -> _C.Tensor: ...
@overload
def searchsorted(
    a: _T, v: _ArrayLike, side: str = "left", sorter: _ArrayLike | None = None
) -> _T: ...
@overload
def searchsorted(
    a: _Plain, v: _T, side: str = "left", sorter: _ArrayLike | None = None
) -> _T: ...
@overload
def searchsorted(
    a: _Plain, v: _Plain, side: str = "left", sorter: _ArrayLike | None = None
) -> _C.Tensor: ...
def select(
    condlist: Sequence[_ArrayLike],
    choicelist: Sequence[_ArrayLike],
    default: _ArrayLike = 0,
) -> DTensor: ...
@overload
def selu(x: _T) -> _T: ...
@overload
def selu(x: _Plain) -> _C.Tensor: ...
@overload
def setdiff1d(ar1: _T, ar2: _ArrayLike, assume_unique: bool = False) -> _T: ...
@overload
def setdiff1d(ar1: _Plain, ar2: _T, assume_unique: bool = False) -> _T: ...
@overload
def setdiff1d(ar1: _Plain, ar2: _Plain, assume_unique: bool = False) -> _C.Tensor: ...
@overload
def setxor1d(ar1: _T, ar2: _ArrayLike, assume_unique: bool = False) -> _T: ...
@overload
def setxor1d(ar1: _Plain, ar2: _T, assume_unique: bool = False) -> _T: ...
@overload
def setxor1d(ar1: _Plain, ar2: _Plain, assume_unique: bool = False) -> _C.Tensor: ...
@overload
def shape(a: _T) -> tuple[int, ...]: ...
@overload
def shape(a: _Plain) -> tuple[int, ...]: ...
@overload
def sigmoid(x: _T) -> _T: ...
@overload
def sigmoid(x: _Plain) -> _C.Tensor: ...
@overload
def sign(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def sign(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def signbit(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def signbit(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def silu(x: _T) -> _T: ...
@overload
def silu(x: _Plain) -> _C.Tensor: ...
@overload
def sin(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def sin(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def sinc(
    x: _T,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def sinc(
    x: _Plain,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _C.Tensor: ...
@overload
def sinh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def sinh(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def size(a: _T, axis: _Axis | None = None) -> int: ...
@overload
def size(a: _Plain, axis: _Axis | None = None) -> int: ...
@overload
def sliding_window_view(
    x: _T,
    window_shape: _Shape,
    axis: _Axis | None = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> _T: ...
@overload
def sliding_window_view(
    x: _Plain,
    window_shape: _Shape,
    axis: _Axis | None = None,
    *,
    subok: bool = False,
    writeable: bool = False,
) -> _C.Tensor: ...
@overload
def smooth_l1_loss(
    input: _T,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> _T: ...
@overload
def smooth_l1_loss(
    input: _Plain,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> _C.Tensor: ...
@overload
def softmax(x: _T, axis: int = -1, dtype: npt.DTypeLike | None = None) -> _T: ...
@overload
def softmax(
    x: _Plain, axis: int = -1, dtype: npt.DTypeLike | None = None
) -> _C.Tensor: ...
@overload
def softmax(x: _T, *, dim: int, dtype: npt.DTypeLike | None = None) -> _T: ...
@overload
def softmax(
    x: _Plain, *, dim: int, dtype: npt.DTypeLike | None = None
) -> _C.Tensor: ...
@overload
def softmin(x: _T, axis: int = -1, dtype: npt.DTypeLike | None = None) -> _T: ...
@overload
def softmin(
    x: _Plain, axis: int = -1, dtype: npt.DTypeLike | None = None
) -> _C.Tensor: ...
@overload
def softplus(x: _T, beta: float = 1.0, threshold: float = 20.0) -> _T: ...
@overload
def softplus(x: _Plain, beta: float = 1.0, threshold: float = 20.0) -> _C.Tensor: ...
@overload
def softshrink(x: _T, lambd: float = 0.5) -> _T: ...
@overload
def softshrink(x: _Plain, lambd: float = 0.5) -> _C.Tensor: ...
@overload
def softsign(x: _T) -> _T: ...
@overload
def softsign(x: _Plain) -> _C.Tensor: ...
@overload
def sort(
    a: _T,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
) -> _T: ...
@overload
def sort(
    a: _Plain,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
) -> _C.Tensor: ...
@overload
def sort(
    a: _T,
    *,
    dim: int | None,
    kind: str | None = None,
    order: None = None,
    stable: bool | None = None,
) -> _T: ...
@overload
def sort(
    a: _Plain,
    *,
    dim: int | None,
    kind: str | None = None,
    order: None = None,
    stable: bool | None = None,
) -> _C.Tensor: ...
@overload
def sort_complex(a: _T) -> _T: ...
@overload
def sort_complex(a: _Plain) -> _C.Tensor: ...
@overload
def spacing(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def spacing(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def split(ary: _T, indices_or_sections: _ArrayLike, axis: int = 0) -> list[_T]: ...
@overload
def split(
    ary: _Plain, indices_or_sections: _ArrayLike, axis: int = 0
) -> list[_C.Tensor]: ...
@overload
def sqrt(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def sqrt(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def square(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def square(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def squeeze(a: _T, axis: _Axis | None = None) -> _T: ...
@overload
def squeeze(a: _Plain, axis: _Axis | None = None) -> _C.Tensor: ...
@overload
def squeeze(a: _T, *, dim: _Axis | None) -> _T: ...
@overload
def squeeze(a: _Plain, *, dim: _Axis | None) -> _C.Tensor: ...
@overload
def stack(
    arrays: Sequence[_T],
    axis: int = 0,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def stack(
    arrays: Sequence[_Plain],
    axis: int = 0,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def stack(
    arrays: Sequence[_T],
    *,
    dim: int,
    out: _Out = None,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def stack(
    arrays: Sequence[_Plain],
    *,
    dim: int,
    out: _Out = None,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def std(
    a: _T,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: _ArrayLike = True,
    mean: _ArrayLike = ...,
    correction: float = ...,
) -> _T: ...
@overload
def std(
    a: _Plain,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: _ArrayLike = True,
    mean: _ArrayLike = ...,
    correction: float = ...,
) -> _C.Tensor: ...
@overload
def std(
    a: _T,
    *,
    dim: _Axis | None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    ddof: float = 0,
    keepdim: bool = False,
    where: _ArrayLike = True,
    mean: _ArrayLike = ...,
    correction: float = ...,
) -> _T: ...
@overload
def std(
    a: _Plain,
    *,
    dim: _Axis | None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    ddof: float = 0,
    keepdim: bool = False,
    where: _ArrayLike = True,
    mean: _ArrayLike = ...,
    correction: float = ...,
) -> _C.Tensor: ...
@overload
def sub(
    x: _T,
    other: _ArrayLike,
    *,
    alpha: complex = 1,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def sub(
    x: _Plain,
    other: _T,
    *,
    alpha: complex = 1,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _T: ...
@overload
def sub(
    x: _Plain,
    other: _Plain,
    *,
    alpha: complex = 1,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object = None,
) -> _C.Tensor: ...
@overload
def subtract(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def subtract(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def subtract(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def sum(
    a: _T,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def sum(
    a: _Plain,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdims: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def sum(
    a: _T,
    *,
    dim: _Axis | None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdim: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _T: ...
@overload
def sum(
    a: _Plain,
    *,
    dim: _Axis | None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    keepdim: bool = False,
    initial: _ArrayLike = ...,
    where: _ArrayLike = True,
) -> _C.Tensor: ...
@overload
def swapaxes(a: _T, axis1: int, axis2: int) -> _T: ...
@overload
def swapaxes(a: _Plain, axis1: int, axis2: int) -> _C.Tensor: ...
@overload
def take(
    a: _T,
    indices: _ArrayLike,
    axis: int | None = None,
    out: _Out = None,
    mode: str = "raise",
) -> _T: ...
@overload
def take(
    a: _Plain,
    indices: _ArrayLike,
    axis: int | None = None,
    out: _Out = None,
    mode: str = "raise",
) -> _C.Tensor: ...
@overload
def take_along_axis(arr: _T, indices: _ArrayLike, axis: int | None = -1) -> _T: ...
@overload
def take_along_axis(
    arr: _Plain, indices: _ArrayLike, axis: int | None = -1
) -> _C.Tensor: ...
@overload
def take_along_axis(arr: _T, indices: _ArrayLike, *, dim: int | None) -> _T: ...
@overload
def take_along_axis(
    arr: _Plain, indices: _ArrayLike, *, dim: int | None
) -> _C.Tensor: ...
@overload
def tan(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def tan(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def tanh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def tanh(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def tanhshrink(x: _T) -> _T: ...
@overload
def tanhshrink(x: _Plain) -> _C.Tensor: ...
@overload
def tensor_split(
    x: _T, indices_or_sections: _ArrayLike, axis: int = 0
) -> tuple[_T, ...]: ...
@overload
def tensor_split(
    x: _Plain, indices_or_sections: _ArrayLike, axis: int = 0
) -> tuple[_C.Tensor, ...]: ...
@overload
def tensor_split(
    x: _T, indices_or_sections: _ArrayLike, *, dim: int
) -> tuple[_T, ...]: ...
@overload
def tensor_split(
    x: _Plain, indices_or_sections: _ArrayLike, *, dim: int
) -> tuple[_C.Tensor, ...]: ...
@overload
def tensordot(
    a: _T, b: _ArrayLike, axes: int | Sequence[int | Sequence[int]] = 2
) -> _T: ...
@overload
def tensordot(
    a: _Plain, b: _T, axes: int | Sequence[int | Sequence[int]] = 2
) -> _T: ...
@overload
def tensordot(
    a: _Plain, b: _Plain, axes: int | Sequence[int | Sequence[int]] = 2
) -> _C.Tensor: ...
@overload
def threshold(x: _T, threshold: float, value: float) -> _T: ...
@overload
def threshold(x: _Plain, threshold: float, value: float) -> _C.Tensor: ...
def tile(A: _ArrayLike, reps: _Shape) -> DTensor: ...
@overload
def topk(
    x: _T, k: int, axis: int = -1, largest: bool = True, sorted: bool = True
) -> _Picked[_T]: ...
@overload
def topk(
    x: _Plain, k: int, axis: int = -1, largest: bool = True, sorted: bool = True
) -> _Picked[_C.Tensor]: ...
@overload
def topk(
    x: _T, k: int, *, dim: int, largest: bool = True, sorted: bool = True
) -> _Picked[_T]: ...
@overload
def topk(
    x: _Plain, k: int, *, dim: int, largest: bool = True, sorted: bool = True
) -> _Picked[_C.Tensor]: ...
@overload
def trace(
    a: _T,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
) -> _T: ...
@overload
def trace(
    a: _Plain,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
) -> _C.Tensor: ...
@overload
def transpose(a: _T, axes: _Axis | None = None) -> _T: ...
@overload
def transpose(a: _Plain, axes: _Axis | None = None) -> _C.Tensor: ...
@overload
def trapezoid(
    y: _T, x: _ArrayLike | None = None, dx: _ArrayLike = 1.0, axis: int = -1
) -> _T: ...
@overload
def trapezoid(
    y: _Plain, x: _ArrayLike | None = None, dx: _ArrayLike = 1.0, axis: int = -1
) -> _C.Tensor: ...
@overload
def trapezoid(
    y: _T, x: _ArrayLike | None = None, dx: _ArrayLike = 1.0, *, dim: int
) -> _T: ...
@overload
def trapezoid(
    y: _Plain, x: _ArrayLike | None = None, dx: _ArrayLike = 1.0, *, dim: int
) -> _C.Tensor: ...
def tri(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: npt.DTypeLike = ...,
    *,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
@overload
def tril(m: _T, k: int = 0) -> _T: ...
@overload
def tril(m: _Plain, k: int = 0) -> _C.Tensor: ...
def tril_indices(
    n: int, k: int = 0, m: int | None = None, *, device_mesh: Mesh | None = None
) -> tuple[DTensor, ...]: ...
@overload
def tril_indices_from(arr: _T, k: int = 0) -> tuple[_T, ...]: ...
@overload
def tril_indices_from(arr: _Plain, k: int = 0) -> tuple[_C.Tensor, ...]: ...
@overload
def trim_zeros(filt: _T, trim: str = "fb", axis: _Axis | None = None) -> _T: ...
@overload
def trim_zeros(
    filt: _Plain, trim: str = "fb", axis: _Axis | None = None
) -> _C.Tensor: ...
@overload
def triu(m: _T, k: int = 0) -> _T: ...
@overload
def triu(m: _Plain, k: int = 0) -> _C.Tensor: ...
def triu_indices(
    n: int, k: int = 0, m: int | None = None, *, device_mesh: Mesh | None = None
) -> tuple[DTensor, ...]: ...
@overload
def triu_indices_from(arr: _T, k: int = 0) -> tuple[_T, ...]: ...
@overload
def triu_indices_from(arr: _Plain, k: int = 0) -> tuple[_C.Tensor, ...]: ...
@overload
def true_divide(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def true_divide(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def true_divide(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def trunc(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def trunc(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def unbind(x: _T, axis: int = 0) -> tuple[_T, ...]: ...
@overload
def unbind(x: _Plain, axis: int = 0) -> tuple[_C.Tensor, ...]: ...
@overload
def unbind(x: _T, *, dim: int) -> tuple[_T, ...]: ...
@overload
def unbind(x: _Plain, *, dim: int) -> tuple[_C.Tensor, ...]: ...
@overload
def unflatten(a: _T, axis: int, sizes: _Shape) -> _T: ...
@overload
def unflatten(a: _Plain, axis: int, sizes: _Shape) -> _C.Tensor: ...
@overload
def unflatten(a: _T, *, dim: int, sizes: _Shape) -> _T: ...
@overload
def unflatten(a: _Plain, *, dim: int, sizes: _Shape) -> _C.Tensor: ...
@overload
def union1d(ar1: _T, ar2: _ArrayLike) -> _T: ...
@overload
def union1d(ar1: _Plain, ar2: _T) -> _T: ...
@overload
def union1d(ar1: _Plain, ar2: _Plain) -> _C.Tensor: ...
@overload
def unique(
    ar: _T,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> _T: ...
@overload
def unique(
    ar: _Plain,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> _C.Tensor: ...
@overload
def unique(
    ar: _T,
    return_index: Literal[True],
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[_T, _T]: ...
@overload
def unique(
    ar: _Plain,
    return_index: Literal[True],
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[_C.Tensor, _C.Tensor]: ...
@overload
def unique(
    ar: _T,
    return_index: Literal[False] = False,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: int | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[_T, _T]: ...
@overload
def unique(
    ar: _Plain,
    return_index: Literal[False] = False,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: int | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[_C.Tensor, _C.Tensor]: ...
@overload
def unique(
    ar: _T,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    axis: int | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[_T, _T]: ...
@overload
def unique(
    ar: _Plain,
    return_index: Literal[False] = False,
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    axis: int | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[_C.Tensor, _C.Tensor]: ...
@overload
def unique(
    ar: _T,
    return_index: Literal[False] = False,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: int | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[_T, _T, _T]: ...
@overload
def unique(
    ar: _Plain,
    return_index: Literal[False] = False,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: int | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[_C.Tensor, _C.Tensor, _C.Tensor]: ...
@overload
def unique(
    ar: _T,
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[_T, _T, _T]: ...
@overload
def unique(
    ar: _Plain,
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[_C.Tensor, _C.Tensor, _C.Tensor]: ...
@overload
def unique(
    ar: _T,
    return_index: Literal[True],
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    axis: int | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[_T, _T, _T]: ...
@overload
def unique(
    ar: _Plain,
    return_index: Literal[True],
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    axis: int | None = None,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[_C.Tensor, _C.Tensor, _C.Tensor]: ...
@overload
def unique(
    ar: _T,
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[_T, _T, _T, _T]: ...
@overload
def unique(
    ar: _Plain,
    return_index: Literal[True],
    return_inverse: Literal[True],
    return_counts: Literal[True],
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> tuple[_C.Tensor, _C.Tensor, _C.Tensor, _C.Tensor]: ...
@overload
def unique(
    ar: _T,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any: ...
@overload
def unique(
    ar: _Plain,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any: ...
@overload
def unique_all(x: _T) -> _UniqueAllResult[_T]: ...
@overload
def unique_all(x: _Plain) -> _UniqueAllResult[_C.Tensor]: ...
@overload
def unique_counts(x: _T) -> _UniqueCountsResult[_T]: ...
@overload
def unique_counts(x: _Plain) -> _UniqueCountsResult[_C.Tensor]: ...
@overload
def unique_inverse(x: _T) -> _UniqueInverseResult[_T]: ...
@overload
def unique_inverse(x: _Plain) -> _UniqueInverseResult[_C.Tensor]: ...
@overload
def unique_values(x: _T) -> _T: ...
@overload
def unique_values(x: _Plain) -> _C.Tensor: ...
@overload
def unpackbits(
    a: _T, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> _T: ...
@overload
def unpackbits(
    a: _Plain, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> _C.Tensor: ...
@overload
def unpackbits(
    a: _T, *, dim: int | None, count: int | None = None, bitorder: str = "big"
) -> _T: ...
@overload
def unpackbits(
    a: _Plain, *, dim: int | None, count: int | None = None, bitorder: str = "big"
) -> _C.Tensor: ...
def unravel_index(
    indices: _ArrayLike, shape: _Shape, order: str = "C"
) -> tuple[DTensor, ...]: ...
@overload
def unsqueeze(a: _T, axis: _Axis) -> _T: ...
@overload
def unsqueeze(a: _Plain, axis: _Axis) -> _C.Tensor: ...
@overload
def unsqueeze(a: _T, *, dim: _Axis) -> _T: ...
@overload
def unsqueeze(a: _Plain, *, dim: _Axis) -> _C.Tensor: ...
@overload
def unstack(x: _T, /, *, axis: int = 0) -> tuple[_T, ...]: ...
@overload
def unstack(x: _Plain, /, *, axis: int = 0) -> tuple[_C.Tensor, ...]: ...
@overload
def unwrap(
    p: _T,
    discont: float | None = None,
    axis: int = -1,
    *,
    period: float = 6.283185307179586,
) -> _T: ...
@overload
def unwrap(
    p: _Plain,
    discont: float | None = None,
    axis: int = -1,
    *,
    period: float = 6.283185307179586,
) -> _C.Tensor: ...
@overload
def unwrap(
    p: _T, discont: float | None = None, *, dim: int, period: float = 6.283185307179586
) -> _T: ...
@overload
def unwrap(
    p: _Plain,
    discont: float | None = None,
    *,
    dim: int,
    period: float = 6.283185307179586,
) -> _C.Tensor: ...
@overload
def vander(x: _T, N: int | None = None, increasing: bool = False) -> _T: ...
@overload
def vander(x: _Plain, N: int | None = None, increasing: bool = False) -> _C.Tensor: ...
@overload
def var(
    a: _T,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: _ArrayLike = True,
    mean: _ArrayLike = ...,
    correction: float = ...,
) -> _T: ...
@overload
def var(
    a: _Plain,
    axis: _Axis | None = None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: _ArrayLike = True,
    mean: _ArrayLike = ...,
    correction: float = ...,
) -> _C.Tensor: ...
@overload
def var(
    a: _T,
    *,
    dim: _Axis | None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    ddof: float = 0,
    keepdim: bool = False,
    where: _ArrayLike = True,
    mean: _ArrayLike = ...,
    correction: float = ...,
) -> _T: ...
@overload
def var(
    a: _Plain,
    *,
    dim: _Axis | None,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    ddof: float = 0,
    keepdim: bool = False,
    where: _ArrayLike = True,
    mean: _ArrayLike = ...,
    correction: float = ...,
) -> _C.Tensor: ...
@overload
def vdot(a: _T, b: _ArrayLike, /) -> _T: ...
@overload
def vdot(a: _Plain, b: _T, /) -> _T: ...
@overload
def vdot(a: _Plain, b: _Plain, /) -> _C.Tensor: ...
@overload
def vecdot(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    axis: int = -1,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def vecdot(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    axis: int = -1,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def vecdot(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    axis: int = -1,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def vecdot(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    dim: int,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def vecdot(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    dim: int,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def vecdot(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    dim: int,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def vecmat(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def vecmat(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _T: ...
@overload
def vecmat(
    x1: _Plain,
    x2: _Plain,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def vsplit(ary: _T, indices_or_sections: _ArrayLike) -> list[_T]: ...
@overload
def vsplit(ary: _Plain, indices_or_sections: _ArrayLike) -> list[_C.Tensor]: ...
@overload
def vstack(
    tup: Sequence[_T], *, dtype: npt.DTypeLike | None = None, casting: str = "same_kind"
) -> _T: ...
@overload
def vstack(
    tup: Sequence[_Plain],
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> _C.Tensor: ...
@overload
def where(condition: _ArrayLike, x: _T, y: _ArrayLike) -> _T: ...
@overload
def where(condition: _ArrayLike, x: _Plain, y: _T) -> _T: ...
@overload
def where(condition: _T, x: _Plain, y: _Plain) -> _T: ...
@overload
def where(condition: _Plain, x: _Plain, y: _Plain) -> _C.Tensor: ...
@overload
def where(condition: _T) -> tuple[_T, ...]: ...
@overload
def zeros_like(
    a: _T,
    dtype: npt.DTypeLike | None = None,
    order: str = "K",
    subok: bool = True,
    shape: _Shape | None = None,
    *,
    device: str | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> _T: ...
@overload
def zeros_like(
    a: _Plain,
    dtype: npt.DTypeLike | None = None,
    order: str = "K",
    subok: bool = True,
    shape: _Shape | None = None,
    *,
    device: str | None = None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> _C.Tensor: ...

FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]]
METHODS: dict[str, Callable[..., Any]]
SLOTS: dict[str, Callable[..., Any]]

def fallback(
    function: Callable[..., Any],
) -> Callable[[tuple[Any, ...], Mapping[str, Any]], Any]: ...
def getitem(x: _T, index: _Index) -> _T: ...
def setitem(x: _C.Tensor, index: _Index, value: _ArrayLike) -> None: ...
def ufunc_method(ufunc: np.ufunc, method: str) -> Callable[..., Any]: ...
def _answer(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...
