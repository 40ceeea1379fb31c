"""Arrays as Zarr stores: folders of chunks, which zarr and others read."""

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._C import DTensor, Tensor, from_callback
from dtensor._core.require import require
from dtensor.checkpoint._plan import array_of
from dtensor.checkpoint._ranks import WorldRanks, ranks_of, together
from dtensor.checkpoint.filesystem import PathLike
from dtensor.device_mesh import DeviceMesh
from dtensor.io._saving import as_arrays, native, save
from dtensor.placement_types import Placement, Replicate, Shard

__all__ = ["load_zarr", "save_zarr"]

CHUNK = 16 << 20  # bytes of a chunk, at most, unless it is given
Key = tuple[slice, ...]


def save_zarr(
    path: PathLike,
    x: Any,
    *,
    chunks: Sequence[int] | None = None,
    compressors: Any = "auto",
    attributes: Mapping[str, Any] | None = None,
) -> None:
    """Save an array as a Zarr store on a file system, which its ranks write together.

    Collective over the mesh of `x`; over all ranks if it is not a DTensor, and then it
    must be the same everywhere. An old array is kept until the new one is complete.
    Then the two folders are renamed: if the program is killed in between, the old one
    is beside this path as ``.old-*``. Files are not flushed to the disk.

    No two ranks write the same chunk. Where parts do not end where chunks do, rows go
    to other ranks, in one exchange. A rank holds its part, once more if rows of it
    move. A Partial is reduced.

    Parameters
    ----------
    path : path-like
        Of the folder. There must be none, or one with a Zarr array.
    x : DTensor, Tensor or ndarray
        Of any layout.
    chunks : sequence of int, optional
        The shape of a chunk. Default: that of a part, halved until it takes at most 16
        MiB.
    compressors, attributes : optional
        As of ``zarr.create_array``.

    Raises
    ------
    CheckpointException
        `dtensor.checkpoint.CheckpointException`, on all ranks, if something failed on
        one. It is also a TypeError for a dtype that Zarr lacks (bfloat16, longdouble),
        a ValueError if chunks do not fit or arrays differ, a FileExistsError if
        something else is at the path, an OSError if a write failed.

    Examples
    --------
    >>> import os, tempfile
    >>> from dtensor import Shard, distribute_tensor
    >>> from dtensor.io import load_zarr, save_zarr
    >>> x = distribute_tensor(np.eye(3), mesh, [Shard(0)])
    >>> path = os.path.join(tempfile.mkdtemp(), "x.zarr")
    >>> save_zarr(path, x, chunks=(2, 3))
    >>> load_zarr(path, mesh, [Shard(1)]).placements
    (Shard(dim=1),)
    """
    name = os.path.normpath(os.fspath(path))
    form = _Zarr(chunks, compressors, attributes)
    save(name, as_arrays(x, "array"), f"io.save_zarr({name!r})", form)


class _Zarr:
    """How Zarr stores are written: see `Format`."""

    def __init__(
        self,
        chunks: Sequence[int] | None,
        compressors: Any,
        attributes: Mapping[str, Any] | None,
    ) -> None:
        self.chunks = None if chunks is None else tuple(map(int, chunks))
        self.options = {"compressors": compressors, "attributes": attributes}

    def check(self, path: str, arrays: Mapping[str, Any]) -> str:
        zarr = require("zarr")
        (x,) = arrays.values()
        dtype = native(x.dtype, "Zarr")
        if dtype.itemsize > 16 or (dtype.kind == "f" and dtype.itemsize > 8):
            raise TypeError(f"Zarr has no elements of dtype {dtype}")
        if self.chunks is not None and (
            len(self.chunks) != x.ndim or min(self.chunks, default=1) < 1
        ):
            raise ValueError(f"chunks {self.chunks} do not fit an array of {x.shape}")
        if os.path.lexists(path) and not _is_array(zarr, path):
            raise FileExistsError(f"{path} exists and is not a Zarr array")
        return f"{self.chunks}"

    def _shape(self, x: Any, counts: Sequence[int]) -> tuple[int, ...]:
        """Return the shape of chunks for so many parts along each dim."""
        if self.chunks is not None:
            return self.chunks
        found = [max(1, -(-n // k)) for n, k in zip(x.shape, counts, strict=True)]
        while math.prod(found) * x.dtype.itemsize > CHUNK:
            longest = found.index(max(found))
            found[longest] = -(-found[longest] // 2)
        return tuple(found)

    def create(self, path: str, arrays: Mapping[str, Any]) -> bytes:
        (x,) = arrays.values()
        require("zarr").create_array(
            path,
            shape=tuple(x.shape),
            dtype=native(x.dtype, "Zarr").str,
            chunks=self._shape(x, _counts(x)),
            **self.options,
        )
        return b""

    def parts(
        self, arrays: Mapping[str, Any], ranks: WorldRanks
    ) -> tuple[Key, Any] | None:
        (x,) = arrays.values()
        if not isinstance(x, DTensor):
            return _share(x, self._shape(x, _counts(x)), ranks)
        target = _placements(x)
        counts = _counts(x)
        cuts = {
            d: _cuts(x.shape[d], count, chunk)
            for d, (count, chunk) in enumerate(
                zip(counts, self._shape(x, counts), strict=True)
            )
            if count > 1
        }
        to = _C.Layout(x.device_mesh, target, x.shape, x.dtype, cuts=cuts or None)
        moved = x.detach().redistribute(placements=to)
        ((starts, sizes),) = to.boxes()
        first = not any(x.device_mesh.get_coordinate() or ())
        if 0 in sizes or (x.ndim == 0 and not first):
            return None
        key = tuple(slice(a, a + n) for a, n in zip(starts, sizes, strict=True))
        return key, array_of(moved)

    def write(self, path: str, told: bytes, parts: tuple[Key, Any] | None) -> None:
        if parts is not None:
            key, part = parts
            require("zarr").open_array(path, mode="r+")[key] = part


def _is_array(zarr: Any, path: str) -> bool:
    try:
        zarr.open_array(path, mode="r")
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return True


# --- which rank writes what -----------------------------------------------------------


def _placements(x: DTensor) -> list[Placement]:
    """Return placements that cut an array along every mesh dim, as it is as far as it
    is cut."""
    if x.ndim == 0:
        return [Replicate()] * x.device_mesh.ndim
    longest = x.shape.index(max(x.shape))
    return [Shard(longest if p._cut_dim is None else p._cut_dim) for p in x.placements]


def _counts(x: Any) -> list[int]:
    """Return how many parts each dim is written in."""
    counts = [1] * x.ndim
    if isinstance(x, DTensor):
        for placement, n in zip(_placements(x), x.device_mesh.shape, strict=True):
            if placement._cut_dim is not None:
                counts[placement._cut_dim] *= n
    return counts


def _cuts(length: int, count: int, chunk: int) -> tuple[int, ...]:
    """Return cut points at multiples of a chunk: those of `torch.chunk` for chunks."""
    each = -(-length // (chunk * count)) * chunk
    return tuple(min(length, each * k) for k in range(count + 1))


def _share(x: Any, chunks: Sequence[int], ranks: WorldRanks) -> tuple[Key, Any] | None:
    """Return the rows that this rank writes of an array that all ranks have."""
    if x.ndim == 0:
        return ((), array_of(x)) if ranks.rank == 0 else None
    cuts = _cuts(x.shape[0], ranks.size, chunks[0])
    start, end = cuts[ranks.rank : ranks.rank + 2]
    key = (slice(start, end), *map(slice, x.shape[1:]))
    return None if start == end or x.size == 0 else (key, array_of(x)[key])


def load_zarr(
    path: PathLike,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
    *,
    array: str = "",
) -> Any:
    """Load an array of a Zarr store; every rank reads the chunks that its part is in.

    With a mesh, collective over all ranks.

    Parameters
    ----------
    path : path-like
    device_mesh : DeviceMesh, optional
        Default: every rank gets the whole array; then not collective.
    placements : sequence of Placement, optional
        Default: Replicate.
    array : str
        The name of the array in a store that is a group.

    Returns
    -------
    DTensor, or Tensor without a mesh

    Raises
    ------
    CheckpointException
        On all ranks, if something failed on one. It is also a FileNotFoundError if
        there is no array, a TypeError if its elements are no numbers.
    """
    name = os.fspath(path)
    what = f"io.load_zarr({name!r})"
    ranks = ranks_of(None, device_mesh is None, what)
    found: list[Any] = []

    def opened() -> None:
        zarr = require("zarr")
        try:
            found.append(zarr.open_array(name, mode="r", path=array))
        except KeyError as error:
            raise FileNotFoundError(f"no array {array!r} in {name}") from error
        native(found[0].dtype, "a DTensor")

    together(ranks, what, opened)
    data = found[0]
    dtype = native(data.dtype, "a DTensor")
    if device_mesh is None:
        return Tensor(np.asarray(data[...], dtype))
    return from_callback(
        data.shape,
        device_mesh,
        placements,
        lambda index: np.asarray(data[index], dtype),
        dtype=dtype,
    )
