"""Arrays as datasets of HDF5 files, which h5py and others read."""

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._C import DTensor, Tensor, from_callback
from dtensor._core.require import require
from dtensor.checkpoint._dtypes import raw_bytes
from dtensor.checkpoint._pieces import piece
from dtensor.checkpoint._ranks import WorldRanks, ranks_of, together
from dtensor.checkpoint.filesystem import PathLike
from dtensor.device_mesh import DeviceMesh
from dtensor.io._saving import Arrays, as_arrays, native, reduced, save
from dtensor.placement_types import Placement

__all__ = ["load_hdf5", "save_hdf5"]

WRITE = 1 << 20  # bytes of one write


def save_hdf5(file: PathLike, x: Any, dataset: str = "data") -> None:
    """Save arrays as an HDF5 file, which their ranks write together.

    Collective over the mesh of the DTensors; over all ranks if there is none, and then
    the arrays must be the same everywhere. An old file is kept until the new one, which
    has these datasets and no others, replaces it. One rank makes the file, with room
    for all elements; then all write their elements at once, which takes no HDF5 that is
    built for MPI. A rank holds its part, once more if it is exchanged for rows: if the
    array is cut along another dim than the first, or is a Partial, which is reduced.

    Parameters
    ----------
    file : path-like
    x : DTensor, Tensor, ndarray, or a dict of these
        Keys are the names of datasets; ``"a/b"`` is in a group. DTensors of any layout,
        all on one mesh.
    dataset : str
        The name, if `x` is not a dict.

    Raises
    ------
    CheckpointException
        `dtensor.checkpoint.CheckpointException`, on all ranks, if something failed on
        one. It is also a TypeError for a dtype that HDF5 lacks (bfloat16), a ValueError
        if names clash or arrays differ, an OSError if a write failed.
    ValueError
        If the DTensors are on several meshes. On all ranks.

    Notes
    -----
    Elements are stored without compression, one after the other, in the byte order of
    the machine; complex and bool as h5py does.

    Examples
    --------
    >>> import os, tempfile
    >>> from dtensor import Shard, distribute_tensor
    >>> from dtensor.io import load_hdf5, save_hdf5
    >>> x = distribute_tensor(np.eye(3), mesh, [Shard(0)])
    >>> path = os.path.join(tempfile.mkdtemp(), "x.h5")
    >>> save_hdf5(path, {"run/x": x})
    >>> load_hdf5(path, mesh, [Shard(1)], dataset="run/x").placements
    (Shard(dim=1),)
    """
    path = os.fspath(file)
    save(path, as_arrays(x, dataset), f"io.save_hdf5({path!r})", _Hdf5())


class _Hdf5:
    """How HDF5 files are written: see `Format`."""

    def check(self, path: str, arrays: Arrays) -> str:
        require("h5py")
        for x in arrays.values():
            native(x.dtype, "HDF5")
        return ""

    def create(self, path: str, arrays: Arrays) -> bytes:
        h5py = require("h5py")
        with h5py.File(path, "x") as file:
            places = {name: _room(h5py, file, name, x) for name, x in arrays.items()}
        return json.dumps(places).encode()

    def parts(self, arrays: Arrays, ranks: WorldRanks) -> dict[str, Any]:
        numbers = ranks.numbers
        return {
            name: piece(
                reduced(x) if isinstance(x, DTensor) else x, numbers, ranks.world.rank
            )
            for name, x in arrays.items()
        }

    def write(self, path: str, told: bytes, parts: dict[str, Any]) -> None:
        places = json.loads(told)
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            for name, part in parts.items():
                if part is not None:
                    data = raw_bytes(part[1])
                    at = places[name] + part[0]
                    _C.write_at(fd, at, 0, data, data.nbytes, None, WRITE)
            os.fsync(fd)
        finally:
            os.close(fd)


def _room(h5py: Any, file: Any, name: str, x: Any) -> int | None:
    """Make a dataset; return where in the file its elements are, None: it has none."""
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_layout(h5py.h5d.CONTIGUOUS)
    how.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    how.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    links = h5py.h5p.create(h5py.h5p.LINK_CREATE)
    links.set_create_intermediate_group(True)
    kind = h5py.h5t.py_create(native(x.dtype, "HDF5"), logical=True)
    shape = tuple(x.shape)
    space = h5py.h5s.create_simple(shape) if shape else h5py.h5s.create(h5py.h5s.SCALAR)
    made = h5py.h5d.create(file.id, name.encode(), kind, space, how, links)
    place: int | None = made.get_offset()
    return place


def load_hdf5(
    file: PathLike,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
    *,
    dataset: str = "data",
) -> Any:
    """Load a dataset of an HDF5 file; every rank reads its part, and no more.

    With a mesh, collective over all ranks. The file may be of any program: compressed,
    in chunks, of another byte order.

    Parameters
    ----------
    file : path-like
    device_mesh : DeviceMesh, optional
        Default: every rank gets the whole array; then not collective.
    placements : sequence of Placement, optional
        Default: Replicate.
    dataset : str
        Its name; ``"a/b"`` is in a group.

    Returns
    -------
    DTensor, or Tensor without a mesh

    Raises
    ------
    CheckpointException
        On all ranks, if something failed on one. It is also an OSError if the file
        cannot be read, a ValueError if there is no such dataset, a TypeError if its
        elements are no numbers.
    """
    path = os.fspath(file)
    what = f"io.load_hdf5({path!r})"
    ranks = ranks_of(None, device_mesh is None, what)
    found: list[Any] = []

    def opened() -> None:
        found.append(require("h5py").File(path, "r"))
        found.append(_dataset(found[0], path, dataset))

    try:
        together(ranks, what, opened)
        data = found[1]
        dtype = native(data.dtype, "a DTensor")
        if device_mesh is None:
            return Tensor(np.asarray(data[()], dtype))
        return from_callback(
            data.shape,
            device_mesh,
            placements,
            lambda index: np.asarray(data[index], dtype),
            dtype=dtype,
        )
    finally:
        if found:
            found[0].close()


def _dataset(file: Any, path: str, name: str) -> Any:
    found = file.get(name)
    if not hasattr(found, "dtype") or found.shape is None:
        raise ValueError(f"{path} has no array {name!r}; it has {sorted(file)}")
    native(found.dtype, "a DTensor")
    return found
