"""Single arrays as ``.npy`` files, which ``np.load`` reads."""

import io
import os
import secrets
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._C import DTensor, Tensor, as_tensor, from_callback
from dtensor.checkpoint._dtypes import raw_bytes
from dtensor.checkpoint._pieces import piece
from dtensor.checkpoint._place import Place
from dtensor.checkpoint._plan import array_of, digest_of
from dtensor.checkpoint._ranks import Alone, WorldRanks, checked, ranks_of, together
from dtensor.checkpoint.filesystem import PathLike
from dtensor.device_mesh import DeviceMesh
from dtensor.ops._make.composite import settled
from dtensor.placement_types import Placement

__all__ = ["load_npy", "save_npy"]

WRITE = 1 << 20  # bytes of one write
TOKEN = 16  # characters

# NumPy reads a header with `ast`, which in Python 3.11 two threads may not use at once
# (python/cpython#106905); ranks may be threads.
_reading = threading.Lock()


def save_npy(file: PathLike, x: Any) -> None:
    """Save one array as a ``.npy`` file, which its ranks write together.

    Collective over the mesh of `x`; over all ranks if it is not a DTensor, and then it
    must be the same everywhere. Nothing is sent, but to reduce a Partial. An old file
    is kept until the new one replaces it.

    Parameters
    ----------
    file : path-like
        A path that ends in ``.npy``.
    x : DTensor, Tensor or ndarray

    Raises
    ------
    CheckpointException
        On all ranks, if something failed on one. It is also a ValueError for plain
        arrays that differ between ranks (elements are not compared under
        ``DTENSOR_CHECK=0``), and an OSError if a write failed.
    ValueError
        If `file` does not end in ``.npy``. On all ranks.

    Notes
    -----
    bfloat16 is stored as untyped elements of two bytes, as ``np.save`` does.

    Examples
    --------
    >>> import os, tempfile
    >>> from dtensor import Shard, distribute_tensor
    >>> x = distribute_tensor(np.eye(3), mesh, [Shard(0)])
    >>> path = os.path.join(tempfile.mkdtemp(), "x.npy")
    >>> save_npy(path, x)
    >>> np.load(path).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    >>> load_npy(path, mesh, [Shard(1)]).placements
    (Shard(dim=1),)
    """
    path = os.fspath(file)
    if not path.endswith(".npy"):
        raise ValueError(f"save_npy needs a path that ends in .npy, not {path!r}")
    write_npy(path, x, f"checkpoint.save_npy({path!r})")


def write_npy(path: str, x: Any, what: str) -> None:
    """Write one array as a file that ends in ``.npy``, for the call `what`."""
    array = x if isinstance(x, Tensor) else np.asarray(x)
    group = array.device_mesh if isinstance(array, DTensor) else None
    ranks = ranks_of(group, False, what)
    if ranks.rank >= 0:
        if isinstance(array, DTensor):
            array = settled(what, array.detach())
        _Npy(path, array, ranks, what).save()


class _Npy:
    """One file that is being written."""

    def __init__(
        self, path: str, array: Any, ranks: Alone | WorldRanks, what: str
    ) -> None:
        self.array, self.ranks, self.what = array, ranks, what
        self.path = path
        self.lock = -1

    def save(self) -> None:
        try:
            told = together(self.ranks, self.what, self._begin)
            self.place = Place(self.path, told[0][:TOKEN].decode())
            together(self.ranks, self.what, lambda: self._write(told))
            together(self.ranks, self.what, self._publish)
        finally:
            if self.lock >= 0:
                self.place.end(self.lock)

    def _begin(self) -> bytes:
        if self.array.dtype.hasobject:
            raise TypeError("an array of objects cannot be saved")
        header = io.BytesIO()
        descr = np.lib.format.dtype_to_descr(self.array.dtype)
        told = {"descr": descr, "fortran_order": False, "shape": self.array.shape}
        np.lib.format.write_array_header_1_0(header, told)
        self.header = header.getvalue()
        self.place = Place(self.path, secrets.token_hex(TOKEN // 2))
        if self.ranks.rank == 0:
            self.lock = self.place.begin()
        digest = ""
        if checked(self.ranks) and isinstance(self.array, DTensor):
            digest = str(_C.lineage(self.array))
        elif checked(self.ranks):
            digest = digest_of(array_of(self.array))
        return self.place.token.encode() + self.header + digest.encode()

    def _write(self, told: list[bytes]) -> None:
        if len({text[TOKEN:] for text in told}) > 1:
            raise ValueError(
                "the array is not the same on all ranks; a DTensor must come from the "
                "same calls, what is not one must be equal everywhere"
            )
        numbers = self.ranks.numbers
        part = piece(self.array, numbers, numbers[self.ranks.rank])
        temporary = self.place.temporary(self.place.file)
        fd = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            if self.ranks.rank == 0:
                _write_at(fd, 0, np.frombuffer(self.header, np.uint8))
            if part is not None:
                _write_at(fd, len(self.header) + part[0], raw_bytes(part[1]))
            os.fsync(fd)
        finally:
            os.close(fd)

    def _publish(self) -> None:
        if self.ranks.rank == 0:
            self.place.commit([self.place.file], "")


def _write_at(fd: int, place: int, data: npt.NDArray[np.uint8]) -> None:
    _C.write_at(fd, place, 0, data, data.nbytes, None, WRITE)


def load_npy(
    file: PathLike,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
) -> Any:
    """Load a ``.npy`` file; every rank reads its part.

    With a mesh, collective over all ranks.

    Parameters
    ----------
    file : path-like
    device_mesh : DeviceMesh, optional
        Default: every rank gets the whole array; then not collective.
    placements : sequence of Placement, optional
        Default: Replicate.
    dtype : dtype-like, optional
        The dtype to read untyped elements as, such as ``"bfloat16"``.

    Returns
    -------
    DTensor, or Tensor without a mesh

    Raises
    ------
    CheckpointException
        On all ranks, if something failed on one. It is also an OSError, or a ValueError
        if the file is not a ``.npy`` file, is truncated, or holds objects.
    """
    path = os.fspath(file)
    what = f"checkpoint.load_npy({path!r})"
    ranks = ranks_of(None, device_mesh is None, what)
    found: list[npt.NDArray[Any]] = []

    together(ranks, what, lambda: found.append(_mapped(path, dtype)))
    native = found[0].dtype.newbyteorder("=")
    if device_mesh is None:
        return Tensor(np.array(found[0], native))
    return from_callback(
        found[0].shape,
        device_mesh,
        placements,
        lambda index: np.asarray(found[0][index], native),
        dtype=native,
    )


def _mapped(path: str, dtype: npt.DTypeLike | None) -> npt.NDArray[Any]:
    """Return the array of a file, memory-mapped: unused parts are not read."""
    with open(path, "rb") as file:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        with _reading:
            shape, fortran, kind = read(file)
        offset = file.tell()
    if kind.hasobject:
        raise ValueError(f"{path} holds Python objects, which load_npy does not load")
    if dtype is not None and kind.kind == "V":
        kind = as_tensor([], dtype).dtype
    array: npt.NDArray[Any]
    if 0 in shape:
        array = np.empty(shape, kind)  # an empty array cannot be mapped
    else:
        array = np.memmap(path, kind, "r", offset, shape, "F" if fortran else "C")
    return array
