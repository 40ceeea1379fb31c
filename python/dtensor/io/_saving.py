"""A save of arrays: prepare, agree, communicate, write, publish."""

import os
import re
import secrets
import shutil
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from dtensor import _C
from dtensor._C import DTensor, Tensor
from dtensor.checkpoint._place import Place, sync_directory
from dtensor.checkpoint._plan import array_of, digest_of
from dtensor.checkpoint._ranks import WorldRanks, checked, ranks_of, together
from dtensor.placement_types import Replicate, Shard

__all__ = ["Format", "as_arrays", "native", "reduced", "save"]

TOKEN = 16  # characters
Arrays = Mapping[str, Any]


class Format(Protocol):
    """What a kind of file does in a save."""

    def check(self, path: str, arrays: Arrays) -> str:
        """Return what all ranks must want alike; raise if it cannot be done."""
        ...

    def create(self, path: str, arrays: Arrays) -> bytes:
        """Make the file without elements, on one rank; tell the others about it."""
        ...

    def parts(self, arrays: Arrays, ranks: WorldRanks) -> Any:
        """Return what this rank writes. Collective."""
        ...

    def write(self, path: str, told: bytes, parts: Any) -> None:
        """Write it; other ranks write theirs at the same time."""
        ...


def native(dtype: np.dtype[Any], kind: str) -> np.dtype[Any]:
    """Return a dtype of numbers in the byte order of this machine.

    Raises
    ------
    TypeError
        If it is another one, such as bfloat16.
    """
    if dtype.kind not in "biufc" or dtype.hasobject:
        raise TypeError(
            f"{kind} has no elements of dtype {dtype}: convert the array first, as in "
            'x.astype("float32")'
        )
    return dtype.newbyteorder("=")


def reduced(x: DTensor) -> DTensor:
    """Return a tensor without pending sums, reduced to rows. Collective."""
    if not x.layout.is_partial:
        return x.detach()
    dim = next((d for d, length in enumerate(x.shape) if length != 1), None)
    to = Replicate() if dim is None else Shard(dim)
    target = [to if p.is_partial() else p for p in x.placements]
    return x.detach().redistribute(placements=target)


def save(path: str, arrays: Arrays, what: str, form: Format) -> None:
    """Save arrays as one file or folder. Collective over their mesh, or all ranks."""
    meshes = [x.device_mesh for x in arrays.values() if isinstance(x, DTensor)]
    if any(mesh != meshes[0] for mesh in meshes):
        raise ValueError(f"{what}: the DTensors must be on one mesh")
    ranks = ranks_of(meshes[0] if meshes else None, False, what)
    if isinstance(ranks, WorldRanks) and ranks.rank >= 0:
        _Save(path, arrays, ranks, what, form).run()


class _Save:
    """A save that is going on."""

    def __init__(
        self, path: str, arrays: Arrays, ranks: WorldRanks, what: str, form: Format
    ) -> None:
        self.arrays, self.ranks, self.what, self.form = arrays, ranks, what, form
        self.place = Place(path, secrets.token_hex(TOKEN // 2), single=True)
        self.path = path
        self.lock = -1

    def run(self) -> None:
        ranks, what = self.ranks, self.what
        try:
            told = together(ranks, what, self._begin)
            made = together(ranks, what, lambda: self._create(told))[0]
            parts: list[Any] = []
            together(
                ranks, what, lambda: parts.append(self.form.parts(self.arrays, ranks))
            )
            together(ranks, what, lambda: self._write(made, parts[0]))
            together(ranks, what, self._publish)
        finally:
            if self.lock >= 0:
                self.place.end(self.lock)

    def _begin(self) -> bytes:
        wanted = [self.form.check(self.path, self.arrays)]
        for name, x in self.arrays.items():
            wanted.append(f"{name!r} {x.dtype} {tuple(x.shape)}")
            if checked(self.ranks):
                is_plain = not isinstance(x, DTensor)
                wanted.append(digest_of(array_of(x)) if is_plain else _lineage(x))
        if self.ranks.rank == 0:
            self.lock = self.place.begin()
        return (self.place.token + "\n".join(wanted)).encode()

    def _create(self, told: list[bytes]) -> bytes:
        if len({text[TOKEN:] for text in told}) > 1:
            raise ValueError(
                "the arrays are not the same on all ranks; a DTensor must come from "
                "the same calls, what is not one must be equal everywhere"
            )
        self.place = Place(self.path, told[0][:TOKEN].decode(), single=True)
        self.temporary = self.place.temporary(self.place.file)
        if self.ranks.rank:
            return b""
        return self.form.create(self.temporary, self.arrays)

    def _write(self, told: bytes, parts: Any) -> None:
        self.form.write(self.temporary, told, parts)

    def _publish(self) -> None:
        if self.ranks.rank:
            return
        if not os.path.isdir(self.temporary):
            self.place.commit([self.place.file], "")
            return
        # A folder is not replaced by another one: the old one gets another name.
        folder, file = self.place.directory, self.place.file
        old = os.path.join(folder, f".old-{self.place.token}-{file}")
        is_new = not os.path.lexists(self.path)
        if not is_new:
            os.rename(self.path, old)
        try:
            os.rename(self.temporary, self.path)
        except OSError:
            if not is_new:
                os.rename(old, self.path)
            raise
        sync_directory(folder)
        for name in os.listdir(folder):  # also of a save that was killed here
            if re.fullmatch(rf"\.old-[0-9a-f]{{{TOKEN}}}-{re.escape(file)}", name):
                shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


def as_arrays(x: Any, name: str) -> dict[str, Any]:
    """Return arrays by their names, in the byte order of this machine."""
    given = x if isinstance(x, Mapping) else {name: x}
    return {key: _native(value) for key, value in given.items()}


def _native(x: Any) -> Any:
    if isinstance(x, Tensor):
        return x
    array = np.asarray(x)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _lineage(x: DTensor) -> str:
    return f"{_C.lineage(x):x}"
