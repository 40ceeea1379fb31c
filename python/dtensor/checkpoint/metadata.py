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
    """One box of a tensor, as ``DTensor.__create_chunk_list__`` lists them."""

    offsets: tuple[int, ...]
    """Index of its first element, in elements, per dimension."""
    sizes: tuple[int, ...]
    """Its lengths, in elements, per dimension."""


@dataclass(frozen=True)
class TensorProperties:
    """Properties of a tensor other than its shape."""

    dtype: np.dtype[Any]


@dataclass(frozen=True)
class TensorStorageMetadata:
    """A tensor of a checkpoint; it is stored whole, so it is one chunk."""

    properties: TensorProperties
    size: tuple[int, ...]
    chunks: list[ChunkStorageMetadata]


@dataclass(frozen=True)
class BytesStorageMetadata:
    """A value of a checkpoint that is not a tensor."""


@dataclass(frozen=True)
class Metadata:
    """The contents of a checkpoint, as `save` returns them."""

    state_dict_metadata: dict[str, TensorStorageMetadata | BytesStorageMetadata]
    """By flattened name."""
    storage_data: dict[str, str] = field(default_factory=dict)
    """The file of each tensor."""
