"""The ranks that save or load together: if one fails, all of them raise."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from dtensor._core import world
from dtensor.checkpoint.api import CheckpointException, described, remade
from dtensor.device_mesh import DeviceMesh

__all__ = [
    "FileRanks",
    "Ranks",
    "WorldRanks",
    "checked",
    "ranks_of",
    "timeout_of",
    "together",
    "world_rank",
]

Group = DeviceMesh | world.MPI.Comm | None


class Ranks(Protocol):
    """A group of ranks, in which this rank has a number."""

    @property
    def rank(self) -> int: ...
    @property
    def size(self) -> int: ...
    def share(self, data: bytes) -> list[bytes]:
        """Send bytes to all ranks, and return those of every rank. Collective."""
        ...


class Alone:
    """This rank alone: ``no_dist=True``."""

    rank, size = 0, 1
    numbers = (0,)

    def share(self, data: bytes) -> list[bytes]:
        return [data]


class WorldRanks:
    """The ranks of a mesh, or of the world, in a call."""

    def __init__(self, mesh: DeviceMesh | None, what: str) -> None:
        self.world = world.current()
        self.what = what
        self.mesh = mesh
        ranks = list(range(self.world.size)) if mesh is None else mesh.ranks.ravel()
        self.numbers = [int(rank) for rank in ranks]
        self.rank = (
            self.numbers.index(self.world.rank)
            if self.world.rank in self.numbers
            else -1
        )
        self.size = len(self.numbers)

    def share(self, data: bytes) -> list[bytes]:
        return self.world.share(data, self.mesh, self.what)

    def agree(self) -> None:
        """Raise on all ranks if their calls differ."""
        self.world.agree(self.what.encode(), self.what, None, self.mesh)


def ranks_of(group: Group, no_dist: bool, what: str) -> Alone | WorldRanks:
    """Return the ranks of a call, after they agreed on it; rank -1 is outside them."""
    if no_dist:
        return Alone()
    if isinstance(group, world.MPI.Comm):
        group = DeviceMesh.from_group(group, "cpu")
    ranks = WorldRanks(group, what)
    if ranks.rank >= 0:
        ranks.agree()
    return ranks


def together(ranks: Ranks, what: str, work: Callable[[], bytes | None]) -> list[bytes]:
    """Return what `work` returns on each rank, b"" for None, or raise on all of them.

    Raises
    ------
    CheckpointException
        If `work` failed on some rank.
    """
    mine: BaseException | None = None
    try:
        answer = b"+" + (work() or b"")
    except BaseException as error:
        mine = error
        answer = b"-" + described(error)
    answers = ranks.share(answer)
    failures = {
        rank: remade(answer[1:])
        for rank, answer in enumerate(answers)
        if answer[:1] == b"-"
    }
    if mine is not None:
        if not isinstance(mine, Exception):
            raise mine  # such as KeyboardInterrupt
        failures[ranks.rank] = mine
    if failures:
        raise CheckpointException(what, failures) from mine
    return [answer[1:] for answer in answers]


# --- ranks that may not use MPI -------------------------------------------------------

POLL_SECONDS = (0.001, 0.05)  # the first pause, and the longest
SILENCE = b"-" + described(OSError("its answer cannot be written: is the disk full?"))


class FileRanks:
    """The same ranks in background threads, which communicate through small files.

    Used for background work while the ranks themselves compute and send. The names of
    the files begin with `prefix`; all files are removed at the end. A full disk still
    has room for an empty file, and a rank without a file descriptor can make a
    directory: either says that its rank failed. For its answers each rank keeps a file
    descriptor in reserve, so that it can say why.

    Raises
    ------
    OSError
        If there is no file descriptor to keep.
    """

    def __init__(self, prefix: str, rank: int, size: int, timeout: float) -> None:
        self.prefix = prefix
        self.rank, self.size = rank, size
        self.timeout = timeout
        self.round = 0
        self.spare = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def close(self) -> None:
        """Give the file descriptor in reserve back."""
        if self.spare >= 0:
            os.close(self.spare)
            self.spare = -1

    def share(self, data: bytes) -> list[bytes]:
        """Rank 0 joins what the others wrote, and finally removes the joined file."""
        self.round += 1
        joined = f"{self.prefix}{self.round}-all"
        silence = [SILENCE] + [b"+"] * (self.size - 1)  # of rank 0
        if self.rank > 0:
            mine = self._part(self.rank)
            self._write(mine, data)
            answers = _unjoined(self._awaited(joined, [0])) or silence
            self._remove(mine)
            return answers
        parts = [data] + [
            self._awaited(self._part(rank), [rank]) or SILENCE
            for rank in range(1, self.size)
        ]
        told = self._write(
            joined, b"".join(len(p).to_bytes(8, "little") + p for p in parts)
        )
        with self._patience(range(1, self.size)) as pause:
            while any(os.path.exists(self._part(r)) for r in range(1, self.size)):
                pause()
        self._remove(joined)
        return parts if told else silence

    def _part(self, rank: int) -> str:
        return f"{self.prefix}{self.round}-{rank}"

    def _awaited(self, path: str, of: "list[int]") -> bytes:
        with self._patience(of) as pause:
            while True:
                try:
                    with open(path, "rb") as file:
                        return file.read()
                except FileNotFoundError:
                    pause()
                except IsADirectoryError:
                    return b""
                except OSError:
                    self.close()
                    pause()

    def _write(self, path: str, data: bytes) -> bool:
        """Write a file atomically, or else what says that this rank failed; return
        whether it worked."""
        for content in (data, data, b""):
            try:
                with open(path + "~", "wb") as file:
                    file.write(content)
                os.rename(path + "~", path)
                return len(content) > 0
            except OSError:
                self.close()
        os.mkdir(path)
        return False

    def _remove(self, path: str) -> None:
        """Remove what `_write` made; others wait for that."""
        with self._patience([self.rank]) as pause:
            while os.path.lexists(path):
                try:
                    os.rmdir(path) if os.path.isdir(path) else os.unlink(path)
                except OSError:
                    pause()

    @contextmanager
    def _patience(self, of: "range | list[int]") -> Iterator[Callable[[], None]]:
        end = time.monotonic() + self.timeout
        seconds, longest = POLL_SECONDS

        def pause() -> None:
            nonlocal seconds
            if time.monotonic() > end:
                raise RuntimeError(
                    f"rank {self.rank} waited {self.timeout:g} s for ranks "
                    f"{list(of)} in a background save"
                )
            time.sleep(seconds)
            seconds = min(2 * seconds, longest)

        yield pause


def _unjoined(data: bytes) -> list[bytes]:
    parts, at = [], 0
    while at < len(data):
        end = at + 8 + int.from_bytes(data[at : at + 8], "little")
        parts.append(data[at + 8 : end])
        at = end
    return parts


def timeout_of(ranks: "Alone | WorldRanks") -> float:
    """Return how long a rank waits for another one, in seconds."""
    return ranks.world.timeout if isinstance(ranks, WorldRanks) else 0.0


def checked(ranks: "Alone | WorldRanks") -> bool:
    """Whether the ranks compare data that must be equal on all of them."""
    return isinstance(ranks, WorldRanks) and ranks.size > 1 and ranks.world.check


def world_rank() -> int:
    """Return the number of this rank in the world."""
    return world.current().rank
