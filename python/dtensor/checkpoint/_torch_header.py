"""Files of ``torch.save`` as checkpoints: where each tensor lies in the archive.

Storages lie uncompressed in the archive, so parts of a tensor are read by their
offsets, as from a safetensors file of another program. The checksums of the archive are
those of whole storages: a rank that reads a part cannot check them.
"""

import os
from collections.abc import Mapping
from math import prod
from pickle import UnpicklingError
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._C import Layout
from dtensor._core.device import device
from dtensor._core.dtype import dtype_of
from dtensor._torchfile import Archive, Makes, Spec, read
from dtensor.checkpoint._dtypes import ITEM_BYTES
from dtensor.checkpoint._header import Entry, Header, entry_of
from dtensor.checkpoint._names import as_json, flattened

__all__ = ["is_archive", "read_archive", "read_strided"]

MOST = 16  # times the size of the file: what its tensors may have together


def is_archive(fd: int) -> bool:
    """Whether a file begins as a zip archive."""
    return os.pread(fd, 4, 0) == b"PK\x03\x04"


def read_archive(fd: int) -> tuple[Header, str]:
    """Return what `read_header` does, for a file of ``torch.save``.

    Raises
    ------
    ValueError
        If it is damaged, or holds anything but a dict of tensors and plain values.
    """
    with open(os.dup(fd), "rb") as file:
        file.seek(0)
        try:
            archive = Archive(file)
            if archive.byteorder() != "little":
                raise ValueError("its numbers have the other order of bytes")
            text = archive.pickle()
            state = read(text, Makes(_leaf, _kept, dtype_of, tuple, device))
            _check_nesting(state, 4 * len(text))
            leaves = flattened(state)
            header = _header(archive, leaves)
        except (RuntimeError, UnpicklingError, TypeError) as error:
            raise ValueError(f"{error}") from error
        size = os.fstat(fd).st_size
        if sum(_bytes(entry) for entry in header.entries) > MOST * size:
            raise ValueError("its tensors are many times as large as the file")
        return header, f"{size} {archive.members['data.pkl'].crc:08x}"


def _leaf(spec: Spec) -> npt.NDArray[Any]:
    """Return a tensor of the file as a leaf that counts as one."""
    leaf = np.empty((), object)
    leaf[()] = spec
    return leaf


def _kept(data: Any, requires_grad: bool) -> Any:
    if not isinstance(data, np.ndarray):
        raise ValueError("a parameter that is not made of a tensor")
    return data


def _check_nesting(state: Any, most: int) -> None:
    """Refuse containers that hold each other more often than the pickle is long."""
    if not isinstance(state, Mapping):
        raise ValueError(f"it holds a {type(state).__name__}, and not a state dict")
    left, rest = most, [state]
    while rest:
        value = rest.pop()
        inner = value.values() if isinstance(value, Mapping) else value
        if isinstance(value, Mapping | list | tuple):
            left -= len(value)
            rest.extend(inner)
        if left < 0:
            raise ValueError("its containers hold each other too often")


def _header(archive: Archive, leaves: Mapping[str, Any]) -> Header:
    header = Header([], None)
    for name, (path, leaf) in leaves.items():
        if isinstance(leaf, np.ndarray):
            header.entries.append(_entry(archive, name, leaf.item()))
        else:
            header.values[name] = as_json(leaf)
        if path != [name]:
            header.paths[name] = path
    header.entries = sorted(header.entries, key=lambda entry: entry.end)
    return header


def _entry(archive: Archive, name: str, spec: Spec) -> Entry:
    """Return where a tensor lies; ValueError if that is not in its storage."""
    if spec.storage is None or spec.conj or spec.neg:
        raise ValueError(f"{name!r} has no data, or not as they are: see torch.load")
    to = dtype_of(spec.dtype)
    begin, size, _ = archive.member(f"data/{spec.storage.key}")
    empty = 0 in spec.shape
    pairs = list(zip(spec.shape, spec.strides, strict=True))
    if spec.end() * to.itemsize > size:
        raise ValueError(f"{name!r} is larger than its storage")
    at = begin + (0 if empty else spec.offset * to.itemsize)
    known = entry_of(name, to, spec.shape, at)
    if empty or _is_dense(pairs):
        return known
    steps = tuple(step * to.itemsize for step in spec.strides)
    end = begin + spec.end() * to.itemsize
    return Entry(name, known.stored, known.true, known.stored_shape, at, end, steps)


def _is_dense(pairs: list[tuple[int, int]]) -> bool:
    """Whether elements of such lengths and strides lie in C order, without gaps."""
    dense = 1
    for n, step in reversed(pairs):
        if n > 1 and step != dense:
            return False
        dense *= n
    return True


def _bytes(entry: Entry) -> int:
    return prod(entry.stored_shape) * ITEM_BYTES[entry.stored]


def read_strided(
    fd: int, entry: Entry, room: npt.NDArray[Any], layout: Layout | None
) -> None:
    """Read a part of a tensor that is not contiguous in the file.

    For a moment, the rank holds all of the file between its first element and its last.

    Raises
    ------
    ValueError
        If the file is truncated.
    """
    data = os.pread(fd, entry.end - entry.begin, entry.begin)
    if len(data) < entry.end - entry.begin:
        raise ValueError("the file is truncated")
    dtype, shape = entry.array()
    whole: npt.NDArray[Any] = np.ndarray(shape, dtype, data, 0, entry.strides)
    if layout is None:
        room[...] = whole
        return
    room[...] = _part(whole, layout)


def _part(whole: npt.NDArray[Any], layout: Layout) -> npt.NDArray[Any]:
    """Return what this rank holds: in each dim the ranges of its boxes, one by one."""
    boxes = layout.boxes()
    for dim in range(whole.ndim):
        ranges = sorted({(start[dim], count[dim]) for start, count in boxes})
        index = [np.arange(start, start + count) for start, count in ranges]
        whole = whole.take(np.concatenate([[], *index]).astype(np.intp), axis=dim)
    return whole
