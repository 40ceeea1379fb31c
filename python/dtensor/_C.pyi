"""The C half of dtensor: placements, meshes, layouts, tensors and moves."""

import builtins
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import (
    Any,
    ClassVar,
    Final,
    Self,
    SupportsIndex,
    final,
    overload,
    type_check_only,
)

import numpy as np
import numpy.typing as npt
from typing_extensions import CapsuleType, disjoint_base

from dtensor.checkpoint.metadata import ChunkStorageMetadata
from dtensor.device_mesh import DeviceMesh

class MPIError(RuntimeError): ...

# --- placements -----------------------------------------------------------------------

@disjoint_base
class Placement:
    def __new__(cls) -> Self: ...
    _cut_dim: Final[int | None]
    _is_whole: Final[bool]
    _is_pending: Final[bool]
    _pending_op: Final[str | None]
    def is_shard(self, dim: int | None = None) -> bool: ...
    def is_replicate(self) -> bool: ...
    def is_partial(self, reduce_op: str | None = None) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]: ...

class Shard(Placement):
    __match_args__ = ("dim",)
    def __new__(cls, dim: SupportsIndex) -> Self: ...
    dim: Final[int]
    @staticmethod
    def local_shard_size_and_offset(
        curr_local_size: int, num_chunks: int, rank: int
    ) -> tuple[int, int]: ...

class _StridedShard(Placement):
    __match_args__ = ("dim", "split_factor")
    def __new__(cls, dim: SupportsIndex, *, split_factor: SupportsIndex) -> Self: ...
    dim: Final[int]
    split_factor: Final[int]

class Replicate(Placement):
    def __new__(cls) -> Self: ...

class Partial(Placement):
    __match_args__ = ("reduce_op",)
    def __new__(cls, reduce_op: str = "sum") -> Self: ...
    reduce_op: Final[str]

@final
class ReduceOp(tuple[str, str, str | None, str, bool, bool, str]):
    n_fields: Final = 7
    n_sequence_fields: Final = 7
    n_unnamed_fields: Final = 0
    __match_args__: Final = (
        "name",
        "torch",
        "ufunc",
        "kinds",
        "linear",
        "idempotent",
        "identity",
    )
    name: Final[str]
    torch: Final[str]
    ufunc: Final[str | None]
    kinds: Final[str]
    linear: Final[bool]
    idempotent: Final[bool]
    identity: Final[str]

REDUCE_OPS: tuple[ReduceOp, ...]

# --- mesh and layout ------------------------------------------------------------------

@disjoint_base
class Mesh:
    def __new__(
        cls,
        shape: SupportsIndex | Sequence[SupportsIndex],
        ranks: npt.ArrayLike | None = None,
        names: Sequence[str] | None = None,
        world: int = 0,
    ) -> Self: ...
    shape: Final[tuple[int, ...]]
    ndim: Final[int]
    ranks: Final[npt.NDArray[np.int64]]
    names: Final[tuple[str, ...] | None]
    world: Final[int]
    _size: Final[int]
    def index(self, rank: SupportsIndex, /) -> int: ...
    def coordinate(self, rank: SupportsIndex, /) -> tuple[int, ...] | None: ...
    def same_ranks(self, other: Mesh, /) -> bool: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

_Entries = Mapping[int, Sequence[int]] | Sequence[tuple[int, Sequence[int]]]
_Box = tuple[tuple[int, ...], tuple[int, ...]]

@final
class Layout:
    def __new__(
        cls,
        mesh: Mesh,
        placements: Sequence[Placement] | None,
        shape: SupportsIndex | Sequence[SupportsIndex],
        dtype: npt.DTypeLike,
        *,
        shard_order: _Entries | None = None,
        cuts: _Entries | None = None,
    ) -> Self: ...
    mesh: Final[DeviceMesh]
    device_mesh: Final[DeviceMesh]
    placements: Final[tuple[Placement, ...]]
    shape: Final[tuple[int, ...]]
    ndim: Final[int]
    dtype: Final[np.dtype[Any]]
    nbytes: Final[int]
    is_partial: Final[bool]
    is_replicated: Final[bool]
    shard_order: Final[tuple[tuple[int, tuple[int, ...]], ...]]
    cuts: Final[dict[int, tuple[int, ...]] | None]
    def local_shape(
        self, coordinate: SupportsIndex | Sequence[SupportsIndex] | None = None
    ) -> tuple[int, ...]: ...
    def boxes(
        self, rank: SupportsIndex | Sequence[SupportsIndex] | None = None
    ) -> list[_Box]: ...
    def like(
        self,
        shape: SupportsIndex | Sequence[SupportsIndex],
        dims: dict[int, int],
        dtype: npt.DTypeLike | None = None,
        *,
        partial: bool = False,
    ) -> Layout: ...
    def whole(self, dims: SupportsIndex | Sequence[SupportsIndex], /) -> Layout: ...
    def settled(self) -> Layout: ...
    def cut_by(self, dim: int, /) -> tuple[int, ...]: ...
    def is_cut(self, dim: int, /) -> bool: ...
    def is_strided(self, dim: int, /) -> bool: ...
    def with_placements(self, placements: Sequence[Placement] | None, /) -> Layout: ...
    def with_dtype(self, dtype: npt.DTypeLike, /) -> Layout: ...
    def __copy__(self) -> Layout: ...
    def __deepcopy__(self, memo: object, /) -> Layout: ...

# --- tensors --------------------------------------------------------------------------

_Shape = SupportsIndex | Sequence[SupportsIndex]

@type_check_only
class _Size(int):
    @overload
    def __call__(self, dim: None = None) -> tuple[int, ...]: ...
    @overload
    def __call__(self, dim: SupportsIndex) -> int: ...

@disjoint_base
class Tensor:
    requires_grad: builtins.bool
    grad: Tensor | None
    data: Tensor
    _is_param: builtins.bool
    def __new__(
        cls,
        data: npt.ArrayLike | Tensor,
        dtype: npt.DTypeLike | None = None,
        requires_grad: builtins.bool = False,
    ) -> Self: ...
    @property
    def shape(self) -> tuple[builtins.int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def ndim(self) -> builtins.int: ...
    @property
    def size(self) -> _Size: ...
    @property
    def itemsize(self) -> builtins.int: ...
    @property
    def nbytes(self) -> builtins.int: ...
    @property
    def strides(self) -> tuple[builtins.int, ...]: ...
    @property
    def device(self) -> str: ...
    @property
    def is_leaf(self) -> builtins.bool: ...
    @property
    def grad_fn(self) -> Node | None: ...
    @property
    def output_nr(self) -> builtins.int: ...
    @property
    def retains_grad(self) -> builtins.bool: ...
    @property
    def _version(self) -> builtins.int: ...
    def numel(self) -> builtins.int: ...
    def dim(self) -> builtins.int: ...
    def element_size(self) -> builtins.int: ...
    @overload
    def stride(self, dim: None = None) -> tuple[builtins.int, ...]: ...
    @overload
    def stride(self, dim: SupportsIndex) -> builtins.int: ...
    def is_contiguous(self) -> builtins.bool: ...
    def requires_grad_(self, requires_grad: builtins.bool = True) -> Self: ...
    def detach(self) -> Self: ...
    def numpy(self, *, force: builtins.bool = False) -> npt.NDArray[Any]: ...
    def item(self) -> Any: ...
    def tolist(self) -> Any: ...
    def as_torch(self) -> TorchTensor: ...
    def as_numpy(self) -> Tensor: ...
    def wait(self) -> Self: ...
    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: builtins.bool | None = None
    ) -> npt.NDArray[Any]: ...
    def __len__(self) -> builtins.int: ...
    # operators: python/dtensor/ops
    def __add__(self, value: Any, /) -> Any: ...
    def __radd__(self, value: Any, /) -> Any: ...
    def __iadd__(self, value: Any, /) -> Self: ...
    def __sub__(self, value: Any, /) -> Any: ...
    def __rsub__(self, value: Any, /) -> Any: ...
    def __isub__(self, value: Any, /) -> Self: ...
    def __mul__(self, value: Any, /) -> Any: ...
    def __rmul__(self, value: Any, /) -> Any: ...
    def __imul__(self, value: Any, /) -> Self: ...
    def __matmul__(self, value: Any, /) -> Any: ...
    def __rmatmul__(self, value: Any, /) -> Any: ...
    def __imatmul__(self, value: Any, /) -> Self: ...
    def __truediv__(self, value: Any, /) -> Any: ...
    def __rtruediv__(self, value: Any, /) -> Any: ...
    def __itruediv__(self, value: Any, /) -> Self: ...
    def __floordiv__(self, value: Any, /) -> Any: ...
    def __rfloordiv__(self, value: Any, /) -> Any: ...
    def __ifloordiv__(self, value: Any, /) -> Self: ...
    def __mod__(self, value: Any, /) -> Any: ...
    def __rmod__(self, value: Any, /) -> Any: ...
    def __imod__(self, value: Any, /) -> Self: ...
    def __pow__(self, value: Any, mod: None = None, /) -> Any: ...
    def __rpow__(self, value: Any, mod: None = None, /) -> Any: ...
    def __ipow__(self, value: Any, /) -> Self: ...  # type: ignore[misc]
    def __lshift__(self, value: Any, /) -> Any: ...
    def __rlshift__(self, value: Any, /) -> Any: ...
    def __ilshift__(self, value: Any, /) -> Self: ...
    def __rshift__(self, value: Any, /) -> Any: ...
    def __rrshift__(self, value: Any, /) -> Any: ...
    def __irshift__(self, value: Any, /) -> Self: ...
    def __and__(self, value: Any, /) -> Any: ...
    def __rand__(self, value: Any, /) -> Any: ...
    def __iand__(self, value: Any, /) -> Self: ...
    def __or__(self, value: Any, /) -> Any: ...
    def __ror__(self, value: Any, /) -> Any: ...
    def __ior__(self, value: Any, /) -> Self: ...
    def __xor__(self, value: Any, /) -> Any: ...
    def __rxor__(self, value: Any, /) -> Any: ...
    def __ixor__(self, value: Any, /) -> Self: ...
    def __divmod__(self, value: Any, /) -> Any: ...
    def __rdivmod__(self, value: Any, /) -> Any: ...
    def __neg__(self) -> Any: ...
    def __pos__(self) -> Any: ...
    def __abs__(self) -> Any: ...
    def __invert__(self) -> Any: ...
    def __lt__(self, value: Any, /) -> Any: ...
    def __le__(self, value: Any, /) -> Any: ...
    def __gt__(self, value: Any, /) -> Any: ...
    def __ge__(self, value: Any, /) -> Any: ...
    def __eq__(self, value: Any, /) -> Any: ...
    def __ne__(self, value: Any, /) -> Any: ...
    def __hash__(self) -> builtins.int: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __delitem__(self, key: Any, /) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __contains__(self, key: object, /) -> builtins.bool: ...
    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, /, *inputs: Any, **kwargs: Any
    ) -> Any: ...
    def __array_function__(
        self, func: Any, types: Any, args: Any, kwargs: Any, /
    ) -> Any: ...
    @property
    def T(self) -> Any: ...
    @property
    def mT(self) -> Any: ...
    real: Any
    imag: Any
    __array_namespace__: ClassVar[Callable[..., Any]]
    abs: ClassVar[Operator]
    abs_: ClassVar[Callable[..., Any]]
    absolute: ClassVar[Operator]
    absolute_: ClassVar[Callable[..., Any]]
    acos: ClassVar[Operator]
    acos_: ClassVar[Callable[..., Any]]
    acosh: ClassVar[Operator]
    acosh_: ClassVar[Callable[..., Any]]
    add: ClassVar[Callable[..., Any]]
    add_: ClassVar[Callable[..., Any]]
    all: ClassVar[Operator]
    allclose: ClassVar[Callable[..., Any]]
    amax: ClassVar[Operator]
    amin: ClassVar[Operator]
    angle: ClassVar[Operator]
    any: ClassVar[Operator]
    arccos: ClassVar[Operator]
    arccos_: ClassVar[Callable[..., Any]]
    arccosh: ClassVar[Operator]
    arccosh_: ClassVar[Callable[..., Any]]
    arcsin: ClassVar[Operator]
    arcsin_: ClassVar[Callable[..., Any]]
    arcsinh: ClassVar[Operator]
    arcsinh_: ClassVar[Callable[..., Any]]
    arctan: ClassVar[Operator]
    arctan2: ClassVar[Operator]
    arctan2_: ClassVar[Callable[..., Any]]
    arctan_: ClassVar[Callable[..., Any]]
    arctanh: ClassVar[Operator]
    arctanh_: ClassVar[Callable[..., Any]]
    argmax: ClassVar[Callable[..., Any]]
    argmin: ClassVar[Callable[..., Any]]
    argpartition: ClassVar[Operator]
    argsort: ClassVar[Operator]
    asin: ClassVar[Operator]
    asin_: ClassVar[Callable[..., Any]]
    asinh: ClassVar[Operator]
    asinh_: ClassVar[Callable[..., Any]]
    astype: ClassVar[Operator]
    atan: ClassVar[Operator]
    atan2: ClassVar[Operator]
    atan2_: ClassVar[Callable[..., Any]]
    atan_: ClassVar[Callable[..., Any]]
    atanh: ClassVar[Operator]
    atanh_: ClassVar[Callable[..., Any]]
    backward: ClassVar[Callable[..., Any]]
    bernoulli: ClassVar[Callable[..., Any]]
    bernoulli_: ClassVar[Callable[..., Any]]
    bitwise_and: ClassVar[Operator]
    bitwise_and_: ClassVar[Callable[..., Any]]
    bitwise_left_shift: ClassVar[Operator]
    bitwise_left_shift_: ClassVar[Callable[..., Any]]
    bitwise_not: ClassVar[Operator]
    bitwise_not_: ClassVar[Callable[..., Any]]
    bitwise_or: ClassVar[Operator]
    bitwise_or_: ClassVar[Callable[..., Any]]
    bitwise_right_shift: ClassVar[Operator]
    bitwise_right_shift_: ClassVar[Callable[..., Any]]
    bitwise_xor: ClassVar[Operator]
    bitwise_xor_: ClassVar[Callable[..., Any]]
    bmm: ClassVar[Operator]
    bool: ClassVar[Callable[..., Any]]
    broadcast_to: ClassVar[Operator]
    byte: ClassVar[Callable[..., Any]]
    bfloat16: ClassVar[Callable[..., Any]]
    cdouble: ClassVar[Callable[..., Any]]
    ceil: ClassVar[Operator]
    ceil_: ClassVar[Callable[..., Any]]
    cfloat: ClassVar[Callable[..., Any]]
    char: ClassVar[Callable[..., Any]]
    chunk: ClassVar[Callable[..., Any]]
    clamp: ClassVar[Callable[..., Any]]
    clamp_: ClassVar[Callable[..., Any]]
    clamp_max: ClassVar[Callable[..., Any]]
    clamp_min: ClassVar[Callable[..., Any]]
    clip: ClassVar[Callable[..., Any]]
    clone: ClassVar[Callable[..., Any]]
    compress: ClassVar[Callable[..., Any]]
    conj: ClassVar[Operator]
    conjugate: ClassVar[Operator]
    contiguous: ClassVar[Operator]
    copy: ClassVar[Callable[..., Any]]
    copy_: ClassVar[Callable[..., Any]]
    copysign: ClassVar[Operator]
    copysign_: ClassVar[Callable[..., Any]]
    cos: ClassVar[Operator]
    cos_: ClassVar[Callable[..., Any]]
    cosh: ClassVar[Operator]
    cosh_: ClassVar[Callable[..., Any]]
    cpu: ClassVar[Callable[..., Any]]
    cumprod: ClassVar[Callable[..., Any]]
    cumsum: ClassVar[Callable[..., Any]]
    deg2rad: ClassVar[Operator]
    deg2rad_: ClassVar[Callable[..., Any]]
    detach_: ClassVar[Callable[..., Any]]
    diag: ClassVar[Operator]
    diagflat: ClassVar[Operator]
    diagonal: ClassVar[Operator]
    div: ClassVar[Callable[..., Any]]
    div_: ClassVar[Callable[..., Any]]
    divide: ClassVar[Operator]
    divide_: ClassVar[Callable[..., Any]]
    dot: ClassVar[Operator]
    double: ClassVar[Callable[..., Any]]
    eq: ClassVar[Operator]
    exp: ClassVar[Operator]
    exp2: ClassVar[Operator]
    exp2_: ClassVar[Callable[..., Any]]
    exp_: ClassVar[Callable[..., Any]]
    expand: ClassVar[Operator]
    expand_as: ClassVar[Callable[..., Any]]
    expm1: ClassVar[Operator]
    expm1_: ClassVar[Callable[..., Any]]
    exponential_: ClassVar[Callable[..., Any]]
    fill: ClassVar[Callable[..., Any]]
    fill_: ClassVar[Callable[..., Any]]
    fix: ClassVar[Operator]
    fix_: ClassVar[Callable[..., Any]]
    flatten: ClassVar[Operator]
    flip: ClassVar[Operator]
    fliplr: ClassVar[Callable[..., Any]]
    flipud: ClassVar[Callable[..., Any]]
    float: ClassVar[Callable[..., Any]]
    float_power: ClassVar[Operator]
    float_power_: ClassVar[Callable[..., Any]]
    floor: ClassVar[Operator]
    floor_: ClassVar[Callable[..., Any]]
    floor_divide: ClassVar[Operator]
    floor_divide_: ClassVar[Callable[..., Any]]
    fmax: ClassVar[Operator]
    fmin: ClassVar[Operator]
    fmod: ClassVar[Operator]
    fmod_: ClassVar[Callable[..., Any]]
    frexp: ClassVar[Operator]
    gather: ClassVar[Callable[..., Any]]
    gcd: ClassVar[Operator]
    gcd_: ClassVar[Callable[..., Any]]
    ge: ClassVar[Operator]
    greater: ClassVar[Operator]
    greater_equal: ClassVar[Operator]
    gt: ClassVar[Operator]
    half: ClassVar[Callable[..., Any]]
    heaviside: ClassVar[Operator]
    heaviside_: ClassVar[Callable[..., Any]]
    hypot: ClassVar[Operator]
    hypot_: ClassVar[Callable[..., Any]]
    index_select: ClassVar[Callable[..., Any]]
    inner: ClassVar[Operator]
    int: ClassVar[Callable[..., Any]]
    isclose: ClassVar[Operator]
    isfinite: ClassVar[Operator]
    isinf: ClassVar[Operator]
    isnan: ClassVar[Operator]
    isneginf: ClassVar[Operator]
    isposinf: ClassVar[Operator]
    isreal: ClassVar[Operator]
    kron: ClassVar[Operator]
    lcm: ClassVar[Operator]
    lcm_: ClassVar[Callable[..., Any]]
    ldexp: ClassVar[Operator]
    ldexp_: ClassVar[Callable[..., Any]]
    le: ClassVar[Operator]
    less: ClassVar[Operator]
    less_equal: ClassVar[Operator]
    log: ClassVar[Operator]
    log10: ClassVar[Operator]
    log10_: ClassVar[Callable[..., Any]]
    log1p: ClassVar[Operator]
    log1p_: ClassVar[Callable[..., Any]]
    log2: ClassVar[Operator]
    log2_: ClassVar[Callable[..., Any]]
    log_: ClassVar[Callable[..., Any]]
    log_softmax: ClassVar[Operator]
    logaddexp: ClassVar[Operator]
    logaddexp2: ClassVar[Operator]
    logical_and: ClassVar[Operator]
    logical_and_: ClassVar[Callable[..., Any]]
    logical_not: ClassVar[Operator]
    logical_not_: ClassVar[Callable[..., Any]]
    logical_or: ClassVar[Operator]
    logical_or_: ClassVar[Callable[..., Any]]
    logical_xor: ClassVar[Operator]
    logical_xor_: ClassVar[Callable[..., Any]]
    long: ClassVar[Callable[..., Any]]
    lt: ClassVar[Operator]
    masked_fill: ClassVar[Callable[..., Any]]
    masked_fill_: ClassVar[Callable[..., Any]]
    matmul: ClassVar[Operator]
    max: ClassVar[Operator]
    maximum: ClassVar[Operator]
    mean: ClassVar[Callable[..., Any]]
    min: ClassVar[Operator]
    minimum: ClassVar[Operator]
    mm: ClassVar[Operator]
    moveaxis: ClassVar[Operator]
    movedim: ClassVar[Operator]
    mul: ClassVar[Operator]
    mul_: ClassVar[Callable[..., Any]]
    multiply: ClassVar[Operator]
    multiply_: ClassVar[Callable[..., Any]]
    mv: ClassVar[Operator]
    nan_to_num: ClassVar[Operator]
    nan_to_num_: ClassVar[Callable[..., Any]]
    ne: ClassVar[Operator]
    neg: ClassVar[Operator]
    neg_: ClassVar[Callable[..., Any]]
    negative: ClassVar[Operator]
    negative_: ClassVar[Callable[..., Any]]
    new_empty: ClassVar[Callable[..., Any]]
    new_full: ClassVar[Callable[..., Any]]
    new_ones: ClassVar[Callable[..., Any]]
    new_zeros: ClassVar[Callable[..., Any]]
    nextafter: ClassVar[Operator]
    nextafter_: ClassVar[Callable[..., Any]]
    nonzero: ClassVar[Callable[..., Any]]
    norm: ClassVar[Callable[..., Any]]
    normal_: ClassVar[Callable[..., Any]]
    not_equal: ClassVar[Operator]
    outer: ClassVar[Operator]
    partition: ClassVar[Callable[..., Any]]
    permute: ClassVar[Operator]
    positive: ClassVar[Operator]
    pow: ClassVar[Callable[..., Any]]
    pow_: ClassVar[Callable[..., Any]]
    prod: ClassVar[Operator]
    put: ClassVar[Callable[..., Any]]
    rad2deg: ClassVar[Operator]
    rad2deg_: ClassVar[Callable[..., Any]]
    random_: ClassVar[Callable[..., Any]]
    ravel: ClassVar[Operator]
    reciprocal: ClassVar[Operator]
    reciprocal_: ClassVar[Callable[..., Any]]
    register_hook: ClassVar[Callable[..., Any]]
    register_post_accumulate_grad_hook: ClassVar[Callable[..., Any]]
    relu: ClassVar[Operator]
    relu_: ClassVar[Callable[..., Any]]
    remainder: ClassVar[Operator]
    remainder_: ClassVar[Callable[..., Any]]
    repeat: ClassVar[Operator]
    reshape: ClassVar[Operator]
    reshape_as: ClassVar[Callable[..., Any]]
    retain_grad: ClassVar[Callable[..., Any]]
    roll: ClassVar[Operator]
    rot90: ClassVar[Operator]
    round: ClassVar[Operator]
    round_: ClassVar[Callable[..., Any]]
    rsqrt: ClassVar[Operator]
    rsqrt_: ClassVar[Callable[..., Any]]
    searchsorted: ClassVar[Callable[..., Any]]
    sgn: ClassVar[Operator]
    sgn_: ClassVar[Callable[..., Any]]
    short: ClassVar[Callable[..., Any]]
    sigmoid: ClassVar[Operator]
    sigmoid_: ClassVar[Callable[..., Any]]
    sign: ClassVar[Operator]
    sign_: ClassVar[Callable[..., Any]]
    signbit: ClassVar[Operator]
    sin: ClassVar[Operator]
    sin_: ClassVar[Callable[..., Any]]
    sinc: ClassVar[Operator]
    sinc_: ClassVar[Callable[..., Any]]
    sinh: ClassVar[Operator]
    sinh_: ClassVar[Callable[..., Any]]
    softmax: ClassVar[Operator]
    sort: ClassVar[Callable[..., Any]]
    split: ClassVar[Callable[..., Any]]
    sqrt: ClassVar[Operator]
    sqrt_: ClassVar[Callable[..., Any]]
    square: ClassVar[Operator]
    square_: ClassVar[Callable[..., Any]]
    squeeze: ClassVar[Operator]
    std: ClassVar[Callable[..., Any]]
    sub: ClassVar[Callable[..., Any]]
    sub_: ClassVar[Callable[..., Any]]
    subtract: ClassVar[Operator]
    subtract_: ClassVar[Callable[..., Any]]
    sum: ClassVar[Operator]
    swapaxes: ClassVar[Operator]
    swapdims: ClassVar[Operator]
    t: ClassVar[Callable[..., Any]]
    take: ClassVar[Callable[..., Any]]
    tan: ClassVar[Operator]
    tan_: ClassVar[Callable[..., Any]]
    tanh: ClassVar[Operator]
    tanh_: ClassVar[Callable[..., Any]]
    tensor_split: ClassVar[Callable[..., Any]]
    tile: ClassVar[Operator]
    to: ClassVar[Callable[..., Any]]
    to_device: ClassVar[Callable[..., Any]]
    topk: ClassVar[Operator]
    trace: ClassVar[Operator]
    transpose: ClassVar[Operator]
    tril: ClassVar[Operator]
    triu: ClassVar[Operator]
    true_divide: ClassVar[Operator]
    true_divide_: ClassVar[Callable[..., Any]]
    trunc: ClassVar[Operator]
    trunc_: ClassVar[Callable[..., Any]]
    type: ClassVar[Callable[..., Any]]
    type_as: ClassVar[Callable[..., Any]]
    unbind: ClassVar[Callable[..., Any]]
    unflatten: ClassVar[Operator]
    uniform_: ClassVar[Callable[..., Any]]
    unsqueeze: ClassVar[Operator]
    var: ClassVar[Callable[..., Any]]
    vdot: ClassVar[Operator]
    vecdot: ClassVar[Operator]
    view: ClassVar[Operator]
    view_as: ClassVar[Callable[..., Any]]
    where: ClassVar[Callable[..., Any]]
    zero_: ClassVar[Callable[..., Any]]
    # end of operators
    def __format__(self, spec: str, /) -> str: ...
    def __round__(self, ndigits: builtins.int | None = None, /) -> Any: ...
    def __bool__(self) -> builtins.bool: ...
    def __int__(self) -> builtins.int: ...
    def __index__(self) -> builtins.int: ...
    def __float__(self) -> builtins.float: ...
    def __complex__(self) -> complex: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[builtins.int, Any], /) -> Self: ...
    def __reduce_ex__(self, protocol: SupportsIndex, /) -> tuple[Any, ...]: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[builtins.int, builtins.int] | None = None,
        dl_device: tuple[builtins.int, builtins.int] | None = None,
        copy: builtins.bool | None = None,
    ) -> CapsuleType: ...
    def __dlpack_device__(self) -> tuple[builtins.int, builtins.int]: ...

@disjoint_base
class DTensor(Tensor):
    def __new__(
        cls, local_tensor: npt.ArrayLike | Tensor, spec: Layout, *, requires_grad: bool
    ) -> Self: ...
    @property
    def device_mesh(self) -> DeviceMesh: ...
    @property
    def placements(self) -> tuple[Placement, ...]: ...
    @property
    def layout(self) -> Layout: ...
    @property
    def _spec(self) -> Layout: ...
    @property
    def _local_tensor(self) -> Tensor: ...
    @staticmethod
    def from_local(
        local_tensor: npt.ArrayLike | Tensor,
        device_mesh: Mesh | None = None,
        placements: Sequence[Placement] | None = None,
        *,
        run_check: bool = False,
        shape: _Shape | None = None,
        stride: Sequence[SupportsIndex] | None = None,
        grad_placements: Sequence[Placement] | None = None,
    ) -> DTensor: ...
    def to_local(
        self, *, grad_placements: Sequence[Placement] | None = None
    ) -> Tensor: ...
    @overload
    def full_tensor(
        self, *, grad_placements: Sequence[Placement] | None = None, root: None = None
    ) -> Tensor: ...
    @overload
    def full_tensor(
        self, *, grad_placements: Sequence[Placement] | None = None, root: SupportsIndex
    ) -> Tensor | None: ...
    def redistribute(
        self,
        device_mesh: Mesh | None = None,
        placements: Sequence[Placement] | Layout | None = None,
        *,
        async_op: bool = False,
        forward_dtype: npt.DTypeLike | None = None,
        backward_dtype: npt.DTypeLike | None = None,
        max_bytes: SupportsIndex | None = None,
    ) -> DTensor: ...
    def rebalance(self) -> DTensor: ...
    def __create_chunk_list__(self) -> list[ChunkStorageMetadata]: ...

class TorchTensor(Tensor): ...
class TorchDTensor(TorchTensor, DTensor): ...

# --- making and moving tensors --------------------------------------------------------

def tensor(
    data: npt.ArrayLike | Tensor,
    dtype: npt.DTypeLike | None = None,
    requires_grad: bool = False,
) -> Tensor: ...
def as_tensor(
    data: npt.ArrayLike | Tensor, dtype: npt.DTypeLike | None = None
) -> Tensor: ...
def get_default_dtype() -> np.dtype[Any]: ...
def set_default_dtype(dtype: npt.DTypeLike, /) -> None: ...
def distribute_tensor(
    tensor: npt.ArrayLike | Tensor | None,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> DTensor: ...
def from_callback(
    shape: _Shape,
    device_mesh: Mesh | None,
    placements: Sequence[Placement] | None,
    f: Callable[[tuple[slice, ...]], npt.ArrayLike],
    *,
    dtype: npt.DTypeLike | None = None,
) -> DTensor: ...
def empty(
    *size: _Shape,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    requires_grad: bool = False,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...

zeros = empty  # the same parameters
ones = empty

def full(
    size: _Shape,
    fill_value: complex | np.generic,
    *,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    requires_grad: bool = False,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...

_Target = Sequence[Placement] | Layout | None

@overload
def redistribute(
    tensors: DTensor,
    device_mesh: Mesh | None = None,
    placements: _Target = None,
    *,
    async_op: bool = False,
    forward_dtype: npt.DTypeLike | None = None,
    backward_dtype: npt.DTypeLike | None = None,
    max_bytes: SupportsIndex | None = None,
) -> DTensor: ...
@overload
def redistribute(
    tensors: Sequence[DTensor],
    device_mesh: Mesh | None = None,
    placements: _Target | Sequence[_Target] = None,
    *,
    async_op: bool = False,
    forward_dtype: npt.DTypeLike | None = None,
    backward_dtype: npt.DTypeLike | None = None,
    max_bytes: SupportsIndex | None = None,
) -> list[DTensor]: ...

_redistribute_any = redistribute  # the same parameters

_Step = tuple[str, tuple[int, ...], str, str, int, int, int, int, str, str]

def _explain(
    from_layout: Layout,
    to_layout: Layout,
    rank: SupportsIndex | None = None,
    max_bytes: SupportsIndex | None = None,
) -> tuple[float, int, list[_Step]]: ...

_Deed = tuple[str, float, float, int, int, list[tuple[int, int]]]
_Told = Callable[[list[_Deed]], object]
_Known = tuple[Layout | str, ...]

def _watch(
    on_operator: Callable[..., Callable[[], object] | None] | None,
    on_move: Callable[[str, _Known, _Known], _Told | None] | None,
    /,
) -> None: ...
def _rule(operator: Operator, /, *args: Any, **kwargs: Any) -> Rule | None: ...

# --- ranks ----------------------------------------------------------------------------

_Bytes = bytes | bytearray | memoryview

@final
class World:
    timeout: float
    check: bool
    @staticmethod
    def mpi(handle: int, /) -> World: ...
    @staticmethod
    def threads(n: int, /) -> list[World]: ...
    @staticmethod
    def simulated(size: int, rank: int, costs: str | None = None, /) -> World: ...
    @staticmethod
    def current() -> World | None: ...
    @staticmethod
    def mpi_version() -> str: ...
    rank: Final[int]
    size: Final[int]
    number: Final[int]
    shared_memory: Final[bool]
    @property
    def closed(self) -> bool: ...
    costs: Final[str]
    def activate(self) -> None: ...
    def set_costs(self, costs: str, /) -> None: ...
    def measure(self) -> tuple[float, float, float, float, float]: ...
    def share(
        self, data: _Bytes, mesh: Mesh | None = None, what: str = "share"
    ) -> list[bytes]: ...
    def agree(
        self,
        token: _Bytes,
        what: str,
        error: BaseException | None = None,
        mesh: Mesh | None = None,
        force: bool = True,
    ) -> None: ...
    def resync(self, why: str, tensors: tuple[DTensor, ...], /) -> None: ...
    def close(self) -> None: ...
    def abort(self, sentence: str, /) -> None: ...
    def counters(self) -> dict[str, tuple[int, int, int]]: ...
    @property
    def _unsettled(self) -> bool: ...
    def _late_at(self, k: int, seconds: float, /) -> int: ...
    def memory(self, forget: bool = False, /) -> tuple[int, int]: ...
    def predicted(self) -> dict[str, float]: ...

def mpi_library_version() -> str: ...
def cache_info() -> dict[str, int]: ...
def parse_safetensors(
    header: _Bytes, data_bytes: int, /
) -> tuple[list[tuple[str, str, tuple[int, ...], int, int]], dict[str, str]]: ...
def crc32c(data: _Bytes, crc: int = 0, /) -> int: ...
def write_at(
    fd: int,
    base: int,
    place: int,
    data: _Bytes | npt.NDArray[np.uint8],
    data_bytes: int,
    sums: npt.NDArray[np.uint32] | None,
    block: int,
    /,
) -> None: ...
def read_part(
    fd: int,
    base: int,
    place: int,
    out: npt.NDArray[Any],
    layout: Layout | None,
    data_bytes: int,
    sums: npt.NDArray[np.uint32] | None,
    block: int,
    /,
) -> None: ...
def _set_count_limit(limit: int, /) -> None: ...
def _get_count_limit() -> int: ...
def _memory_info() -> dict[str, int]: ...
def _count_memory(on: bool, /) -> int: ...
def _set_memory_limit(bytes: int, /) -> None: ...
def _fault_at(kind: str, k: int, variant: bool = False, /) -> int: ...

# --- operators ------------------------------------------------------------------------

@final
class Rule:
    text: Final[str]
    partial: Final[str | None]
    reduce: Final[str | None]
    def __new__(
        cls, text: str, partial: str | None = None, reduce: str | None = "sum"
    ) -> Self: ...

@final
class Call:
    kernel: Final[Callable[..., Any]]
    args: Final[tuple[Any, ...]]
    kwargs: Final[dict[str, Any] | None]
    def __new__(
        cls, kernel: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Self: ...

_Layouts = tuple[Layout, ...]

@final
class Part:
    def __new__(cls, function: Callable[[_Layouts, _Layouts], Any]) -> Self: ...

@final
class Operand:
    index: Final[int]
    shape: Final[tuple[int, ...]]
    dtype: Final[np.dtype[Any]]
    layout: Final[Layout | None]
    number: Final[type | None]
    ndim: Final[int]
    size: Final[int]
    zero: Final[bool]

LOCAL_SHAPE: Part

@final
class Operator:
    operands: Final[int]
    view: bool
    divides: bool
    autocast: Callable[..., Any] | None
    __name__: str
    __qualname__: str
    __wrapped__: Final[Callable[..., Any]]
    def __new__(
        cls,
        function: Callable[..., Any],
        name: str,
        operands: int = 1,
        agrees: type[Exception] | None = None,
    ) -> Self: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    @overload
    def __get__(self, instance: None, owner: type, /) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None, /) -> Any: ...
    def vjp(self, *functions: Callable[..., Any] | None) -> Self: ...
    def vjp_all(self, function: Callable[..., Any], /) -> Self: ...
    def replace_rule(self, replacement: Callable[..., Rule] | None, /) -> None: ...
    def abstract(
        self, *args: Any, **kwargs: Any
    ) -> tuple[_Layouts, _Layouts, float]: ...

@final
class Node:
    next_functions: Final[tuple[tuple[Node | Tensor | None, int], ...]]
    def name(self) -> str: ...

@final
class Saved:
    def unpack(self) -> Any: ...

def is_grad_enabled() -> bool: ...
def set_recording(wanted: object, /) -> bool: ...
def record_function(
    name: str,
    backward: Callable[..., Any],
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    /,
) -> None: ...
def record_write(
    name: str,
    backward: Callable[..., Any],
    inputs: tuple[Any, ...],
    how: Any = None,
    /,
) -> None: ...
def check_write(name: str, target: Tensor, values: tuple[Any, ...], /) -> None: ...
def hooks_of(tensor: Tensor, /) -> list[tuple[int, str, Callable[[Any], Any]]]: ...
def written(tensor: Tensor, /, *how: Any) -> None: ...
def not_written(tensor: Tensor, name: str, /, *how: Any) -> None: ...
def lineage(tensor: DTensor, /) -> int: ...
def made_of(tensor: DTensor, /, *how: Any) -> DTensor: ...
def call_failed(
    name: str, args: tuple[Any, ...], options: dict[str, Any], /
) -> None: ...
def not_made(mesh: Mesh, /, *how: Any) -> None: ...
def arrived(tensor: DTensor, /) -> DTensor: ...
def of_part(part: Tensor | npt.ArrayLike, layout: Layout, /) -> DTensor: ...
def begin_call(
    name: str, args: tuple[Any, ...], options: dict[str, Any], /
) -> tuple[int, int, int, str] | None: ...
def end_call(before: tuple[int, int, int, str] | None, /) -> None: ...
def carried(
    name: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] = ...,
    local: bool = False,
    /,
) -> Any: ...
def set_differs(wanted: bool, /) -> bool: ...
def save(tensor: Tensor, /) -> Saved: ...
def operand_of(tensor: Tensor, /) -> Operand: ...
def forget_history(tensor: Tensor, /) -> Tensor: ...
def set_saved_hooks(
    pack: Callable[[Any], Any] | None, unpack: Callable[[Any], Any] | None, /
) -> tuple[Any, Any]: ...
def install_tape(functions: dict[str, Callable[..., Any]], /) -> None: ...
def backward_depth() -> int: ...
def queue_callback(function: Callable[[], Any], /) -> None: ...
def run_backward(
    tensors: tuple[Tensor, ...],
    grads: tuple[Any, ...],
    retain_graph: object,
    create_graph: object,
    inputs: tuple[Tensor, ...] | None,
    accumulate: object,
    allow_unused: object,
    /,
) -> Any: ...
def operator_cache_info() -> dict[str, int]: ...
def set_origin(tensor: Tensor, owner: Tensor, index: Any, /) -> None: ...
def begin_write(tensor: Tensor, /) -> bool: ...
def end_write(tensor: Tensor, written: bool, /) -> None: ...
@overload
def without_data(shape_or_layout: Layout, /) -> DTensor: ...
@overload
def without_data(
    shape_or_layout: _Shape, dtype: npt.DTypeLike | None = None, /
) -> Tensor: ...
def set_implicit_hook(
    hook: Callable[[str, list[Layout], list[Layout]], object] | None, bytes: int, /
) -> None: ...
def set_recorder(
    recorder: Callable[[Operator, tuple[Any, ...], dict[str, Any], Any], object] | None,
    /,
) -> None: ...
def set_implicit_replication(wanted: bool, /) -> bool: ...
def is_observed() -> bool: ...
def is_implicit_replication() -> bool: ...
def install_torch(
    slots: dict[str, Callable[..., Any]],
    methods: dict[str, Any],
    whole: dict[str, Any],
    constructor: Callable[..., Any],
    printer: Callable[[Any], str],
) -> None: ...
def set_torch(opener: Callable[[], Any], /) -> None: ...
def composed(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], /
) -> Any: ...
def is_torch(*objects: object) -> bool: ...
def into_torch(tensor: Any, /) -> Any: ...
def install(
    slots: dict[str, Callable[..., Any]],
    methods: dict[str, Callable[..., Any]],
    functions: dict[Callable[..., Any], Callable[..., Any]],
    fallback: Callable[..., Any],
    ufunc_method: Callable[..., Any],
) -> None: ...

# --- random arrays --------------------------------------------------------------------

_State = npt.NDArray[np.uint64]

def random_take(
    state: _State, kind: str, dtype: npt.DTypeLike, count: int, /
) -> _State: ...
def random_part(
    state: _State,
    kind: str,
    a: Any,
    b: Any,
    dtype: npt.DTypeLike,
    where: Layout | _Shape,
    /,
) -> npt.NDArray[Any]: ...
def random_fill(
    state: _State,
    kind: str,
    a: Any,
    b: Any,
    array: npt.NDArray[Any],
    layout: Layout | None,
    /,
) -> None: ...
def random_dropout(
    x: npt.NDArray[Any], state: _State, p: float, layout: Layout | None, /
) -> npt.NDArray[Any]: ...
def random_permutation(state: _State, count: int, /) -> npt.NDArray[np.int64]: ...
def random_check(what: str, state: _State, mesh: Mesh, /) -> None: ...

# --- kernels --------------------------------------------------------------------------

@final
class Kernel:
    def __call__(self, *args: Any) -> Any: ...

def kernel(name: str, /) -> Kernel: ...
def set_autocast(wanted: bool, /) -> bool: ...
def is_autocast() -> bool: ...

@final
class Wide:
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

def in_float32(
    function: Callable[..., Any],
    dtypes: np.dtype[Any] | tuple[np.dtype[Any], ...],
    /,
) -> Wide: ...
def _set_kernel_level(level: int, /) -> int: ...
def adam_steps(
    params: list[Tensor],
    grads: list[Tensor],
    means: list[Tensor],
    squares: list[Tensor],
    peaks: list[Tensor] | None,
    steps: list[float],
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
    decoupled: bool,
    maximize: bool,
    /,
) -> list[int]: ...
def sgd_steps(
    params: list[Tensor],
    grads: list[Tensor],
    velocities: list[Tensor] | None,
    lr: float,
    momentum: float,
    dampening: float,
    weight_decay: float,
    nesterov: bool,
    maximize: bool,
    first: bool,
    /,
) -> list[int]: ...
