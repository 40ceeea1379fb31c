"""Where a checkpoint is stored, and how a new one replaces it in one step.

A path is that of a file (``.safetensors``) or of a directory. A directory has one file,
``model.safetensors``, or several files and ``model.safetensors.index.json``, which
names them. If there is an index, it decides. So a new checkpoint takes effect with one
rename, of the file or of the index; or, if one file replaces several, with the removal
of the index.
"""

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from dtensor import _C

__all__ = ["Place", "files_of", "index_text", "opened", "sync_directory"]

FILE = "model.safetensors"
INDEX = "model.safetensors.index.json"
TORCH_FILE = "pytorch_model.bin"  # of older releases of Hugging Face's tools
TORCH_INDEX = "pytorch_model.bin.index.json"
ONE_OF_SEVERAL = re.compile(r"model-([0-9a-f]{16})-\d{5}-of-\d{5}\.safetensors")
TEMPORARY = re.compile(r"\.tmp-([0-9a-f]{16})-.*")
_SUM = '"dtensor.crc32c":"'
MOST = 100_000_000  # bytes of an index, at most


class Place:
    """Where a new checkpoint is written, and where it is moved at the end.

    Parameters
    ----------
    path : str
        The path of a file or a directory.
    token : str
        16 hexadecimal digits that no other save uses.
    single : bool
        Whether it is the path of one file, or of a folder that is replaced as one,
        whatever its name ends in.
    """

    def __init__(self, path: str, token: str, single: bool = False) -> None:
        self.single = single or path.endswith((".safetensors", ".npy"))
        self.directory = (os.path.dirname(path) or ".") if self.single else path
        self.file = os.path.basename(path) if self.single else FILE
        self.token = token

    @property
    def prefix(self) -> str:
        """The prefix of the paths of all temporary files."""
        return os.path.join(self.directory, f".tmp-{self.token}-")

    def names(self, count: int) -> list[str]:
        """Return the final names of the files."""
        if count == 1:
            return [self.file]
        return [
            f"model-{self.token}-{k + 1:05}-of-{count:05}.safetensors"
            for k in range(count)
        ]

    def temporary(self, name: str) -> str:
        """Return the path under which a file is written."""
        return self.prefix + name

    # --- what one rank does for all ---------------------------------------------------

    def begin(self) -> int:
        """Make the directory, remove the files of killed saves, mark ours as alive.

        Returns
        -------
        int
            A file descriptor. As long as it is open, no other save removes our files.
        """
        if not self.single and not os.path.isdir(self.directory):
            os.makedirs(self.directory, exist_ok=True)
            sync_directory(os.path.dirname(os.path.abspath(self.directory)))
        self.clear()
        while True:
            lock = os.open(self.prefix + "lock", os.O_CREAT | os.O_RDWR, 0o600)
            with suppress(OSError):  # without locks no save removes files
                fcntl.flock(lock, fcntl.LOCK_EX)
                if os.fstat(lock).st_nlink == 0:  # another save has removed it
                    os.close(lock)
                    continue
            return lock

    def clear(self) -> None:
        """Remove temporary files of saves that have ended."""
        left = [
            match
            for match in map(TEMPORARY.fullmatch, os.listdir(self.directory))
            if match
        ]
        for token in {match[1] for match in left} - {self.token}:
            with self._held(token) as dead:
                for match in left:
                    if dead and match[1] == token:
                        self._remove(match[0])

    @contextmanager
    def _held(self, token: str) -> Iterator[bool]:
        """Yield whether a save has ended; its lock is held meanwhile."""
        try:
            lock = os.open(
                os.path.join(self.directory, f".tmp-{token}-lock"), os.O_RDWR
            )
        except OSError as error:
            yield isinstance(error, FileNotFoundError)
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            dead = os.fstat(lock).st_nlink > 0  # else another save is removing it
        except OSError:
            dead = False
        try:
            yield dead
        finally:
            os.close(lock)

    def commit(self, names: Sequence[str], index: str) -> None:
        """Put the new files, which are on the disk, in the place of the old ones."""
        for name in names:
            os.rename(self.temporary(name), os.path.join(self.directory, name))
        sync_directory(self.directory)
        if len(names) > 1:
            self._write_index(index)
        elif not self.single:
            self._remove(INDEX)
        sync_directory(self.directory)
        if not self.single:
            self._remove_old(names)

    def _write_index(self, index: str) -> None:
        temporary = self.temporary(INDEX)
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(index)
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, os.path.join(self.directory, INDEX))

    def _remove_old(self, names: Sequence[str]) -> None:
        """Remove the files of the previous checkpoint: those that no index names."""
        for name in os.listdir(self.directory):
            if name not in names and (name == FILE or ONE_OF_SEVERAL.fullmatch(name)):
                self._remove(name)

    def end(self, lock: int) -> None:
        """Remove leftover files of this save; the next one removes what remains."""
        with suppress(OSError):
            for name in os.listdir(self.directory):
                match = TEMPORARY.fullmatch(name)
                if match and match[1] == self.token and not name.endswith("-lock"):
                    self._remove(name)
            self._remove(os.path.basename(self.prefix) + "lock")
        os.close(lock)

    def _remove(self, name: str) -> None:
        path = os.path.join(self.directory, name)
        with suppress(FileNotFoundError):
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)


def sync_directory(path: str) -> None:
    """Flush the names in a directory to the disk."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


# --- the index ------------------------------------------------------------------------


def index_text(files: dict[str, str], total: int, save: str) -> str:
    """Return the index in the form of Hugging Face's tools, with its own checksum."""
    index = {
        "metadata": {
            "total_size": total,
            "dtensor.save": save,
            "dtensor.crc32c": "0" * 8,
        },
        "weight_map": files,
    }
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    at = text.index(_SUM) + len(_SUM)
    return f"{text[:at]}{_C.crc32c(text.encode()):08x}{text[at + 8 :]}"


def files_of(path: str) -> tuple[list[str], dict[str, str] | None, str | None]:
    """Return the files of a checkpoint and, from its index, their tensors and the save.

    Raises
    ------
    FileNotFoundError
        If there is no checkpoint.
    ValueError
        If the index is not valid, or is damaged.
    """
    if not os.path.isdir(path):
        if not os.path.exists(path):
            raise FileNotFoundError(f"no checkpoint at {path}")
        if not path.endswith(".json"):
            return [path], None, None
        path, index = os.path.split(path)
    else:
        there = set(os.listdir(path))
        found = [n for n in (INDEX, FILE, TORCH_INDEX, TORCH_FILE) if n in there]
        index = found[0] if found else INDEX
        if found and not index.endswith(".json"):
            return [os.path.join(path, index)], None, None
    try:
        with open(os.path.join(path, index), "rb", opener=opened) as file:
            data = file.read(MOST + 1)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"no checkpoint in {path}: neither {FILE} nor {INDEX} is there"
        ) from None
    files, save = _read_index(data)
    return (
        [os.path.join(path, name) for name in sorted(set(files.values()))],
        files,
        save,
    )


def opened(path: str, flags: int = os.O_RDONLY) -> int:
    """Open a file; if it is a pipe, do not wait for a writer."""
    return os.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK)


def _read_index(data: bytes) -> tuple[dict[str, str], str | None]:
    try:
        if len(data) > MOST:
            raise ValueError("it is too long")
        text = data.decode()
        index = json.loads(text, object_pairs_hook=_unique)
        files, notes = index["weight_map"], index.get("metadata") or {}
        if not all(map(_is_file, files.values())):
            raise ValueError("it names something other than files in its directory")
        if any(key.startswith("dtensor.") for key in notes):
            _check_index(text, notes)
        return files, notes.get("dtensor.save")
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"{INDEX} is not an index, or is damaged: {error!r}"
        ) from error


def _check_index(text: str, notes: dict[str, str]) -> None:
    at = text.find(_SUM) + len(_SUM)
    zeroed = text[:at] + "0" * 8 + text[at + 8 :]
    if (
        text.count(_SUM) != 1
        or "dtensor.save" not in notes
        or f"{_C.crc32c(zeroed.encode()):08x}" != notes["dtensor.crc32c"]
    ):
        raise ValueError("its CRC-32C does not match")


def _unique(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key appears twice")
    return made


def _is_file(name: object) -> bool:
    """Whether a name is that of a file with tensors in the same directory."""
    return (
        isinstance(name, str)
        and name.endswith((".safetensors", ".bin"))
        and not set(name) & {"/", "\\", "\0"}
        and name == os.path.basename(name)
    )
