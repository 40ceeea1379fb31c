"""The C half of dtensor: placements, meshes, layouts, tensors and moves."""
# What a DTensor, or PyTorch's dialect, takes and gives is narrower than a Tensor's:
# mypy: disable-error-code="override"

import builtins
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Signature
from types import EllipsisType, ModuleType
from typing import (
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    Protocol,
    Self,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    final,
    overload,
    type_check_only,
)

import numpy as np
import numpy.typing as npt
from typing_extensions import CapsuleType, disjoint_base

from dtensor._core.device import device as torch_device
from dtensor.autograd._hooks import RemovableHandle
from dtensor.checkpoint.metadata import ChunkStorageMetadata
from dtensor.device_mesh import DeviceMesh
from dtensor.ops.random.generator import Generator
from dtensor.torch._attributes import UntypedStorage
from dtensor.torch._types import Size, dtype as torch_dtype

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
    if sys.version_info >= (3, 13):
        def __replace__(self, /, **changes: Any) -> ReduceOp: ...

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
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]: ...
    def __copy__(self) -> Layout: ...
    def __deepcopy__(self, memo: object, /) -> Layout: ...

# --- tensors --------------------------------------------------------------------------

_Shape = SupportsIndex | Sequence[SupportsIndex]
_Axis = SupportsIndex | Sequence[SupportsIndex] | None

# The kind of a tensor: a result of an instance of a subclass is of its base.
_T = TypeVar("_T", TorchDTensor, TorchTensor, DTensor, Tensor)

@type_check_only
class _Nested(Protocol):
    """A list or tuple of numbers, or of such; a str is none, by its `__contains__`."""

    def __len__(self) -> int: ...
    def __contains__(self, x: object, /) -> bool: ...
    def __reversed__(self) -> Iterator[Any]: ...
    def __getitem__(self, index: int, /) -> _ArrayLike: ...

# An array_like that is no tensor, and any.
_Plain: TypeAlias = npt.NDArray[Any] | np.generic | complex | _Nested
_ArrayLike: TypeAlias = Tensor | _Plain
_Out: TypeAlias = Tensor | tuple[Tensor | None, ...] | None
_Numbers: TypeAlias = Tensor | npt.NDArray[Any] | np.bool | _Nested
_Term: TypeAlias = SupportsIndex | slice | EllipsisType | _Numbers | None
_Index: TypeAlias = _Term | tuple[_Term, ...]

class _EigResult(NamedTuple, Generic[_T]):
    eigenvalues: _T
    eigenvectors: _T

class _EighResult(NamedTuple, Generic[_T]):
    eigenvalues: _T
    eigenvectors: _T

class _QRResult(NamedTuple, Generic[_T]):
    Q: _T
    R: _T

class _SlogdetResult(NamedTuple, Generic[_T]):
    sign: _T
    logabsdet: _T

class _SVDResult(NamedTuple, Generic[_T]):
    U: _T
    S: _T
    Vh: _T

class _UniqueAllResult(NamedTuple, Generic[_T]):
    values: _T
    indices: _T
    inverse_indices: _T
    counts: _T

class _UniqueCountsResult(NamedTuple, Generic[_T]):
    values: _T
    counts: _T

class _UniqueInverseResult(NamedTuple, Generic[_T]):
    values: _T
    inverse_indices: _T

class _Picked(NamedTuple, Generic[_T]):
    values: _T
    indices: _T

class _Extremes(NamedTuple, Generic[_T]):
    min: _T
    max: _T

class _Triangular(NamedTuple, Generic[_T]):
    solution: _T
    cloned_coefficient: _T

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
    def ctypes(self) -> Any: ...
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
    def numpy(self, *, force: builtins.bool = False) -> npt.NDArray[Any]: ...
    def item(self, *args: Any) -> Any: ...
    def tolist(self) -> Any: ...
    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: builtins.bool | None = None
    ) -> npt.NDArray[Any]: ...
    def __len__(self) -> builtins.int: ...
    # operators: written by tests/stubs.py
    def __add__(self, value: _ArrayLike, /) -> Tensor: ...
    def __radd__(self, value: _ArrayLike, /) -> Tensor: ...
    def __iadd__(self, value: _ArrayLike, /) -> Self: ...
    def __sub__(self, value: _ArrayLike, /) -> Tensor: ...
    def __rsub__(self, value: _ArrayLike, /) -> Tensor: ...
    def __isub__(self, value: _ArrayLike, /) -> Self: ...
    def __mul__(self, value: _ArrayLike, /) -> Tensor: ...
    def __rmul__(self, value: _ArrayLike, /) -> Tensor: ...
    def __imul__(self, value: _ArrayLike, /) -> Self: ...
    def __matmul__(self, value: _ArrayLike, /) -> Tensor: ...
    def __rmatmul__(self, value: _ArrayLike, /) -> Tensor: ...
    def __imatmul__(self, value: _ArrayLike, /) -> Self: ...
    def __truediv__(self, value: _ArrayLike, /) -> Tensor: ...
    def __rtruediv__(self, value: _ArrayLike, /) -> Tensor: ...
    def __itruediv__(self, value: _ArrayLike, /) -> Self: ...
    def __floordiv__(self, value: _ArrayLike, /) -> Tensor: ...
    def __rfloordiv__(self, value: _ArrayLike, /) -> Tensor: ...
    def __ifloordiv__(self, value: _ArrayLike, /) -> Self: ...
    def __mod__(self, value: _ArrayLike, /) -> Tensor: ...
    def __rmod__(self, value: _ArrayLike, /) -> Tensor: ...
    def __imod__(self, value: _ArrayLike, /) -> Self: ...
    def __pow__(self, value: _ArrayLike, mod: None = None, /) -> Tensor: ...
    def __rpow__(self, value: _ArrayLike, mod: None = None, /) -> Tensor: ...
    def __ipow__(self, value: _ArrayLike, /) -> Self: ...  # type: ignore[misc]
    def __lshift__(self, value: _ArrayLike, /) -> Tensor: ...
    def __rlshift__(self, value: _ArrayLike, /) -> Tensor: ...
    def __ilshift__(self, value: _ArrayLike, /) -> Self: ...
    def __rshift__(self, value: _ArrayLike, /) -> Tensor: ...
    def __rrshift__(self, value: _ArrayLike, /) -> Tensor: ...
    def __irshift__(self, value: _ArrayLike, /) -> Self: ...
    def __and__(self, value: _ArrayLike, /) -> Tensor: ...
    def __rand__(self, value: _ArrayLike, /) -> Tensor: ...
    def __iand__(self, value: _ArrayLike, /) -> Self: ...
    def __or__(self, value: _ArrayLike, /) -> Tensor: ...
    def __ror__(self, value: _ArrayLike, /) -> Tensor: ...
    def __ior__(self, value: _ArrayLike, /) -> Self: ...
    def __xor__(self, value: _ArrayLike, /) -> Tensor: ...
    def __rxor__(self, value: _ArrayLike, /) -> Tensor: ...
    def __ixor__(self, value: _ArrayLike, /) -> Self: ...
    def __divmod__(self, value: _ArrayLike, /) -> tuple[Tensor, Tensor]: ...
    def __rdivmod__(self, value: _ArrayLike, /) -> tuple[Tensor, Tensor]: ...
    def __lt__(self, value: _ArrayLike, /) -> Tensor: ...
    def __le__(self, value: _ArrayLike, /) -> Tensor: ...
    def __gt__(self, value: _ArrayLike, /) -> Tensor: ...
    def __ge__(self, value: _ArrayLike, /) -> Tensor: ...
    def __eq__(self, value: _ArrayLike, /) -> Tensor: ...
    def __ne__(self, value: _ArrayLike, /) -> Tensor: ...
    def __neg__(self) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __hash__(self) -> builtins.int: ...
    def __getitem__(self, key: _Index, /) -> Tensor: ...
    def __setitem__(self, key: _Index, value: _ArrayLike, /) -> None: ...
    def __delitem__(self, key: _Index, /) -> None: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __contains__(self, key: object, /) -> builtins.bool: ...
    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, /, *inputs: Any, **kwargs: Any
    ) -> Any: ...
    def __array_function__(
        self, func: Any, types: Any, args: Any, kwargs: Any, /
    ) -> Any: ...
    def __array_namespace__(
        self, /, *, api_version: str | None = None
    ) -> ModuleType: ...
    @property
    def T(self) -> Tensor: ...
    @property
    def mT(self) -> Tensor: ...
    real: Tensor
    imag: Tensor
    flat: Any
    def detach(self) -> Tensor: ...
    def wait(self) -> Tensor: ...
    def as_numpy(self) -> Tensor: ...
    def as_torch(self) -> TorchTensor: ...
    def abs(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def abs_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def absolute(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def absolute_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def acos(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def acos_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def acosh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def acosh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def add(
        x,
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
    ) -> Tensor: ...
    def add_(
        self,
        other: _ArrayLike,
        *,
        alpha: builtins.complex = 1,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    @overload
    def all(
        a,
        axis: _Axis | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        *,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    @overload
    def all(
        a,
        *,
        dim: _Axis | None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    def allclose(
        self,
        other: _ArrayLike,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> builtins.bool: ...
    @overload
    def amax(
        a,
        axis: _Axis | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    @overload
    def amax(
        a,
        *,
        dim: _Axis | None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    @overload
    def amin(
        a,
        axis: _Axis | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    @overload
    def amin(
        a,
        *,
        dim: _Axis | None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    def angle(z, deg: builtins.bool = False) -> Tensor: ...
    @overload
    def any(
        a,
        axis: _Axis | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        *,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    @overload
    def any(
        a,
        *,
        dim: _Axis | None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    def arccos(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def arccos_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arccosh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def arccosh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arcsin(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def arcsin_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arcsinh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def arcsinh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arctan(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def arctan2(
        x1,
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
    ) -> Tensor: ...
    def arctan2_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arctan_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arctanh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def arctanh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def argmax(
        a,
        axis: builtins.int | None = None,
        out: _Out = None,
        *,
        keepdims: builtins.bool = False,
    ) -> Tensor: ...
    @overload
    def argmax(
        a, *, dim: builtins.int | None, out: _Out = None, keepdim: builtins.bool = False
    ) -> Tensor: ...
    @overload
    def argmin(
        a,
        axis: builtins.int | None = None,
        out: _Out = None,
        *,
        keepdims: builtins.bool = False,
    ) -> Tensor: ...
    @overload
    def argmin(
        a, *, dim: builtins.int | None, out: _Out = None, keepdim: builtins.bool = False
    ) -> Tensor: ...
    @overload
    def argpartition(
        a,
        kth: _Shape,
        axis: builtins.int | None = -1,
        kind: builtins.str = "introselect",
        order: None = None,
    ) -> Tensor: ...
    @overload
    def argpartition(
        a,
        kth: _Shape,
        *,
        dim: builtins.int | None,
        kind: builtins.str = "introselect",
        order: None = None,
    ) -> Tensor: ...
    @overload
    def argsort(
        a,
        axis: builtins.int | None = -1,
        kind: builtins.str | None = None,
        order: None = None,
        *,
        stable: builtins.bool | None = None,
    ) -> Tensor: ...
    @overload
    def argsort(
        a,
        *,
        dim: builtins.int | None,
        kind: builtins.str | None = None,
        order: None = None,
        stable: builtins.bool | None = None,
    ) -> Tensor: ...
    def asin(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def asin_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def asinh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def asinh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def astype(
        x,
        dtype: npt.DTypeLike,
        order: builtins.str = "K",
        casting: builtins.str = "unsafe",
        subok: builtins.bool = True,
        copy: builtins.bool = True,
    ) -> Tensor: ...
    def atan(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def atan2(
        x1,
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
    ) -> Tensor: ...
    def atan2_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def atan_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def atanh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def atanh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def backward(
        self,
        gradient: Any = None,
        retain_graph: builtins.bool | None = None,
        create_graph: builtins.bool = False,
        inputs: Any = None,
    ) -> None: ...
    def bernoulli(
        input, p: builtins.float | None = None, *, generator: Generator | None = None
    ) -> Tensor: ...
    def bernoulli_(
        self, p: builtins.float = 0.5, *, generator: Generator | None = None
    ) -> Self: ...
    def bfloat16(self) -> Tensor: ...
    def bitwise_and(
        x1,
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
    ) -> Tensor: ...
    def bitwise_and_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_left_shift(
        x1,
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
    ) -> Tensor: ...
    def bitwise_left_shift_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_not(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def bitwise_not_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_or(
        x1,
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
    ) -> Tensor: ...
    def bitwise_or_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_right_shift(
        x1,
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
    ) -> Tensor: ...
    def bitwise_right_shift_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_xor(
        x1,
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
    ) -> Tensor: ...
    def bitwise_xor_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bmm(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> Tensor: ...
    def bool(self) -> Tensor: ...
    def broadcast_to(array, shape: _Shape, subok: builtins.bool = False) -> Tensor: ...
    def byte(self) -> Tensor: ...
    def cdouble(self) -> Tensor: ...
    def ceil(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def ceil_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def cfloat(self) -> Tensor: ...
    def char(self) -> Tensor: ...
    def choose(
        a, choices: _ArrayLike, out: _Out = None, mode: builtins.str = "raise"
    ) -> Tensor: ...
    @overload
    def chunk(
        x, chunks: builtins.int, axis: builtins.int = 0
    ) -> tuple[Tensor, ...]: ...
    @overload
    def chunk(x, chunks: builtins.int, *, dim: builtins.int) -> tuple[Tensor, ...]: ...
    def clamp(
        x,
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
    ) -> Tensor: ...
    def clamp_(
        self,
        min: _ArrayLike | None = None,
        max: _ArrayLike | None = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def clamp_max(x, max: _ArrayLike) -> Tensor: ...
    def clamp_min(x, min: _ArrayLike) -> Tensor: ...
    def clip(
        x,
        min: _ArrayLike | None = None,
        max: _ArrayLike | None = None,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Tensor: ...
    def clone(self, *, memory_format: builtins.object | None = None) -> Tensor: ...
    def compress(
        x, condition: _ArrayLike, axis: builtins.int | None = None, out: _Out = None
    ) -> Tensor: ...
    def conj(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def conjugate(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def contiguous(x, *, memory_format: builtins.object | None = None) -> Tensor: ...
    def copy(x, order: builtins.str = "C") -> Tensor: ...
    def copy_(self, src: _ArrayLike, non_blocking: builtins.bool = False) -> Self: ...
    def copysign(
        x1,
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
    ) -> Tensor: ...
    def copysign_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def cos(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def cos_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def cosh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def cosh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def cpu(self) -> Tensor: ...
    @overload
    def cumprod(
        a,
        axis: builtins.int | None = None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
    ) -> Tensor: ...
    @overload
    def cumprod(
        a,
        *,
        dim: builtins.int | None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
    ) -> Tensor: ...
    @overload
    def cumsum(
        a,
        axis: builtins.int | None = None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
    ) -> Tensor: ...
    @overload
    def cumsum(
        a,
        *,
        dim: builtins.int | None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
    ) -> Tensor: ...
    def deg2rad(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def deg2rad_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def detach_(self) -> Self: ...
    def diag(v, k: builtins.int = 0) -> Tensor: ...
    def diagflat(v, k: builtins.int = 0) -> Tensor: ...
    def diagonal(
        a, offset: builtins.int = 0, axis1: builtins.int = 0, axis2: builtins.int = 1
    ) -> Tensor: ...
    def div(
        x,
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
    ) -> Tensor: ...
    def div_(
        self,
        other: _ArrayLike,
        *,
        rounding_mode: builtins.str | None = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def divide(
        x1,
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
    ) -> Tensor: ...
    def divide_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def dot(a, b: _ArrayLike, out: _Out = None) -> Tensor: ...
    def double(self) -> Tensor: ...
    def eq(
        x1,
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
    ) -> Tensor: ...
    def exp(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def exp2(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def exp2_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def exp_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def expand(a, /, *sizes: _Shape) -> Tensor: ...
    def expand_as(a, other: _ArrayLike) -> Tensor: ...
    def expm1(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def expm1_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def exponential_(
        self, lambd: builtins.float = 1.0, *, generator: Generator | None = None
    ) -> Self: ...
    def fill(x, value: _ArrayLike) -> None: ...
    def fill_(self, value: _ArrayLike) -> Self: ...
    def fix(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def fix_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def flatten(
        a,
        start_dim: builtins.int | builtins.str | None = None,
        end_dim: builtins.int | None = None,
        *,
        order: builtins.str = "C",
    ) -> Tensor: ...
    @overload
    def flip(m, axis: _Axis | None = None) -> Tensor: ...
    @overload
    def flip(m, *, dim: _Axis | None) -> Tensor: ...
    def fliplr(m) -> Tensor: ...
    def flipud(m) -> Tensor: ...
    def float(self) -> Tensor: ...
    def float_power(
        x1,
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
    ) -> Tensor: ...
    def float_power_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def floor(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def floor_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def floor_divide(
        x1,
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
    ) -> Tensor: ...
    def floor_divide_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def fmax(
        x1,
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
    ) -> Tensor: ...
    def fmin(
        x1,
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
    ) -> Tensor: ...
    def fmod(
        x1,
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
    ) -> Tensor: ...
    def fmod_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def frexp(
        x,
        /,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> tuple[Tensor, Tensor]: ...
    def gather(self, dim: builtins.int, index: _ArrayLike) -> Tensor: ...
    def gcd(
        x1,
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
    ) -> Tensor: ...
    def gcd_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def ge(
        x1,
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
    ) -> Tensor: ...
    def greater(
        x1,
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
    ) -> Tensor: ...
    def greater_equal(
        x1,
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
    ) -> Tensor: ...
    def gt(
        x1,
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
    ) -> Tensor: ...
    def half(self) -> Tensor: ...
    def heaviside(
        x1,
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
    ) -> Tensor: ...
    def heaviside_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def hypot(
        x1,
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
    ) -> Tensor: ...
    def hypot_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def index_select(self, dim: builtins.int, index: _ArrayLike) -> Tensor: ...
    def inner(a, b: _ArrayLike, /) -> Tensor: ...
    def int(self) -> Tensor: ...
    def isclose(
        a,
        b: _ArrayLike,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> Tensor: ...
    def isfinite(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def isinf(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def isnan(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def isneginf(
        x,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Tensor: ...
    def isposinf(
        x,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Tensor: ...
    def isreal(
        x,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Tensor: ...
    def kron(a, b: _ArrayLike) -> Tensor: ...
    def lcm(
        x1,
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
    ) -> Tensor: ...
    def lcm_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def ldexp(
        x1,
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
    ) -> Tensor: ...
    def ldexp_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def le(
        x1,
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
    ) -> Tensor: ...
    def less(
        x1,
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
    ) -> Tensor: ...
    def less_equal(
        x1,
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
    ) -> Tensor: ...
    def log(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def log10(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def log10_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def log1p(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def log1p_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def log2(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def log2_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def log_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def log_softmax(
        x, axis: builtins.int = -1, dtype: npt.DTypeLike | None = None
    ) -> Tensor: ...
    @overload
    def log_softmax(
        x, *, dim: builtins.int, dtype: npt.DTypeLike | None = None
    ) -> Tensor: ...
    def logaddexp(
        x1,
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
    ) -> Tensor: ...
    def logaddexp2(
        x1,
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
    ) -> Tensor: ...
    def logical_and(
        x1,
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
    ) -> Tensor: ...
    def logical_and_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def logical_not(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def logical_not_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def logical_or(
        x1,
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
    ) -> Tensor: ...
    def logical_or_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def logical_xor(
        x1,
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
    ) -> Tensor: ...
    def logical_xor_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def long(self) -> Tensor: ...
    def lt(
        x1,
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
    ) -> Tensor: ...
    def masked_fill(self, mask: _ArrayLike, value: _ArrayLike) -> Tensor: ...
    def masked_fill_(self, mask: _ArrayLike, value: _ArrayLike) -> Self: ...
    def matmul(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> Tensor: ...
    @overload
    def max(
        a,
        axis: _Axis | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    @overload
    def max(
        a,
        *,
        dim: _Axis | None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    def maximum(
        x1,
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
    ) -> Tensor: ...
    @overload
    def mean(
        a,
        axis: _Axis | None = None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        *,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    @overload
    def mean(
        a,
        *,
        dim: _Axis | None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    @overload
    def min(
        a,
        axis: _Axis | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    @overload
    def min(
        a,
        *,
        dim: _Axis | None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    def minimum(
        x1,
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
    ) -> Tensor: ...
    def mm(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> Tensor: ...
    def moveaxis(a, source: _Shape, destination: _Shape) -> Tensor: ...
    def movedim(a, source: _Shape, destination: _Shape) -> Tensor: ...
    def mul(
        x1,
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
    ) -> Tensor: ...
    def mul_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def multiply(
        x1,
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
    ) -> Tensor: ...
    def multiply_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def mv(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> Tensor: ...
    def nan_to_num(
        x,
        nan: _ArrayLike = 0.0,
        posinf: _ArrayLike | None = None,
        neginf: _ArrayLike | None = None,
    ) -> Tensor: ...
    def nan_to_num_(
        self,
        nan: _ArrayLike = 0.0,
        posinf: _ArrayLike | None = None,
        neginf: _ArrayLike | None = None,
    ) -> Self: ...
    def ne(
        x1,
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
    ) -> Tensor: ...
    def neg(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def neg_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def negative(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def negative_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def new_empty(
        self,
        *sizes: _Shape,
        size: _Shape | None = None,
        dtype: npt.DTypeLike | None = None,
        device_mesh: Mesh | None = None,
        placements: Sequence[Placement] | None = None,
    ) -> Tensor: ...
    def new_full(
        self,
        size: _Shape,
        fill_value: _ArrayLike,
        *,
        dtype: npt.DTypeLike | None = None,
        device_mesh: Mesh | None = None,
        placements: Sequence[Placement] | None = None,
    ) -> Tensor: ...
    def new_ones(
        self,
        *sizes: _Shape,
        size: _Shape | None = None,
        dtype: npt.DTypeLike | None = None,
        device_mesh: Mesh | None = None,
        placements: Sequence[Placement] | None = None,
    ) -> Tensor: ...
    def new_zeros(
        self,
        *sizes: _Shape,
        size: _Shape | None = None,
        dtype: npt.DTypeLike | None = None,
        device_mesh: Mesh | None = None,
        placements: Sequence[Placement] | None = None,
    ) -> Tensor: ...
    def nextafter(
        x1,
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
    ) -> Tensor: ...
    def nextafter_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def nonzero(a) -> tuple[Tensor, ...]: ...
    @overload
    def norm(
        x,
        p: builtins.float | builtins.str = "fro",
        axis: _Axis | None = None,
        keepdims: builtins.bool = False,
    ) -> Tensor: ...
    @overload
    def norm(
        x,
        p: builtins.float | builtins.str = "fro",
        *,
        dim: _Axis | None,
        keepdim: builtins.bool = False,
    ) -> Tensor: ...
    def normal_(
        self,
        mean: builtins.float = 0.0,
        std: builtins.float = 1.0,
        *,
        generator: Generator | None = None,
    ) -> DTensor: ...
    def not_equal(
        x1,
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
    ) -> Tensor: ...
    def outer(a, b: _ArrayLike, out: _Out = None) -> Tensor: ...
    def partition(
        x,
        kth: Any,
        axis: builtins.int = -1,
        kind: builtins.str = "introselect",
        order: None = None,
    ) -> None: ...
    def permute(a, /, *axes: _Shape) -> Tensor: ...
    def plot(
        x,
        kind: builtins.str | None = None,
        *,
        ax: Any = None,
        most: builtins.int = 1000,
        root: builtins.int = 0,
        style: Mapping[builtins.str, Any] | None = None,
    ) -> Any: ...
    def positive(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def pow(
        x1,
        x2: _ArrayLike,
        /,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Tensor: ...
    def pow_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    @overload
    def prod(
        a,
        axis: _Axis | None = None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    @overload
    def prod(
        a,
        *,
        dim: _Axis | None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    def put(
        a, ind: _ArrayLike, v: _ArrayLike, mode: builtins.str = "raise"
    ) -> None: ...
    def rad2deg(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def rad2deg_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def random_(
        self,
        from_: builtins.int | None = None,
        to: builtins.int | None = None,
        *,
        generator: Generator | None = None,
        **named: builtins.int,
    ) -> Self: ...
    def ravel(a, order: builtins.str = "C") -> Tensor: ...
    def reciprocal(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def reciprocal_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def register_hook(self, hook: Callable[[Any], Any]) -> RemovableHandle: ...
    def register_post_accumulate_grad_hook(
        self, hook: Callable[[Any], Any]
    ) -> RemovableHandle: ...
    def relu(x) -> Tensor: ...
    def relu_(self) -> Self: ...
    def remainder(
        x1,
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
    ) -> Tensor: ...
    def remainder_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def repeat(a, repeats: _ArrayLike, axis: builtins.int | None = None) -> Tensor: ...
    @overload
    def repeat(a, repeats: _ArrayLike, *, dim: builtins.int | None) -> Tensor: ...
    def reshape(
        a,
        /,
        *shape: _Shape,
        order: builtins.str = "C",
        copy: builtins.bool | None = None,
    ) -> Tensor: ...
    def reshape_as(a, other: _ArrayLike) -> Tensor: ...
    def retain_grad(self) -> None: ...
    @overload
    def roll(a, shift: _Shape, axis: _Axis | None = None) -> Tensor: ...
    @overload
    def roll(a, shift: _Shape, *, dim: _Axis | None) -> Tensor: ...
    def rot90(m, k: builtins.int = 1, axes: _Axis = ...) -> Tensor: ...
    def round(a, decimals: builtins.int = 0, out: _Out = None) -> Tensor: ...
    def round_(self, decimals: builtins.int = 0) -> Self: ...
    def rsqrt(x) -> Tensor: ...
    def rsqrt_(self) -> Self: ...
    def searchsorted(
        x, v: _ArrayLike, side: builtins.str = "left", sorter: _ArrayLike | None = None
    ) -> Tensor: ...
    def sgn(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def sgn_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def short(self) -> Tensor: ...
    def sigmoid(x) -> Tensor: ...
    def sigmoid_(self) -> Self: ...
    def sign(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def sign_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def signbit(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def sin(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def sin_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def sinc(
        x,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Tensor: ...
    def sinc_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def sinh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def sinh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def softmax(
        x, axis: builtins.int = -1, dtype: npt.DTypeLike | None = None
    ) -> Tensor: ...
    @overload
    def softmax(
        x, *, dim: builtins.int, dtype: npt.DTypeLike | None = None
    ) -> Tensor: ...
    def sort(
        x,
        axis: builtins.int = -1,
        kind: builtins.str | None = None,
        order: None = None,
        *,
        stable: builtins.bool | None = None,
    ) -> None: ...
    @overload
    def split(x, split_size: _Shape, axis: builtins.int = 0) -> tuple[Tensor, ...]: ...
    @overload
    def split(x, split_size: _Shape, *, dim: builtins.int) -> tuple[Tensor, ...]: ...
    def sqrt(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def sqrt_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def square(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def square_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def squeeze(a, axis: _Axis | None = None) -> Tensor: ...
    @overload
    def squeeze(a, *, dim: _Axis | None) -> Tensor: ...
    @overload
    def std(
        a,
        axis: _Axis | None = None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        ddof: builtins.float = 0,
        keepdims: builtins.bool = False,
        *,
        where: _ArrayLike = True,
        mean: _ArrayLike = ...,
        correction: builtins.float = ...,
    ) -> Tensor: ...
    @overload
    def std(
        a,
        *,
        dim: _Axis | None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        ddof: builtins.float = 0,
        keepdim: builtins.bool = False,
        where: _ArrayLike = True,
        mean: _ArrayLike = ...,
        correction: builtins.float = ...,
    ) -> Tensor: ...
    def sub(
        x,
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
    ) -> Tensor: ...
    def sub_(
        self,
        other: _ArrayLike,
        *,
        alpha: builtins.complex = 1,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def subtract(
        x1,
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
    ) -> Tensor: ...
    def subtract_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def sum(
        a,
        axis: _Axis | None = None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    @overload
    def sum(
        a,
        *,
        dim: _Axis | None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> Tensor: ...
    def swapaxes(a, axis1: builtins.int, axis2: builtins.int) -> Tensor: ...
    def swapdims(a, axis1: builtins.int, axis2: builtins.int) -> Tensor: ...
    def t(self) -> Tensor: ...
    def take(
        a,
        indices: _ArrayLike,
        axis: builtins.int | None = None,
        out: _Out = None,
        mode: builtins.str = "raise",
    ) -> Tensor: ...
    def tan(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def tan_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def tanh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def tanh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def tensor_split(
        x, indices_or_sections: _ArrayLike, axis: builtins.int = 0
    ) -> tuple[Tensor, ...]: ...
    @overload
    def tensor_split(
        x, indices_or_sections: _ArrayLike, *, dim: builtins.int
    ) -> tuple[Tensor, ...]: ...
    def tile(A, reps: _Shape) -> Tensor: ...
    def to(
        self,
        *args: Tensor | npt.DTypeLike | builtins.bool,
        dtype: npt.DTypeLike | None = None,
        device: builtins.str | None = None,
        copy: builtins.bool = False,
        non_blocking: builtins.bool = False,
    ) -> Tensor: ...
    def to_device(
        self, device: builtins.str, /, *, stream: builtins.int | None = None
    ) -> Tensor: ...
    def tobytes(x, order: builtins.str = "C") -> bytes: ...
    @overload
    def topk(
        x,
        k: builtins.int,
        axis: builtins.int = -1,
        largest: builtins.bool = True,
        sorted: builtins.bool = True,
    ) -> _Picked[Tensor]: ...
    @overload
    def topk(
        x,
        k: builtins.int,
        *,
        dim: builtins.int,
        largest: builtins.bool = True,
        sorted: builtins.bool = True,
    ) -> _Picked[Tensor]: ...
    def trace(
        a,
        offset: builtins.int = 0,
        axis1: builtins.int = 0,
        axis2: builtins.int = 1,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
    ) -> Tensor: ...
    def transpose(a, /, *axes: _Shape) -> Tensor: ...
    def tril(m, k: builtins.int = 0) -> Tensor: ...
    def triu(m, k: builtins.int = 0) -> Tensor: ...
    def true_divide(
        x1,
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
    ) -> Tensor: ...
    def true_divide_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def trunc(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Tensor: ...
    def trunc_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def type(self, dtype: npt.DTypeLike) -> Tensor: ...
    def type_as(self, other: _ArrayLike) -> Tensor: ...
    @overload
    def unbind(x, axis: builtins.int = 0) -> tuple[Tensor, ...]: ...
    @overload
    def unbind(x, *, dim: builtins.int) -> tuple[Tensor, ...]: ...
    @overload
    def unflatten(a, axis: builtins.int, sizes: _Shape) -> Tensor: ...
    @overload
    def unflatten(a, *, dim: builtins.int, sizes: _Shape) -> Tensor: ...
    def uniform_(
        self,
        from_: builtins.float = 0.0,
        to: builtins.float = 1.0,
        *,
        generator: Generator | None = None,
        **named: builtins.float,
    ) -> Self: ...
    @overload
    def unsqueeze(a, axis: _Axis) -> Tensor: ...
    @overload
    def unsqueeze(a, *, dim: _Axis) -> Tensor: ...
    @overload
    def var(
        a,
        axis: _Axis | None = None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        ddof: builtins.float = 0,
        keepdims: builtins.bool = False,
        *,
        where: _ArrayLike = True,
        mean: _ArrayLike = ...,
        correction: builtins.float = ...,
    ) -> Tensor: ...
    @overload
    def var(
        a,
        *,
        dim: _Axis | None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        ddof: builtins.float = 0,
        keepdim: builtins.bool = False,
        where: _ArrayLike = True,
        mean: _ArrayLike = ...,
        correction: builtins.float = ...,
    ) -> Tensor: ...
    def vdot(a, b: _ArrayLike, /) -> Tensor: ...
    @overload
    def vecdot(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        axis: builtins.int = -1,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> Tensor: ...
    @overload
    def vecdot(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dim: builtins.int,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> Tensor: ...
    def view(
        self, *shape: _Shape | npt.DTypeLike, dtype: npt.DTypeLike | None = None
    ) -> Tensor: ...
    def view_as(a, other: _ArrayLike) -> Tensor: ...
    def where(self, condition: _ArrayLike, other: _ArrayLike) -> Tensor: ...
    def zero_(self) -> Self: ...
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
    grad: DTensor | None
    data: DTensor
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
    # operators: written by tests/stubs.py
    def __add__(self, value: _ArrayLike, /) -> DTensor: ...
    def __radd__(self, value: _ArrayLike, /) -> DTensor: ...
    def __iadd__(self, value: _ArrayLike, /) -> Self: ...
    def __sub__(self, value: _ArrayLike, /) -> DTensor: ...
    def __rsub__(self, value: _ArrayLike, /) -> DTensor: ...
    def __isub__(self, value: _ArrayLike, /) -> Self: ...
    def __mul__(self, value: _ArrayLike, /) -> DTensor: ...
    def __rmul__(self, value: _ArrayLike, /) -> DTensor: ...
    def __imul__(self, value: _ArrayLike, /) -> Self: ...
    def __matmul__(self, value: _ArrayLike, /) -> DTensor: ...
    def __rmatmul__(self, value: _ArrayLike, /) -> DTensor: ...
    def __imatmul__(self, value: _ArrayLike, /) -> Self: ...
    def __truediv__(self, value: _ArrayLike, /) -> DTensor: ...
    def __rtruediv__(self, value: _ArrayLike, /) -> DTensor: ...
    def __itruediv__(self, value: _ArrayLike, /) -> Self: ...
    def __floordiv__(self, value: _ArrayLike, /) -> DTensor: ...
    def __rfloordiv__(self, value: _ArrayLike, /) -> DTensor: ...
    def __ifloordiv__(self, value: _ArrayLike, /) -> Self: ...
    def __mod__(self, value: _ArrayLike, /) -> DTensor: ...
    def __rmod__(self, value: _ArrayLike, /) -> DTensor: ...
    def __imod__(self, value: _ArrayLike, /) -> Self: ...
    def __pow__(self, value: _ArrayLike, mod: None = None, /) -> DTensor: ...
    def __rpow__(self, value: _ArrayLike, mod: None = None, /) -> DTensor: ...
    def __ipow__(self, value: _ArrayLike, /) -> Self: ...  # type: ignore[misc]
    def __lshift__(self, value: _ArrayLike, /) -> DTensor: ...
    def __rlshift__(self, value: _ArrayLike, /) -> DTensor: ...
    def __ilshift__(self, value: _ArrayLike, /) -> Self: ...
    def __rshift__(self, value: _ArrayLike, /) -> DTensor: ...
    def __rrshift__(self, value: _ArrayLike, /) -> DTensor: ...
    def __irshift__(self, value: _ArrayLike, /) -> Self: ...
    def __and__(self, value: _ArrayLike, /) -> DTensor: ...
    def __rand__(self, value: _ArrayLike, /) -> DTensor: ...
    def __iand__(self, value: _ArrayLike, /) -> Self: ...
    def __or__(self, value: _ArrayLike, /) -> DTensor: ...
    def __ror__(self, value: _ArrayLike, /) -> DTensor: ...
    def __ior__(self, value: _ArrayLike, /) -> Self: ...
    def __xor__(self, value: _ArrayLike, /) -> DTensor: ...
    def __rxor__(self, value: _ArrayLike, /) -> DTensor: ...
    def __ixor__(self, value: _ArrayLike, /) -> Self: ...
    def __divmod__(self, value: _ArrayLike, /) -> tuple[DTensor, DTensor]: ...
    def __rdivmod__(self, value: _ArrayLike, /) -> tuple[DTensor, DTensor]: ...
    def __lt__(self, value: _ArrayLike, /) -> DTensor: ...
    def __le__(self, value: _ArrayLike, /) -> DTensor: ...
    def __gt__(self, value: _ArrayLike, /) -> DTensor: ...
    def __ge__(self, value: _ArrayLike, /) -> DTensor: ...
    def __eq__(self, value: _ArrayLike, /) -> DTensor: ...
    def __ne__(self, value: _ArrayLike, /) -> DTensor: ...
    def __neg__(self) -> DTensor: ...
    def __pos__(self) -> DTensor: ...
    def __abs__(self) -> DTensor: ...
    def __invert__(self) -> DTensor: ...
    def __hash__(self) -> builtins.int: ...
    def __getitem__(self, key: _Index, /) -> DTensor: ...
    def __setitem__(self, key: _Index, value: _ArrayLike, /) -> None: ...
    def __delitem__(self, key: _Index, /) -> None: ...
    def __iter__(self) -> Iterator[DTensor]: ...
    def __contains__(self, key: object, /) -> builtins.bool: ...
    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, /, *inputs: Any, **kwargs: Any
    ) -> Any: ...
    def __array_function__(
        self, func: Any, types: Any, args: Any, kwargs: Any, /
    ) -> Any: ...
    def __array_namespace__(
        self, /, *, api_version: str | None = None
    ) -> ModuleType: ...
    @property
    def T(self) -> DTensor: ...
    @property
    def mT(self) -> DTensor: ...
    real: DTensor
    imag: DTensor
    flat: Any
    def detach(self) -> DTensor: ...
    def wait(self) -> DTensor: ...
    def as_numpy(self) -> DTensor: ...
    def as_torch(self) -> TorchDTensor: ...
    def abs(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def abs_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def absolute(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def absolute_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def acos(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def acos_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def acosh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def acosh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def add(
        x,
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
    ) -> DTensor: ...
    def add_(
        self,
        other: _ArrayLike,
        *,
        alpha: builtins.complex = 1,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    @overload
    def all(
        a,
        axis: _Axis | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        *,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    @overload
    def all(
        a,
        *,
        dim: _Axis | None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    def allclose(
        self,
        other: _ArrayLike,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> builtins.bool: ...
    @overload
    def amax(
        a,
        axis: _Axis | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    @overload
    def amax(
        a,
        *,
        dim: _Axis | None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    @overload
    def amin(
        a,
        axis: _Axis | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    @overload
    def amin(
        a,
        *,
        dim: _Axis | None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    def angle(z, deg: builtins.bool = False) -> DTensor: ...
    @overload
    def any(
        a,
        axis: _Axis | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        *,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    @overload
    def any(
        a,
        *,
        dim: _Axis | None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    def arccos(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def arccos_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arccosh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def arccosh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arcsin(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def arcsin_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arcsinh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def arcsinh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arctan(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def arctan2(
        x1,
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
    ) -> DTensor: ...
    def arctan2_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arctan_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arctanh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def arctanh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def argmax(
        a,
        axis: builtins.int | None = None,
        out: _Out = None,
        *,
        keepdims: builtins.bool = False,
    ) -> DTensor: ...
    @overload
    def argmax(
        a, *, dim: builtins.int | None, out: _Out = None, keepdim: builtins.bool = False
    ) -> DTensor: ...
    @overload
    def argmin(
        a,
        axis: builtins.int | None = None,
        out: _Out = None,
        *,
        keepdims: builtins.bool = False,
    ) -> DTensor: ...
    @overload
    def argmin(
        a, *, dim: builtins.int | None, out: _Out = None, keepdim: builtins.bool = False
    ) -> DTensor: ...
    @overload
    def argpartition(
        a,
        kth: _Shape,
        axis: builtins.int | None = -1,
        kind: builtins.str = "introselect",
        order: None = None,
    ) -> DTensor: ...
    @overload
    def argpartition(
        a,
        kth: _Shape,
        *,
        dim: builtins.int | None,
        kind: builtins.str = "introselect",
        order: None = None,
    ) -> DTensor: ...
    @overload
    def argsort(
        a,
        axis: builtins.int | None = -1,
        kind: builtins.str | None = None,
        order: None = None,
        *,
        stable: builtins.bool | None = None,
    ) -> DTensor: ...
    @overload
    def argsort(
        a,
        *,
        dim: builtins.int | None,
        kind: builtins.str | None = None,
        order: None = None,
        stable: builtins.bool | None = None,
    ) -> DTensor: ...
    def asin(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def asin_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def asinh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def asinh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def astype(
        x,
        dtype: npt.DTypeLike,
        order: builtins.str = "K",
        casting: builtins.str = "unsafe",
        subok: builtins.bool = True,
        copy: builtins.bool = True,
    ) -> DTensor: ...
    def atan(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def atan2(
        x1,
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
    ) -> DTensor: ...
    def atan2_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def atan_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def atanh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def atanh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def backward(
        self,
        gradient: Any = None,
        retain_graph: builtins.bool | None = None,
        create_graph: builtins.bool = False,
        inputs: Any = None,
    ) -> None: ...
    def bernoulli(
        input, p: builtins.float | None = None, *, generator: Generator | None = None
    ) -> DTensor: ...
    def bernoulli_(
        self, p: builtins.float = 0.5, *, generator: Generator | None = None
    ) -> Self: ...
    def bfloat16(self) -> DTensor: ...
    def bitwise_and(
        x1,
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
    ) -> DTensor: ...
    def bitwise_and_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_left_shift(
        x1,
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
    ) -> DTensor: ...
    def bitwise_left_shift_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_not(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def bitwise_not_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_or(
        x1,
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
    ) -> DTensor: ...
    def bitwise_or_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_right_shift(
        x1,
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
    ) -> DTensor: ...
    def bitwise_right_shift_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_xor(
        x1,
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
    ) -> DTensor: ...
    def bitwise_xor_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bmm(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> DTensor: ...
    def bool(self) -> DTensor: ...
    def broadcast_to(array, shape: _Shape, subok: builtins.bool = False) -> DTensor: ...
    def byte(self) -> DTensor: ...
    def cdouble(self) -> DTensor: ...
    def ceil(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def ceil_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def cfloat(self) -> DTensor: ...
    def char(self) -> DTensor: ...
    def choose(
        a, choices: _ArrayLike, out: _Out = None, mode: builtins.str = "raise"
    ) -> DTensor: ...
    @overload
    def chunk(
        x, chunks: builtins.int, axis: builtins.int = 0
    ) -> tuple[DTensor, ...]: ...
    @overload
    def chunk(x, chunks: builtins.int, *, dim: builtins.int) -> tuple[DTensor, ...]: ...
    def clamp(
        x,
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
    ) -> DTensor: ...
    def clamp_(
        self,
        min: _ArrayLike | None = None,
        max: _ArrayLike | None = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def clamp_max(x, max: _ArrayLike) -> DTensor: ...
    def clamp_min(x, min: _ArrayLike) -> DTensor: ...
    def clip(
        x,
        min: _ArrayLike | None = None,
        max: _ArrayLike | None = None,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> DTensor: ...
    def clone(self, *, memory_format: builtins.object | None = None) -> DTensor: ...
    def compress(
        x, condition: _ArrayLike, axis: builtins.int | None = None, out: _Out = None
    ) -> DTensor: ...
    def conj(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def conjugate(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def contiguous(x, *, memory_format: builtins.object | None = None) -> DTensor: ...
    def copy(x, order: builtins.str = "C") -> DTensor: ...
    def copy_(self, src: _ArrayLike, non_blocking: builtins.bool = False) -> Self: ...
    def copysign(
        x1,
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
    ) -> DTensor: ...
    def copysign_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def cos(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def cos_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def cosh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def cosh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def cpu(self) -> DTensor: ...
    @overload
    def cumprod(
        a,
        axis: builtins.int | None = None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
    ) -> DTensor: ...
    @overload
    def cumprod(
        a,
        *,
        dim: builtins.int | None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
    ) -> DTensor: ...
    @overload
    def cumsum(
        a,
        axis: builtins.int | None = None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
    ) -> DTensor: ...
    @overload
    def cumsum(
        a,
        *,
        dim: builtins.int | None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
    ) -> DTensor: ...
    def deg2rad(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def deg2rad_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def detach_(self) -> Self: ...
    def diag(v, k: builtins.int = 0) -> DTensor: ...
    def diagflat(v, k: builtins.int = 0) -> DTensor: ...
    def diagonal(
        a, offset: builtins.int = 0, axis1: builtins.int = 0, axis2: builtins.int = 1
    ) -> DTensor: ...
    def div(
        x,
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
    ) -> DTensor: ...
    def div_(
        self,
        other: _ArrayLike,
        *,
        rounding_mode: builtins.str | None = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def divide(
        x1,
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
    ) -> DTensor: ...
    def divide_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def dot(a, b: _ArrayLike, out: _Out = None) -> DTensor: ...
    def double(self) -> DTensor: ...
    def eq(
        x1,
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
    ) -> DTensor: ...
    def exp(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def exp2(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def exp2_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def exp_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def expand(a, /, *sizes: _Shape) -> DTensor: ...
    def expand_as(a, other: _ArrayLike) -> DTensor: ...
    def expm1(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def expm1_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def exponential_(
        self, lambd: builtins.float = 1.0, *, generator: Generator | None = None
    ) -> Self: ...
    def fill(x, value: _ArrayLike) -> None: ...
    def fill_(self, value: _ArrayLike) -> Self: ...
    def fix(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def fix_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def flatten(
        a,
        start_dim: builtins.int | builtins.str | None = None,
        end_dim: builtins.int | None = None,
        *,
        order: builtins.str = "C",
    ) -> DTensor: ...
    @overload
    def flip(m, axis: _Axis | None = None) -> DTensor: ...
    @overload
    def flip(m, *, dim: _Axis | None) -> DTensor: ...
    def fliplr(m) -> DTensor: ...
    def flipud(m) -> DTensor: ...
    def float(self) -> DTensor: ...
    def float_power(
        x1,
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
    ) -> DTensor: ...
    def float_power_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def floor(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def floor_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def floor_divide(
        x1,
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
    ) -> DTensor: ...
    def floor_divide_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def fmax(
        x1,
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
    ) -> DTensor: ...
    def fmin(
        x1,
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
    ) -> DTensor: ...
    def fmod(
        x1,
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
    ) -> DTensor: ...
    def fmod_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def frexp(
        x,
        /,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> tuple[DTensor, DTensor]: ...
    def gather(self, dim: builtins.int, index: _ArrayLike) -> DTensor: ...
    def gcd(
        x1,
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
    ) -> DTensor: ...
    def gcd_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def ge(
        x1,
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
    ) -> DTensor: ...
    def greater(
        x1,
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
    ) -> DTensor: ...
    def greater_equal(
        x1,
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
    ) -> DTensor: ...
    def gt(
        x1,
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
    ) -> DTensor: ...
    def half(self) -> DTensor: ...
    def heaviside(
        x1,
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
    ) -> DTensor: ...
    def heaviside_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def hypot(
        x1,
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
    ) -> DTensor: ...
    def hypot_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def index_select(self, dim: builtins.int, index: _ArrayLike) -> DTensor: ...
    def inner(a, b: _ArrayLike, /) -> DTensor: ...
    def int(self) -> DTensor: ...
    def isclose(
        a,
        b: _ArrayLike,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> DTensor: ...
    def isfinite(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def isinf(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def isnan(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def isneginf(
        x,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> DTensor: ...
    def isposinf(
        x,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> DTensor: ...
    def isreal(
        x,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> DTensor: ...
    def kron(a, b: _ArrayLike) -> DTensor: ...
    def lcm(
        x1,
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
    ) -> DTensor: ...
    def lcm_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def ldexp(
        x1,
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
    ) -> DTensor: ...
    def ldexp_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def le(
        x1,
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
    ) -> DTensor: ...
    def less(
        x1,
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
    ) -> DTensor: ...
    def less_equal(
        x1,
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
    ) -> DTensor: ...
    def log(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def log10(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def log10_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def log1p(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def log1p_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def log2(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def log2_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def log_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def log_softmax(
        x, axis: builtins.int = -1, dtype: npt.DTypeLike | None = None
    ) -> DTensor: ...
    @overload
    def log_softmax(
        x, *, dim: builtins.int, dtype: npt.DTypeLike | None = None
    ) -> DTensor: ...
    def logaddexp(
        x1,
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
    ) -> DTensor: ...
    def logaddexp2(
        x1,
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
    ) -> DTensor: ...
    def logical_and(
        x1,
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
    ) -> DTensor: ...
    def logical_and_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def logical_not(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def logical_not_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def logical_or(
        x1,
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
    ) -> DTensor: ...
    def logical_or_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def logical_xor(
        x1,
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
    ) -> DTensor: ...
    def logical_xor_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def long(self) -> DTensor: ...
    def lt(
        x1,
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
    ) -> DTensor: ...
    def masked_fill(self, mask: _ArrayLike, value: _ArrayLike) -> DTensor: ...
    def masked_fill_(self, mask: _ArrayLike, value: _ArrayLike) -> Self: ...
    def matmul(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> DTensor: ...
    @overload
    def max(
        a,
        axis: _Axis | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    @overload
    def max(
        a,
        *,
        dim: _Axis | None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    def maximum(
        x1,
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
    ) -> DTensor: ...
    @overload
    def mean(
        a,
        axis: _Axis | None = None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        *,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    @overload
    def mean(
        a,
        *,
        dim: _Axis | None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    @overload
    def min(
        a,
        axis: _Axis | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    @overload
    def min(
        a,
        *,
        dim: _Axis | None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    def minimum(
        x1,
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
    ) -> DTensor: ...
    def mm(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> DTensor: ...
    def moveaxis(a, source: _Shape, destination: _Shape) -> DTensor: ...
    def movedim(a, source: _Shape, destination: _Shape) -> DTensor: ...
    def mul(
        x1,
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
    ) -> DTensor: ...
    def mul_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def multiply(
        x1,
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
    ) -> DTensor: ...
    def multiply_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def mv(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> DTensor: ...
    def nan_to_num(
        x,
        nan: _ArrayLike = 0.0,
        posinf: _ArrayLike | None = None,
        neginf: _ArrayLike | None = None,
    ) -> DTensor: ...
    def nan_to_num_(
        self,
        nan: _ArrayLike = 0.0,
        posinf: _ArrayLike | None = None,
        neginf: _ArrayLike | None = None,
    ) -> Self: ...
    def ne(
        x1,
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
    ) -> DTensor: ...
    def neg(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def neg_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def negative(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def negative_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def new_empty(
        self,
        *sizes: _Shape,
        size: _Shape | None = None,
        dtype: npt.DTypeLike | None = None,
        device_mesh: Mesh | None = None,
        placements: Sequence[Placement] | None = None,
    ) -> DTensor: ...
    def new_full(
        self,
        size: _Shape,
        fill_value: _ArrayLike,
        *,
        dtype: npt.DTypeLike | None = None,
        device_mesh: Mesh | None = None,
        placements: Sequence[Placement] | None = None,
    ) -> DTensor: ...
    def new_ones(
        self,
        *sizes: _Shape,
        size: _Shape | None = None,
        dtype: npt.DTypeLike | None = None,
        device_mesh: Mesh | None = None,
        placements: Sequence[Placement] | None = None,
    ) -> DTensor: ...
    def new_zeros(
        self,
        *sizes: _Shape,
        size: _Shape | None = None,
        dtype: npt.DTypeLike | None = None,
        device_mesh: Mesh | None = None,
        placements: Sequence[Placement] | None = None,
    ) -> DTensor: ...
    def nextafter(
        x1,
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
    ) -> DTensor: ...
    def nextafter_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def nonzero(a) -> tuple[DTensor, ...]: ...
    @overload
    def norm(
        x,
        p: builtins.float | builtins.str = "fro",
        axis: _Axis | None = None,
        keepdims: builtins.bool = False,
    ) -> DTensor: ...
    @overload
    def norm(
        x,
        p: builtins.float | builtins.str = "fro",
        *,
        dim: _Axis | None,
        keepdim: builtins.bool = False,
    ) -> DTensor: ...
    def normal_(
        self,
        mean: builtins.float = 0.0,
        std: builtins.float = 1.0,
        *,
        generator: Generator | None = None,
    ) -> DTensor: ...
    def not_equal(
        x1,
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
    ) -> DTensor: ...
    def outer(a, b: _ArrayLike, out: _Out = None) -> DTensor: ...
    def partition(
        x,
        kth: Any,
        axis: builtins.int = -1,
        kind: builtins.str = "introselect",
        order: None = None,
    ) -> None: ...
    def permute(a, /, *axes: _Shape) -> DTensor: ...
    def plot(
        x,
        kind: builtins.str | None = None,
        *,
        ax: Any = None,
        most: builtins.int = 1000,
        root: builtins.int = 0,
        style: Mapping[builtins.str, Any] | None = None,
    ) -> Any: ...
    def positive(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def pow(
        x1,
        x2: _ArrayLike,
        /,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> DTensor: ...
    def pow_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    @overload
    def prod(
        a,
        axis: _Axis | None = None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    @overload
    def prod(
        a,
        *,
        dim: _Axis | None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    def put(
        a, ind: _ArrayLike, v: _ArrayLike, mode: builtins.str = "raise"
    ) -> None: ...
    def rad2deg(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def rad2deg_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def random_(
        self,
        from_: builtins.int | None = None,
        to: builtins.int | None = None,
        *,
        generator: Generator | None = None,
        **named: builtins.int,
    ) -> Self: ...
    def ravel(a, order: builtins.str = "C") -> DTensor: ...
    def reciprocal(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def reciprocal_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def register_hook(self, hook: Callable[[Any], Any]) -> RemovableHandle: ...
    def register_post_accumulate_grad_hook(
        self, hook: Callable[[Any], Any]
    ) -> RemovableHandle: ...
    def relu(x) -> DTensor: ...
    def relu_(self) -> Self: ...
    def remainder(
        x1,
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
    ) -> DTensor: ...
    def remainder_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def repeat(a, repeats: _ArrayLike, axis: builtins.int | None = None) -> DTensor: ...
    @overload
    def repeat(a, repeats: _ArrayLike, *, dim: builtins.int | None) -> DTensor: ...
    def reshape(
        a,
        /,
        *shape: _Shape,
        order: builtins.str = "C",
        copy: builtins.bool | None = None,
    ) -> DTensor: ...
    def reshape_as(a, other: _ArrayLike) -> DTensor: ...
    def retain_grad(self) -> None: ...
    @overload
    def roll(a, shift: _Shape, axis: _Axis | None = None) -> DTensor: ...
    @overload
    def roll(a, shift: _Shape, *, dim: _Axis | None) -> DTensor: ...
    def rot90(m, k: builtins.int = 1, axes: _Axis = ...) -> DTensor: ...
    def round(a, decimals: builtins.int = 0, out: _Out = None) -> DTensor: ...
    def round_(self, decimals: builtins.int = 0) -> Self: ...
    def rsqrt(x) -> DTensor: ...
    def rsqrt_(self) -> Self: ...
    def searchsorted(
        x, v: _ArrayLike, side: builtins.str = "left", sorter: _ArrayLike | None = None
    ) -> DTensor: ...
    def sgn(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def sgn_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def short(self) -> DTensor: ...
    def sigmoid(x) -> DTensor: ...
    def sigmoid_(self) -> Self: ...
    def sign(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def sign_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def signbit(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def sin(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def sin_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def sinc(
        x,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> DTensor: ...
    def sinc_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def sinh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def sinh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def softmax(
        x, axis: builtins.int = -1, dtype: npt.DTypeLike | None = None
    ) -> DTensor: ...
    @overload
    def softmax(
        x, *, dim: builtins.int, dtype: npt.DTypeLike | None = None
    ) -> DTensor: ...
    def sort(
        x,
        axis: builtins.int = -1,
        kind: builtins.str | None = None,
        order: None = None,
        *,
        stable: builtins.bool | None = None,
    ) -> None: ...
    @overload
    def split(x, split_size: _Shape, axis: builtins.int = 0) -> tuple[DTensor, ...]: ...
    @overload
    def split(x, split_size: _Shape, *, dim: builtins.int) -> tuple[DTensor, ...]: ...
    def sqrt(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def sqrt_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def square(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def square_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def squeeze(a, axis: _Axis | None = None) -> DTensor: ...
    @overload
    def squeeze(a, *, dim: _Axis | None) -> DTensor: ...
    @overload
    def std(
        a,
        axis: _Axis | None = None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        ddof: builtins.float = 0,
        keepdims: builtins.bool = False,
        *,
        where: _ArrayLike = True,
        mean: _ArrayLike = ...,
        correction: builtins.float = ...,
    ) -> DTensor: ...
    @overload
    def std(
        a,
        *,
        dim: _Axis | None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        ddof: builtins.float = 0,
        keepdim: builtins.bool = False,
        where: _ArrayLike = True,
        mean: _ArrayLike = ...,
        correction: builtins.float = ...,
    ) -> DTensor: ...
    def sub(
        x,
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
    ) -> DTensor: ...
    def sub_(
        self,
        other: _ArrayLike,
        *,
        alpha: builtins.complex = 1,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def subtract(
        x1,
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
    ) -> DTensor: ...
    def subtract_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def sum(
        a,
        axis: _Axis | None = None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        keepdims: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    @overload
    def sum(
        a,
        *,
        dim: _Axis | None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        keepdim: builtins.bool = False,
        initial: _ArrayLike = ...,
        where: _ArrayLike = True,
    ) -> DTensor: ...
    def swapaxes(a, axis1: builtins.int, axis2: builtins.int) -> DTensor: ...
    def swapdims(a, axis1: builtins.int, axis2: builtins.int) -> DTensor: ...
    def t(self) -> DTensor: ...
    def take(
        a,
        indices: _ArrayLike,
        axis: builtins.int | None = None,
        out: _Out = None,
        mode: builtins.str = "raise",
    ) -> DTensor: ...
    def tan(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def tan_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def tanh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def tanh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def tensor_split(
        x, indices_or_sections: _ArrayLike, axis: builtins.int = 0
    ) -> tuple[DTensor, ...]: ...
    @overload
    def tensor_split(
        x, indices_or_sections: _ArrayLike, *, dim: builtins.int
    ) -> tuple[DTensor, ...]: ...
    def tile(A, reps: _Shape) -> DTensor: ...
    def to(
        self,
        *args: Tensor | npt.DTypeLike | builtins.bool,
        dtype: npt.DTypeLike | None = None,
        device: builtins.str | None = None,
        copy: builtins.bool = False,
        non_blocking: builtins.bool = False,
    ) -> DTensor: ...
    def to_device(
        self, device: builtins.str, /, *, stream: builtins.int | None = None
    ) -> DTensor: ...
    def tobytes(x, order: builtins.str = "C") -> bytes: ...
    @overload
    def topk(
        x,
        k: builtins.int,
        axis: builtins.int = -1,
        largest: builtins.bool = True,
        sorted: builtins.bool = True,
    ) -> _Picked[DTensor]: ...
    @overload
    def topk(
        x,
        k: builtins.int,
        *,
        dim: builtins.int,
        largest: builtins.bool = True,
        sorted: builtins.bool = True,
    ) -> _Picked[DTensor]: ...
    def trace(
        a,
        offset: builtins.int = 0,
        axis1: builtins.int = 0,
        axis2: builtins.int = 1,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
    ) -> DTensor: ...
    def transpose(a, /, *axes: _Shape) -> DTensor: ...
    def tril(m, k: builtins.int = 0) -> DTensor: ...
    def triu(m, k: builtins.int = 0) -> DTensor: ...
    def true_divide(
        x1,
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
    ) -> DTensor: ...
    def true_divide_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def trunc(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> DTensor: ...
    def trunc_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def type(self, dtype: npt.DTypeLike) -> DTensor: ...
    def type_as(self, other: _ArrayLike) -> DTensor: ...
    @overload
    def unbind(x, axis: builtins.int = 0) -> tuple[DTensor, ...]: ...
    @overload
    def unbind(x, *, dim: builtins.int) -> tuple[DTensor, ...]: ...
    @overload
    def unflatten(a, axis: builtins.int, sizes: _Shape) -> DTensor: ...
    @overload
    def unflatten(a, *, dim: builtins.int, sizes: _Shape) -> DTensor: ...
    def uniform_(
        self,
        from_: builtins.float = 0.0,
        to: builtins.float = 1.0,
        *,
        generator: Generator | None = None,
        **named: builtins.float,
    ) -> Self: ...
    @overload
    def unsqueeze(a, axis: _Axis) -> DTensor: ...
    @overload
    def unsqueeze(a, *, dim: _Axis) -> DTensor: ...
    @overload
    def var(
        a,
        axis: _Axis | None = None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        ddof: builtins.float = 0,
        keepdims: builtins.bool = False,
        *,
        where: _ArrayLike = True,
        mean: _ArrayLike = ...,
        correction: builtins.float = ...,
    ) -> DTensor: ...
    @overload
    def var(
        a,
        *,
        dim: _Axis | None,
        dtype: npt.DTypeLike | None = None,
        out: _Out = None,
        ddof: builtins.float = 0,
        keepdim: builtins.bool = False,
        where: _ArrayLike = True,
        mean: _ArrayLike = ...,
        correction: builtins.float = ...,
    ) -> DTensor: ...
    def vdot(a, b: _ArrayLike, /) -> DTensor: ...
    @overload
    def vecdot(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        axis: builtins.int = -1,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> DTensor: ...
    @overload
    def vecdot(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dim: builtins.int,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> DTensor: ...
    def view(
        self, *shape: _Shape | npt.DTypeLike, dtype: npt.DTypeLike | None = None
    ) -> DTensor: ...
    def view_as(a, other: _ArrayLike) -> DTensor: ...
    def where(self, condition: _ArrayLike, other: _ArrayLike) -> DTensor: ...
    def zero_(self) -> Self: ...
    # end of operators

@type_check_only
class _TorchSize(int):
    @overload
    def __call__(self, dim: None = None) -> Size: ...
    @overload
    def __call__(self, dim: SupportsIndex) -> int: ...

class TorchTensor(Tensor):
    grad: TorchTensor | None
    data: TorchTensor
    @property
    def shape(self) -> Size: ...
    @property
    def dtype(self) -> torch_dtype: ...
    @property
    def size(self) -> _TorchSize: ...
    @property
    def device(self) -> torch_device: ...
    @property
    def layout(self) -> Any: ...
    @property
    def H(self) -> Self: ...
    @property
    def mH(self) -> Self: ...
    @property
    def name(self) -> None: ...
    @property
    def is_cpu(self) -> builtins.bool: ...
    @property
    def is_meta(self) -> builtins.bool: ...
    @property
    def is_cuda(self) -> builtins.bool: ...
    @property
    def is_mkldnn(self) -> builtins.bool: ...
    @property
    def is_mps(self) -> builtins.bool: ...
    @property
    def is_nested(self) -> builtins.bool: ...
    @property
    def is_quantized(self) -> builtins.bool: ...
    @property
    def is_sparse(self) -> builtins.bool: ...
    @property
    def is_sparse_csr(self) -> builtins.bool: ...
    @property
    def is_xla(self) -> builtins.bool: ...
    @property
    def is_xpu(self) -> builtins.bool: ...
    def is_pinned(self, device: Any = None) -> builtins.bool: ...
    def is_shared(self) -> builtins.bool: ...
    def ndimension(self) -> builtins.int: ...
    def nelement(self) -> builtins.int: ...
    # operators: written by tests/stubs.py
    def __add__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __radd__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __iadd__(self, value: _ArrayLike, /) -> Self: ...
    def __sub__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __rsub__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __isub__(self, value: _ArrayLike, /) -> Self: ...
    def __mul__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __rmul__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __imul__(self, value: _ArrayLike, /) -> Self: ...
    def __matmul__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __rmatmul__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __imatmul__(self, value: _ArrayLike, /) -> Self: ...
    def __truediv__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __rtruediv__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __itruediv__(self, value: _ArrayLike, /) -> Self: ...
    def __floordiv__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __rfloordiv__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __ifloordiv__(self, value: _ArrayLike, /) -> Self: ...
    def __mod__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __rmod__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __imod__(self, value: _ArrayLike, /) -> Self: ...
    def __pow__(self, value: _ArrayLike, mod: None = None, /) -> TorchTensor: ...
    def __rpow__(self, value: _ArrayLike, mod: None = None, /) -> TorchTensor: ...
    def __ipow__(self, value: _ArrayLike, /) -> Self: ...  # type: ignore[misc]
    def __lshift__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __rlshift__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __ilshift__(self, value: _ArrayLike, /) -> Self: ...
    def __rshift__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __rrshift__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __irshift__(self, value: _ArrayLike, /) -> Self: ...
    def __and__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __rand__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __iand__(self, value: _ArrayLike, /) -> Self: ...
    def __or__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __ror__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __ior__(self, value: _ArrayLike, /) -> Self: ...
    def __xor__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __rxor__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __ixor__(self, value: _ArrayLike, /) -> Self: ...
    def __divmod__(self, value: _ArrayLike, /) -> tuple[TorchTensor, TorchTensor]: ...
    def __rdivmod__(self, value: _ArrayLike, /) -> tuple[TorchTensor, TorchTensor]: ...
    def __lt__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __le__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __gt__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __ge__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __eq__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __ne__(self, value: _ArrayLike, /) -> TorchTensor: ...
    def __neg__(self) -> TorchTensor: ...
    def __pos__(self) -> TorchTensor: ...
    def __abs__(self) -> TorchTensor: ...
    def __invert__(self) -> TorchTensor: ...
    def __hash__(self) -> builtins.int: ...
    def __getitem__(self, key: _Index, /) -> TorchTensor: ...
    def __setitem__(self, key: _Index, value: _ArrayLike, /) -> None: ...
    def __delitem__(self, key: _Index, /) -> None: ...
    def __iter__(self) -> Iterator[TorchTensor]: ...
    def __contains__(self, key: object, /) -> builtins.bool: ...
    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, /, *inputs: Any, **kwargs: Any
    ) -> Any: ...
    def __array_function__(
        self, func: Any, types: Any, args: Any, kwargs: Any, /
    ) -> Any: ...
    def __array_namespace__(
        self, /, *, api_version: str | None = None
    ) -> ModuleType: ...
    @property
    def T(self) -> TorchTensor: ...
    @property
    def mT(self) -> TorchTensor: ...
    real: TorchTensor
    imag: TorchTensor
    flat: Any
    def detach(self) -> TorchTensor: ...
    def wait(self) -> TorchTensor: ...
    def as_numpy(self) -> Tensor: ...
    def as_torch(self) -> TorchTensor: ...
    def abs(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def abs_(self) -> Self: ...
    def absolute(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def absolute_(self) -> Self: ...
    def acos(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def acos_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def acosh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def acosh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def add(
        input,
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
    ) -> TorchTensor: ...
    def add_(
        self,
        other: _ArrayLike,
        *,
        alpha: builtins.complex = 1,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def addbmm(
        input,
        batch1: _ArrayLike,
        batch2: _ArrayLike,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TorchTensor: ...
    def addbmm_(
        self,
        batch1: _ArrayLike,
        batch2: _ArrayLike,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> Self: ...
    def addcdiv(
        input, tensor1: _ArrayLike, tensor2: _ArrayLike, *, value: builtins.float = 1
    ) -> TorchTensor: ...
    def addcdiv_(
        self, tensor1: _ArrayLike, tensor2: _ArrayLike, *, value: builtins.float = 1
    ) -> Self: ...
    def addcmul(
        input, tensor1: _ArrayLike, tensor2: _ArrayLike, *, value: builtins.float = 1
    ) -> TorchTensor: ...
    def addcmul_(
        self, tensor1: _ArrayLike, tensor2: _ArrayLike, *, value: builtins.float = 1
    ) -> Self: ...
    def addmm(
        input,
        mat1: _ArrayLike,
        mat2: _ArrayLike,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TorchTensor: ...
    def addmm_(
        self,
        mat1: _ArrayLike,
        mat2: _ArrayLike,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> Self: ...
    def addmv(
        input,
        mat: Any,
        vec: Any,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TorchTensor: ...
    def addmv_(
        self, mat: Any, vec: Any, *, beta: builtins.float = 1, alpha: builtins.float = 1
    ) -> Self: ...
    def addr(
        input,
        vec1: _ArrayLike,
        vec2: _ArrayLike,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TorchTensor: ...
    def addr_(
        self,
        vec1: _ArrayLike,
        vec2: _ArrayLike,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> Self: ...
    def adjoint(input) -> TorchTensor: ...
    def all(
        input, dim: _Axis | None = None, keepdim: builtins.bool = False
    ) -> TorchTensor: ...
    def allclose(
        a,
        b: _ArrayLike,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> builtins.bool: ...
    def amax(
        input, dim: _Axis = ..., keepdim: builtins.bool = False
    ) -> TorchTensor: ...
    def amin(
        input, dim: _Axis = ..., keepdim: builtins.bool = False
    ) -> TorchTensor: ...
    def aminmax(
        input, *, dim: builtins.int | None = None, keepdim: builtins.bool = False
    ) -> _Extremes[TorchTensor]: ...
    def angle(input) -> TorchTensor: ...
    def any(
        input, dim: _Axis | None = None, keepdim: builtins.bool = False
    ) -> TorchTensor: ...
    def apply_(self, callable: Callable[[Any], Any]) -> Self: ...
    def arccos(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def arccos_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arccosh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def arccosh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arcsin(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def arcsin_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arcsinh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def arcsinh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arctan(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def arctan2(
        x1,
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
    ) -> TorchTensor: ...
    def arctan2_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arctan_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arctanh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def arctanh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def argmax(
        input, dim: builtins.int | None = None, keepdim: builtins.bool = False
    ) -> TorchTensor: ...
    def argmin(
        input, dim: builtins.int | None = None, keepdim: builtins.bool = False
    ) -> TorchTensor: ...
    @overload
    def argpartition(
        a,
        kth: _Shape,
        axis: builtins.int | None = -1,
        kind: builtins.str = "introselect",
        order: None = None,
    ) -> TorchTensor: ...
    @overload
    def argpartition(
        a,
        kth: _Shape,
        *,
        dim: builtins.int | None,
        kind: builtins.str = "introselect",
        order: None = None,
    ) -> TorchTensor: ...
    def argsort(
        input,
        dim: builtins.int = -1,
        descending: builtins.bool = False,
        stable: builtins.bool = False,
    ) -> TorchTensor: ...
    def argwhere(a) -> TorchTensor: ...
    def as_strided(
        self, size: _Shape, stride: Any, storage_offset: builtins.int | None = None
    ) -> TorchTensor: ...
    def as_strided_(
        self, size: _Shape, stride: Any, storage_offset: builtins.int | None = None
    ) -> Self: ...
    def as_strided_scatter(
        self,
        src: _ArrayLike,
        size: _Shape,
        stride: Any,
        storage_offset: builtins.int | None = None,
    ) -> TorchTensor: ...
    def asin(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def asin_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def asinh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def asinh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def astype(
        x,
        dtype: npt.DTypeLike,
        order: builtins.str = "K",
        casting: builtins.str = "unsafe",
        subok: builtins.bool = True,
        copy: builtins.bool = True,
    ) -> TorchTensor: ...
    def atan(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def atan2(
        x1,
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
    ) -> TorchTensor: ...
    def atan2_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def atan_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def atanh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def atanh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def backward(
        self,
        gradient: Any = None,
        retain_graph: builtins.bool | None = None,
        create_graph: builtins.bool = False,
        inputs: Any = None,
    ) -> None: ...
    def baddbmm(
        input,
        batch1: _ArrayLike,
        batch2: _ArrayLike,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TorchTensor: ...
    def baddbmm_(
        self,
        batch1: _ArrayLike,
        batch2: _ArrayLike,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> Self: ...
    def bernoulli(
        input, p: builtins.float | None = None, *, generator: Generator | None = None
    ) -> TorchTensor: ...
    def bernoulli_(
        self, p: builtins.float = 0.5, *, generator: Generator | None = None
    ) -> Self: ...
    def bfloat16(self, memory_format: builtins.object | None = None) -> TorchTensor: ...
    def bincount(
        input, weights: _ArrayLike | None = None, minlength: builtins.int = 0
    ) -> TorchTensor: ...
    def bitwise_and(
        x1,
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
    ) -> TorchTensor: ...
    def bitwise_and_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_left_shift(
        x1,
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
    ) -> TorchTensor: ...
    def bitwise_left_shift_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_not(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def bitwise_not_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_or(
        x1,
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
    ) -> TorchTensor: ...
    def bitwise_or_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_right_shift(
        x1,
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
    ) -> TorchTensor: ...
    def bitwise_right_shift_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_xor(
        x1,
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
    ) -> TorchTensor: ...
    def bitwise_xor_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bmm(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> TorchTensor: ...
    def bool(self, memory_format: builtins.object | None = None) -> TorchTensor: ...
    def broadcast_to(a, /, *sizes: _Shape) -> TorchTensor: ...
    def byte(self, memory_format: builtins.object | None = None) -> TorchTensor: ...
    def cauchy_(
        self,
        median: builtins.float = 0,
        sigma: builtins.float = 1,
        *,
        generator: Any = None,
    ) -> Self: ...
    def cdouble(self, memory_format: builtins.object | None = None) -> TorchTensor: ...
    def ceil(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def ceil_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def cfloat(self, memory_format: builtins.object | None = None) -> TorchTensor: ...
    def char(self, memory_format: builtins.object | None = None) -> TorchTensor: ...
    def cholesky(input, upper: builtins.bool = False) -> TorchTensor: ...
    def cholesky_inverse(L, upper: builtins.bool = False) -> TorchTensor: ...
    def cholesky_solve(B, L: Any, upper: builtins.bool = False) -> TorchTensor: ...
    def choose(
        a, choices: _ArrayLike, out: _Out = None, mode: builtins.str = "raise"
    ) -> TorchTensor: ...
    @overload
    def chunk(
        x, chunks: builtins.int, axis: builtins.int = 0
    ) -> tuple[TorchTensor, ...]: ...
    @overload
    def chunk(
        x, chunks: builtins.int, *, dim: builtins.int
    ) -> tuple[TorchTensor, ...]: ...
    def clamp(
        input,
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
    ) -> TorchTensor: ...
    def clamp_(
        self,
        min: _ArrayLike | None = None,
        max: _ArrayLike | None = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def clamp_max(input, max: _ArrayLike) -> TorchTensor: ...
    def clamp_max_(self, max: _ArrayLike) -> Self: ...
    def clamp_min(input, min: _ArrayLike) -> TorchTensor: ...
    def clamp_min_(self, min: _ArrayLike) -> Self: ...
    def clip(
        input,
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
    ) -> TorchTensor: ...
    def clip_(
        self,
        min: _ArrayLike | None = None,
        max: _ArrayLike | None = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def clone(
        input, *, memory_format: builtins.object | None = None
    ) -> TorchTensor: ...
    def compress(
        x, condition: _ArrayLike, axis: builtins.int | None = None, out: _Out = None
    ) -> TorchTensor: ...
    def conj(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def conj_physical(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def conj_physical_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def conjugate(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def const_data_ptr(self) -> builtins.int: ...
    def contiguous(
        x, *, memory_format: builtins.object | None = None
    ) -> TorchTensor: ...
    def copy(x, order: builtins.str = "C") -> TorchTensor: ...
    def copy_(self, src: _ArrayLike, non_blocking: builtins.bool = False) -> Self: ...
    def copysign(
        x1,
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
    ) -> TorchTensor: ...
    def copysign_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def corrcoef(input) -> TorchTensor: ...
    def cos(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def cos_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def cosh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def cosh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def count_nonzero(
        input, dim: _Axis | None = None, keepdim: builtins.bool = False
    ) -> TorchTensor: ...
    def cov(
        input,
        *,
        correction: builtins.int = 1,
        fweights: _ArrayLike | None = None,
        aweights: _ArrayLike | None = None,
    ) -> TorchTensor: ...
    def cpu(
        self,
        *args: _ArrayLike,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def cross(
        input, other: _ArrayLike, dim: builtins.int | None = None
    ) -> TorchTensor: ...
    def cuda(
        self, device: builtins.str | None = None, non_blocking: builtins.bool = False
    ) -> TorchTensor: ...
    def cummax(input, dim: builtins.int) -> _Picked[TorchTensor]: ...
    def cummin(input, dim: builtins.int) -> _Picked[TorchTensor]: ...
    def cumprod(
        input, dim: builtins.int, *, dtype: npt.DTypeLike | None = None
    ) -> TorchTensor: ...
    def cumprod_(
        self, dim: builtins.int, *, dtype: npt.DTypeLike | None = None
    ) -> Self: ...
    def cumsum(
        input, dim: builtins.int, *, dtype: npt.DTypeLike | None = None
    ) -> TorchTensor: ...
    def cumsum_(
        self, dim: builtins.int, *, dtype: npt.DTypeLike | None = None
    ) -> Self: ...
    def data_ptr(self) -> builtins.int: ...
    def deg2rad(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def deg2rad_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def det(a) -> TorchTensor: ...
    def detach_(self) -> Self: ...
    def diag(input, diagonal: builtins.int = 0) -> TorchTensor: ...
    def diag_embed(
        input,
        offset: builtins.int = 0,
        dim1: builtins.int = -2,
        dim2: builtins.int = -1,
    ) -> TorchTensor: ...
    def diagflat(input, offset: builtins.int = 0) -> TorchTensor: ...
    def diagonal(
        input, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1
    ) -> TorchTensor: ...
    def diagonal_scatter(
        input,
        src: _ArrayLike,
        offset: builtins.int = 0,
        dim1: builtins.int = 0,
        dim2: builtins.int = 1,
    ) -> TorchTensor: ...
    def diff(
        input,
        n: builtins.int = 1,
        dim: builtins.int = -1,
        prepend: _ArrayLike | None = None,
        append: _ArrayLike | None = None,
    ) -> TorchTensor: ...
    def digamma(input) -> TorchTensor: ...
    def digamma_(self) -> Self: ...
    def dist(input, other: _ArrayLike, p: builtins.float = 2) -> TorchTensor: ...
    def div(
        input,
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
    ) -> TorchTensor: ...
    def div_(
        self,
        other: _ArrayLike,
        *,
        rounding_mode: builtins.str | None = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def divide(
        input,
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
    ) -> TorchTensor: ...
    def divide_(
        self,
        other: _ArrayLike,
        *,
        rounding_mode: builtins.str | None = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def dot(a, b: _ArrayLike, out: _Out = None) -> TorchTensor: ...
    def double(self, memory_format: builtins.object | None = None) -> TorchTensor: ...
    def dsplit(ary, indices_or_sections: _ArrayLike) -> list[TorchTensor]: ...
    def eq(
        x1,
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
    ) -> TorchTensor: ...
    def eq_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def equal(input, other: _ArrayLike) -> builtins.bool: ...
    def erf(
        input,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def erf_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def erfc(
        input,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def erfc_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def erfinv(input) -> TorchTensor: ...
    def erfinv_(self) -> Self: ...
    def exp(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def exp2(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def exp2_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def exp_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def expand(a, /, *sizes: _Shape) -> TorchTensor: ...
    def expand_as(a, other: _ArrayLike) -> TorchTensor: ...
    def expm1(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def expm1_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def exponential_(
        self, lambd: builtins.float = 1.0, *, generator: Generator | None = None
    ) -> Self: ...
    def fill(x, value: _ArrayLike) -> None: ...
    def fill_(self, value: _ArrayLike) -> Self: ...
    def fill_diagonal_(
        self, fill_value: _ArrayLike, wrap: builtins.bool = False
    ) -> Self: ...
    def fix(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def fix_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def flatten(
        input, start_dim: builtins.int = 0, end_dim: builtins.int = -1
    ) -> TorchTensor: ...
    def flip(
        self,
        *dims: _Shape,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def fliplr(input) -> TorchTensor: ...
    def flipud(input) -> TorchTensor: ...
    def float(self, memory_format: builtins.object | None = None) -> TorchTensor: ...
    def float_power(input, exponent: _ArrayLike) -> TorchTensor: ...
    def float_power_(self, exponent: _ArrayLike) -> Self: ...
    def floor(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def floor_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def floor_divide(
        x1,
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
    ) -> TorchTensor: ...
    def floor_divide_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def fmax(
        x1,
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
    ) -> TorchTensor: ...
    def fmin(
        x1,
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
    ) -> TorchTensor: ...
    def fmod(
        x1,
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
    ) -> TorchTensor: ...
    def fmod_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def frac(input) -> TorchTensor: ...
    def frac_(self) -> Self: ...
    def frexp(
        x,
        /,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> tuple[TorchTensor, TorchTensor]: ...
    def gather(
        input,
        dim: builtins.int,
        index: _ArrayLike,
        *,
        sparse_grad: builtins.bool = False,
    ) -> TorchTensor: ...
    def gcd(
        x1,
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
    ) -> TorchTensor: ...
    def gcd_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def ge(
        x1,
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
    ) -> TorchTensor: ...
    def ge_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def geometric_(self, p: builtins.float, *, generator: Any = None) -> Self: ...
    def geqrf(input) -> TorchTensor: ...
    def ger(input, vec2: _ArrayLike) -> TorchTensor: ...
    def get_device(self) -> builtins.int: ...
    def greater(
        x1,
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
    ) -> TorchTensor: ...
    def greater_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def greater_equal(
        x1,
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
    ) -> TorchTensor: ...
    def greater_equal_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def gt(
        x1,
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
    ) -> TorchTensor: ...
    def gt_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def half(self, memory_format: builtins.object | None = None) -> TorchTensor: ...
    def hardshrink(x, lambd: builtins.float = 0.5) -> TorchTensor: ...
    def heaviside(
        input,
        values: _ArrayLike,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def heaviside_(
        self,
        values: _ArrayLike,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def histc(
        input,
        bins: builtins.int = 100,
        min: builtins.float = 0,
        max: builtins.float = 0,
    ) -> TorchTensor: ...
    def histogram(
        input,
        bins: _ArrayLike | builtins.str = 100,
        *,
        range: _ArrayLike | None = None,
        weight: _ArrayLike | None = None,
        density: builtins.bool = False,
    ) -> tuple[TorchTensor, TorchTensor]: ...
    def hsplit(ary, indices_or_sections: _ArrayLike) -> list[TorchTensor]: ...
    def hypot(
        x1,
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
    ) -> TorchTensor: ...
    def hypot_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def i0(input) -> TorchTensor: ...
    def i0_(self) -> Self: ...
    def igamma(input, other: _ArrayLike) -> TorchTensor: ...
    def igamma_(self, other: _ArrayLike) -> Self: ...
    def igammac(input, other: _ArrayLike) -> TorchTensor: ...
    def igammac_(self, other: _ArrayLike) -> Self: ...
    def index_add(
        input,
        dim: builtins.int,
        index: _ArrayLike,
        source: _ArrayLike,
        *,
        alpha: builtins.complex = 1,
    ) -> TorchTensor: ...
    def index_add_(
        self,
        dim: builtins.int,
        index: _ArrayLike,
        source: _ArrayLike,
        *,
        alpha: builtins.complex = 1,
    ) -> Self: ...
    def index_copy(
        input, dim: builtins.int, index: _ArrayLike, source: _ArrayLike
    ) -> TorchTensor: ...
    def index_copy_(
        self, dim: builtins.int, index: _ArrayLike, source: _ArrayLike
    ) -> Self: ...
    def index_fill(
        input, dim: builtins.int, index: _ArrayLike, value: _ArrayLike
    ) -> TorchTensor: ...
    def index_fill_(
        self, dim: builtins.int, index: _ArrayLike, value: _ArrayLike
    ) -> Self: ...
    def index_put(
        input,
        indices: _ArrayLike,
        values: _ArrayLike,
        accumulate: builtins.bool = False,
    ) -> TorchTensor: ...
    def index_put_(
        self, indices: _ArrayLike, values: _ArrayLike, accumulate: builtins.bool = False
    ) -> Self: ...
    def index_reduce(
        input,
        dim: builtins.int,
        index: _ArrayLike,
        source: _Shape,
        reduce: builtins.str,
        *,
        include_self: builtins.bool = True,
    ) -> TorchTensor: ...
    def index_reduce_(
        self,
        dim: builtins.int,
        index: _ArrayLike,
        source: _Shape,
        reduce: builtins.str,
        *,
        include_self: builtins.bool = True,
    ) -> Self: ...
    def index_select(self, dim: builtins.int, index: _ArrayLike) -> TorchTensor: ...
    def inner(a, b: _ArrayLike, /) -> TorchTensor: ...
    def int(self, memory_format: builtins.object | None = None) -> TorchTensor: ...
    def inverse(a) -> TorchTensor: ...
    def is_complex(self) -> builtins.bool: ...
    def is_conj(self) -> builtins.bool: ...
    def is_contiguous(self, memory_format: builtins.object = ...) -> builtins.bool: ...
    def is_distributed(self) -> builtins.bool: ...
    def is_floating_point(self) -> builtins.bool: ...
    def is_inference(self) -> builtins.bool: ...
    def is_neg(self) -> builtins.bool: ...
    def is_nonzero(self) -> builtins.bool: ...
    def is_same_size(self, other: _ArrayLike) -> builtins.bool: ...
    def is_set_to(self, tensor: _ArrayLike) -> builtins.bool: ...
    def is_signed(self) -> builtins.bool: ...
    def isclose(
        a,
        b: _ArrayLike,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> TorchTensor: ...
    def isfinite(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def isin(
        element,
        test_elements: _ArrayLike,
        assume_unique: builtins.bool = False,
        invert: builtins.bool = False,
        *,
        kind: builtins.str | None = None,
    ) -> TorchTensor: ...
    def isinf(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def isnan(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def isneginf(
        x,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def isposinf(
        x,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def isreal(
        x,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def istft(
        input,
        n_fft: builtins.int,
        hop_length: builtins.int | None = None,
        win_length: builtins.int | None = None,
        window: Any = None,
        center: builtins.bool = True,
        normalized: builtins.bool = False,
        onesided: builtins.bool | None = None,
        length: builtins.int | None = None,
        return_complex: builtins.bool = False,
    ) -> TorchTensor: ...
    def item(self) -> Any: ...
    def kron(a, b: _ArrayLike) -> TorchTensor: ...
    def kthvalue(
        input, k: builtins.int, dim: builtins.int = -1, keepdim: builtins.bool = False
    ) -> _Picked[TorchTensor]: ...
    def lcm(
        x1,
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
    ) -> TorchTensor: ...
    def lcm_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def ldexp(input, other: _ArrayLike) -> TorchTensor: ...
    def ldexp_(self, other: _ArrayLike) -> Self: ...
    def le(
        x1,
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
    ) -> TorchTensor: ...
    def le_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def lerp(input, end: _ArrayLike, weight: _ArrayLike) -> TorchTensor: ...
    def lerp_(self, end: _ArrayLike, weight: _ArrayLike) -> Self: ...
    def less(
        x1,
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
    ) -> TorchTensor: ...
    def less_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def less_equal(
        x1,
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
    ) -> TorchTensor: ...
    def less_equal_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def lgamma(input) -> TorchTensor: ...
    def lgamma_(self) -> Self: ...
    def log(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def log10(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def log10_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def log1p(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def log1p_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def log2(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def log2_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def log_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def log_normal_(
        self,
        mean: builtins.float = 1,
        std: builtins.float = 2,
        *,
        generator: Any = None,
    ) -> Self: ...
    def log_softmax(
        input, dim: builtins.int | None = None, dtype: npt.DTypeLike | None = None
    ) -> TorchTensor: ...
    def logaddexp(
        input,
        other: _ArrayLike,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def logaddexp2(
        x1,
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
    ) -> TorchTensor: ...
    def logcumsumexp(input, dim: builtins.int) -> TorchTensor: ...
    def logdet(input) -> TorchTensor: ...
    def logical_and(
        x1,
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
    ) -> TorchTensor: ...
    def logical_and_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def logical_not(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def logical_not_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def logical_or(
        x1,
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
    ) -> TorchTensor: ...
    def logical_or_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def logical_xor(
        x1,
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
    ) -> TorchTensor: ...
    def logical_xor_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def logit(input, eps: builtins.float | None = None) -> TorchTensor: ...
    def logit_(self, eps: builtins.float | None = None) -> Self: ...
    def logsumexp(input, dim: Any, keepdim: builtins.bool = False) -> TorchTensor: ...
    def long(self, memory_format: builtins.object | None = None) -> TorchTensor: ...
    def lt(
        x1,
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
    ) -> TorchTensor: ...
    def lt_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def lu(
        A,
        pivot: builtins.bool = True,
        get_infos: builtins.bool = False,
        out: _Out = None,
    ) -> tuple[TorchTensor, ...]: ...
    def lu_solve(b, LU_data: Any, LU_pivots: Any) -> TorchTensor: ...
    def map2_(
        self, x: _ArrayLike, y: _ArrayLike, callable: Callable[[Any, Any, Any], Any]
    ) -> Self: ...
    def map_(self, other: _ArrayLike, callable: Callable[[Any, Any], Any]) -> Self: ...
    def masked_fill(input, mask: _ArrayLike, value: _ArrayLike) -> TorchTensor: ...
    def masked_fill_(self, mask: _ArrayLike, value: _ArrayLike) -> Self: ...
    def masked_scatter(input, mask: _ArrayLike, source: _ArrayLike) -> TorchTensor: ...
    def masked_scatter_(self, mask: _ArrayLike, source: _ArrayLike) -> Self: ...
    def masked_select(input, mask: _ArrayLike) -> TorchTensor: ...
    def matmul(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> TorchTensor: ...
    def matrix_exp(input) -> TorchTensor: ...
    def matrix_power(a, n: builtins.int) -> TorchTensor: ...
    @overload
    def max(self) -> TorchTensor: ...
    @overload
    def max(
        self, dim: builtins.int, keepdim: builtins.bool = False
    ) -> _Picked[TorchTensor]: ...
    @overload
    def max(self, other: _ArrayLike) -> TorchTensor: ...
    def maximum(
        x1,
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
    ) -> TorchTensor: ...
    def mean(
        input,
        dim: _Axis | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: npt.DTypeLike | None = None,
    ) -> TorchTensor: ...
    @overload
    def median(self) -> TorchTensor: ...
    @overload
    def median(
        self, dim: builtins.int, keepdim: builtins.bool = False
    ) -> _Picked[TorchTensor]: ...
    @overload
    def min(self) -> TorchTensor: ...
    @overload
    def min(
        self, dim: builtins.int, keepdim: builtins.bool = False
    ) -> _Picked[TorchTensor]: ...
    @overload
    def min(self, other: _ArrayLike) -> TorchTensor: ...
    def minimum(
        x1,
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
    ) -> TorchTensor: ...
    def mm(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> TorchTensor: ...
    def mode(
        input, dim: builtins.int = -1, keepdim: builtins.bool = False
    ) -> _Picked[TorchTensor]: ...
    def moveaxis(a, source: _Shape, destination: _Shape) -> TorchTensor: ...
    def movedim(a, source: _Shape, destination: _Shape) -> TorchTensor: ...
    def msort(input) -> TorchTensor: ...
    def mul(
        x1,
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
    ) -> TorchTensor: ...
    def mul_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def multinomial(
        input,
        num_samples: builtins.int,
        replacement: builtins.bool = False,
        *,
        generator: Any = None,
    ) -> TorchTensor: ...
    def multiply(
        x1,
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
    ) -> TorchTensor: ...
    def multiply_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def mv(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> TorchTensor: ...
    def mvlgamma(input, p: builtins.int) -> TorchTensor: ...
    def mvlgamma_(self, p: builtins.int) -> Self: ...
    def nan_to_num(
        input,
        nan: builtins.float = 0.0,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
    ) -> TorchTensor: ...
    def nan_to_num_(
        self,
        nan: builtins.float = 0.0,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
    ) -> Self: ...
    def nanmean(
        input,
        dim: _Axis | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: npt.DTypeLike | None = None,
    ) -> TorchTensor: ...
    @overload
    def nanmedian(self) -> TorchTensor: ...
    @overload
    def nanmedian(
        self, dim: builtins.int, keepdim: builtins.bool = False
    ) -> _Picked[TorchTensor]: ...
    def nanquantile(
        input,
        q: _ArrayLike,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: builtins.str = "linear",
    ) -> TorchTensor: ...
    def nansum(
        input,
        dim: _Axis | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: npt.DTypeLike | None = None,
    ) -> TorchTensor: ...
    def narrow(
        input, dim: builtins.int, start: builtins.int, length: builtins.int
    ) -> TorchTensor: ...
    def ne(
        x1,
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
    ) -> TorchTensor: ...
    def ne_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def neg(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def neg_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def negative(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def negative_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def new(self, *sizes: _Shape) -> TorchTensor: ...
    def new_empty(
        self,
        *size: _Shape,
        requires_grad: builtins.bool = False,
        dtype: npt.DTypeLike | None = None,
        layout: Any = None,
        device: builtins.str | None = None,
        pin_memory: builtins.bool = False,
        memory_format: builtins.object | None = None,
    ) -> TorchTensor: ...
    def new_empty_strided(
        self,
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
    def new_full(
        self,
        *size: _Shape,
        requires_grad: builtins.bool = False,
        dtype: npt.DTypeLike | None = None,
        layout: Any = None,
        device: builtins.str | None = None,
        pin_memory: builtins.bool = False,
        memory_format: builtins.object | None = None,
    ) -> TorchTensor: ...
    def new_ones(
        self,
        *size: _Shape,
        requires_grad: builtins.bool = False,
        dtype: npt.DTypeLike | None = None,
        layout: Any = None,
        device: builtins.str | None = None,
        pin_memory: builtins.bool = False,
        memory_format: builtins.object | None = None,
    ) -> TorchTensor: ...
    def new_tensor(
        self,
        data: _ArrayLike,
        *,
        dtype: npt.DTypeLike | None = None,
        layout: builtins.object = None,
        device: Any = None,
        requires_grad: builtins.bool = False,
        pin_memory: builtins.bool = False,
        memory_format: builtins.object = None,
    ) -> TorchTensor: ...
    def new_zeros(
        self,
        *size: _Shape,
        requires_grad: builtins.bool = False,
        dtype: npt.DTypeLike | None = None,
        layout: Any = None,
        device: builtins.str | None = None,
        pin_memory: builtins.bool = False,
        memory_format: builtins.object | None = None,
    ) -> TorchTensor: ...
    def nextafter(
        x1,
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
    ) -> TorchTensor: ...
    def nextafter_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def nonzero(input, *, as_tuple: Literal[False] = False) -> TorchTensor: ...
    @overload
    def nonzero(input, *, as_tuple: Literal[True]) -> tuple[TorchTensor, ...]: ...
    def nonzero_static(
        input, *, size: builtins.int, fill_value: builtins.int = -1
    ) -> TorchTensor: ...
    def norm(
        input,
        p: builtins.float | builtins.str = "fro",
        dim: _Axis | None = None,
        keepdim: builtins.bool = False,
        dtype: npt.DTypeLike | None = None,
    ) -> TorchTensor: ...
    def normal_(
        self,
        mean: builtins.float = 0.0,
        std: builtins.float = 1.0,
        *,
        generator: Generator | None = None,
    ) -> DTensor: ...
    def not_equal(
        x1,
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
    ) -> TorchTensor: ...
    def not_equal_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def orgqr(input, tau: Any) -> TorchTensor: ...
    def ormqr(
        input,
        tau: Any,
        other: _ArrayLike,
        left: builtins.bool = True,
        transpose: builtins.bool = False,
    ) -> TorchTensor: ...
    def outer(input, vec2: _ArrayLike) -> TorchTensor: ...
    def partition(
        x,
        kth: Any,
        axis: builtins.int = -1,
        kind: builtins.str = "introselect",
        order: None = None,
    ) -> None: ...
    def permute(self, *dims: _Shape) -> TorchTensor: ...
    def pin_memory(
        self,
        *args: _ArrayLike,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def pinverse(input, rcond: builtins.float = 1e-15) -> TorchTensor: ...
    def plot(
        x,
        kind: builtins.str | None = None,
        *,
        ax: Any = None,
        most: builtins.int = 1000,
        root: builtins.int = 0,
        style: Mapping[builtins.str, Any] | None = None,
    ) -> Any: ...
    def polygamma(self, n: builtins.int) -> TorchTensor: ...
    def polygamma_(self, n: builtins.int) -> Self: ...
    def positive(input) -> TorchTensor: ...
    def pow(
        input,
        exponent: _ArrayLike,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def pow_(
        self,
        exponent: _ArrayLike,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def prelu(x, weight: _ArrayLike) -> TorchTensor: ...
    def prod(
        input,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: npt.DTypeLike | None = None,
    ) -> TorchTensor: ...
    def put(
        input, index: _ArrayLike, source: _ArrayLike, accumulate: builtins.bool = False
    ) -> TorchTensor: ...
    def put_(
        self, index: _ArrayLike, source: _ArrayLike, accumulate: builtins.bool = False
    ) -> Self: ...
    def qr(input, some: builtins.bool = True) -> _QRResult[TorchTensor]: ...
    def quantile(
        input,
        q: _ArrayLike,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: builtins.str = "linear",
    ) -> TorchTensor: ...
    def rad2deg(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def rad2deg_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def random_(
        self,
        from_: builtins.int | None = None,
        to: builtins.int | None = None,
        *,
        generator: Generator | None = None,
        **named: builtins.int,
    ) -> Self: ...
    def ravel(a, order: builtins.str = "C") -> TorchTensor: ...
    def reciprocal(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def reciprocal_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def register_hook(self, hook: Callable[[Any], Any]) -> RemovableHandle: ...
    def register_post_accumulate_grad_hook(
        self, hook: Callable[[Any], Any]
    ) -> RemovableHandle: ...
    def relu(x) -> TorchTensor: ...
    def relu_(self) -> Self: ...
    def remainder(
        x1,
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
    ) -> TorchTensor: ...
    def remainder_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def renorm(
        input, p: builtins.float, dim: builtins.int, maxnorm: builtins.float
    ) -> TorchTensor: ...
    def renorm_(
        self, p: builtins.float, dim: builtins.int, maxnorm: builtins.float
    ) -> Self: ...
    def repeat(self, *repeats: _Shape) -> TorchTensor: ...
    def repeat_interleave(
        input,
        repeats: _ArrayLike | None = None,
        dim: builtins.int | None = None,
        *,
        output_size: builtins.int | None = None,
    ) -> TorchTensor: ...
    def reshape(
        a,
        /,
        *shape: _Shape,
        order: builtins.str = "C",
        copy: builtins.bool | None = None,
    ) -> TorchTensor: ...
    def reshape_as(a, other: _ArrayLike) -> TorchTensor: ...
    def resize(self, *sizes: _Shape) -> TorchTensor: ...
    def resize_(
        self, *sizes: _Shape, memory_format: builtins.object | None = None
    ) -> Self: ...
    def resize_as(self, x: _ArrayLike) -> TorchTensor: ...
    def resize_as_(
        self, the_template: Any, memory_format: builtins.object | None = None
    ) -> Self: ...
    def resolve_conj(
        self,
        *args: _ArrayLike,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def resolve_neg(
        self,
        *args: _ArrayLike,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def retain_grad(self) -> None: ...
    def roll(input, shifts: _Shape, dims: _Axis | None = None) -> TorchTensor: ...
    def rot90(
        input, k: builtins.int = 1, dims: Sequence[builtins.int] = ...
    ) -> TorchTensor: ...
    def round(a, decimals: builtins.int = 0, out: _Out = None) -> TorchTensor: ...
    def round_(self, decimals: builtins.int = 0) -> Self: ...
    def rsqrt(
        input,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def rsqrt_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def scatter(
        input,
        dim: builtins.int,
        index: _ArrayLike,
        src: _ArrayLike | None = None,
        *,
        value: _ArrayLike | None = None,
        reduce: builtins.str | None = None,
    ) -> TorchTensor: ...
    def scatter_(
        self,
        dim: builtins.int,
        index: _ArrayLike,
        src: _ArrayLike | None = None,
        *,
        value: _ArrayLike | None = None,
        reduce: builtins.str | None = None,
    ) -> Self: ...
    def scatter_add(
        input, dim: builtins.int, index: _ArrayLike, src: _ArrayLike
    ) -> TorchTensor: ...
    def scatter_add_(
        self, dim: builtins.int, index: _ArrayLike, src: _ArrayLike
    ) -> Self: ...
    def scatter_reduce(
        input,
        dim: builtins.int,
        index: _ArrayLike,
        src: _ArrayLike,
        reduce: builtins.str,
        *,
        include_self: builtins.bool = True,
    ) -> TorchTensor: ...
    def scatter_reduce_(
        self,
        dim: builtins.int,
        index: _ArrayLike,
        src: _ArrayLike,
        reduce: builtins.str,
        *,
        include_self: builtins.bool = True,
    ) -> Self: ...
    def searchsorted(
        x, v: _ArrayLike, side: builtins.str = "left", sorter: _ArrayLike | None = None
    ) -> TorchTensor: ...
    def select(input, dim: builtins.int, index: builtins.int) -> TorchTensor: ...
    def select_scatter(
        input, src: _ArrayLike, dim: builtins.int, index: builtins.int
    ) -> TorchTensor: ...
    def set_(self, source: _Shape | None = None, *ignored: _ArrayLike) -> Self: ...
    def sgn(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def sgn_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def share_memory_(
        self,
        *args: _ArrayLike,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def short(self, memory_format: builtins.object | None = None) -> TorchTensor: ...
    def sigmoid(
        input,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def sigmoid_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def sign(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def sign_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def signbit(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def sin(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def sin_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def sinc(
        x,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def sinc_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def sinh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def sinh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def slice_scatter(
        input,
        src: _ArrayLike,
        dim: builtins.int = 0,
        start: builtins.int | None = None,
        end: builtins.int | None = None,
        step: builtins.int = 1,
    ) -> TorchTensor: ...
    def slogdet(a) -> _SlogdetResult[TorchTensor]: ...
    def softmax(
        input, dim: builtins.int | None = None, dtype: npt.DTypeLike | None = None
    ) -> TorchTensor: ...
    def sort(
        input,
        dim: builtins.int = -1,
        descending: builtins.bool = False,
        stable: builtins.bool = False,
    ) -> _Picked[TorchTensor]: ...
    def split(
        self, split_size: Any, dim: builtins.int = 0
    ) -> tuple[TorchTensor, ...]: ...
    def split_with_sizes(
        self, split_size: Any, dim: builtins.int = 0
    ) -> TorchTensor: ...
    def sqrt(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def sqrt_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def square(input) -> TorchTensor: ...
    def square_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def squeeze(input, dim: _Axis | None = None) -> TorchTensor: ...
    def squeeze_(self, dim: _Axis | None = None) -> Self: ...
    def std(
        input,
        dim: _Axis | None = None,
        unbiased: builtins.bool = True,
        keepdim: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
    ) -> TorchTensor: ...
    def stft(
        input,
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
    ) -> TorchTensor: ...
    def storage_offset(self) -> builtins.int: ...
    def sub(
        input,
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
    ) -> TorchTensor: ...
    def sub_(
        self,
        other: _ArrayLike,
        *,
        alpha: builtins.complex = 1,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def subtract(
        input,
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
    ) -> TorchTensor: ...
    def subtract_(
        self,
        other: _ArrayLike,
        *,
        alpha: builtins.complex = 1,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def sum(
        input,
        dim: _Axis | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: npt.DTypeLike | None = None,
    ) -> TorchTensor: ...
    def sum_to_size(self, *size: _Shape) -> TorchTensor: ...
    def svd(
        input, some: builtins.bool = True, compute_uv: builtins.bool = True
    ) -> tuple[TorchTensor, TorchTensor, TorchTensor]: ...
    def swapaxes(input, dim0: builtins.int, dim1: builtins.int) -> TorchTensor: ...
    def swapaxes_(self, dim0: builtins.int, dim1: builtins.int) -> Self: ...
    def swapdims(input, dim0: builtins.int, dim1: builtins.int) -> TorchTensor: ...
    def swapdims_(self, dim0: builtins.int, dim1: builtins.int) -> Self: ...
    def t(self) -> TorchTensor: ...
    def t_(self) -> Self: ...
    def take(input, index: _ArrayLike) -> TorchTensor: ...
    def take_along_dim(
        input, indices: _ArrayLike, dim: builtins.int | None = None
    ) -> TorchTensor: ...
    def tan(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def tan_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def tanh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def tanh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def tensor_split(
        input, indices_or_sections: _ArrayLike, dim: builtins.int = 0
    ) -> TorchTensor: ...
    def tile(self, dims: _Shape, *more: _ArrayLike) -> TorchTensor: ...
    def to(
        self,
        *args: Any,
        dtype: npt.DTypeLike | None = None,
        device: Any = None,
        non_blocking: builtins.bool = False,
        copy: builtins.bool = False,
        memory_format: builtins.object = None,
    ) -> TorchTensor: ...
    def to_dense(
        self,
        *args: _ArrayLike,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def to_device(
        self, device: builtins.str, /, *, stream: builtins.int | None = None
    ) -> TorchTensor: ...
    def to_sparse(
        self,
        *args: _ArrayLike,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def to_sparse_coo(
        self,
        *args: _ArrayLike,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def to_sparse_csr(
        self,
        *args: _ArrayLike,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchTensor: ...
    def tobytes(x, order: builtins.str = "C") -> bytes: ...
    def topk(
        input,
        k: builtins.int,
        dim: builtins.int = -1,
        largest: builtins.bool = True,
        sorted: builtins.bool = True,
    ) -> _Picked[TorchTensor]: ...
    def trace(input) -> TorchTensor: ...
    def transpose(input, dim0: builtins.int, dim1: builtins.int) -> TorchTensor: ...
    def transpose_(self, dim0: builtins.int, dim1: builtins.int) -> Self: ...
    def triangular_solve(
        b,
        A: Any,
        upper: builtins.bool = True,
        transpose: builtins.bool = False,
        unitriangular: builtins.bool = False,
    ) -> _Triangular[TorchTensor]: ...
    def tril(input, diagonal: builtins.int = 0) -> TorchTensor: ...
    def tril_(self, diagonal: builtins.int = 0) -> Self: ...
    def triu(input, diagonal: builtins.int = 0) -> TorchTensor: ...
    def triu_(self, diagonal: builtins.int = 0) -> Self: ...
    def true_divide(
        input,
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
    ) -> TorchTensor: ...
    def true_divide_(
        self,
        other: _ArrayLike,
        *,
        rounding_mode: builtins.str | None = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def trunc(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchTensor: ...
    def trunc_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def type(self) -> builtins.str: ...
    @overload
    def type(
        self, dtype: npt.DTypeLike, non_blocking: builtins.bool = False
    ) -> TorchTensor: ...
    def type_as(self, other: _ArrayLike) -> TorchTensor: ...
    @overload
    def unbind(x, axis: builtins.int = 0) -> tuple[TorchTensor, ...]: ...
    @overload
    def unbind(x, *, dim: builtins.int) -> tuple[TorchTensor, ...]: ...
    @overload
    def unflatten(a, axis: builtins.int, sizes: _Shape) -> TorchTensor: ...
    @overload
    def unflatten(a, *, dim: builtins.int, sizes: _Shape) -> TorchTensor: ...
    def unfold(
        self, dimension: builtins.int, size: builtins.int, step: builtins.int
    ) -> TorchTensor: ...
    def uniform_(
        self,
        from_: builtins.float = 0.0,
        to: builtins.float = 1.0,
        *,
        generator: Generator | None = None,
        **named: builtins.float,
    ) -> Self: ...
    @overload
    def unique(
        input,
        sorted: builtins.bool = True,
        return_inverse: Literal[False] = False,
        return_counts: Literal[False] = False,
        dim: builtins.int | None = None,
    ) -> TorchTensor: ...
    @overload
    def unique(
        input,
        sorted: builtins.bool = True,
        *,
        return_inverse: Literal[True],
        return_counts: Literal[False] = False,
        dim: builtins.int | None = None,
    ) -> tuple[TorchTensor, TorchTensor]: ...
    @overload
    def unique(
        input,
        sorted: builtins.bool = True,
        return_inverse: Literal[False] = False,
        *,
        return_counts: Literal[True],
        dim: builtins.int | None = None,
    ) -> tuple[TorchTensor, TorchTensor]: ...
    @overload
    def unique(
        input,
        sorted: builtins.bool = True,
        *,
        return_inverse: Literal[True],
        return_counts: Literal[True],
        dim: builtins.int | None = None,
    ) -> tuple[TorchTensor, TorchTensor, TorchTensor]: ...
    @overload
    def unique(
        input,
        sorted: builtins.bool = True,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> Any: ...
    def unique_consecutive(
        input,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> TorchTensor: ...
    @overload
    def unsqueeze(a, axis: _Axis) -> TorchTensor: ...
    @overload
    def unsqueeze(a, *, dim: _Axis) -> TorchTensor: ...
    @overload
    def unsqueeze_(self, axis: _Axis) -> Self: ...
    @overload
    def unsqueeze_(self, *, dim: _Axis) -> Self: ...
    def untyped_storage(self) -> UntypedStorage: ...
    def var(
        input,
        dim: _Axis | None = None,
        unbiased: builtins.bool = True,
        keepdim: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
    ) -> TorchTensor: ...
    def vdot(a, b: _ArrayLike, /) -> TorchTensor: ...
    @overload
    def vecdot(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        axis: builtins.int = -1,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> TorchTensor: ...
    @overload
    def vecdot(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dim: builtins.int,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> TorchTensor: ...
    def view(self, *shape: _Shape | npt.DTypeLike) -> TorchTensor: ...
    def view_as(self, other: _ArrayLike) -> TorchTensor: ...
    def vsplit(ary, indices_or_sections: _ArrayLike) -> list[TorchTensor]: ...
    def where(self, condition: _ArrayLike, other: _ArrayLike) -> TorchTensor: ...
    def xlogy(input, other: _ArrayLike) -> TorchTensor: ...
    def xlogy_(self, other: _ArrayLike) -> Self: ...
    def zero_(self) -> Self: ...
    # end of operators

class TorchDTensor(TorchTensor, DTensor):
    grad: TorchDTensor | None
    data: TorchDTensor
    @property
    def layout(self) -> Layout: ...
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
    ) -> TorchDTensor: ...
    def to_local(
        self, *, grad_placements: Sequence[Placement] | None = None
    ) -> TorchTensor: ...
    @overload
    def full_tensor(
        self, *, grad_placements: Sequence[Placement] | None = None, root: None = None
    ) -> TorchTensor: ...
    @overload
    def full_tensor(
        self, *, grad_placements: Sequence[Placement] | None = None, root: SupportsIndex
    ) -> TorchTensor | None: ...
    def redistribute(
        self,
        device_mesh: Mesh | None = None,
        placements: Sequence[Placement] | Layout | None = None,
        *,
        async_op: bool = False,
        forward_dtype: npt.DTypeLike | None = None,
        backward_dtype: npt.DTypeLike | None = None,
        max_bytes: SupportsIndex | None = None,
    ) -> TorchDTensor: ...
    def rebalance(self) -> TorchDTensor: ...
    # operators: written by tests/stubs.py
    def __add__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __radd__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __iadd__(self, value: _ArrayLike, /) -> Self: ...
    def __sub__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __rsub__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __isub__(self, value: _ArrayLike, /) -> Self: ...
    def __mul__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __rmul__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __imul__(self, value: _ArrayLike, /) -> Self: ...
    def __matmul__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __rmatmul__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __imatmul__(self, value: _ArrayLike, /) -> Self: ...
    def __truediv__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __rtruediv__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __itruediv__(self, value: _ArrayLike, /) -> Self: ...
    def __floordiv__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __rfloordiv__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __ifloordiv__(self, value: _ArrayLike, /) -> Self: ...
    def __mod__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __rmod__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __imod__(self, value: _ArrayLike, /) -> Self: ...
    def __pow__(self, value: _ArrayLike, mod: None = None, /) -> TorchDTensor: ...
    def __rpow__(self, value: _ArrayLike, mod: None = None, /) -> TorchDTensor: ...
    def __ipow__(self, value: _ArrayLike, /) -> Self: ...  # type: ignore[misc]
    def __lshift__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __rlshift__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __ilshift__(self, value: _ArrayLike, /) -> Self: ...
    def __rshift__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __rrshift__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __irshift__(self, value: _ArrayLike, /) -> Self: ...
    def __and__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __rand__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __iand__(self, value: _ArrayLike, /) -> Self: ...
    def __or__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __ror__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __ior__(self, value: _ArrayLike, /) -> Self: ...
    def __xor__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __rxor__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __ixor__(self, value: _ArrayLike, /) -> Self: ...
    def __divmod__(self, value: _ArrayLike, /) -> tuple[TorchDTensor, TorchDTensor]: ...
    def __rdivmod__(
        self, value: _ArrayLike, /
    ) -> tuple[TorchDTensor, TorchDTensor]: ...
    def __lt__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __le__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __gt__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __ge__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __eq__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __ne__(self, value: _ArrayLike, /) -> TorchDTensor: ...
    def __neg__(self) -> TorchDTensor: ...
    def __pos__(self) -> TorchDTensor: ...
    def __abs__(self) -> TorchDTensor: ...
    def __invert__(self) -> TorchDTensor: ...
    def __hash__(self) -> builtins.int: ...
    def __getitem__(self, key: _Index, /) -> TorchDTensor: ...
    def __setitem__(self, key: _Index, value: _ArrayLike, /) -> None: ...
    def __delitem__(self, key: _Index, /) -> None: ...
    def __iter__(self) -> Iterator[TorchDTensor]: ...
    def __contains__(self, key: object, /) -> builtins.bool: ...
    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, /, *inputs: Any, **kwargs: Any
    ) -> Any: ...
    def __array_function__(
        self, func: Any, types: Any, args: Any, kwargs: Any, /
    ) -> Any: ...
    def __array_namespace__(
        self, /, *, api_version: str | None = None
    ) -> ModuleType: ...
    @property
    def T(self) -> TorchDTensor: ...
    @property
    def mT(self) -> TorchDTensor: ...
    real: TorchDTensor
    imag: TorchDTensor
    flat: Any
    def detach(self) -> TorchDTensor: ...
    def wait(self) -> TorchDTensor: ...
    def as_numpy(self) -> DTensor: ...
    def as_torch(self) -> TorchDTensor: ...
    def abs(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def abs_(self) -> Self: ...
    def absolute(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def absolute_(self) -> Self: ...
    def acos(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def acos_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def acosh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def acosh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def add(
        input,
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
    ) -> TorchDTensor: ...
    def add_(
        self,
        other: _ArrayLike,
        *,
        alpha: builtins.complex = 1,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def addbmm(
        input,
        batch1: _ArrayLike,
        batch2: _ArrayLike,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TorchDTensor: ...
    def addbmm_(
        self,
        batch1: _ArrayLike,
        batch2: _ArrayLike,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> Self: ...
    def addcdiv(
        input, tensor1: _ArrayLike, tensor2: _ArrayLike, *, value: builtins.float = 1
    ) -> TorchDTensor: ...
    def addcdiv_(
        self, tensor1: _ArrayLike, tensor2: _ArrayLike, *, value: builtins.float = 1
    ) -> Self: ...
    def addcmul(
        input, tensor1: _ArrayLike, tensor2: _ArrayLike, *, value: builtins.float = 1
    ) -> TorchDTensor: ...
    def addcmul_(
        self, tensor1: _ArrayLike, tensor2: _ArrayLike, *, value: builtins.float = 1
    ) -> Self: ...
    def addmm(
        input,
        mat1: _ArrayLike,
        mat2: _ArrayLike,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TorchDTensor: ...
    def addmm_(
        self,
        mat1: _ArrayLike,
        mat2: _ArrayLike,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> Self: ...
    def addmv(
        input,
        mat: Any,
        vec: Any,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TorchDTensor: ...
    def addmv_(
        self, mat: Any, vec: Any, *, beta: builtins.float = 1, alpha: builtins.float = 1
    ) -> Self: ...
    def addr(
        input,
        vec1: _ArrayLike,
        vec2: _ArrayLike,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TorchDTensor: ...
    def addr_(
        self,
        vec1: _ArrayLike,
        vec2: _ArrayLike,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> Self: ...
    def adjoint(input) -> TorchDTensor: ...
    def all(
        input, dim: _Axis | None = None, keepdim: builtins.bool = False
    ) -> TorchDTensor: ...
    def allclose(
        a,
        b: _ArrayLike,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> builtins.bool: ...
    def amax(
        input, dim: _Axis = ..., keepdim: builtins.bool = False
    ) -> TorchDTensor: ...
    def amin(
        input, dim: _Axis = ..., keepdim: builtins.bool = False
    ) -> TorchDTensor: ...
    def aminmax(
        input, *, dim: builtins.int | None = None, keepdim: builtins.bool = False
    ) -> _Extremes[TorchDTensor]: ...
    def angle(input) -> TorchDTensor: ...
    def any(
        input, dim: _Axis | None = None, keepdim: builtins.bool = False
    ) -> TorchDTensor: ...
    def apply_(self, callable: Callable[[Any], Any]) -> Self: ...
    def arccos(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def arccos_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arccosh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def arccosh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arcsin(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def arcsin_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arcsinh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def arcsinh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arctan(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def arctan2(
        x1,
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
    ) -> TorchDTensor: ...
    def arctan2_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arctan_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def arctanh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def arctanh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def argmax(
        input, dim: builtins.int | None = None, keepdim: builtins.bool = False
    ) -> TorchDTensor: ...
    def argmin(
        input, dim: builtins.int | None = None, keepdim: builtins.bool = False
    ) -> TorchDTensor: ...
    @overload
    def argpartition(
        a,
        kth: _Shape,
        axis: builtins.int | None = -1,
        kind: builtins.str = "introselect",
        order: None = None,
    ) -> TorchDTensor: ...
    @overload
    def argpartition(
        a,
        kth: _Shape,
        *,
        dim: builtins.int | None,
        kind: builtins.str = "introselect",
        order: None = None,
    ) -> TorchDTensor: ...
    def argsort(
        input,
        dim: builtins.int = -1,
        descending: builtins.bool = False,
        stable: builtins.bool = False,
    ) -> TorchDTensor: ...
    def argwhere(a) -> TorchDTensor: ...
    def as_strided(
        self, size: _Shape, stride: Any, storage_offset: builtins.int | None = None
    ) -> TorchDTensor: ...
    def as_strided_(
        self, size: _Shape, stride: Any, storage_offset: builtins.int | None = None
    ) -> Self: ...
    def as_strided_scatter(
        self,
        src: _ArrayLike,
        size: _Shape,
        stride: Any,
        storage_offset: builtins.int | None = None,
    ) -> TorchDTensor: ...
    def asin(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def asin_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def asinh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def asinh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def astype(
        x,
        dtype: npt.DTypeLike,
        order: builtins.str = "K",
        casting: builtins.str = "unsafe",
        subok: builtins.bool = True,
        copy: builtins.bool = True,
    ) -> TorchDTensor: ...
    def atan(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def atan2(
        x1,
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
    ) -> TorchDTensor: ...
    def atan2_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def atan_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def atanh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def atanh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def backward(
        self,
        gradient: Any = None,
        retain_graph: builtins.bool | None = None,
        create_graph: builtins.bool = False,
        inputs: Any = None,
    ) -> None: ...
    def baddbmm(
        input,
        batch1: _ArrayLike,
        batch2: _ArrayLike,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> TorchDTensor: ...
    def baddbmm_(
        self,
        batch1: _ArrayLike,
        batch2: _ArrayLike,
        *,
        beta: builtins.float = 1,
        alpha: builtins.float = 1,
    ) -> Self: ...
    def bernoulli(
        input, p: builtins.float | None = None, *, generator: Generator | None = None
    ) -> TorchDTensor: ...
    def bernoulli_(
        self, p: builtins.float = 0.5, *, generator: Generator | None = None
    ) -> Self: ...
    def bfloat16(
        self, memory_format: builtins.object | None = None
    ) -> TorchDTensor: ...
    def bincount(
        input, weights: _ArrayLike | None = None, minlength: builtins.int = 0
    ) -> TorchDTensor: ...
    def bitwise_and(
        x1,
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
    ) -> TorchDTensor: ...
    def bitwise_and_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_left_shift(
        x1,
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
    ) -> TorchDTensor: ...
    def bitwise_left_shift_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_not(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def bitwise_not_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_or(
        x1,
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
    ) -> TorchDTensor: ...
    def bitwise_or_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_right_shift(
        x1,
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
    ) -> TorchDTensor: ...
    def bitwise_right_shift_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bitwise_xor(
        x1,
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
    ) -> TorchDTensor: ...
    def bitwise_xor_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def bmm(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> TorchDTensor: ...
    def bool(self, memory_format: builtins.object | None = None) -> TorchDTensor: ...
    def broadcast_to(a, /, *sizes: _Shape) -> TorchDTensor: ...
    def byte(self, memory_format: builtins.object | None = None) -> TorchDTensor: ...
    def cauchy_(
        self,
        median: builtins.float = 0,
        sigma: builtins.float = 1,
        *,
        generator: Any = None,
    ) -> Self: ...
    def cdouble(self, memory_format: builtins.object | None = None) -> TorchDTensor: ...
    def ceil(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def ceil_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def cfloat(self, memory_format: builtins.object | None = None) -> TorchDTensor: ...
    def char(self, memory_format: builtins.object | None = None) -> TorchDTensor: ...
    def cholesky(input, upper: builtins.bool = False) -> TorchDTensor: ...
    def cholesky_inverse(L, upper: builtins.bool = False) -> TorchDTensor: ...
    def cholesky_solve(B, L: Any, upper: builtins.bool = False) -> TorchDTensor: ...
    def choose(
        a, choices: _ArrayLike, out: _Out = None, mode: builtins.str = "raise"
    ) -> TorchDTensor: ...
    @overload
    def chunk(
        x, chunks: builtins.int, axis: builtins.int = 0
    ) -> tuple[TorchDTensor, ...]: ...
    @overload
    def chunk(
        x, chunks: builtins.int, *, dim: builtins.int
    ) -> tuple[TorchDTensor, ...]: ...
    def clamp(
        input,
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
    ) -> TorchDTensor: ...
    def clamp_(
        self,
        min: _ArrayLike | None = None,
        max: _ArrayLike | None = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def clamp_max(input, max: _ArrayLike) -> TorchDTensor: ...
    def clamp_max_(self, max: _ArrayLike) -> Self: ...
    def clamp_min(input, min: _ArrayLike) -> TorchDTensor: ...
    def clamp_min_(self, min: _ArrayLike) -> Self: ...
    def clip(
        input,
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
    ) -> TorchDTensor: ...
    def clip_(
        self,
        min: _ArrayLike | None = None,
        max: _ArrayLike | None = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def clone(
        input, *, memory_format: builtins.object | None = None
    ) -> TorchDTensor: ...
    def compress(
        x, condition: _ArrayLike, axis: builtins.int | None = None, out: _Out = None
    ) -> TorchDTensor: ...
    def conj(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def conj_physical(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def conj_physical_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def conjugate(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def const_data_ptr(self) -> builtins.int: ...
    def contiguous(
        x, *, memory_format: builtins.object | None = None
    ) -> TorchDTensor: ...
    def copy(x, order: builtins.str = "C") -> TorchDTensor: ...
    def copy_(self, src: _ArrayLike, non_blocking: builtins.bool = False) -> Self: ...
    def copysign(
        x1,
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
    ) -> TorchDTensor: ...
    def copysign_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def corrcoef(input) -> TorchDTensor: ...
    def cos(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def cos_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def cosh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def cosh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def count_nonzero(
        input, dim: _Axis | None = None, keepdim: builtins.bool = False
    ) -> TorchDTensor: ...
    def cov(
        input,
        *,
        correction: builtins.int = 1,
        fweights: _ArrayLike | None = None,
        aweights: _ArrayLike | None = None,
    ) -> TorchDTensor: ...
    def cpu(
        self,
        *args: _ArrayLike,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def cross(
        input, other: _ArrayLike, dim: builtins.int | None = None
    ) -> TorchDTensor: ...
    def cuda(
        self, device: builtins.str | None = None, non_blocking: builtins.bool = False
    ) -> TorchDTensor: ...
    def cummax(input, dim: builtins.int) -> _Picked[TorchDTensor]: ...
    def cummin(input, dim: builtins.int) -> _Picked[TorchDTensor]: ...
    def cumprod(
        input, dim: builtins.int, *, dtype: npt.DTypeLike | None = None
    ) -> TorchDTensor: ...
    def cumprod_(
        self, dim: builtins.int, *, dtype: npt.DTypeLike | None = None
    ) -> Self: ...
    def cumsum(
        input, dim: builtins.int, *, dtype: npt.DTypeLike | None = None
    ) -> TorchDTensor: ...
    def cumsum_(
        self, dim: builtins.int, *, dtype: npt.DTypeLike | None = None
    ) -> Self: ...
    def data_ptr(self) -> builtins.int: ...
    def deg2rad(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def deg2rad_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def det(a) -> TorchDTensor: ...
    def detach_(self) -> Self: ...
    def diag(input, diagonal: builtins.int = 0) -> TorchDTensor: ...
    def diag_embed(
        input,
        offset: builtins.int = 0,
        dim1: builtins.int = -2,
        dim2: builtins.int = -1,
    ) -> TorchDTensor: ...
    def diagflat(input, offset: builtins.int = 0) -> TorchDTensor: ...
    def diagonal(
        input, offset: builtins.int = 0, dim1: builtins.int = 0, dim2: builtins.int = 1
    ) -> TorchDTensor: ...
    def diagonal_scatter(
        input,
        src: _ArrayLike,
        offset: builtins.int = 0,
        dim1: builtins.int = 0,
        dim2: builtins.int = 1,
    ) -> TorchDTensor: ...
    def diff(
        input,
        n: builtins.int = 1,
        dim: builtins.int = -1,
        prepend: _ArrayLike | None = None,
        append: _ArrayLike | None = None,
    ) -> TorchDTensor: ...
    def digamma(input) -> TorchDTensor: ...
    def digamma_(self) -> Self: ...
    def dist(input, other: _ArrayLike, p: builtins.float = 2) -> TorchDTensor: ...
    def div(
        input,
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
    ) -> TorchDTensor: ...
    def div_(
        self,
        other: _ArrayLike,
        *,
        rounding_mode: builtins.str | None = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def divide(
        input,
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
    ) -> TorchDTensor: ...
    def divide_(
        self,
        other: _ArrayLike,
        *,
        rounding_mode: builtins.str | None = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def dot(a, b: _ArrayLike, out: _Out = None) -> TorchDTensor: ...
    def double(self, memory_format: builtins.object | None = None) -> TorchDTensor: ...
    def dsplit(ary, indices_or_sections: _ArrayLike) -> list[TorchDTensor]: ...
    def eq(
        x1,
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
    ) -> TorchDTensor: ...
    def eq_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def equal(input, other: _ArrayLike) -> builtins.bool: ...
    def erf(
        input,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def erf_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def erfc(
        input,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def erfc_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def erfinv(input) -> TorchDTensor: ...
    def erfinv_(self) -> Self: ...
    def exp(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def exp2(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def exp2_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def exp_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def expand(a, /, *sizes: _Shape) -> TorchDTensor: ...
    def expand_as(a, other: _ArrayLike) -> TorchDTensor: ...
    def expm1(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def expm1_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def exponential_(
        self, lambd: builtins.float = 1.0, *, generator: Generator | None = None
    ) -> Self: ...
    def fill(x, value: _ArrayLike) -> None: ...
    def fill_(self, value: _ArrayLike) -> Self: ...
    def fill_diagonal_(
        self, fill_value: _ArrayLike, wrap: builtins.bool = False
    ) -> Self: ...
    def fix(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def fix_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def flatten(
        input, start_dim: builtins.int = 0, end_dim: builtins.int = -1
    ) -> TorchDTensor: ...
    def flip(
        self,
        *dims: _Shape,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def fliplr(input) -> TorchDTensor: ...
    def flipud(input) -> TorchDTensor: ...
    def float(self, memory_format: builtins.object | None = None) -> TorchDTensor: ...
    def float_power(input, exponent: _ArrayLike) -> TorchDTensor: ...
    def float_power_(self, exponent: _ArrayLike) -> Self: ...
    def floor(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def floor_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def floor_divide(
        x1,
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
    ) -> TorchDTensor: ...
    def floor_divide_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def fmax(
        x1,
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
    ) -> TorchDTensor: ...
    def fmin(
        x1,
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
    ) -> TorchDTensor: ...
    def fmod(
        x1,
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
    ) -> TorchDTensor: ...
    def fmod_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def frac(input) -> TorchDTensor: ...
    def frac_(self) -> Self: ...
    def frexp(
        x,
        /,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> tuple[TorchDTensor, TorchDTensor]: ...
    def gather(
        input,
        dim: builtins.int,
        index: _ArrayLike,
        *,
        sparse_grad: builtins.bool = False,
    ) -> TorchDTensor: ...
    def gcd(
        x1,
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
    ) -> TorchDTensor: ...
    def gcd_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def ge(
        x1,
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
    ) -> TorchDTensor: ...
    def ge_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def geometric_(self, p: builtins.float, *, generator: Any = None) -> Self: ...
    def geqrf(input) -> TorchDTensor: ...
    def ger(input, vec2: _ArrayLike) -> TorchDTensor: ...
    def get_device(self) -> builtins.int: ...
    def greater(
        x1,
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
    ) -> TorchDTensor: ...
    def greater_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def greater_equal(
        x1,
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
    ) -> TorchDTensor: ...
    def greater_equal_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def gt(
        x1,
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
    ) -> TorchDTensor: ...
    def gt_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def half(self, memory_format: builtins.object | None = None) -> TorchDTensor: ...
    def hardshrink(x, lambd: builtins.float = 0.5) -> TorchDTensor: ...
    def heaviside(
        input,
        values: _ArrayLike,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def heaviside_(
        self,
        values: _ArrayLike,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def histc(
        input,
        bins: builtins.int = 100,
        min: builtins.float = 0,
        max: builtins.float = 0,
    ) -> TorchDTensor: ...
    def histogram(
        input,
        bins: _ArrayLike | builtins.str = 100,
        *,
        range: _ArrayLike | None = None,
        weight: _ArrayLike | None = None,
        density: builtins.bool = False,
    ) -> tuple[TorchDTensor, TorchDTensor]: ...
    def hsplit(ary, indices_or_sections: _ArrayLike) -> list[TorchDTensor]: ...
    def hypot(
        x1,
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
    ) -> TorchDTensor: ...
    def hypot_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def i0(input) -> TorchDTensor: ...
    def i0_(self) -> Self: ...
    def igamma(input, other: _ArrayLike) -> TorchDTensor: ...
    def igamma_(self, other: _ArrayLike) -> Self: ...
    def igammac(input, other: _ArrayLike) -> TorchDTensor: ...
    def igammac_(self, other: _ArrayLike) -> Self: ...
    def index_add(
        input,
        dim: builtins.int,
        index: _ArrayLike,
        source: _ArrayLike,
        *,
        alpha: builtins.complex = 1,
    ) -> TorchDTensor: ...
    def index_add_(
        self,
        dim: builtins.int,
        index: _ArrayLike,
        source: _ArrayLike,
        *,
        alpha: builtins.complex = 1,
    ) -> Self: ...
    def index_copy(
        input, dim: builtins.int, index: _ArrayLike, source: _ArrayLike
    ) -> TorchDTensor: ...
    def index_copy_(
        self, dim: builtins.int, index: _ArrayLike, source: _ArrayLike
    ) -> Self: ...
    def index_fill(
        input, dim: builtins.int, index: _ArrayLike, value: _ArrayLike
    ) -> TorchDTensor: ...
    def index_fill_(
        self, dim: builtins.int, index: _ArrayLike, value: _ArrayLike
    ) -> Self: ...
    def index_put(
        input,
        indices: _ArrayLike,
        values: _ArrayLike,
        accumulate: builtins.bool = False,
    ) -> TorchDTensor: ...
    def index_put_(
        self, indices: _ArrayLike, values: _ArrayLike, accumulate: builtins.bool = False
    ) -> Self: ...
    def index_reduce(
        input,
        dim: builtins.int,
        index: _ArrayLike,
        source: _Shape,
        reduce: builtins.str,
        *,
        include_self: builtins.bool = True,
    ) -> TorchDTensor: ...
    def index_reduce_(
        self,
        dim: builtins.int,
        index: _ArrayLike,
        source: _Shape,
        reduce: builtins.str,
        *,
        include_self: builtins.bool = True,
    ) -> Self: ...
    def index_select(self, dim: builtins.int, index: _ArrayLike) -> TorchDTensor: ...
    def inner(a, b: _ArrayLike, /) -> TorchDTensor: ...
    def int(self, memory_format: builtins.object | None = None) -> TorchDTensor: ...
    def inverse(a) -> TorchDTensor: ...
    def is_complex(self) -> builtins.bool: ...
    def is_conj(self) -> builtins.bool: ...
    def is_contiguous(self, memory_format: builtins.object = ...) -> builtins.bool: ...
    def is_distributed(self) -> builtins.bool: ...
    def is_floating_point(self) -> builtins.bool: ...
    def is_inference(self) -> builtins.bool: ...
    def is_neg(self) -> builtins.bool: ...
    def is_nonzero(self) -> builtins.bool: ...
    def is_same_size(self, other: _ArrayLike) -> builtins.bool: ...
    def is_set_to(self, tensor: _ArrayLike) -> builtins.bool: ...
    def is_signed(self) -> builtins.bool: ...
    def isclose(
        a,
        b: _ArrayLike,
        rtol: builtins.float = 1e-05,
        atol: builtins.float = 1e-08,
        equal_nan: builtins.bool = False,
    ) -> TorchDTensor: ...
    def isfinite(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def isin(
        element,
        test_elements: _ArrayLike,
        assume_unique: builtins.bool = False,
        invert: builtins.bool = False,
        *,
        kind: builtins.str | None = None,
    ) -> TorchDTensor: ...
    def isinf(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def isnan(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def isneginf(
        x,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def isposinf(
        x,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def isreal(
        x,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def istft(
        input,
        n_fft: builtins.int,
        hop_length: builtins.int | None = None,
        win_length: builtins.int | None = None,
        window: Any = None,
        center: builtins.bool = True,
        normalized: builtins.bool = False,
        onesided: builtins.bool | None = None,
        length: builtins.int | None = None,
        return_complex: builtins.bool = False,
    ) -> TorchDTensor: ...
    def item(self) -> Any: ...
    def kron(a, b: _ArrayLike) -> TorchDTensor: ...
    def kthvalue(
        input, k: builtins.int, dim: builtins.int = -1, keepdim: builtins.bool = False
    ) -> _Picked[TorchDTensor]: ...
    def lcm(
        x1,
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
    ) -> TorchDTensor: ...
    def lcm_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def ldexp(input, other: _ArrayLike) -> TorchDTensor: ...
    def ldexp_(self, other: _ArrayLike) -> Self: ...
    def le(
        x1,
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
    ) -> TorchDTensor: ...
    def le_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def lerp(input, end: _ArrayLike, weight: _ArrayLike) -> TorchDTensor: ...
    def lerp_(self, end: _ArrayLike, weight: _ArrayLike) -> Self: ...
    def less(
        x1,
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
    ) -> TorchDTensor: ...
    def less_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def less_equal(
        x1,
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
    ) -> TorchDTensor: ...
    def less_equal_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def lgamma(input) -> TorchDTensor: ...
    def lgamma_(self) -> Self: ...
    def log(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def log10(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def log10_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def log1p(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def log1p_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def log2(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def log2_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def log_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def log_normal_(
        self,
        mean: builtins.float = 1,
        std: builtins.float = 2,
        *,
        generator: Any = None,
    ) -> Self: ...
    def log_softmax(
        input, dim: builtins.int | None = None, dtype: npt.DTypeLike | None = None
    ) -> TorchDTensor: ...
    def logaddexp(
        input,
        other: _ArrayLike,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def logaddexp2(
        x1,
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
    ) -> TorchDTensor: ...
    def logcumsumexp(input, dim: builtins.int) -> TorchDTensor: ...
    def logdet(input) -> TorchDTensor: ...
    def logical_and(
        x1,
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
    ) -> TorchDTensor: ...
    def logical_and_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def logical_not(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def logical_not_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def logical_or(
        x1,
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
    ) -> TorchDTensor: ...
    def logical_or_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def logical_xor(
        x1,
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
    ) -> TorchDTensor: ...
    def logical_xor_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def logit(input, eps: builtins.float | None = None) -> TorchDTensor: ...
    def logit_(self, eps: builtins.float | None = None) -> Self: ...
    def logsumexp(input, dim: Any, keepdim: builtins.bool = False) -> TorchDTensor: ...
    def long(self, memory_format: builtins.object | None = None) -> TorchDTensor: ...
    def lt(
        x1,
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
    ) -> TorchDTensor: ...
    def lt_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def lu(
        A,
        pivot: builtins.bool = True,
        get_infos: builtins.bool = False,
        out: _Out = None,
    ) -> tuple[TorchDTensor, ...]: ...
    def lu_solve(b, LU_data: Any, LU_pivots: Any) -> TorchDTensor: ...
    def map2_(
        self, x: _ArrayLike, y: _ArrayLike, callable: Callable[[Any, Any, Any], Any]
    ) -> Self: ...
    def map_(self, other: _ArrayLike, callable: Callable[[Any, Any], Any]) -> Self: ...
    def masked_fill(input, mask: _ArrayLike, value: _ArrayLike) -> TorchDTensor: ...
    def masked_fill_(self, mask: _ArrayLike, value: _ArrayLike) -> Self: ...
    def masked_scatter(input, mask: _ArrayLike, source: _ArrayLike) -> TorchDTensor: ...
    def masked_scatter_(self, mask: _ArrayLike, source: _ArrayLike) -> Self: ...
    def masked_select(input, mask: _ArrayLike) -> TorchDTensor: ...
    def matmul(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> TorchDTensor: ...
    def matrix_exp(input) -> TorchDTensor: ...
    def matrix_power(a, n: builtins.int) -> TorchDTensor: ...
    @overload
    def max(self) -> TorchDTensor: ...
    @overload
    def max(
        self, dim: builtins.int, keepdim: builtins.bool = False
    ) -> _Picked[TorchDTensor]: ...
    @overload
    def max(self, other: _ArrayLike) -> TorchDTensor: ...
    def maximum(
        x1,
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
    ) -> TorchDTensor: ...
    def mean(
        input,
        dim: _Axis | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: npt.DTypeLike | None = None,
    ) -> TorchDTensor: ...
    @overload
    def median(self) -> TorchDTensor: ...
    @overload
    def median(
        self, dim: builtins.int, keepdim: builtins.bool = False
    ) -> _Picked[TorchDTensor]: ...
    @overload
    def min(self) -> TorchDTensor: ...
    @overload
    def min(
        self, dim: builtins.int, keepdim: builtins.bool = False
    ) -> _Picked[TorchDTensor]: ...
    @overload
    def min(self, other: _ArrayLike) -> TorchDTensor: ...
    def minimum(
        x1,
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
    ) -> TorchDTensor: ...
    def mm(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> TorchDTensor: ...
    def mode(
        input, dim: builtins.int = -1, keepdim: builtins.bool = False
    ) -> _Picked[TorchDTensor]: ...
    def moveaxis(a, source: _Shape, destination: _Shape) -> TorchDTensor: ...
    def movedim(a, source: _Shape, destination: _Shape) -> TorchDTensor: ...
    def msort(input) -> TorchDTensor: ...
    def mul(
        x1,
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
    ) -> TorchDTensor: ...
    def mul_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def multinomial(
        input,
        num_samples: builtins.int,
        replacement: builtins.bool = False,
        *,
        generator: Any = None,
    ) -> TorchDTensor: ...
    def multiply(
        x1,
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
    ) -> TorchDTensor: ...
    def multiply_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def mv(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> TorchDTensor: ...
    def mvlgamma(input, p: builtins.int) -> TorchDTensor: ...
    def mvlgamma_(self, p: builtins.int) -> Self: ...
    def nan_to_num(
        input,
        nan: builtins.float = 0.0,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
    ) -> TorchDTensor: ...
    def nan_to_num_(
        self,
        nan: builtins.float = 0.0,
        posinf: builtins.float | None = None,
        neginf: builtins.float | None = None,
    ) -> Self: ...
    def nanmean(
        input,
        dim: _Axis | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: npt.DTypeLike | None = None,
    ) -> TorchDTensor: ...
    @overload
    def nanmedian(self) -> TorchDTensor: ...
    @overload
    def nanmedian(
        self, dim: builtins.int, keepdim: builtins.bool = False
    ) -> _Picked[TorchDTensor]: ...
    def nanquantile(
        input,
        q: _ArrayLike,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: builtins.str = "linear",
    ) -> TorchDTensor: ...
    def nansum(
        input,
        dim: _Axis | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: npt.DTypeLike | None = None,
    ) -> TorchDTensor: ...
    def narrow(
        input, dim: builtins.int, start: builtins.int, length: builtins.int
    ) -> TorchDTensor: ...
    def ne(
        x1,
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
    ) -> TorchDTensor: ...
    def ne_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def neg(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def neg_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def negative(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def negative_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def new(self, *sizes: _Shape) -> TorchDTensor: ...
    def new_empty(
        self,
        *size: _Shape,
        requires_grad: builtins.bool = False,
        dtype: npt.DTypeLike | None = None,
        layout: Any = None,
        device: builtins.str | None = None,
        pin_memory: builtins.bool = False,
        memory_format: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def new_empty_strided(
        self,
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
    ) -> TorchDTensor: ...
    def new_full(
        self,
        *size: _Shape,
        requires_grad: builtins.bool = False,
        dtype: npt.DTypeLike | None = None,
        layout: Any = None,
        device: builtins.str | None = None,
        pin_memory: builtins.bool = False,
        memory_format: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def new_ones(
        self,
        *size: _Shape,
        requires_grad: builtins.bool = False,
        dtype: npt.DTypeLike | None = None,
        layout: Any = None,
        device: builtins.str | None = None,
        pin_memory: builtins.bool = False,
        memory_format: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def new_tensor(
        self,
        data: _ArrayLike,
        *,
        dtype: npt.DTypeLike | None = None,
        layout: builtins.object = None,
        device: Any = None,
        requires_grad: builtins.bool = False,
        pin_memory: builtins.bool = False,
        memory_format: builtins.object = None,
    ) -> TorchDTensor: ...
    def new_zeros(
        self,
        *size: _Shape,
        requires_grad: builtins.bool = False,
        dtype: npt.DTypeLike | None = None,
        layout: Any = None,
        device: builtins.str | None = None,
        pin_memory: builtins.bool = False,
        memory_format: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def nextafter(
        x1,
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
    ) -> TorchDTensor: ...
    def nextafter_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def nonzero(input, *, as_tuple: Literal[False] = False) -> TorchDTensor: ...
    @overload
    def nonzero(input, *, as_tuple: Literal[True]) -> tuple[TorchDTensor, ...]: ...
    def nonzero_static(
        input, *, size: builtins.int, fill_value: builtins.int = -1
    ) -> TorchDTensor: ...
    def norm(
        input,
        p: builtins.float | builtins.str = "fro",
        dim: _Axis | None = None,
        keepdim: builtins.bool = False,
        dtype: npt.DTypeLike | None = None,
    ) -> TorchDTensor: ...
    def normal_(
        self,
        mean: builtins.float = 0.0,
        std: builtins.float = 1.0,
        *,
        generator: Generator | None = None,
    ) -> DTensor: ...
    def not_equal(
        x1,
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
    ) -> TorchDTensor: ...
    def not_equal_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def orgqr(input, tau: Any) -> TorchDTensor: ...
    def ormqr(
        input,
        tau: Any,
        other: _ArrayLike,
        left: builtins.bool = True,
        transpose: builtins.bool = False,
    ) -> TorchDTensor: ...
    def outer(input, vec2: _ArrayLike) -> TorchDTensor: ...
    def partition(
        x,
        kth: Any,
        axis: builtins.int = -1,
        kind: builtins.str = "introselect",
        order: None = None,
    ) -> None: ...
    def permute(self, *dims: _Shape) -> TorchDTensor: ...
    def pin_memory(
        self,
        *args: _ArrayLike,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def pinverse(input, rcond: builtins.float = 1e-15) -> TorchDTensor: ...
    def plot(
        x,
        kind: builtins.str | None = None,
        *,
        ax: Any = None,
        most: builtins.int = 1000,
        root: builtins.int = 0,
        style: Mapping[builtins.str, Any] | None = None,
    ) -> Any: ...
    def polygamma(self, n: builtins.int) -> TorchDTensor: ...
    def polygamma_(self, n: builtins.int) -> Self: ...
    def positive(input) -> TorchDTensor: ...
    def pow(
        input,
        exponent: _ArrayLike,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def pow_(
        self,
        exponent: _ArrayLike,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def prelu(x, weight: _ArrayLike) -> TorchDTensor: ...
    def prod(
        input,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: npt.DTypeLike | None = None,
    ) -> TorchDTensor: ...
    def put(
        input, index: _ArrayLike, source: _ArrayLike, accumulate: builtins.bool = False
    ) -> TorchDTensor: ...
    def put_(
        self, index: _ArrayLike, source: _ArrayLike, accumulate: builtins.bool = False
    ) -> Self: ...
    def qr(input, some: builtins.bool = True) -> _QRResult[TorchDTensor]: ...
    def quantile(
        input,
        q: _ArrayLike,
        dim: builtins.int | None = None,
        keepdim: builtins.bool = False,
        *,
        interpolation: builtins.str = "linear",
    ) -> TorchDTensor: ...
    def rad2deg(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def rad2deg_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def random_(
        self,
        from_: builtins.int | None = None,
        to: builtins.int | None = None,
        *,
        generator: Generator | None = None,
        **named: builtins.int,
    ) -> Self: ...
    def ravel(a, order: builtins.str = "C") -> TorchDTensor: ...
    def reciprocal(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def reciprocal_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def register_hook(self, hook: Callable[[Any], Any]) -> RemovableHandle: ...
    def register_post_accumulate_grad_hook(
        self, hook: Callable[[Any], Any]
    ) -> RemovableHandle: ...
    def relu(x) -> TorchDTensor: ...
    def relu_(self) -> Self: ...
    def remainder(
        x1,
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
    ) -> TorchDTensor: ...
    def remainder_(
        self,
        x2: _ArrayLike,
        /,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def renorm(
        input, p: builtins.float, dim: builtins.int, maxnorm: builtins.float
    ) -> TorchDTensor: ...
    def renorm_(
        self, p: builtins.float, dim: builtins.int, maxnorm: builtins.float
    ) -> Self: ...
    def repeat(self, *repeats: _Shape) -> TorchDTensor: ...
    def repeat_interleave(
        input,
        repeats: _ArrayLike | None = None,
        dim: builtins.int | None = None,
        *,
        output_size: builtins.int | None = None,
    ) -> TorchDTensor: ...
    def reshape(
        a,
        /,
        *shape: _Shape,
        order: builtins.str = "C",
        copy: builtins.bool | None = None,
    ) -> TorchDTensor: ...
    def reshape_as(a, other: _ArrayLike) -> TorchDTensor: ...
    def resize(self, *sizes: _Shape) -> TorchDTensor: ...
    def resize_(
        self, *sizes: _Shape, memory_format: builtins.object | None = None
    ) -> Self: ...
    def resize_as(self, x: _ArrayLike) -> TorchDTensor: ...
    def resize_as_(
        self, the_template: Any, memory_format: builtins.object | None = None
    ) -> Self: ...
    def resolve_conj(
        self,
        *args: _ArrayLike,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def resolve_neg(
        self,
        *args: _ArrayLike,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def retain_grad(self) -> None: ...
    def roll(input, shifts: _Shape, dims: _Axis | None = None) -> TorchDTensor: ...
    def rot90(
        input, k: builtins.int = 1, dims: Sequence[builtins.int] = ...
    ) -> TorchDTensor: ...
    def round(a, decimals: builtins.int = 0, out: _Out = None) -> TorchDTensor: ...
    def round_(self, decimals: builtins.int = 0) -> Self: ...
    def rsqrt(
        input,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def rsqrt_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def scatter(
        input,
        dim: builtins.int,
        index: _ArrayLike,
        src: _ArrayLike | None = None,
        *,
        value: _ArrayLike | None = None,
        reduce: builtins.str | None = None,
    ) -> TorchDTensor: ...
    def scatter_(
        self,
        dim: builtins.int,
        index: _ArrayLike,
        src: _ArrayLike | None = None,
        *,
        value: _ArrayLike | None = None,
        reduce: builtins.str | None = None,
    ) -> Self: ...
    def scatter_add(
        input, dim: builtins.int, index: _ArrayLike, src: _ArrayLike
    ) -> TorchDTensor: ...
    def scatter_add_(
        self, dim: builtins.int, index: _ArrayLike, src: _ArrayLike
    ) -> Self: ...
    def scatter_reduce(
        input,
        dim: builtins.int,
        index: _ArrayLike,
        src: _ArrayLike,
        reduce: builtins.str,
        *,
        include_self: builtins.bool = True,
    ) -> TorchDTensor: ...
    def scatter_reduce_(
        self,
        dim: builtins.int,
        index: _ArrayLike,
        src: _ArrayLike,
        reduce: builtins.str,
        *,
        include_self: builtins.bool = True,
    ) -> Self: ...
    def searchsorted(
        x, v: _ArrayLike, side: builtins.str = "left", sorter: _ArrayLike | None = None
    ) -> TorchDTensor: ...
    def select(input, dim: builtins.int, index: builtins.int) -> TorchDTensor: ...
    def select_scatter(
        input, src: _ArrayLike, dim: builtins.int, index: builtins.int
    ) -> TorchDTensor: ...
    def set_(self, source: _Shape | None = None, *ignored: _ArrayLike) -> Self: ...
    def sgn(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def sgn_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def share_memory_(
        self,
        *args: _ArrayLike,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def short(self, memory_format: builtins.object | None = None) -> TorchDTensor: ...
    def sigmoid(
        input,
        *,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def sigmoid_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def sign(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def sign_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def signbit(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def sin(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def sin_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def sinc(
        x,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def sinc_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def sinh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def sinh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def slice_scatter(
        input,
        src: _ArrayLike,
        dim: builtins.int = 0,
        start: builtins.int | None = None,
        end: builtins.int | None = None,
        step: builtins.int = 1,
    ) -> TorchDTensor: ...
    def slogdet(a) -> _SlogdetResult[TorchDTensor]: ...
    def softmax(
        input, dim: builtins.int | None = None, dtype: npt.DTypeLike | None = None
    ) -> TorchDTensor: ...
    def sort(
        input,
        dim: builtins.int = -1,
        descending: builtins.bool = False,
        stable: builtins.bool = False,
    ) -> _Picked[TorchDTensor]: ...
    def split(
        self, split_size: Any, dim: builtins.int = 0
    ) -> tuple[TorchDTensor, ...]: ...
    def split_with_sizes(
        self, split_size: Any, dim: builtins.int = 0
    ) -> TorchDTensor: ...
    def sqrt(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def sqrt_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def square(input) -> TorchDTensor: ...
    def square_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def squeeze(input, dim: _Axis | None = None) -> TorchDTensor: ...
    def squeeze_(self, dim: _Axis | None = None) -> Self: ...
    def std(
        input,
        dim: _Axis | None = None,
        unbiased: builtins.bool = True,
        keepdim: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
    ) -> TorchDTensor: ...
    def stft(
        input,
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
    ) -> TorchDTensor: ...
    def storage_offset(self) -> builtins.int: ...
    def sub(
        input,
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
    ) -> TorchDTensor: ...
    def sub_(
        self,
        other: _ArrayLike,
        *,
        alpha: builtins.complex = 1,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def subtract(
        input,
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
    ) -> TorchDTensor: ...
    def subtract_(
        self,
        other: _ArrayLike,
        *,
        alpha: builtins.complex = 1,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def sum(
        input,
        dim: _Axis | None = None,
        keepdim: builtins.bool = False,
        *,
        dtype: npt.DTypeLike | None = None,
    ) -> TorchDTensor: ...
    def sum_to_size(self, *size: _Shape) -> TorchDTensor: ...
    def svd(
        input, some: builtins.bool = True, compute_uv: builtins.bool = True
    ) -> tuple[TorchDTensor, TorchDTensor, TorchDTensor]: ...
    def swapaxes(input, dim0: builtins.int, dim1: builtins.int) -> TorchDTensor: ...
    def swapaxes_(self, dim0: builtins.int, dim1: builtins.int) -> Self: ...
    def swapdims(input, dim0: builtins.int, dim1: builtins.int) -> TorchDTensor: ...
    def swapdims_(self, dim0: builtins.int, dim1: builtins.int) -> Self: ...
    def t(self) -> TorchDTensor: ...
    def t_(self) -> Self: ...
    def take(input, index: _ArrayLike) -> TorchDTensor: ...
    def take_along_dim(
        input, indices: _ArrayLike, dim: builtins.int | None = None
    ) -> TorchDTensor: ...
    def tan(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def tan_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def tanh(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def tanh_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    def tensor_split(
        input, indices_or_sections: _ArrayLike, dim: builtins.int = 0
    ) -> TorchDTensor: ...
    def tile(self, dims: _Shape, *more: _ArrayLike) -> TorchDTensor: ...
    def to(
        self,
        *args: Any,
        dtype: npt.DTypeLike | None = None,
        device: Any = None,
        non_blocking: builtins.bool = False,
        copy: builtins.bool = False,
        memory_format: builtins.object = None,
    ) -> TorchDTensor: ...
    def to_dense(
        self,
        *args: _ArrayLike,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def to_device(
        self, device: builtins.str, /, *, stream: builtins.int | None = None
    ) -> TorchDTensor: ...
    def to_sparse(
        self,
        *args: _ArrayLike,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def to_sparse_coo(
        self,
        *args: _ArrayLike,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def to_sparse_csr(
        self,
        *args: _ArrayLike,
        out: _Out = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> TorchDTensor: ...
    def tobytes(x, order: builtins.str = "C") -> bytes: ...
    def topk(
        input,
        k: builtins.int,
        dim: builtins.int = -1,
        largest: builtins.bool = True,
        sorted: builtins.bool = True,
    ) -> _Picked[TorchDTensor]: ...
    def trace(input) -> TorchDTensor: ...
    def transpose(input, dim0: builtins.int, dim1: builtins.int) -> TorchDTensor: ...
    def transpose_(self, dim0: builtins.int, dim1: builtins.int) -> Self: ...
    def triangular_solve(
        b,
        A: Any,
        upper: builtins.bool = True,
        transpose: builtins.bool = False,
        unitriangular: builtins.bool = False,
    ) -> _Triangular[TorchDTensor]: ...
    def tril(input, diagonal: builtins.int = 0) -> TorchDTensor: ...
    def tril_(self, diagonal: builtins.int = 0) -> Self: ...
    def triu(input, diagonal: builtins.int = 0) -> TorchDTensor: ...
    def triu_(self, diagonal: builtins.int = 0) -> Self: ...
    def true_divide(
        input,
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
    ) -> TorchDTensor: ...
    def true_divide_(
        self,
        other: _ArrayLike,
        *,
        rounding_mode: builtins.str | None = None,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object = None,
    ) -> Self: ...
    def trunc(
        x,
        /,
        out: _Out = None,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> TorchDTensor: ...
    def trunc_(
        self,
        *,
        where: _ArrayLike = True,
        casting: builtins.str = "same_kind",
        order: builtins.str = "K",
        dtype: npt.DTypeLike | None = None,
        subok: builtins.bool = True,
        signature: builtins.object | None = None,
    ) -> Self: ...
    @overload
    def type(self) -> builtins.str: ...
    @overload
    def type(
        self, dtype: npt.DTypeLike, non_blocking: builtins.bool = False
    ) -> TorchDTensor: ...
    def type_as(self, other: _ArrayLike) -> TorchDTensor: ...
    @overload
    def unbind(x, axis: builtins.int = 0) -> tuple[TorchDTensor, ...]: ...
    @overload
    def unbind(x, *, dim: builtins.int) -> tuple[TorchDTensor, ...]: ...
    @overload
    def unflatten(a, axis: builtins.int, sizes: _Shape) -> TorchDTensor: ...
    @overload
    def unflatten(a, *, dim: builtins.int, sizes: _Shape) -> TorchDTensor: ...
    def unfold(
        self, dimension: builtins.int, size: builtins.int, step: builtins.int
    ) -> TorchDTensor: ...
    def uniform_(
        self,
        from_: builtins.float = 0.0,
        to: builtins.float = 1.0,
        *,
        generator: Generator | None = None,
        **named: builtins.float,
    ) -> Self: ...
    @overload
    def unique(
        input,
        sorted: builtins.bool = True,
        return_inverse: Literal[False] = False,
        return_counts: Literal[False] = False,
        dim: builtins.int | None = None,
    ) -> TorchDTensor: ...
    @overload
    def unique(
        input,
        sorted: builtins.bool = True,
        *,
        return_inverse: Literal[True],
        return_counts: Literal[False] = False,
        dim: builtins.int | None = None,
    ) -> tuple[TorchDTensor, TorchDTensor]: ...
    @overload
    def unique(
        input,
        sorted: builtins.bool = True,
        return_inverse: Literal[False] = False,
        *,
        return_counts: Literal[True],
        dim: builtins.int | None = None,
    ) -> tuple[TorchDTensor, TorchDTensor]: ...
    @overload
    def unique(
        input,
        sorted: builtins.bool = True,
        *,
        return_inverse: Literal[True],
        return_counts: Literal[True],
        dim: builtins.int | None = None,
    ) -> tuple[TorchDTensor, TorchDTensor, TorchDTensor]: ...
    @overload
    def unique(
        input,
        sorted: builtins.bool = True,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> Any: ...
    def unique_consecutive(
        input,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> TorchDTensor: ...
    @overload
    def unsqueeze(a, axis: _Axis) -> TorchDTensor: ...
    @overload
    def unsqueeze(a, *, dim: _Axis) -> TorchDTensor: ...
    @overload
    def unsqueeze_(self, axis: _Axis) -> Self: ...
    @overload
    def unsqueeze_(self, *, dim: _Axis) -> Self: ...
    def untyped_storage(self) -> UntypedStorage: ...
    def var(
        input,
        dim: _Axis | None = None,
        unbiased: builtins.bool = True,
        keepdim: builtins.bool = False,
        *,
        correction: builtins.float | None = None,
    ) -> TorchDTensor: ...
    def vdot(a, b: _ArrayLike, /) -> TorchDTensor: ...
    @overload
    def vecdot(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        axis: builtins.int = -1,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> TorchDTensor: ...
    @overload
    def vecdot(
        x1,
        x2: _ArrayLike,
        /,
        out: _Out = None,
        *,
        dim: builtins.int,
        dtype: npt.DTypeLike | None = None,
        casting: builtins.str = "same_kind",
    ) -> TorchDTensor: ...
    def view(self, *shape: _Shape | npt.DTypeLike) -> TorchDTensor: ...
    def view_as(self, other: _ArrayLike) -> TorchDTensor: ...
    def vsplit(ary, indices_or_sections: _ArrayLike) -> list[TorchDTensor]: ...
    def where(self, condition: _ArrayLike, other: _ArrayLike) -> TorchDTensor: ...
    def xlogy(input, other: _ArrayLike) -> TorchDTensor: ...
    def xlogy_(self, other: _ArrayLike) -> Self: ...
    def zero_(self) -> Self: ...
    # end of operators

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
    limit: str
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
    made: Final[int]
    shared_memory: Final[bool]
    overlaps: bool
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
    def progress(self) -> None: ...
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
def _raise_in(thread: int, exception: type[BaseException], /) -> bool: ...
def _memory_info() -> dict[str, int]: ...
def _count_memory(on: bool, /) -> int: ...
def _set_memory_limit(bytes: int, /) -> None: ...
def set_num_threads(num: int, /) -> None: ...
def fused_counts() -> tuple[int, int, int]: ...
def get_num_threads() -> int: ...

MOST_THREADS: int

def _fault_at(kind: str, k: int, variant: bool = False, /) -> int: ...
def _forget() -> None: ...

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
    ones: Final[tuple[int, ...]]
    number: Final[type | None]
    value: Final[float | None]
    ndim: Final[int]
    size: Final[int]
    zero: Final[bool]

LOCAL_SHAPE: Part

@final
class Operator:
    operands: Final[int]
    view: bool
    bare: bool
    copies: bool
    divides: bool
    autocast: Callable[..., Any] | None
    otherwise: Final[Callable[..., Any] | None]
    base: Final[Operator | None]
    told: Final[tuple[float, ...] | None]
    __name__: str
    __qualname__: str
    __wrapped__: Final[Callable[..., Any]]
    def __new__(
        cls,
        function: Callable[..., Any],
        name: str,
        operands: int = 1,
        agrees: type[Exception] | None = None,
        otherwise: Callable[..., Any] | None = None,
        base: Operator | None = None,
        told: tuple[float, ...] = (),
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
    def register_hook(
        self,
        fn: Callable[
            [tuple[Any, ...], tuple[Any, ...]], tuple[Tensor | None, ...] | None
        ],
    ) -> RemovableHandle: ...
    def register_prehook(
        self, fn: Callable[[tuple[Any, ...]], tuple[Tensor | None, ...] | None]
    ) -> RemovableHandle: ...

@final
class Programs: ...

@final
class Saved:
    def unpack(self) -> Any: ...

def is_grad_enabled() -> bool: ...
def set_recording(wanted: object, /) -> bool: ...
def set_programs(wanted: object, /) -> bool: ...
def played_count() -> int: ...
def record_function(
    name: str,
    backward: Callable[..., Any],
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    written: tuple[Any, ...] = (),
    /,
) -> None: ...
def old_value(tensor: _T, /) -> _T: ...
def record_write(
    name: str,
    backward: Callable[..., Any],
    inputs: tuple[Any, ...],
    how: Any = None,
    /,
) -> None: ...
def check_write(name: str, target: Tensor, values: tuple[Any, ...], /) -> None: ...
def hooks_of(
    tensor: Tensor | Node, /
) -> list[tuple[int, str, Callable[[Any], Any]]]: ...
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
def let_float(tensor: Tensor, /) -> Tensor: ...
def operand_of(tensor: Tensor, /) -> Operand: ...
def forget_history(tensor: Tensor, /) -> Tensor: ...
def set_saved_hooks(
    pack: Callable[[Any], Any] | None, unpack: Callable[[Any], Any] | None, /
) -> tuple[Any, Any]: ...
def install_tape(functions: dict[str, Callable[..., Any]], /) -> None: ...
def set_torch_errors(
    function: Callable[
        [Exception, str, tuple[Any, ...], dict[str, Any]], Exception | None
    ],
    /,
) -> None: ...
def take_node(target: Tensor, made: Tensor, /) -> None: ...
def install_views(
    written: Callable[[Any, Any], bool], seen: Callable[[Any, Any], bool], /
) -> None: ...
def backward_depth() -> int: ...
def queue_callback(function: Callable[[], Any], /) -> None: ...
def run_backward(
    tensors: tuple[Tensor, ...],
    grads: tuple[Any, ...] | None,
    retain_graph: object,
    create_graph: object,
    inputs: tuple[Tensor, ...] | None,
    accumulate: object,
    allow_unused: object,
    /,
) -> Any: ...
def operator_cache_info() -> dict[str, int]: ...
def set_origin(
    tensor: Tensor, owner: Tensor | None = None, index: Any = None, /
) -> None: ...
def overwrite(tensor: Tensor, value: Any, name: str, /) -> bool: ...
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
def set_signature(function: Callable[[Operator], Signature], /) -> None: ...
def is_observed() -> bool: ...
def set_fused_bytes(least: int, /) -> int: ...
def set_fusing(wanted: object, /) -> bool: ...
def set_shortcuts(wanted: object, /) -> bool: ...
def shortcut_count() -> int: ...
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
def install_in(
    type: type[Tensor] | type[Layout] | type[Node],
    methods: dict[str, Callable[..., Any]],
    /,
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

def mean_of(x: Any, count: int, /, **options: Any) -> Any: ...
def spread_of(
    x: Any,
    axes: tuple[int, ...],
    dtype: npt.DTypeLike | None,
    count: int,
    divisor: float,
    keepdims: bool,
    root: bool,
    both: bool = False,
    /,
) -> Any: ...
def parts_of(x: Any, at: list[int], dim: int, /) -> tuple[Any, ...]: ...
def extreme_of(
    x: Any, dim: int, keepdims: bool, least: bool, type: type[tuple[Any, Any]], /
) -> Any: ...
def filled(size: tuple[int, ...], value: complex | None, /) -> Tensor | None: ...
def filled_like(tensor: Any, value: complex | None, /) -> Tensor | None: ...
def joined(arrays: Any, dim: int, stacked: bool, /) -> Any: ...
def copied(x: Any, /) -> Any: ...
def picked_along(x: Any, index: Any, dim: int, from_0: bool = False, /) -> Any: ...
def rows_picked(x: Any, index: Any, dim: int, /) -> Any: ...
def put_along(
    x: Any, index: Any, values: Any, dim: int, how: int, from_0: bool = False, /
) -> npt.NDArray[Any]: ...
def rows_added(
    x: Any, index: Any, values: Any, dim: int, from_0: bool = False, /
) -> npt.NDArray[Any]: ...
def ordered_of(
    x: Any, dim: int, count: int, largest: bool, type: type[tuple[Any, Any]], /
) -> Any: ...
@overload
def merged(
    values: npt.NDArray[Any], sizes: npt.NDArray[np.int64], places: None = None, /
) -> npt.NDArray[Any]: ...
@overload
def merged(
    values: npt.NDArray[Any],
    sizes: npt.NDArray[np.int64],
    places: npt.NDArray[np.int64],
    /,
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]: ...
def eliminate(lines: npt.NDArray[Any], /) -> npt.NDArray[np.int64]: ...
def divide_rows(lower: npt.NDArray[Any], rows: npt.NDArray[Any], /) -> None: ...
def product(
    a: Any, b: Any, bias: Any = None, wide: bool = False, /
) -> npt.NDArray[Any]: ...
def has_product() -> bool: ...
def element_of(
    x: Any,
    dim: int,
    place: int,
    keepdims: bool,
    nan: bool,
    type: type[tuple[Any, Any]],
    /,
) -> Any: ...
def padded(
    x: Any, widths: tuple[int, ...], mode: str, value: complex, /
) -> npt.NDArray[Any]: ...
def windows_of(x: Any, dim: int, size: int, step: int, /) -> npt.NDArray[Any]: ...
def columns_of(
    x: Any, dims: list[tuple[int, ...]], groups: int, /
) -> npt.NDArray[Any]: ...
def columns_added(columns: Any, dims: Any, count: int, /) -> npt.NDArray[Any]: ...
def flipped(x: Any, axes: tuple[int, ...], /) -> npt.NDArray[Any]: ...
def rolled(x: Any, shift: int, dim: int, /) -> npt.NDArray[Any]: ...
def triangle(
    x: Any, rows: Any, columns: Any, k: int, upper: bool, /
) -> npt.NDArray[Any]: ...
def places_of(tensor: Tensor, /) -> Tensor: ...
def places_apart(tensor: Tensor, /) -> tuple[Tensor, ...]: ...
def same_elements(a: Tensor, b: Tensor, /) -> bool: ...
def cast(x: Any, dtype: np.dtype[Any], /) -> npt.NDArray[Any]: ...
def in_float32(
    function: Callable[..., Any],
    dtypes: np.dtype[Any] | tuple[np.dtype[Any], ...],
    /,
) -> Wide: ...
def _set_kernel_level(level: int, /) -> int: ...
def counted(steps: tuple[Any, ...], /) -> tuple[list[float], list[Tensor]]: ...
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
