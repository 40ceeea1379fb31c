"""The zip archive of a file of ``torch.save``: its members lie in it uncompressed."""

import mmap
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Archive", "Damaged", "Member", "folder_of", "write"]

Bytes = npt.NDArray[np.uint8]

MAGIC = b"PK\x03\x04"
ALIGNMENT = 64  # of the data of each member, as PyTorch's
VERSIONS = range(1, 11)  # of the format, that PyTorch reads
ALIGNED = 16  # what the elements of any dtype need
_LOCAL = struct.Struct("<4s22xHH")  # of a local header: magic, lengths of name, extra
_PADDING = b"FB"  # PyTorch's name for the part of a header that aligns the data


class Damaged(RuntimeError):
    """A zip archive that is truncated, altered, or not of PyTorch's making."""

    def __init__(self, what: str) -> None:
        super().__init__(f"PytorchStreamReader failed reading zip archive: {what}")


class Member(NamedTuple):
    """Where the bytes of a member are, and their CRC-32; 0 if it was not computed."""

    begin: int
    size: int
    crc: int


class Archive:
    """An archive that is open for reading.

    Parameters
    ----------
    file : binary file
        Seekable; the archive begins where it stands.

    Raises
    ------
    EOFError
        If there is nothing.
    UnpicklingError
        If it is something else: a file from before PyTorch 1.6, for example.
    Damaged
        If a member is compressed, overlaps another one, or lies outside of the file.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        magic = _start(file)
        if not magic:
            raise EOFError("Ran out of input")
        if magic != MAGIC:
            raise UnpicklingError(
                "the file is not a zip archive, as torch.save has written since "
                "PyTorch 1.6: load it with PyTorch and save it again. Pickles that are "
                "not in an archive are not read, since they may run code"
            )
        try:
            with zipfile.ZipFile(file) as opened:
                infos, directory = opened.infolist(), opened.start_dir
            self.members = self._members(infos, directory)
        except (zipfile.BadZipFile, EOFError, ArithmeticError, LookupError) as error:
            raise Damaged(f"{error}") from error
        except (NotImplementedError, ValueError, struct.error) as error:
            raise Damaged(f"{error}") from error
        if "constants.pkl" in self.members:
            raise RuntimeError(
                "Cannot use ``weights_only=True`` with TorchScript archives passed to "
                "``torch.load``: save the state_dict() of the module with torch.save"
            )
        if "data.pkl" not in self.members:
            raise Damaged("it has no data.pkl")

    def _members(
        self, infos: list[zipfile.ZipInfo], directory: int
    ) -> dict[str, Member]:
        """Return the members by name, without the folder that all of them are in."""
        found: dict[str, Member] = {}
        folder = infos[0].filename.partition("/")[0] + "/" if infos else ""
        free = 0  # bytes before it belong to earlier members
        for info in sorted(infos, key=lambda info: info.header_offset):
            name = info.orig_filename
            if info.compress_type or info.compress_size != info.file_size:
                raise Damaged(f"{name!r} is compressed")
            begin = self._begin(info)
            if info.header_offset < free or begin + info.file_size > directory:
                raise Damaged(f"{name!r} lies outside of its place")
            free = begin + info.file_size
            short = name.removeprefix(folder)
            if short == name or short in found:
                raise Damaged(f"there is no place for {name!r}")
            found[short] = Member(begin, info.file_size, info.CRC)
        return found

    def _begin(self, info: zipfile.ZipInfo) -> int:
        """Return where the data of a member begin: its local header says it."""
        name = info.orig_filename.encode("utf-8" if info.flag_bits & 0x800 else "cp437")
        if info.header_offset < 0:
            raise Damaged(f"{info.orig_filename!r} lies before the file")
        self.file.seek(info.header_offset)
        magic, count, extra = _LOCAL.unpack(self.file.read(_LOCAL.size))
        if magic != MAGIC or self.file.read(count) != name:
            raise Damaged(f"{info.orig_filename!r} has two different headers")
        return int(info.header_offset + _LOCAL.size + count + extra)

    def member(self, name: str) -> Member:
        """Return where a member is; Damaged if there is none."""
        if name not in self.members:
            raise Damaged(f"it has no {name}")
        return self.members[name]

    def array(self, name: str) -> Bytes:
        """Return the bytes of a member as a new array; Damaged if they were altered."""
        member = self.member(name)
        room = np.empty(member.size, np.uint8)
        self.file.seek(member.begin)
        rest = room.data
        while len(rest):
            some = self.file.read(min(len(rest), 1 << 24))
            if not some:
                raise Damaged(f"{name!r} is truncated")
            rest[: len(some)] = some
            rest = rest[len(some) :]
        if member.crc and zlib.crc32(room.data) != member.crc:
            raise Damaged(f"the CRC-32 of {name!r} does not match")
        return room

    def pickle(self) -> bytes:
        """Return the pickle that says what the storages are."""
        version = self._text("version")
        if not version.isdigit() or int(version) not in VERSIONS:
            raise Damaged(f"its version is {version!r}")
        return self.array("data.pkl").tobytes()

    def byteorder(self) -> str:
        """Return the order of bytes in the storages, "little" or "big"."""
        order = self._text("byteorder") if "byteorder" in self.members else "little"
        if order not in ("little", "big"):
            raise Damaged(f"Unknown endianness type: {order!r}")
        return order

    def _text(self, name: str) -> str:
        return self.array(name)[:20].tobytes().decode("latin1").strip()

    def mapped(self) -> Callable[[str], Bytes]:
        """Return a function like `array` that reads nothing: bytes of the file, which
        must have a path, are read when they are first used, and are not checked.
        Writes do not reach the file."""
        whole = mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_COPY)

        def array(name: str) -> Bytes:
            begin, size, _ = self.member(name)
            found = np.frombuffer(whole, np.uint8, size, begin)
            return found if begin % ALIGNED == 0 else found.copy()

        return array


def _start(file: BinaryIO) -> bytes:
    """Return the first four bytes; the file stands as before."""
    try:
        at = file.tell()
        magic = file.read(len(MAGIC))
        file.seek(at)
    except AttributeError as error:
        raise AttributeError(
            f"{error}. You can only torch.load from a file that is seekable. Please "
            "pre-load the data into a buffer like io.BytesIO and try to load from it"
        ) from error
    return bytes(magic)


def write(file: BinaryIO, folder: str, members: Iterable[tuple[str, Any]]) -> None:
    """Write an archive of members (name, bytes), each aligned and with its CRC-32.

    Parameters
    ----------
    file : binary file
    folder : str
        The name of the folder in the archive that has all members.
    members : iterable
        The data may be bytes, or a contiguous array of them.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED, strict_timestamps=False) as to:
        for name, data in members:
            info = zipfile.ZipInfo(f"{folder}/{name}")
            long = len(data) * 1.05 > zipfile.ZIP64_LIMIT
            head = _LOCAL.size + len(info.filename.encode()) + (20 if long else 0) + 4
            count = -(to.start_dir + head) % ALIGNMENT
            info.extra = _PADDING + struct.pack("<H", count) + b"Z" * count
            to.writestr(info, data)


def folder_of(file: Any) -> str:
    """Return the name that PyTorch gives the folder in the archive of a file."""
    path = file if isinstance(file, str | os.PathLike) else getattr(file, "name", None)
    return (isinstance(path, str | os.PathLike) and Path(path).stem) or "archive"
