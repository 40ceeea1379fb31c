"""Descriptions of stored tensors."""

from dataclasses import dataclass

__all__ = ["ChunkStorageMetadata"]


@dataclass(frozen=True)
class ChunkStorageMetadata:
    """One box of a tensor: what ``DTensor.__create_chunk_list__`` lists."""

    offsets: tuple[int, ...]
    """Index of its first element, in elements, per dimension."""
    sizes: tuple[int, ...]
    """Its lengths, in elements, per dimension."""
