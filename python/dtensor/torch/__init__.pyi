"""Made by `./run exec python tests/stubs.py`."""

# ruff: noqa: F403, F405
import builtins
from collections.abc import Sequence
from typing import Any, Literal, overload

import numpy.typing as npt

from dtensor import _C
from dtensor._C import (
    _T,
    DTensor,
    TorchTensor,
    _ArrayLike,
    _Axis,
    _Extremes,
    _Out,
    _Picked,
    _Plain,
    _QRResult,
    _Shape,
    _SlogdetResult,
    _Triangular,
)
from dtensor.amp import GradScaler as GradScaler, autocast as autocast
from dtensor.amp.autocast_mode import is_autocast_enabled as is_autocast_enabled
from dtensor.autograd import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    is_grad_enabled as is_grad_enabled,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from dtensor.dlpack import from_dlpack as from_dlpack
from dtensor.random import Generator
from dtensor.torch import (
    accelerator as accelerator,
    amp as amp,
    autograd as autograd,
    backends as backends,
    compiler as compiler,
    cpu as cpu,
    cuda as cuda,
    distributed as distributed,
    fft as fft,
    func as func,
    fx as fx,
    hub as hub,
    jit as jit,
    linalg as linalg,
    multiprocessing as multiprocessing,
    nn as nn,
    ops as ops,
    optim as optim,
    profiler as profiler,
    random as random,
    serialization as serialization,
    signal as signal,
    sparse as sparse,
    special as special,
    testing as testing,
    types as types,
    utils as utils,
    version as version,
)
from dtensor.torch._dtypes import *
from dtensor.torch._errors import OutOfMemoryError as OutOfMemoryError
from dtensor.torch._print import set_printoptions as set_printoptions
from dtensor.torch._types import Size, dtype as _dtype
from dtensor.torch.compiler import compile as compile
from dtensor.torch.func import vmap as vmap
from dtensor.torch.random import get_rng_state as get_rng_state
from dtensor.torch.serialization import load as load, save as save

Tensor = _C.TorchTensor
BoolTensor: type[TorchTensor]
ByteTensor: type[TorchTensor]
CharTensor: type[TorchTensor]
DoubleTensor: type[TorchTensor]
FloatTensor: type[TorchTensor]
HalfTensor: type[TorchTensor]
IntTensor: type[TorchTensor]
LongTensor: type[TorchTensor]
ShortTensor: type[TorchTensor]
bfloat16: _dtype

def abs(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def abs_(self: Any) -> TorchTensor: ...
def absolute(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def acos(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def acos_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def acosh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def acosh_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def adaptive_avg_pool1d(input: _T, output_size: _Shape) -> _T: ...
def adaptive_max_pool1d(
    input: _T, output_size: _Shape, return_indices: builtins.bool = False
) -> _T: ...
@overload
def add(
    input: _T,
    other: _ArrayLike,
    *,
    alpha: builtins.complex = 1,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
@overload
def add(
    input: _Plain,
    other: _T,
    *,
    alpha: builtins.complex = 1,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def addbmm(
    input: _T,
    batch1: _ArrayLike,
    batch2: _ArrayLike,
    *,
    beta: builtins.float = 1,
    alpha: builtins.float = 1,
) -> _T: ...
def addcdiv(
    input: _T, tensor1: _ArrayLike, tensor2: _ArrayLike, *, value: builtins.float = 1
) -> _T: ...
def addcmul(
    input: _T, tensor1: _ArrayLike, tensor2: _ArrayLike, *, value: builtins.float = 1
) -> _T: ...
def addmm(
    input: _T,
    mat1: _ArrayLike,
    mat2: _ArrayLike,
    *,
    beta: builtins.float = 1,
    alpha: builtins.float = 1,
) -> _T: ...
def addmv(
    input: _T,
    mat: Any,
    vec: Any,
    *,
    beta: builtins.float = 1,
    alpha: builtins.float = 1,
) -> _T: ...
def addmv_(
    input: _T,
    mat: Any,
    vec: Any,
    *,
    beta: builtins.float = 1,
    alpha: builtins.float = 1,
) -> _T: ...
def addr(
    input: _T,
    vec1: _ArrayLike,
    vec2: _ArrayLike,
    *,
    beta: builtins.float = 1,
    alpha: builtins.float = 1,
) -> _T: ...
def adjoint(input: _T) -> _T: ...
def affine_grid_generator(
    theta: Any, size: _Shape, align_corners: builtins.bool
) -> TorchTensor: ...
def all(input: _T, dim: _Axis | None = None, keepdim: builtins.bool = False) -> _T: ...
@overload
def allclose(
    a: _T,
    b: _ArrayLike,
    rtol: builtins.float = 1e-05,
    atol: builtins.float = 1e-08,
    equal_nan: builtins.bool = False,
) -> builtins.bool: ...
@overload
def allclose(
    a: _Plain,
    b: _T,
    rtol: builtins.float = 1e-05,
    atol: builtins.float = 1e-08,
    equal_nan: builtins.bool = False,
) -> builtins.bool: ...
def alpha_dropout(input: _T, p: builtins.float, train: builtins.bool) -> _T: ...
def alpha_dropout_(input: _T, p: builtins.float, train: builtins.bool) -> _T: ...
def amax(input: _T, dim: _Axis = ..., keepdim: builtins.bool = False) -> _T: ...
def amin(input: _T, dim: _Axis = ..., keepdim: builtins.bool = False) -> _T: ...
def aminmax(
    input: _T, *, dim: builtins.int | None = None, keepdim: builtins.bool = False
) -> _Extremes[_T]: ...
def angle(input: _T) -> _T: ...
def any(input: _T, dim: _Axis | None = None, keepdim: builtins.bool = False) -> _T: ...
def arange(
    start: _ArrayLike,
    end: _ArrayLike | None = None,
    step: _ArrayLike = 1,
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def arccos(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def arccos_(
    self: Any,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
def arccosh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def arccosh_(
    self: Any,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
def arcsin(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def arcsin_(
    self: Any,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
def arcsinh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def arcsinh_(
    self: Any,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
def arctan(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def arctan2(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def arctan2(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def arctan_(
    self: Any,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
def arctanh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def arctanh_(
    self: Any,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
def are_deterministic_algorithms_enabled() -> builtins.bool: ...
def argmax(
    input: _T, dim: builtins.int | None = None, keepdim: builtins.bool = False
) -> _T: ...
def argmin(
    input: _T, dim: builtins.int | None = None, keepdim: builtins.bool = False
) -> _T: ...
def argsort(
    input: _T,
    dim: builtins.int = -1,
    descending: builtins.bool = False,
    stable: builtins.bool = False,
) -> _T: ...
def argwhere(a: _T) -> _T: ...
def as_strided(
    self: Any, size: _Shape, stride: Any, storage_offset: builtins.int | None = None
) -> TorchTensor: ...
def as_strided_(
    self: Any, size: _Shape, stride: Any, storage_offset: builtins.int | None = None
) -> TorchTensor: ...
def as_strided_scatter(
    self: Any,
    src: _ArrayLike,
    size: _Shape,
    stride: Any,
    storage_offset: builtins.int | None = None,
) -> TorchTensor: ...
def as_tensor(
    data: _ArrayLike,
    dtype: npt.DTypeLike | None = None,
    device: builtins.str | None = None,
) -> TorchTensor: ...
def asarray(
    obj: _ArrayLike,
    *,
    dtype: npt.DTypeLike | None = None,
    device: builtins.str | None = None,
    copy: builtins.bool | None = None,
    requires_grad: builtins.bool = False,
) -> DTensor: ...
def asin(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def asin_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def asinh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def asinh_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def atan(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def atan2(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def atan2(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def atan_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def atanh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def atanh_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
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
def avg_pool1d(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    ceil_mode: builtins.bool = False,
    count_include_pad: builtins.bool = True,
) -> _T: ...
def baddbmm(
    input: _T,
    batch1: _ArrayLike,
    batch2: _ArrayLike,
    *,
    beta: builtins.float = 1,
    alpha: builtins.float = 1,
) -> _T: ...
def bartlett_window(
    window_length: builtins.int,
    periodic: builtins.bool = True,
    *shape: _Shape,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def batch_norm(
    input: _T,
    weight: _ArrayLike,
    bias: _ArrayLike,
    running_mean: _ArrayLike,
    running_var: _ArrayLike,
    training: builtins.bool,
    momentum: builtins.float,
    eps: builtins.float,
    cudnn_enabled: builtins.bool = True,
) -> _T: ...
def bernoulli(
    input: _T, p: builtins.float | None = None, *, generator: Generator | None = None
) -> _T: ...
def bilinear(
    input1: _T, input2: _ArrayLike, weight: _ArrayLike, bias: _ArrayLike | None = None
) -> _T: ...
def binary_cross_entropy_with_logits(
    *args: _T,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def bincount(
    input: _T, weights: _ArrayLike | None = None, minlength: builtins.int = 0
) -> _T: ...
def binomial(count: Any, prob: Any, generator: Any = None) -> TorchTensor: ...
@overload
def bitwise_and(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def bitwise_and(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def bitwise_left_shift(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def bitwise_left_shift(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def bitwise_not(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def bitwise_or(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def bitwise_or(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def bitwise_right_shift(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def bitwise_right_shift(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def bitwise_xor(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def bitwise_xor(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def blackman_window(
    window_length: builtins.int,
    periodic: builtins.bool = True,
    *shape: _Shape,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def block_diag(*tensors: _T) -> _T: ...
@overload
def bmm(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: builtins.str = "same_kind",
) -> _T: ...
@overload
def bmm(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: builtins.str = "same_kind",
) -> _T: ...
def broadcast_shapes(*shapes: _Shape) -> Size: ...
def broadcast_tensors(*tensors: _T) -> tuple[_T, ...]: ...
def broadcast_to(a: _T, /, *sizes: _Shape) -> _T: ...
def bucketize(
    input: _T,
    boundaries: Any,
    *,
    out_int32: builtins.bool = False,
    right: builtins.bool = False,
) -> _T: ...
def cartesian_prod(*tensors: _T) -> _T: ...
def cat(tensors: Sequence[_T], dim: builtins.int = 0) -> _T: ...
@overload
def cdist(
    x1: _T,
    x2: _ArrayLike,
    p: builtins.float = 2.0,
    compute_mode: builtins.str | None = "use_mm_for_euclid_dist_if_necessary",
) -> _T: ...
@overload
def cdist(
    x1: _Plain,
    x2: _T,
    p: builtins.float = 2.0,
    compute_mode: builtins.str | None = "use_mm_for_euclid_dist_if_necessary",
) -> _T: ...
def ceil(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def ceil_(
    self: Any,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
def celu(
    input: _T, alpha: builtins.float = 1.0, inplace: builtins.bool = False
) -> _T: ...
def celu_(
    input: _T,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def chain_matmul(*matrices: _T) -> _T: ...
def channel_shuffle(input: _T, groups: builtins.int) -> _T: ...
def cholesky(input: _T, upper: builtins.bool = False) -> _T: ...
def cholesky_inverse(L: Any, upper: builtins.bool = False) -> TorchTensor: ...
def cholesky_solve(B: Any, L: Any, upper: builtins.bool = False) -> TorchTensor: ...
@overload
def chunk(x: _T, chunks: builtins.int, axis: builtins.int = 0) -> tuple[_T, ...]: ...
@overload
def chunk(x: _T, chunks: builtins.int, *, dim: builtins.int) -> tuple[_T, ...]: ...
def clamp(
    input: _T,
    min: _ArrayLike | None = None,
    max: _ArrayLike | None = None,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def clamp_(
    input: _T,
    min: _ArrayLike | None = None,
    max: _ArrayLike | None = None,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def clamp_max(input: _T, max: _ArrayLike) -> _T: ...
def clamp_max_(input: _T, max: _ArrayLike) -> _T: ...
def clamp_min(input: _T, min: _ArrayLike) -> _T: ...
def clamp_min_(input: _T, min: _ArrayLike) -> _T: ...
def clip(
    input: _T,
    min: _ArrayLike | None = None,
    max: _ArrayLike | None = None,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def clip_(
    input: _T,
    min: _ArrayLike | None = None,
    max: _ArrayLike | None = None,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def clone(input: _T, *, memory_format: builtins.object | None = None) -> _T: ...
def column_stack(tup: Sequence[_T]) -> _T: ...
def combinations(
    input: _T, r: builtins.int = 2, with_replacement: builtins.bool = False
) -> _T: ...
def complex(real: _ArrayLike, imag: _ArrayLike) -> TorchTensor: ...
def concat(tensors: Sequence[_T], dim: builtins.int = 0) -> _T: ...
def concatenate(tensors: Sequence[_T], dim: builtins.int = 0) -> _T: ...
def conj(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def conj_physical(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def conj_physical_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def constant_pad_nd(input: _T, pad: Any, value: builtins.float = 0) -> _T: ...
def conv1d(
    input: _T,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape | builtins.str = 0,
    dilation: _Shape = 1,
    groups: builtins.int = 1,
) -> _T: ...
def conv2d(
    input: _T,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape | builtins.str = 0,
    dilation: _Shape = 1,
    groups: builtins.int = 1,
) -> _T: ...
def conv3d(
    input: _T,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape | builtins.str = 0,
    dilation: _Shape = 1,
    groups: builtins.int = 1,
) -> _T: ...
def conv_transpose1d(
    input: _T,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape = 0,
    output_padding: _Shape = 0,
    groups: builtins.int = 1,
    dilation: _Shape = 1,
) -> _T: ...
def conv_transpose2d(
    input: _T,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape = 0,
    output_padding: _Shape = 0,
    groups: builtins.int = 1,
    dilation: _Shape = 1,
) -> _T: ...
def conv_transpose3d(
    input: _T,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape = 0,
    output_padding: _Shape = 0,
    groups: builtins.int = 1,
    dilation: _Shape = 1,
) -> _T: ...
def convolution(
    input: _T,
    weight: _ArrayLike,
    bias: _ArrayLike,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: builtins.bool,
    output_padding: Any,
    groups: builtins.int,
) -> _T: ...
@overload
def copysign(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def copysign(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def corrcoef(input: _T) -> _T: ...
def cos(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def cos_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def cosh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def cosh_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def cosine_embedding_loss(
    *args: _T,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
@overload
def cosine_similarity(
    x1: _T, x2: _ArrayLike, dim: builtins.int = 1, eps: builtins.float = 1e-08
) -> _T: ...
@overload
def cosine_similarity(
    x1: _Plain, x2: _T, dim: builtins.int = 1, eps: builtins.float = 1e-08
) -> _T: ...
def count_nonzero(
    input: _T, dim: _Axis | None = None, keepdim: builtins.bool = False
) -> _T: ...
def cov(
    input: _T,
    *,
    correction: builtins.int = 1,
    fweights: _ArrayLike | None = None,
    aweights: _ArrayLike | None = None,
) -> _T: ...
@overload
def cross(input: _T, other: _ArrayLike, dim: builtins.int | None = None) -> _T: ...
@overload
def cross(input: _Plain, other: _T, dim: builtins.int | None = None) -> _T: ...
def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: builtins.int = 0,
    reduction: builtins.int = 0,
    zero_infinity: builtins.bool = False,
) -> TorchTensor: ...
def cummax(input: _T, dim: builtins.int) -> _Picked[_T]: ...
def cummin(input: _T, dim: builtins.int) -> _Picked[_T]: ...
def cumprod(
    input: _T, dim: builtins.int, *, dtype: npt.DTypeLike | None = None
) -> _T: ...
def cumsum(
    input: _T, dim: builtins.int, *, dtype: npt.DTypeLike | None = None
) -> _T: ...
def cumulative_trapezoid(
    y: _T, x: _ArrayLike | None = None, *, dx: _ArrayLike = 1, dim: builtins.int = -1
) -> _T: ...
def deg2rad(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def deg2rad_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def det(a: _T) -> _T: ...
def detach(self: Any, /) -> TorchTensor: ...
def detach_(self: _T) -> TorchTensor: ...
def diag(input: _T, diagonal: builtins.int = 0) -> _T: ...
def diag_embed(
    input: _T,
    offset: builtins.int = 0,
    dim1: builtins.int = -2,
    dim2: builtins.int = -1,
) -> _T: ...
def diagflat(input: _T, offset: builtins.int = 0) -> _T: ...
def diagonal(
    input: _T, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1
) -> _T: ...
def diagonal_scatter(
    input: _T,
    src: _ArrayLike,
    offset: builtins.int = 0,
    dim1: builtins.int = 0,
    dim2: builtins.int = 1,
) -> _T: ...
def diff(
    input: _T,
    n: builtins.int = 1,
    dim: builtins.int = -1,
    prepend: _ArrayLike | None = None,
    append: _ArrayLike | None = None,
) -> _T: ...
def digamma(input: _T) -> _T: ...
@overload
def dist(input: _T, other: _ArrayLike, p: builtins.float = 2) -> _T: ...
@overload
def dist(input: _Plain, other: _T, p: builtins.float = 2) -> _T: ...
@overload
def div(
    input: _T,
    other: _ArrayLike,
    *,
    rounding_mode: builtins.str | None = None,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
@overload
def div(
    input: _Plain,
    other: _T,
    *,
    rounding_mode: builtins.str | None = None,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
@overload
def divide(
    input: _T,
    other: _ArrayLike,
    *,
    rounding_mode: builtins.str | None = None,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
@overload
def divide(
    input: _Plain,
    other: _T,
    *,
    rounding_mode: builtins.str | None = None,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
@overload
def dot(a: _T, b: _ArrayLike, out: _Out = None) -> _T: ...
@overload
def dot(a: _Plain, b: _T, out: _Out = None) -> _T: ...
def dropout(input: _T, p: builtins.float, train: builtins.bool) -> _T: ...
def dropout_(input: _T, p: builtins.float, train: builtins.bool) -> _T: ...
def dsplit(ary: _T, indices_or_sections: _ArrayLike) -> list[_T]: ...
def dstack(tup: Sequence[_T]) -> _T: ...
def einsum(equation: builtins.str, *operands: _T | list[_T]) -> _T: ...
def embedding(
    weight: _ArrayLike,
    indices: _ArrayLike,
    padding_idx: builtins.int = -1,
    scale_grad_by_freq: builtins.bool = False,
    sparse: builtins.bool = False,
) -> TorchTensor: ...
def embedding_bag(
    weight: _ArrayLike,
    indices: _ArrayLike,
    offsets: _ArrayLike,
    scale_grad_by_freq: builtins.bool = False,
    mode: builtins.int = 0,
    sparse: builtins.bool = False,
    per_sample_weights: _ArrayLike | None = None,
    include_last_offset: builtins.bool = False,
    padding_idx: builtins.int | None = None,
) -> tuple[TorchTensor, TorchTensor, TorchTensor, TorchTensor]: ...
def embedding_renorm_(
    input: _T,
    indices: _ArrayLike,
    max_norm: builtins.float,
    norm_type: builtins.float = 2.0,
) -> _T: ...
def empty(
    *size: _Shape,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def empty_like(
    input: _T,
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> _T: ...
def empty_permuted(
    size: _Shape,
    physical_layout: Any,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
def empty_strided(
    size: _Shape,
    stride: Any,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
@overload
def eq(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def eq(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def equal(input: _T, other: _ArrayLike) -> builtins.bool: ...
@overload
def equal(input: _Plain, other: _T) -> builtins.bool: ...
def erf(
    input: _T,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def erf_(
    input: _T,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def erfc(
    input: _T,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def erfc_(
    input: _T,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def erfinv(input: _T) -> _T: ...
def exp(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def exp2(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def exp2_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def exp_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def expm1(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def expm1_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def eye(
    n: builtins.int,
    m: builtins.int | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def feature_alpha_dropout(input: _T, p: builtins.float, train: builtins.bool) -> _T: ...
def feature_alpha_dropout_(
    input: _T, p: builtins.float, train: builtins.bool
) -> _T: ...
def feature_dropout(input: _T, p: builtins.float, train: builtins.bool) -> _T: ...
def feature_dropout_(input: _T, p: builtins.float, train: builtins.bool) -> _T: ...
def fill(input: _T, value: _ArrayLike) -> _T: ...
def fill_(self: Any, value: _ArrayLike) -> TorchTensor: ...
def fix(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def fix_(
    self: Any,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
def flatten(
    input: _T, start_dim: builtins.int = 0, end_dim: builtins.int = -1
) -> _T: ...
def flip(input: _T, dims: _Shape) -> _T: ...
def fliplr(input: _T) -> _T: ...
def flipud(input: _T) -> _T: ...
@overload
def float_power(input: _T, exponent: _ArrayLike) -> _T: ...
@overload
def float_power(input: _Plain, exponent: _T) -> _T: ...
def floor(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def floor_(
    self: Any,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
@overload
def floor_divide(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def floor_divide(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def fmax(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def fmax(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def fmin(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def fmin(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def fmod(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def fmod(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def frac(input: _T) -> _T: ...
def frac_(input: _T) -> _T: ...
def frexp(
    x: _T,
    /,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> tuple[_T, _T]: ...
def frobenius_norm(
    input: _T, dim: Any = None, keepdim: builtins.bool = False
) -> _T: ...
def from_file(
    filename: builtins.str,
    shared: builtins.bool | None = None,
    size: builtins.int | None = 0,
    *,
    dtype: npt.DTypeLike | None = None,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
def from_numpy(ndarray: npt.NDArray[Any]) -> TorchTensor: ...
def frombuffer(
    buffer: Any,
    *,
    dtype: npt.DTypeLike,
    count: builtins.int = -1,
    offset: builtins.int = 0,
    requires_grad: builtins.bool = False,
) -> TorchTensor: ...
def full(
    size: Sequence[builtins.int],
    fill_value: _ArrayLike,
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def full_like(
    input: _T,
    fill_value: _ArrayLike,
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> _T: ...
def gather(
    input: _T,
    dim: builtins.int,
    index: _ArrayLike,
    *,
    sparse_grad: builtins.bool = False,
) -> _T: ...
@overload
def gcd(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def gcd(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def gcd_(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def gcd_(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def ge(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def ge(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def geqrf(input: _T) -> _T: ...
def ger(input: _T, vec2: _ArrayLike) -> _T: ...
def get_autocast_dtype(device_type: builtins.str = "cpu") -> _dtype: ...
def get_default_device() -> TorchTensor: ...
def get_deterministic_debug_mode() -> builtins.int: ...
def get_device(self: Any) -> builtins.int: ...
def get_device_module(device: builtins.str | None = None) -> TorchTensor: ...
def get_float32_matmul_precision() -> builtins.str: ...
def get_num_interop_threads() -> builtins.int: ...
def get_num_threads() -> builtins.int: ...
def gradient(
    input: _T, *, spacing: Any = 1, dim: Any = None, edge_order: builtins.int = 1
) -> _T | tuple[_T, ...]: ...
@overload
def greater(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def greater(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def greater_equal(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def greater_equal(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def group_norm(
    input: _T,
    num_groups: builtins.int,
    weight: _ArrayLike | None = None,
    bias: _ArrayLike | None = None,
    eps: builtins.float = 1e-05,
) -> _T: ...
def gru(
    input: _T,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> tuple[_T, ...]: ...
def gru_cell(
    input: _T, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> _T: ...
@overload
def gt(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def gt(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def hamming_window(
    window_length: builtins.int,
    periodic: builtins.bool = True,
    *shape: _Shape,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def hann_window(
    window_length: builtins.int,
    periodic: builtins.bool = True,
    *shape: _Shape,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def hardshrink(x: _T, lambd: builtins.float = 0.5) -> _T: ...
def heaviside(
    input: _T,
    values: _ArrayLike,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def hinge_embedding_loss(
    *args: _T,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def histc(
    input: _T,
    bins: builtins.int = 100,
    min: builtins.float = 0,
    max: builtins.float = 0,
) -> _T: ...
def histogram(
    input: _T,
    bins: _ArrayLike | builtins.str = 100,
    *,
    range: _ArrayLike | None = None,
    weight: _ArrayLike | None = None,
    density: builtins.bool = False,
) -> tuple[_T, _T]: ...
def histogramdd(
    input: _T,
    bins: _ArrayLike,
    range: _ArrayLike | None = None,
    weight: _ArrayLike | None = None,
    density: builtins.bool = False,
) -> tuple[_T, list[_T]]: ...
def hsplit(ary: _T, indices_or_sections: _ArrayLike) -> list[_T]: ...
def hstack(
    tup: Sequence[_T],
    *,
    dtype: npt.DTypeLike | None = None,
    casting: builtins.str = "same_kind",
) -> _T: ...
@overload
def hypot(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def hypot(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def i0(input: _T) -> _T: ...
def i0_(input: _T) -> _T: ...
@overload
def igamma(input: _T, other: _ArrayLike) -> _T: ...
@overload
def igamma(input: _Plain, other: _T) -> _T: ...
@overload
def igammac(input: _T, other: _ArrayLike) -> _T: ...
@overload
def igammac(input: _Plain, other: _T) -> _T: ...
def imag(
    x: _T,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def index_add(
    input: _T,
    dim: builtins.int,
    index: _ArrayLike,
    source: _ArrayLike,
    *,
    alpha: builtins.complex = 1,
) -> _T: ...
def index_copy(
    input: _T, dim: builtins.int, index: _ArrayLike, source: _ArrayLike
) -> _T: ...
def index_fill(
    input: _T, dim: builtins.int, index: _ArrayLike, value: _ArrayLike
) -> _T: ...
def index_put(
    input: _T,
    indices: _ArrayLike,
    values: _ArrayLike,
    accumulate: builtins.bool = False,
) -> _T: ...
def index_put_(
    input: _T,
    indices: _ArrayLike,
    values: _ArrayLike,
    accumulate: builtins.bool = False,
) -> _T: ...
def index_reduce(
    input: _T,
    dim: builtins.int,
    index: _ArrayLike,
    source: _Shape,
    reduce: builtins.str,
    *,
    include_self: builtins.bool = True,
) -> _T: ...
def index_select(self: Any, dim: builtins.int, index: _ArrayLike) -> TorchTensor: ...
@overload
def inner(a: _T, b: _ArrayLike, /) -> _T: ...
@overload
def inner(a: _Plain, b: _T, /) -> _T: ...
def instance_norm(
    input: _T,
    weight: _ArrayLike,
    bias: _ArrayLike,
    running_mean: _ArrayLike,
    running_var: _ArrayLike,
    use_input_stats: builtins.bool,
    momentum: builtins.float,
    eps: builtins.float,
    cudnn_enabled: builtins.bool = True,
) -> _T: ...
def inverse(a: _T) -> _T: ...
def is_anomaly_check_nan_enabled() -> builtins.bool: ...
def is_anomaly_enabled() -> builtins.bool: ...
def is_complex(input: _T) -> builtins.bool: ...
def is_conj(self: Any) -> builtins.bool: ...
def is_deterministic_algorithms_warn_only_enabled() -> builtins.bool: ...
def is_distributed(self: Any) -> builtins.bool: ...
def is_floating_point(input: _T) -> builtins.bool: ...
def is_inference(self: Any) -> builtins.bool: ...
def is_inference_mode_enabled() -> builtins.bool: ...
def is_neg(self: Any) -> builtins.bool: ...
def is_nonzero(input: _T) -> builtins.bool: ...
def is_same_size(self: Any, other: _ArrayLike) -> builtins.bool: ...
def is_signed(self: Any) -> builtins.bool: ...
def is_storage(obj: _ArrayLike) -> builtins.bool: ...
def is_tensor(obj: _ArrayLike) -> builtins.bool: ...
def is_warn_always_enabled() -> builtins.bool: ...
@overload
def isclose(
    a: _T,
    b: _ArrayLike,
    rtol: builtins.float = 1e-05,
    atol: builtins.float = 1e-08,
    equal_nan: builtins.bool = False,
) -> _T: ...
@overload
def isclose(
    a: _Plain,
    b: _T,
    rtol: builtins.float = 1e-05,
    atol: builtins.float = 1e-08,
    equal_nan: builtins.bool = False,
) -> _T: ...
def isfinite(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def isin(
    element: _T,
    test_elements: _ArrayLike,
    assume_unique: builtins.bool = False,
    invert: builtins.bool = False,
    *,
    kind: builtins.str | None = None,
) -> _T: ...
def isinf(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def isnan(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def isneginf(
    x: _T,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def isposinf(
    x: _T,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def isreal(
    x: _T,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def istft(
    input: _T,
    n_fft: builtins.int,
    hop_length: builtins.int | None = None,
    win_length: builtins.int | None = None,
    window: Any = None,
    center: builtins.bool = True,
    normalized: builtins.bool = False,
    onesided: builtins.bool | None = None,
    length: builtins.int | None = None,
    return_complex: builtins.bool = False,
) -> _T: ...
def kaiser_window(
    window_length: builtins.int,
    periodic: builtins.bool = True,
    *shape: _Shape,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def kl_div(
    input: _T,
    target: _ArrayLike,
    reduction: builtins.int = 0,
    *,
    log_target: builtins.bool = False,
) -> _T: ...
@overload
def kron(a: _T, b: _ArrayLike) -> _T: ...
@overload
def kron(a: _Plain, b: _T) -> _T: ...
def kthvalue(
    input: _T, k: builtins.int, dim: builtins.int = -1, keepdim: builtins.bool = False
) -> _Picked[_T]: ...
def layer_norm(
    input: _T,
    normalized_shape: Any,
    weight: _ArrayLike | None = None,
    bias: _ArrayLike | None = None,
    eps: builtins.float = 1e-05,
    cudnn_enable: builtins.bool = True,
) -> _T: ...
@overload
def lcm(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def lcm(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def lcm_(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def lcm_(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def ldexp(input: _T, other: _ArrayLike) -> _T: ...
@overload
def ldexp(input: _Plain, other: _T) -> _T: ...
@overload
def ldexp_(input: _T, other: _ArrayLike) -> _T: ...
@overload
def ldexp_(input: _Plain, other: _T) -> _T: ...
@overload
def le(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def le(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def lerp(input: _T, end: _ArrayLike, weight: _ArrayLike) -> _T: ...
@overload
def less(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def less(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def less_equal(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def less_equal(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def lgamma(input: _T) -> _T: ...
def linspace(
    start: builtins.float,
    end: builtins.float,
    steps: builtins.int,
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def lobpcg(
    A: Any,
    k: builtins.int | None = None,
    B: Any = None,
    X: Any = None,
    n: builtins.int | None = None,
    iK: Any = None,
    niter: builtins.int | None = None,
    tol: builtins.float | None = None,
    largest: builtins.bool | None = None,
    method: builtins.str | None = None,
    tracker: Any = None,
    ortho_iparams: Any = None,
    ortho_fparams: Any = None,
    ortho_bparams: Any = None,
) -> tuple[TorchTensor, TorchTensor]: ...
def log(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def log10(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def log10_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def log1p(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def log1p_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def log2(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def log2_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def log_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def log_softmax(
    input: _T, dim: builtins.int | None = None, dtype: npt.DTypeLike | None = None
) -> _T: ...
@overload
def logaddexp(
    input: _T,
    other: _ArrayLike,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
@overload
def logaddexp(
    input: _Plain,
    other: _T,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
@overload
def logaddexp2(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def logaddexp2(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def logcumsumexp(input: _T, dim: builtins.int) -> _T: ...
def logdet(input: _T) -> _T: ...
@overload
def logical_and(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def logical_and(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def logical_not(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def logical_or(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def logical_or(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def logical_xor(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def logical_xor(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def logit(input: _T, eps: builtins.float | None = None) -> _T: ...
def logit_(input: _T, eps: builtins.float | None = None) -> _T: ...
def logspace(
    start: builtins.float,
    end: builtins.float,
    steps: builtins.int,
    base: builtins.float = 10.0,
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def logsumexp(input: _T, dim: Any, keepdim: builtins.bool = False) -> _T: ...
def lstm(
    input: _T,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> tuple[_T, ...]: ...
def lstm_cell(
    input: _T, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> _T: ...
@overload
def lt(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def lt(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def lu(
    A: Any,
    pivot: builtins.bool = True,
    get_infos: builtins.bool = False,
    out: _Out = None,
) -> tuple[TorchTensor, ...]: ...
def lu_solve(b: _T, LU_data: Any, LU_pivots: Any) -> _T: ...
def lu_unpack(
    LU_data: Any,
    LU_pivots: Any,
    unpack_data: builtins.bool = True,
    unpack_pivots: builtins.bool = True,
) -> tuple[TorchTensor, TorchTensor, TorchTensor]: ...
def margin_ranking_loss(
    *args: _T,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def masked_fill(input: _T, mask: _ArrayLike, value: _ArrayLike) -> _T: ...
def masked_scatter(input: _T, mask: _ArrayLike, source: _ArrayLike) -> _T: ...
def masked_select(input: _T, mask: _ArrayLike) -> _T: ...
@overload
def matmul(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: builtins.str = "same_kind",
) -> _T: ...
@overload
def matmul(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: builtins.str = "same_kind",
) -> _T: ...
def matrix_exp(input: _T) -> _T: ...
def matrix_power(a: _T, n: builtins.int) -> _T: ...
@overload
def max(input: _T) -> _T: ...
@overload
def max(
    input: _T, dim: builtins.int, keepdim: builtins.bool = False
) -> _Picked[_T]: ...
@overload
def max(input: _T, other: _ArrayLike) -> _T: ...
@overload
def max_pool1d(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: builtins.bool = False,
    return_indices: Literal[False] = False,
) -> _T: ...
@overload
def max_pool1d(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: builtins.bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[_T, _T]: ...
def max_pool1d_with_indices(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: builtins.bool = False,
    return_indices: builtins.bool = True,
) -> _T: ...
@overload
def max_pool2d(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: builtins.bool = False,
    return_indices: Literal[False] = False,
) -> _T: ...
@overload
def max_pool2d(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: builtins.bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[_T, _T]: ...
def max_pool3d(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: builtins.bool = False,
    return_indices: builtins.bool = False,
) -> _T: ...
@overload
def maximum(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def maximum(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def mean(
    input: _T,
    dim: _Axis | None = None,
    keepdim: builtins.bool = False,
    *,
    dtype: npt.DTypeLike | None = None,
) -> _T: ...
@overload
def median(input: _T) -> _T: ...
@overload
def median(
    input: _T, dim: builtins.int, keepdim: builtins.bool = False
) -> _Picked[_T]: ...
def meshgrid(*tensors: _T, indexing: builtins.str = "ij") -> tuple[_T, ...]: ...
@overload
def min(input: _T) -> _T: ...
@overload
def min(
    input: _T, dim: builtins.int, keepdim: builtins.bool = False
) -> _Picked[_T]: ...
@overload
def min(input: _T, other: _ArrayLike) -> _T: ...
@overload
def minimum(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def minimum(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def mm(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: builtins.str = "same_kind",
) -> _T: ...
@overload
def mm(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: builtins.str = "same_kind",
) -> _T: ...
def mode(
    input: _T, dim: builtins.int = -1, keepdim: builtins.bool = False
) -> _Picked[_T]: ...
def moveaxis(a: _T, source: _Shape, destination: _Shape) -> _T: ...
def movedim(a: _T, source: _Shape, destination: _Shape) -> _T: ...
def msort(input: _T) -> _T: ...
@overload
def mul(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def mul(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def multinomial(
    input: _T,
    num_samples: builtins.int,
    replacement: builtins.bool = False,
    *,
    generator: Any = None,
) -> _T: ...
@overload
def multiply(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def multiply(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def mv(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: builtins.str = "same_kind",
) -> _T: ...
@overload
def mv(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: builtins.str = "same_kind",
) -> _T: ...
def mvlgamma(input: _T, p: builtins.int) -> _T: ...
def nan_to_num(
    input: _T,
    nan: builtins.float = 0.0,
    posinf: builtins.float | None = None,
    neginf: builtins.float | None = None,
) -> _T: ...
def nan_to_num_(
    input: _T,
    nan: builtins.float = 0.0,
    posinf: builtins.float | None = None,
    neginf: builtins.float | None = None,
) -> _T: ...
def nanmean(
    input: _T,
    dim: _Axis | None = None,
    keepdim: builtins.bool = False,
    *,
    dtype: npt.DTypeLike | None = None,
) -> _T: ...
@overload
def nanmedian(input: _T) -> _T: ...
@overload
def nanmedian(
    input: _T, dim: builtins.int, keepdim: builtins.bool = False
) -> _Picked[_T]: ...
def nanquantile(
    input: _T,
    q: _ArrayLike,
    dim: builtins.int | None = None,
    keepdim: builtins.bool = False,
    *,
    interpolation: builtins.str = "linear",
) -> _T: ...
def nansum(
    input: _T,
    dim: _Axis | None = None,
    keepdim: builtins.bool = False,
    *,
    dtype: npt.DTypeLike | None = None,
) -> _T: ...
def narrow(
    input: _T, dim: builtins.int, start: builtins.int, length: builtins.int
) -> _T: ...
@overload
def ne(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def ne(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def neg(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def neg_(
    self: Any,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
def negative(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def negative_(
    self: Any,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
@overload
def nextafter(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def nextafter(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def nonzero(input: _T, *, as_tuple: Literal[False] = False) -> _T: ...
@overload
def nonzero(input: _T, *, as_tuple: Literal[True]) -> tuple[_T, ...]: ...
def nonzero_static(
    input: _T, *, size: builtins.int, fill_value: builtins.int = -1
) -> _T: ...
def norm(
    input: _T,
    p: builtins.float | builtins.str = "fro",
    dim: _Axis | None = None,
    keepdim: builtins.bool = False,
    dtype: npt.DTypeLike | None = None,
) -> _T: ...
def norm_except_dim(v: _T, pow: builtins.int = 2, dim: builtins.int = 0) -> _T: ...
def normal(
    mean: _ArrayLike = 0.0,
    std: _ArrayLike = 1.0,
    size: Sequence[builtins.int] | None = None,
    *,
    generator: Generator | None = None,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
@overload
def not_equal(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def not_equal(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def nuclear_norm(input: _T, dim: Any = ..., keepdim: builtins.bool = False) -> _T: ...
def numel(input: _T) -> builtins.int: ...
def ones(
    *size: _Shape,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def ones_like(
    input: _T,
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> _T: ...
def orgqr(input: _T, tau: Any) -> _T: ...
def ormqr(
    input: _T,
    tau: Any,
    other: _ArrayLike,
    left: builtins.bool = True,
    transpose: builtins.bool = False,
) -> _T: ...
def outer(input: _T, vec2: _ArrayLike) -> _T: ...
@overload
def pairwise_distance(
    x1: _T,
    x2: _ArrayLike,
    p: builtins.float = 2.0,
    eps: builtins.float = 1e-06,
    keepdim: builtins.bool = False,
) -> _T: ...
@overload
def pairwise_distance(
    x1: _Plain,
    x2: _T,
    p: builtins.float = 2.0,
    eps: builtins.float = 1e-06,
    keepdim: builtins.bool = False,
) -> _T: ...
def pca_lowrank(
    A: Any,
    q: builtins.int | None = None,
    center: builtins.bool = True,
    niter: builtins.int = 2,
) -> TorchTensor: ...
def pdist(input: _T, p: builtins.float = 2) -> _T: ...
def permute(a: _T, axes: _Axis | None = None) -> _T: ...
def pinverse(input: _T, rcond: builtins.float = 1e-15) -> _T: ...
def pixel_shuffle(input: _T, upscale_factor: builtins.int) -> _T: ...
def pixel_unshuffle(input: _T, downscale_factor: builtins.int) -> _T: ...
def poisson(input: _T, generator: Any = None) -> _T: ...
def poisson_nll_loss(
    *args: _T,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def polar(abs: _ArrayLike, angle: _ArrayLike) -> TorchTensor: ...
def polygamma(n: builtins.int, input: _ArrayLike) -> TorchTensor: ...
def positive(input: _T) -> _T: ...
@overload
def pow(
    input: _T,
    exponent: _ArrayLike,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
@overload
def pow(
    input: _Plain,
    exponent: _T,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def prelu(x: _T, weight: _ArrayLike) -> _T: ...
def prod(
    input: _T,
    dim: builtins.int | None = None,
    keepdim: builtins.bool = False,
    *,
    dtype: npt.DTypeLike | None = None,
) -> _T: ...
def put(
    input: _T, index: _ArrayLike, source: _ArrayLike, accumulate: builtins.bool = False
) -> _T: ...
def qr(input: _T, some: builtins.bool = True) -> _QRResult[_T]: ...
def quantile(
    input: _T,
    q: _ArrayLike,
    dim: builtins.int | None = None,
    keepdim: builtins.bool = False,
    *,
    interpolation: builtins.str = "linear",
) -> _T: ...
def rad2deg(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def rad2deg_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def rand(
    *size: _Shape,
    generator: Generator | None = None,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def rand_like(
    input: _T,
    *,
    generator: Generator | None = None,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> _T: ...
def randint(
    low: builtins.int,
    high: _ArrayLike | None = None,
    size: Sequence[builtins.int] | None = None,
    *,
    generator: Generator | None = None,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def randint_like(
    input: _T,
    low: builtins.int,
    high: builtins.int | None = None,
    *,
    generator: Generator | None = None,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> _T: ...
def randn(
    *size: _Shape,
    generator: Generator | None = None,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def randn_like(
    input: _T,
    *,
    generator: Generator | None = None,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> _T: ...
def randperm(
    n: builtins.int,
    *,
    generator: Generator | None = None,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def range(
    start: builtins.float = 0,
    end: _ArrayLike | None = None,
    step: builtins.float = 1,
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def ravel(a: _T, order: builtins.str = "C") -> _T: ...
def real(
    x: _T,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def reciprocal(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def reciprocal_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def relu(x: _T) -> _T: ...
def relu_(
    self: Any,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
@overload
def remainder(
    x1: _T,
    x2: _ArrayLike,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
@overload
def remainder(
    x1: _Plain,
    x2: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def renorm(
    input: _T, p: builtins.float, dim: builtins.int, maxnorm: builtins.float
) -> _T: ...
def repeat_interleave(
    input: _T,
    repeats: _ArrayLike | None = None,
    dim: builtins.int | None = None,
    *,
    output_size: builtins.int | None = None,
) -> _T: ...
def reshape(
    a: _T,
    /,
    shape: _Shape,
    order: builtins.str = "C",
    *,
    copy: builtins.bool | None = None,
) -> _T: ...
def resize_as_(
    self: Any, the_template: Any, memory_format: builtins.object | None = None
) -> TorchTensor: ...
def rms_norm(
    input: _T,
    normalized_shape: _Shape,
    weight: _ArrayLike | None = None,
    eps: builtins.float | None = None,
) -> _T: ...
def rnn_relu(
    input: _T,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> tuple[_T, ...]: ...
def rnn_relu_cell(
    input: _T, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> _T: ...
def rnn_tanh(
    input: _T,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> tuple[_T, ...]: ...
def rnn_tanh_cell(
    input: _T, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> _T: ...
def roll(input: _T, shifts: _Shape, dims: _Axis | None = None) -> _T: ...
def rot90(input: _T, k: builtins.int = 1, dims: Sequence[builtins.int] = ...) -> _T: ...
def round(a: _T, decimals: builtins.int = 0, out: _Out = None) -> _T: ...
def round_(
    self: Any,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
def row_stack(
    tup: Sequence[_T],
    *,
    dtype: npt.DTypeLike | None = None,
    casting: builtins.str = "same_kind",
) -> _T: ...
def rrelu(
    input: _T,
    lower: builtins.float = 0.125,
    upper: builtins.float = 0.3333333333333333,
    training: builtins.bool = False,
    inplace: builtins.bool = False,
) -> _T: ...
def rrelu_(
    input: _T,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def rsqrt(
    input: _T,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def rsqrt_(
    input: _T,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
@overload
def rsub(input: _T, other: _ArrayLike, *, alpha: builtins.complex = 1) -> _T: ...
@overload
def rsub(input: _Plain, other: _T, *, alpha: builtins.complex = 1) -> _T: ...
def scalar_tensor(
    s: Any,
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def scatter(
    input: _T,
    dim: builtins.int,
    index: _ArrayLike,
    src: _ArrayLike | None = None,
    *,
    value: _ArrayLike | None = None,
    reduce: builtins.str | None = None,
) -> _T: ...
def scatter_add(
    input: _T, dim: builtins.int, index: _ArrayLike, src: _ArrayLike
) -> _T: ...
def scatter_reduce(
    input: _T,
    dim: builtins.int,
    index: _ArrayLike,
    src: _ArrayLike,
    reduce: builtins.str,
    *,
    include_self: builtins.bool = True,
) -> _T: ...
def searchsorted(
    sorted_sequence: _T,
    input: _ArrayLike,
    *,
    out_int32: builtins.bool = False,
    right: builtins.bool = False,
    side: builtins.str | None = None,
    sorter: _ArrayLike | None = None,
) -> _T: ...
def select(input: _T, dim: builtins.int, index: builtins.int) -> _T: ...
def select_scatter(
    input: _T, src: _ArrayLike, dim: builtins.int, index: builtins.int
) -> _T: ...
def selu(input: _T, inplace: builtins.bool = False) -> _T: ...
def selu_(
    input: _T,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def set_anomaly_enabled(
    enabled: builtins.bool, check_nan: builtins.bool = True
) -> None: ...
def set_default_device(device: builtins.str) -> None: ...
def set_default_tensor_type(t: Any) -> None: ...
def set_deterministic_debug_mode(debug_mode: builtins.int | builtins.str) -> None: ...
def set_float32_matmul_precision(precision: builtins.str) -> None: ...
def set_num_interop_threads(num: builtins.int) -> None: ...
def set_num_threads(num: builtins.int) -> None: ...
def set_warn_always(b: builtins.bool) -> None: ...
def sgn(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def sigmoid(
    input: _T,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def sigmoid_(
    input: _T,
    *,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def sign(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def signbit(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def sin(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def sin_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def sinc(
    x: _T,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def sinc_(
    x: _T,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def sinh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def sinh_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def slice_scatter(
    input: _T,
    src: _ArrayLike,
    dim: builtins.int = 0,
    start: builtins.int | None = None,
    end: builtins.int | None = None,
    step: builtins.int = 1,
) -> _T: ...
def slogdet(a: _T) -> _SlogdetResult[_T]: ...
def softmax(
    input: _T, dim: builtins.int | None = None, dtype: npt.DTypeLike | None = None
) -> _T: ...
def sort(
    input: _T,
    dim: builtins.int = -1,
    descending: builtins.bool = False,
    stable: builtins.bool = False,
) -> _Picked[_T]: ...
def sparse_coo_tensor(
    indices: _ArrayLike,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
def sparse_csr_tensor(
    crow_indices: Any,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
@overload
def split(x: _T, split_size: _Shape, axis: builtins.int = 0) -> tuple[_T, ...]: ...
@overload
def split(x: _T, split_size: _Shape, *, dim: builtins.int) -> tuple[_T, ...]: ...
def split_with_sizes(
    self: Any, split_size: Any, dim: builtins.int = 0
) -> TorchTensor: ...
def sqrt(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def sqrt_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def square(input: _T) -> _T: ...
def square_(
    self: Any,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
def squeeze(input: _T, dim: _Axis | None = None) -> _T: ...
def stack(tensors: Sequence[_T], dim: builtins.int = 0) -> _T: ...
def std(
    input: _T,
    dim: _Axis | None = None,
    unbiased: builtins.bool = True,
    keepdim: builtins.bool = False,
    *,
    correction: builtins.float | None = None,
) -> _T: ...
def std_mean(
    input: _T,
    dim: _Axis | None = None,
    unbiased: builtins.bool = True,
    keepdim: builtins.bool = False,
    *,
    correction: builtins.float | None = None,
) -> tuple[_T, _T]: ...
def stft(
    input: _T,
    n_fft: builtins.int,
    hop_length: builtins.int | None = None,
    win_length: builtins.int | None = None,
    window: Any = None,
    center: builtins.bool = True,
    pad_mode: builtins.str = "reflect",
    normalized: builtins.bool = False,
    onesided: builtins.bool | None = None,
    return_complex: builtins.bool | None = None,
    align_to_window: builtins.bool | None = None,
) -> _T: ...
@overload
def sub(
    input: _T,
    other: _ArrayLike,
    *,
    alpha: builtins.complex = 1,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
@overload
def sub(
    input: _Plain,
    other: _T,
    *,
    alpha: builtins.complex = 1,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
@overload
def subtract(
    input: _T,
    other: _ArrayLike,
    *,
    alpha: builtins.complex = 1,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
@overload
def subtract(
    input: _Plain,
    other: _T,
    *,
    alpha: builtins.complex = 1,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def sum(
    input: _T,
    dim: _Axis | None = None,
    keepdim: builtins.bool = False,
    *,
    dtype: npt.DTypeLike | None = None,
) -> _T: ...
def svd(
    input: _T, some: builtins.bool = True, compute_uv: builtins.bool = True
) -> tuple[_T, _T, _T]: ...
def svd_lowrank(
    A: Any, q: builtins.int | None = 6, niter: builtins.int | None = 2, M: Any = None
) -> TorchTensor: ...
def swapaxes(input: _T, dim0: builtins.int, dim1: builtins.int) -> _T: ...
def swapdims(input: _T, dim0: builtins.int, dim1: builtins.int) -> _T: ...
def t(self: Any) -> TorchTensor: ...
def take(input: _T, index: _ArrayLike) -> _T: ...
def take_along_dim(
    input: _T, indices: _ArrayLike, dim: builtins.int | None = None
) -> _T: ...
def tan(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def tan_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def tanh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def tanh_(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def tensor(
    data: _ArrayLike,
    *,
    dtype: npt.DTypeLike | None = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
) -> TorchTensor: ...
def tensor_split(
    input: _T, indices_or_sections: _ArrayLike, dim: builtins.int = 0
) -> _T: ...
@overload
def tensordot(
    a: _T, b: _ArrayLike, dims: builtins.int | Sequence[Sequence[builtins.int]] = 2
) -> _T: ...
@overload
def tensordot(
    a: _Plain, b: _T, dims: builtins.int | Sequence[Sequence[builtins.int]] = 2
) -> _T: ...
def threshold(
    input: _T,
    threshold: builtins.float,
    value: builtins.float,
    inplace: builtins.bool = False,
) -> _T: ...
def threshold_(
    input: _T,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def tile(A: _ArrayLike, reps: _Shape) -> TorchTensor: ...
def to_dlpack(tensor: _T) -> _T: ...
def topk(
    input: _T,
    k: builtins.int,
    dim: builtins.int = -1,
    largest: builtins.bool = True,
    sorted: builtins.bool = True,
) -> _Picked[_T]: ...
def trace(input: _T) -> _T: ...
def transpose(input: _T, dim0: builtins.int, dim1: builtins.int) -> _T: ...
def trapezoid(
    y: _T, x: _ArrayLike | None = None, *, dx: _ArrayLike = 1, dim: builtins.int = -1
) -> _T: ...
def trapz(
    y: _T, x: _ArrayLike | None = None, *, dx: _ArrayLike = 1, dim: builtins.int = -1
) -> _T: ...
def triangular_solve(
    b: _T,
    A: Any,
    upper: builtins.bool = True,
    transpose: builtins.bool = False,
    unitriangular: builtins.bool = False,
) -> _Triangular[_T]: ...
def tril(input: _T, diagonal: builtins.int = 0) -> _T: ...
def tril_indices(
    row: builtins.int,
    col: builtins.int,
    offset: builtins.int = 0,
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def triplet_margin_loss(
    *args: _T,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def triu(input: _T, diagonal: builtins.int = 0) -> _T: ...
def triu_indices(
    row: builtins.int,
    col: builtins.int,
    offset: builtins.int = 0,
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
@overload
def true_divide(
    input: _T,
    other: _ArrayLike,
    *,
    rounding_mode: builtins.str | None = None,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
@overload
def true_divide(
    input: _Plain,
    other: _T,
    *,
    rounding_mode: builtins.str | None = None,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> _T: ...
def trunc(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object | None = None,
) -> _T: ...
def trunc_(
    self: Any,
    *args: _ArrayLike,
    out: _Out = None,
    where: _ArrayLike = True,
    casting: builtins.str = "same_kind",
    order: builtins.str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: builtins.bool = True,
    signature: builtins.object = None,
) -> TorchTensor: ...
def typename(obj: _ArrayLike) -> builtins.str: ...
@overload
def unbind(x: _T, axis: builtins.int = 0) -> tuple[_T, ...]: ...
@overload
def unbind(x: _T, *, dim: builtins.int) -> tuple[_T, ...]: ...
@overload
def unflatten(a: _T, axis: builtins.int, sizes: _Shape) -> _T: ...
@overload
def unflatten(a: _T, *, dim: builtins.int, sizes: _Shape) -> _T: ...
@overload
def unique(
    input: _T,
    sorted: builtins.bool = True,
    return_inverse: Literal[False] = False,
    return_counts: Literal[False] = False,
    dim: builtins.int | None = None,
) -> _T: ...
@overload
def unique(
    input: _T,
    sorted: builtins.bool = True,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[False] = False,
    dim: builtins.int | None = None,
) -> tuple[_T, _T]: ...
@overload
def unique(
    input: _T,
    sorted: builtins.bool = True,
    return_inverse: Literal[False] = False,
    *,
    return_counts: Literal[True],
    dim: builtins.int | None = None,
) -> tuple[_T, _T]: ...
@overload
def unique(
    input: _T,
    sorted: builtins.bool = True,
    *,
    return_inverse: Literal[True],
    return_counts: Literal[True],
    dim: builtins.int | None = None,
) -> tuple[_T, _T, _T]: ...
@overload
def unique(
    input: _T,
    sorted: builtins.bool = True,
    return_inverse: builtins.bool = False,
    return_counts: builtins.bool = False,
    dim: builtins.int | None = None,
) -> Any: ...
def unique_consecutive(
    input: _T,
    return_inverse: builtins.bool = False,
    return_counts: builtins.bool = False,
    dim: builtins.int | None = None,
) -> _T: ...
def unravel_index(indices: _ArrayLike, shape: _Shape) -> tuple[TorchTensor, ...]: ...
@overload
def unsqueeze(a: _T, axis: _Axis) -> _T: ...
@overload
def unsqueeze(a: _T, *, dim: _Axis) -> _T: ...
def use_deterministic_algorithms(
    mode: builtins.bool, *, warn_only: builtins.bool = False
) -> None: ...
def vander(
    x: _T, N: builtins.int | None = None, increasing: builtins.bool = False
) -> _T: ...
def var(
    input: _T,
    dim: _Axis | None = None,
    unbiased: builtins.bool = True,
    keepdim: builtins.bool = False,
    *,
    correction: builtins.float | None = None,
) -> _T: ...
def var_mean(
    input: _T,
    dim: _Axis | None = None,
    unbiased: builtins.bool = True,
    keepdim: builtins.bool = False,
    *,
    correction: builtins.float | None = None,
) -> tuple[_T, _T]: ...
@overload
def vdot(a: _T, b: _ArrayLike, /) -> _T: ...
@overload
def vdot(a: _Plain, b: _T, /) -> _T: ...
def view_as_complex(input: _T) -> _T: ...
def view_as_real(input: _T) -> _T: ...
def vsplit(ary: _T, indices_or_sections: _ArrayLike) -> list[_T]: ...
def vstack(
    tup: Sequence[_T],
    *,
    dtype: npt.DTypeLike | None = None,
    casting: builtins.str = "same_kind",
) -> _T: ...
@overload
def where(condition: _ArrayLike, input: _T, other: _ArrayLike) -> _T: ...
@overload
def where(condition: _ArrayLike, input: _Plain, other: _T) -> _T: ...
@overload
def where(condition: _T, input: _Plain, other: _Plain) -> _T: ...
@overload
def where(condition: _T) -> tuple[_T, ...]: ...
@overload
def xlogy(input: _T, other: _ArrayLike) -> _T: ...
@overload
def xlogy(input: _Plain, other: _T) -> _T: ...
@overload
def xlogy_(input: _T, other: _ArrayLike) -> _T: ...
@overload
def xlogy_(input: _Plain, other: _T) -> _T: ...
def zero_(self: Any) -> TorchTensor: ...
def zeros(
    *size: _Shape,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> TorchTensor: ...
def zeros_like(
    input: _T,
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device: builtins.str | None = None,
    requires_grad: builtins.bool = False,
    pin_memory: builtins.bool = False,
    memory_format: builtins.object | None = None,
) -> _T: ...
