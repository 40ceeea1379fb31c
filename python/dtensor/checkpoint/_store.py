"""An open checkpoint: its contents, and reading any part of them."""

import os
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._C import DTensor, Layout, Tensor
from dtensor._core.device import is_meta
from dtensor.checkpoint._header import Entry, Header, read_header
from dtensor.checkpoint._names import Path
from dtensor.checkpoint._place import files_of, opened
from dtensor.checkpoint._plan import array_of, partial_error
from dtensor.checkpoint._torch_header import is_archive, read_archive, read_strided

__all__ = ["Store"]

Array = npt.NDArray[Any]


class Store:
    """The files of a checkpoint.

    Parameters
    ----------
    path : str
        The path of a file or a directory; other programs may have written it.

    Raises
    ------
    FileNotFoundError
        If there is no checkpoint.
    ValueError
        If a file is neither a safetensors file nor one of ``torch.save``, is truncated,
        is damaged, or is not of the same save as the others; the message has its path.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.files: list[tuple[str, int, Header]] = []
        self.entries: dict[str, tuple[int, Entry]] = {}
        self.values: dict[str, str] = {}
        self.paths: dict[str, Path] = {}
        self.marks: list[str] = []
        paths, where, save = files_of(path)
        try:
            for file in paths:
                self._open(file)
            self._check(where, save)
        except BaseException:
            self.close()
            raise

    def _open(self, path: str) -> None:
        fd = opened(path)
        try:
            header, mark = read_archive(fd) if is_archive(fd) else read_header(fd)
        except BaseException as error:
            os.close(fd)
            if isinstance(error, ValueError):
                raise ValueError(f"{path}: {error}") from error
            if isinstance(error, OSError):
                error.filename = path
            raise
        k = len(self.files)
        self.files.append((path, fd, header))
        self.marks.append(mark)
        for entry in header.entries:
            if entry.name in self.entries:
                raise ValueError(f"{path}: {entry.name!r} is also in another file")
            self.entries[entry.name] = k, entry
        self.values |= header.values
        self.paths |= header.paths

    def _check(self, where: dict[str, str] | None, save: str | None) -> None:
        """Check that the files are of one save, and hold what the index says."""
        saves = [header.save for _, _, header in self.files]
        places = [header.place for _, _, header in self.files]
        count = len(self.files)
        if where is None:
            good = not saves[0] or places == ["1/1"] or not os.path.isdir(self.path)
        elif save is None:
            good = not any(saves)
        else:
            wanted = [f"{k + 1}/{count}" for k in range(count)]
            good = saves == [save] * count and sorted(places) == sorted(wanted)
        if not good:
            raise ValueError(
                f"{self.path}: files of different saves, or some are missing"
            )
        for name, file in (where or {}).items():
            known = self.entries.get(name)
            if known is None or os.path.basename(self.files[known[0]][0]) != file:
                raise ValueError(f"{self.path}: {name!r} is not in {file}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        for _, fd, _ in self.files:
            os.close(fd)
        self.files = []

    def mark(self) -> bytes:
        """Return bytes that identify the checkpoint."""
        return " ".join(sorted(self.marks)).encode()

    def array(self, name: str) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """Return dtype and shape of an array; ValueError if NumPy has no such dtype."""
        try:
            return self.entries[name][1].array()
        except ValueError as error:
            raise ValueError(f"{name!r}: {error}") from error

    # --- reading ----------------------------------------------------------------------

    def read(self, name: str, out: Array, layout: Layout | None = None) -> None:
        """Read this rank's part of an array; without a layout, the whole array.

        Parameters
        ----------
        name : str
        out : ndarray
            Has the shape of the part. If it has the file's dtype and is C-ordered,
            reading needs only one block of additional memory.

        Raises
        ------
        ValueError
            If blocks that contain parts of it are damaged.
        """
        k, entry = self.entries[name]
        path, fd, header = self.files[k]
        dtype, _ = entry.array()
        room = out
        if dtype != out.dtype or not out.flags.carray:
            room = np.empty(out.shape, dtype)
        try:
            if entry.strides is not None:
                read_strided(fd, entry, room, layout)
            else:
                _C.read_part(
                    fd,
                    header.base,
                    entry.begin,
                    room,
                    layout,
                    header.data_bytes,
                    header.sums,
                    header.block,
                )
        except ValueError as error:
            raise ValueError(f"{path}: {name!r}: {error}") from error
        except OSError as error:
            error.filename = path
            raise
        if room is not out:
            np.copyto(out, room, casting="same_kind")

    def check(self, name: str, leaf: Any) -> None:
        """Check that an array can be read into a tensor.

        Raises
        ------
        ValueError
            If the shapes differ, placements are Partial, the tensor is read-only, or
            NumPy has no such dtype.
        TypeError
            If the file's dtype cannot be cast to that of the tensor.
        """
        dtype, saved = self.array(name)
        if tuple(leaf.shape) != saved:
            raise ValueError(
                f"Size mismatch between saved {saved} and current: {tuple(leaf.shape)} "
                f"for {name}"
            )
        if isinstance(leaf, DTensor) and leaf.layout.is_partial:
            raise ValueError(f"{partial_error(leaf.layout)} (key {name!r})")
        if not np.can_cast(dtype, leaf.dtype, "same_kind"):
            raise TypeError(
                f"{name!r} is {dtype}, which cannot be cast to {leaf.dtype}"
            )
        if isinstance(leaf, Tensor) and is_meta(leaf):
            raise ValueError(f"{name!r} is on the meta device: call to_empty first")
        if not isinstance(leaf, np.generic) and not array_of(leaf).flags.writeable:
            raise ValueError(f"{name!r} cannot be loaded into a read-only array")

    def read_into(self, name: str, leaf: Any) -> None:
        """Read an array in place into a tensor that `check` accepted."""
        if not isinstance(leaf, DTensor):
            self.read(name, array_of(leaf))
            return
        if leaf.device_mesh.get_coordinate() is not None:
            self.read(name, array_of(leaf), leaf.layout)
        _C.written(leaf, "checkpoint.load")
        self._comes_from_here(name, leaf)

    def read_new(self, name: str, layout: Layout | None) -> Any:
        """Return an array as a new Tensor, or as a DTensor in a layout."""
        dtype, shape = self.array(name)
        if layout is None:
            whole = np.empty(shape, dtype)
            self.read(name, whole)
            return Tensor(whole)
        part = np.empty(layout.local_shape(), dtype)
        if layout.mesh.get_coordinate() is not None:
            self.read(name, part, layout)
        return self._comes_from_here(name, _C.of_part(part, layout))

    def _comes_from_here(self, name: str, leaf: DTensor) -> DTensor:
        """Say what a tensor is made of: the same on all ranks that read it."""
        return _C.made_of(leaf, f"a checkpoint's {name!r}", self.mark())

    # --- judging ----------------------------------------------------------------------

    def damaged(self) -> Iterator[tuple[int, str | None]]:
        """Check every block: yield how many bytes were read, and any damage."""
        for path, fd, header in self.files:
            room = memoryview(bytearray(header.block))
            for block in range(header.blocks()):
                start = block * header.block
                part = room[: min(header.block, header.data_bytes - start)]
                wrong = None
                if os.preadv(fd, [part], header.base + start) != len(part):
                    wrong = "cannot be read"
                elif header.sums is not None and _C.crc32c(part) != header.sums[block]:
                    wrong = "the CRC-32C does not match"
                if wrong:
                    where = _described(header, start, start + len(part))
                    wrong = f"{path}: {where}: {wrong}"
                yield len(part), wrong


def _described(header: Header, start: int, end: int) -> str:
    """Return which tensors some bytes belong to."""
    names = [e.name for e in header.entries if e.begin < end and e.end > start]
    base = header.base
    return f"bytes {base + start} to {base + end} ({', '.join(names)})"
