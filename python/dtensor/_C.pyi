"""The C half of dtensor: placements, meshes, layouts, tensors and moves."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Self, SupportsIndex, final, overload, type_check_only

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
    def is_shard(self, dim: int | None = None) -> bool: ...
    def is_replicate(self) -> bool: ...
    def is_partial(self, reduce_op: str | None = None) -> bool: ...
    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]: ...

class Shard(Placement):
    __match_args__ = ("dim",)
    def __new__(cls, dim: SupportsIndex) -> Self: ...
    @property
    def dim(self) -> int: ...
    @staticmethod
    def local_shard_size_and_offset(
        curr_local_size: int, num_chunks: int, rank: int
    ) -> tuple[int, int]: ...

class _StridedShard(Placement):
    __match_args__ = ("dim", "split_factor")
    def __new__(cls, dim: SupportsIndex, *, split_factor: SupportsIndex) -> Self: ...
    @property
    def dim(self) -> int: ...
    @property
    def split_factor(self) -> int: ...

class Replicate(Placement):
    def __new__(cls) -> Self: ...

class Partial(Placement):
    __match_args__ = ("reduce_op",)
    def __new__(cls, reduce_op: str = "sum") -> Self: ...
    @property
    def reduce_op(self) -> str: ...

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
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def ranks(self) -> npt.NDArray[np.int64]: ...
    @property
    def names(self) -> tuple[str, ...] | None: ...
    @property
    def world(self) -> int: ...
    @property
    def _size(self) -> int: ...
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
    @property
    def mesh(self) -> DeviceMesh: ...
    @property
    def device_mesh(self) -> DeviceMesh: ...
    @property
    def placements(self) -> tuple[Placement, ...]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def is_partial(self) -> bool: ...
    @property
    def shard_order(self) -> tuple[tuple[int, tuple[int, ...]], ...]: ...
    @property
    def cuts(self) -> dict[int, tuple[int, ...]] | None: ...
    def local_shape(
        self, coordinate: SupportsIndex | Sequence[SupportsIndex] | None = None
    ) -> tuple[int, ...]: ...
    def boxes(
        self, rank: SupportsIndex | Sequence[SupportsIndex] | None = None
    ) -> list[_Box]: ...
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
    requires_grad: bool
    grad: Tensor | None
    def __new__(
        cls,
        data: npt.ArrayLike | Tensor,
        dtype: npt.DTypeLike | None = None,
        requires_grad: bool = False,
    ) -> Self: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> _Size: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def device(self) -> str: ...
    @property
    def is_leaf(self) -> bool: ...
    def numel(self) -> int: ...
    def dim(self) -> int: ...
    def element_size(self) -> int: ...
    @overload
    def stride(self, dim: None = None) -> tuple[int, ...]: ...
    @overload
    def stride(self, dim: SupportsIndex) -> int: ...
    def is_contiguous(self) -> bool: ...
    def requires_grad_(self, requires_grad: bool = True) -> Self: ...
    def detach(self) -> Self: ...
    def numpy(self, *, force: bool = False) -> npt.NDArray[Any]: ...
    def item(self) -> Any: ...
    def tolist(self) -> Any: ...
    def wait(self) -> Self: ...
    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    def __float__(self) -> float: ...
    def __complex__(self) -> complex: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Self: ...
    def __reduce_ex__(self, protocol: SupportsIndex, /) -> tuple[Any, ...]: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

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
        self,
        *,
        grad_placements: Sequence[Placement] | None = None,
        root: SupportsIndex,
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
def zeros(
    *size: _Shape,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    requires_grad: bool = False,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
def ones(
    *size: _Shape,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    requires_grad: bool = False,
    device_mesh: Mesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor: ...
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
@overload
def _redistribute_any(
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
def _redistribute_any(
    tensors: Sequence[DTensor],
    device_mesh: Mesh | None = None,
    placements: _Target | Sequence[_Target] = None,
    *,
    async_op: bool = False,
    forward_dtype: npt.DTypeLike | None = None,
    backward_dtype: npt.DTypeLike | None = None,
    max_bytes: SupportsIndex | None = None,
) -> list[DTensor]: ...

_Step = tuple[str, tuple[int, ...], str, str, int, int, int, int]

def _explain(
    from_layout: Layout,
    to_layout: Layout,
    rank: SupportsIndex | None = None,
    max_bytes: SupportsIndex | None = None,
) -> tuple[float, int, list[_Step]]: ...

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
    def current() -> World | None: ...
    @staticmethod
    def mpi_version() -> str: ...
    @property
    def rank(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def number(self) -> int: ...
    @property
    def shared_memory(self) -> bool: ...
    @property
    def closed(self) -> bool: ...
    def activate(self) -> None: ...
    def share(self, data: _Bytes, mesh: Mesh | None = None) -> list[bytes]: ...
    def agree(
        self,
        token: _Bytes,
        what: str,
        error: BaseException | None = None,
        mesh: Mesh | None = None,
        force: bool = True,
    ) -> None: ...
    def close(self) -> None: ...
    def abort(self, sentence: str, /) -> None: ...
    def counters(self) -> dict[str, tuple[int, int, int]]: ...

def mpi_library_version() -> str: ...
def cache_info() -> dict[str, int]: ...
def _set_count_limit(limit: int, /) -> None: ...
def _get_count_limit() -> int: ...
def _memory_info() -> dict[str, int]: ...
def _set_memory_limit(bytes: int, /) -> None: ...
def _fail_allocation_at(k: int, /) -> None: ...

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
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...

LOCAL_SHAPE: Part

@final
class Operator:
    operands: Final[int]
    __name__: str
    __qualname__: str
    __wrapped__: Final[Callable[..., Any]]
    def __new__(
        cls, function: Callable[..., Any], name: str, operands: int = 1
    ) -> Self: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    @overload
    def __get__(self, instance: None, owner: type, /) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None, /) -> Any: ...
    def replace_rule(self, replacement: Callable[..., Rule] | None, /) -> None: ...
    def abstract(
        self, *args: Any, **kwargs: Any
    ) -> tuple[_Layouts, _Layouts, float]: ...

def operator_cache_info() -> dict[str, int]: ...
def without_data(layout: Layout, /) -> DTensor: ...
def set_implicit_hook(
    hook: Callable[[str, list[Layout], list[Layout]], object] | None, /
) -> None: ...
def set_implicit_replication(wanted: bool, /) -> bool: ...
def install(
    slots: dict[str, Callable[..., Any]],
    methods: dict[str, Callable[..., Any]],
    functions: dict[Callable[..., Any], Callable[..., Any]],
    fallback: Callable[..., Any],
    ufunc_method: Callable[..., Any],
) -> None: ...
