"""The steps of one save: prepare, agree, write, publish."""

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._C import DTensor
from dtensor._core import world
from dtensor.checkpoint._dtypes import raw_bytes
from dtensor.checkpoint._header import Header
from dtensor.checkpoint._pieces import copied, piece
from dtensor.checkpoint._place import Place, index_text
from dtensor.checkpoint._plan import (
    Seen,
    array_of,
    compare_copies,
    digest_of,
    files_for,
    merged,
    metadata_of,
    seen,
)
from dtensor.checkpoint._progress import Progress
from dtensor.checkpoint._ranks import Alone, Ranks, WorldRanks, checked, together
from dtensor.checkpoint.metadata import Metadata
from dtensor.device_mesh import DeviceMesh
from dtensor.ops._make.composite import within

__all__ = ["Piece", "Save"]

# The file, the offset in its data, and the bytes.
Piece = tuple[int, int, npt.NDArray[Any]]
TOKEN = 16  # characters


class Save:
    """One save on one rank.

    Parameters
    ----------
    what : str
        The call, for error messages.
    path : str
    ranks : Ranks
        The ranks that save together.
    most : int
        The most bytes of a file.
    progress : bool
        Whether rank 0 shows a progress bar.
    """

    def __init__(
        self, what: str, path: str, ranks: Alone | WorldRanks, most: int, progress: bool
    ) -> None:
        self.what, self.path, self.most = what, path, most
        self.ranks: Ranks = ranks
        self.numbers = ranks.numbers
        self.alone = isinstance(ranks, Alone)
        self.check = checked(ranks)
        self.progress = progress and ranks.rank == 0
        self.lock = -1
        self.failed: list[Exception] = []

    # --- prepare ----------------------------------------------------------------------

    def prepare(self, state: Mapping[Any, Any]) -> None:
        """Agree on what is saved and where. Collective."""
        mine = Seen.nothing()
        token = secrets.token_hex(TOKEN // 2)

        def see() -> bytes:
            nonlocal mine
            mine, self.leaves = seen(state, self.check)
            if self.alone:
                self.leaves = {k: _plain(k, leaf) for k, leaf in self.leaves.items()}
                mine.meshes.clear()
            if self.ranks.rank == 0:
                self.place = Place(self.path, token)
                self.lock = self.place.begin()
            return token.encode() + hashlib.sha256(mine.text()).digest()

        first = together(self.ranks, self.what, see)
        self.place = Place(self.path, first[0][:TOKEN].decode())
        same = len({answer[TOKEN:] for answer in first}) == 1
        texts = [mine.text()] if same else self.ranks.share(mine.text())
        digests = together(self.ranks, self.what, lambda: self._arrange(texts))
        told = [json.loads(answer) for answer in digests]
        if self.check and self.plan.copies:
            together(self.ranks, self.what, lambda: self._compare(told))
        if self._parted(told):
            together(self.ranks, self.what, lambda: self._compare_values(told))

    def _arrange(self, texts: list[bytes]) -> bytes:
        """Plan from what each rank has; return digests of what several meshes have, and
        of how what is on each mesh came to be."""
        parts = [Seen(**json.loads(text)) for text in texts]
        self.plan = plan = merged(parts, self.numbers)
        self.files = files_for(plan, self.place.token, self.most)
        self.names = self.place.names(1 if self.place.single else len(self.files))
        mine = self.leaves.keys() & plan.copies if self.check else ()
        copies = {name: digest_of(array_of(self.leaves[name])) for name in mine}
        values = {
            key: digest_of(self._lineages(names))
            for key, (_, names) in self._meshes().items()
        }
        return json.dumps({"copies": copies, "values": values}).encode()

    def _compare(self, told: list[Any]) -> None:
        digests = [each["copies"] for each in told]
        compare_copies(self.plan, dict(zip(self.numbers, digests, strict=True)))

    # --- values: how DTensors came to be, compared among the ranks of their mesh ------

    def _meshes(self) -> dict[str, tuple[DeviceMesh, list[str]]]:
        """Return the meshes that this rank is in, and the DTensors on each."""
        found: dict[str, tuple[DeviceMesh, list[str]]] = {}
        for name, leaf in sorted(self.leaves.items() if self.check else ()):
            if (
                isinstance(leaf, DTensor)
                and leaf.device_mesh.get_coordinate() is not None
            ):
                mesh = leaf.device_mesh
                _, names = found.setdefault(str(mesh.ranks.tolist()), (mesh, []))
                names.append(name)
        return found

    def _lineages(self, names: list[str]) -> npt.NDArray[np.uint64]:
        return np.array([_C.lineage(self.leaves[name]) for name in names], np.uint64)

    def _parted(self, told: list[Any]) -> list[str]:
        """Return the meshes whose ranks have different values."""
        found: dict[str, set[str]] = {}
        for each in told:
            for key, digest in each["values"].items():
                found.setdefault(key, set()).add(digest)
        return sorted(key for key, digests in found.items() if len(digests) > 1)

    def _compare_values(self, told: list[Any]) -> None:
        """Raise on the ranks of such a mesh; the first DTensor that differs is named.

        Raises
        ------
        RuntimeError
            With the calls at which the ranks parted.
        """
        mine = self._meshes()
        for key in filter(mine.__contains__, self._parted(told)):
            mesh, names = mine[key]
            data = self._lineages(names).tobytes()
            shared = world.current().share(data, mesh, self.what)
            rows = np.array([np.frombuffer(row, np.uint64) for row in shared])
            name = names[int(np.argmax((rows != rows[0]).any(axis=0)))]
            what = f"{self.what} of {name!r}"
            with within(what, self.leaves[name]):
                world.current().agree(b"", what, None, mesh)

    # --- write ------------------------------------------------------------------------

    def pieces(self, copy: bool = False) -> Iterator[Piece]:
        """Yield what this rank writes, or copies of it. Collective. Failures are raised
        later, so that no rank misses a redistribution."""
        number = self.numbers[self.ranks.rank]
        for k, file in enumerate(self.files):
            for entry in file.entries:
                if entry.name not in self.leaves:
                    continue
                leaf = self.leaves[entry.name]
                try:
                    part = piece(leaf, self.plan.owners[entry.name], number)
                    if part is not None and copy:
                        part = part[0], copied(part[1], leaf)
                except Exception as error:
                    self.failed.append(error)
                    continue
                if part is not None:
                    yield k, entry.begin + part[0], part[1]

    def staged(self) -> list[Piece]:
        """Return copies of what this rank writes. Collective."""
        copies: list[Piece] = []

        def stage() -> None:
            copies.extend(self.pieces(copy=True))
            self._done()

        together(self.ranks, self.what, stage)
        self.leaves = {}
        return copies

    def _done(self) -> None:
        if self.failed:
            raise self.failed[0]

    def write(self, pieces: Iterable[Piece]) -> bytes:
        """Write pieces and flush them to disk; return what they add to checksums."""
        total = sum(file.data_bytes for file in self.files) // self.ranks.size
        bar = Progress(self.what, total, self.progress)
        sums = [np.zeros(file.blocks(), np.uint32) for file in self.files]
        fds: dict[int, int] = {}
        try:
            for k, place, data in pieces:
                try:
                    if not self.failed:
                        self._write_piece(fds, sums, k, place, data)
                        bar.add(data.nbytes)
                except Exception as error:
                    self.failed.append(error)
            self._done()
            for fd in fds.values():
                os.fsync(fd)
        finally:
            for fd in fds.values():
                os.close(fd)
            bar.close()
        return b"".join(s.tobytes() for s in sums)

    def _write_piece(
        self,
        fds: dict[int, int],
        sums: list[npt.NDArray[np.uint32]],
        k: int,
        place: int,
        data: npt.NDArray[Any],
    ) -> None:
        if k not in fds:
            fds[k] = self._opened(k)
        file = self.files[k]
        raw = raw_bytes(data)
        _C.write_at(fds[k], file.base, place, raw, file.data_bytes, sums[k], file.block)

    def _opened(self, k: int) -> int:
        path = self.place.temporary(self.names[k])
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)

    # --- publish ----------------------------------------------------------------------

    def complete(self, pieces: Iterable[Piece], ranks: Ranks) -> Metadata:
        """Write the new checkpoint, and replace the old one by it. Collective."""
        self.ranks = ranks
        try:
            sums = together(ranks, self.what, lambda: self.write(pieces))
            together(ranks, self.what, lambda: self._publish(sums))
        finally:
            self.end()
        return metadata_of(self.files, self.names)

    def _publish(self, sums: list[bytes]) -> None:
        if self.ranks.rank > 0:
            return
        joined = np.bitwise_xor.reduce([np.frombuffer(s, np.uint32) for s in sums])
        ends = np.cumsum([file.blocks() for file in self.files])
        for k, part in enumerate(np.split(joined, ends[:-1])):
            self.files[k].sums = part
            self._write_header(k, self.files[k])
        where = {
            e.name: n
            for f, n in zip(self.files, self.names, strict=True)
            for e in f.entries
        }
        total = sum(file.data_bytes for file in self.files)
        self.place.commit(self.names, index_text(where, total, self.place.token))

    def _write_header(self, k: int, file: Header) -> None:
        fd = self._opened(k)
        try:
            header = memoryview(file.made())
            if len(header) != file.base:
                raise RuntimeError("the length of a header has changed")
            _C.write_at(fd, 0, 0, header, len(header), None, len(header))
            os.fsync(fd)
            if os.fstat(fd).st_size != file.base + file.data_bytes:
                raise OSError(
                    f"{self.names[k]} does not have the length that was written"
                )
        finally:
            os.close(fd)

    def end(self) -> None:
        """Remove leftover files of this save."""
        if self.lock >= 0:
            lock, self.lock = self.lock, -1
            self.place.end(lock)


def _plain(name: str, leaf: Any) -> Any:
    """Return a tensor that only this rank has.

    Raises
    ------
    ValueError
        If other ranks have parts of it.
    """
    if not isinstance(leaf, DTensor):
        return leaf
    if leaf.device_mesh.size() > 1 and not leaf.layout.is_replicated:
        raise ValueError(
            f"no_dist=True saves one rank, but other ranks have parts of {name!r}"
        )
    return array_of(leaf)
