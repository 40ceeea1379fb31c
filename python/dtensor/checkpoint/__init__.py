"""What is needed to describe the parts of a DTensor in files."""

from dtensor.checkpoint.metadata import ChunkStorageMetadata

__all__ = ["ChunkStorageMetadata"]
