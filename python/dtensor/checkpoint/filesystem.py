"""Where a checkpoint is stored, as in ``torch.distributed.checkpoint``."""

import os
from typing import Any

__all__ = [
    "FileSystemReader",
    "FileSystemWriter",
    "HuggingFaceStorageReader",
    "HuggingFaceStorageWriter",
]

PathLike = str | os.PathLike[str]


class _Storage:
    """The path of a checkpoint."""

    def __init__(self, path: PathLike, *args: Any, **options: Any) -> None:
        self.path = os.fspath(path)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"


class FileSystemWriter(_Storage):
    """A path to save to; PyTorch's other options are accepted and ignored."""


class FileSystemReader(_Storage):
    """A path to load from."""


class HuggingFaceStorageWriter(FileSystemWriter):
    """The same: every checkpoint is a safetensors file."""


class HuggingFaceStorageReader(FileSystemReader):
    """The same: every checkpoint is a safetensors file."""


def path_of(
    checkpoint_id: PathLike | None, storage: FileSystemWriter | FileSystemReader | None
) -> str:
    """Return the path of a checkpoint.

    Raises
    ------
    ValueError
        If neither argument gives a path.
    TypeError
        If `storage` has no path.
    """
    if checkpoint_id is not None:
        return os.fspath(checkpoint_id)
    if storage is None:
        raise ValueError(
            "checkpoint_id is needed: the path of a directory, or of a file that ends "
            "in .safetensors"
        )
    if not isinstance(storage, _Storage):
        raise TypeError(
            f"{type(storage).__name__} is not a supported storage; pass "
            "checkpoint_id=path, a FileSystemWriter or a FileSystemReader"
        )
    return storage.path
