"""Descriptions of stored tensors."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = [
    "BytesStorageMetadata",
    "ChunkStorageMetadata",
    "Metadata",
    "TensorProperties",
    "TensorStorageMetadata",
]


@dataclass(frozen=True)
class ChunkStorageMetadata:
    """One box of a tensor: what ``DTensor.__create_chunk_list__`` lists."""

    offsets: tuple[int, ...]
    """Index of its first element, in elements, per dimension."""
    sizes: tuple[int, ...]
    """Its lengths, in elements, per dimension."""


@dataclass(frozen=True)
class TensorProperties:
    """What is known of a tensor besides its shape."""

    dtype: np.dtype[Any]


@dataclass(frozen=True)
class TensorStorageMetadata:
    """A tensor of a checkpoint; it is stored whole, so it is one chunk."""

    properties: TensorProperties
    size: tuple[int, ...]
    chunks: list[ChunkStorageMetadata]


@dataclass(frozen=True)
class BytesStorageMetadata:
    """A value of a checkpoint that is no tensor."""


@dataclass(frozen=True)
class Metadata:
    """What a checkpoint holds: what `save` returns."""

    state_dict_metadata: dict[str, TensorStorageMetadata | BytesStorageMetadata]
    """By flattened name."""
    storage_data: dict[str, str] = field(default_factory=dict)
    """The file of each tensor."""
