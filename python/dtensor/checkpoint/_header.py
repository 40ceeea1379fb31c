"""The header of a file: where the tensors are, and the checksums of its blocks.

A file is an ordinary safetensors file. What other readers do not need is in its
``__metadata__``: the length of a block; the CRC-32C of every block of the data and of
the header itself (computed with zeros in its own place), whose room is reserved before
they are known; the true dtypes of arrays whose dtype the format lacks; values that are
not tensors; and paths in the nested state.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.checkpoint._dtypes import ITEM_BYTES, dtype_of, stored_as
from dtensor.checkpoint._names import Path

__all__ = ["NOTES", "Entry", "Header", "entry_of", "read_header"]

Sums = npt.NDArray[np.uint32]

VERSION = "1"
BLOCK = 1 << 16  # bytes that one checksum covers, at least
BLOCKS = 1 << 16  # the most in a file; larger files have longer blocks
LENGTH = 8  # bytes of the length in front of the header
MOST = 100_000_000  # bytes of a header: the limit of the format's own library

NOTES = "__metadata__"  # the format's name for them
_PREFIX = "dtensor."
_KEYS = {
    f"{_PREFIX}{key}"
    for key in (
        *("version", "save", "file", "block", "crc32c", "header_crc32c"),
        *("dtypes", "values", "paths"),
    )
}
_HEADER_SUM = b'"dtensor.header_crc32c":"'


@dataclass(frozen=True)
class Entry:
    """One array of a file."""

    name: str
    stored: str
    """The format's name of its element type."""
    true: str | None
    """Its true dtype, if the format lacks it."""
    stored_shape: tuple[int, ...]
    begin: int
    """The offset of its first byte from the beginning of the data."""
    end: int
    strides: tuple[int, ...] | None = None
    """In bytes, if the array is not contiguous: in files of ``torch.save`` alone."""

    def array(self) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """Return NumPy's dtype and shape; ValueError if there is no such dtype."""
        return dtype_of(self.stored, self.stored_shape, self.true)


def entry_of(name: str, dtype: np.dtype[Any], shape: tuple[int, ...], at: int) -> Entry:
    """Return the entry of an array that begins at byte `at` of the data."""
    stored, last, true = stored_as(dtype)
    stored_shape = (*shape, *last)
    size = prod(stored_shape) * ITEM_BYTES[stored]
    return Entry(name, stored, true, stored_shape, at, at + size)


@dataclass
class Header:
    """The contents of a file's header."""

    entries: list[Entry]
    """In the order of their data."""
    sums: Sums | None
    """The checksum of each block; None in files of other programs."""
    save: str = ""
    """The token of the save: the same in all its files, and in no others."""
    place: str = "1/1"
    """The number of this file, and of how many: ``1/3``."""
    values: dict[str, str] = field(default_factory=dict)
    """Values that are not tensors, as texts."""
    paths: dict[str, Path] = field(default_factory=dict)
    """The paths of leaves whose name is not their whole path."""
    block: int = BLOCK
    base: int = 0
    """The offset in the file at which the data begin."""

    @property
    def data_bytes(self) -> int:
        """The number of bytes of the data."""
        return self.entries[-1].end if self.entries else 0

    def finish(self, save: str, place: str) -> None:
        """Set what depends on all entries."""
        self.save, self.place = save, place
        while self.blocks() > BLOCKS:
            self.block *= 2

    def blocks(self) -> int:
        """Return the number of blocks of the data."""
        return -(-self.data_bytes // self.block)

    def made(self) -> bytes:
        """Return the beginning of the file, up to the data."""
        sums = (
            self.sums if self.sums is not None else np.zeros(self.blocks(), np.uint32)
        )
        notes = {
            "format": "pt",  # Hugging Face's tools need it
            "dtensor.version": VERSION,
            "dtensor.save": self.save,
            "dtensor.file": self.place,
            "dtensor.block": str(self.block),
            "dtensor.crc32c": "".join(f"{s:08x}" for s in sums.tolist()),
            "dtensor.header_crc32c": "0" * 8,
            "dtensor.dtypes": _json({e.name: e.true for e in self.entries if e.true}),
            "dtensor.values": _json(self.values),
            "dtensor.paths": _json(self.paths),
        }
        text = _json({NOTES: notes} | {e.name: _told(e) for e in self.entries})
        header = text.encode()
        header += b" " * (-len(header) % 8)
        if len(header) > MOST:
            raise ValueError(
                f"the header has {len(header)} bytes; at most {MOST} are allowed"
            )
        made = len(header).to_bytes(LENGTH, "little") + header
        at = made.index(_HEADER_SUM) + len(_HEADER_SUM)
        return made[:at] + b"%08x" % _C.crc32c(made) + made[at + 8 :]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _told(entry: Entry) -> dict[str, Any]:
    return {
        "dtype": entry.stored,
        "shape": entry.stored_shape,
        "data_offsets": [entry.begin, entry.end],
    }


# --- reading --------------------------------------------------------------------------


def read_header(fd: int) -> tuple[Header, str]:
    """Return the header of a file, and a text that identifies this file.

    Raises
    ------
    ValueError
        If the file is not a safetensors file, is truncated, or is damaged.
    OSError
        If it cannot be read.
    """
    size = os.fstat(fd).st_size
    length = os.pread(fd, LENGTH, 0)
    count = int.from_bytes(length, "little")
    if len(length) < LENGTH or count > size - LENGTH:
        raise ValueError("not a safetensors file, or truncated: the header is missing")
    if count > MOST:
        raise ValueError(f"the header has {count} bytes; at most {MOST} are allowed")
    text = os.pread(fd, count, LENGTH)
    if len(text) < count:
        raise ValueError("truncated while it was read")
    base = LENGTH + count
    tensors, notes = _C.parse_safetensors(text, size - base)
    ours = {key: text for key, text in notes.items() if key.startswith(_PREFIX)}
    if not ours:
        sum_ = _C.crc32c(text)
        return Header(_entries(tensors, {}), None, base=base), f"{size} {sum_:08x}"
    if ours.get("dtensor.version", VERSION) != VERSION:
        raise ValueError(f"format version {ours['dtensor.version']} is not supported")
    if ours.keys() != _KEYS:
        raise ValueError("damaged: dtensor's metadata are incomplete or unknown")
    _check_header(length + text, ours["dtensor.header_crc32c"])
    header = _header(tensors, ours, base)
    return header, f"{header.save} {header.place} {ours['dtensor.header_crc32c']}"


def _check_header(text: bytes, told: str) -> None:
    at = text.find(_HEADER_SUM) + len(_HEADER_SUM)
    zeroed = text[:at] + b"0" * 8 + text[at + 8 :]
    if text.count(_HEADER_SUM) != 1 or f"{_C.crc32c(zeroed):08x}" != told:
        raise ValueError("damaged: the CRC-32C of the header does not match")


def _entries(tensors: Sequence[Any], dtypes: dict[str, str]) -> list[Entry]:
    return [
        Entry(name, stored, dtypes.get(name), shape, begin, end)
        for name, stored, shape, begin, end in tensors
    ]


def _header(tensors: Sequence[Any], notes: dict[str, str], base: int) -> Header:
    """Return a header of ours. Its checksum is right, but others may have made it."""
    try:
        dtypes, values, paths = (
            json.loads(notes[_PREFIX + key]) for key in ("dtypes", "values", "paths")
        )
        header = Header(
            _entries(tensors, _texts(dtypes)),
            np.frombuffer(bytes.fromhex(notes["dtensor.crc32c"]), ">u4").astype(
                np.uint32
            ),
            notes["dtensor.save"],
            notes["dtensor.file"],
            _texts(values),
            _paths(paths, len(tensors) + len(values)),
            int(notes["dtensor.block"]),
            base,
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"invalid dtensor metadata: {error}") from error
    assert header.sums is not None
    most = max(BLOCK, header.data_bytes)
    if not 0 < header.block <= most or len(header.sums) != header.blocks():
        raise ValueError("invalid dtensor metadata: blocks and checksums")
    return header


def _texts(value: Any) -> dict[str, str]:
    if isinstance(value, dict) and all(isinstance(v, str) for v in value.values()):
        return value
    raise TypeError("not an object of texts")


def _paths(value: Any, leaves: int) -> dict[str, Path]:
    """Return checked paths: a list has at most as many places as there are leaves."""

    def is_key(key: Any) -> bool:
        if isinstance(key, list):
            return len(key) == 1 and type(key[0]) is int and 0 <= key[0] < leaves
        return type(key) in (str, int)

    if isinstance(value, dict) and all(
        isinstance(path, list) and path and all(map(is_key, path))
        for path in value.values()
    ):
        return value
    raise TypeError("not an object of paths")
