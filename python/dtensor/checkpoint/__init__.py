"""Checkpoints in plain safetensors files: ``torch.distributed.checkpoint``.

All ranks write one file together, and read the parts that they need, in any layout. A
new checkpoint replaces the old one in one step.
"""

from dtensor.checkpoint.metadata import ChunkStorageMetadata  # dtensor._C needs it

# isort: split
from dtensor.checkpoint import state_dict
from dtensor.checkpoint.api import CheckpointException
from dtensor.checkpoint.default_planner import DefaultLoadPlanner, DefaultSavePlanner
from dtensor.checkpoint.filesystem import (
    FileSystemReader,
    FileSystemWriter,
    HuggingFaceStorageReader,
    HuggingFaceStorageWriter,
)
from dtensor.checkpoint.metadata import (
    BytesStorageMetadata,
    Metadata,
    TensorProperties,
    TensorStorageMetadata,
)
from dtensor.checkpoint.npy import load_npy, save_npy
from dtensor.checkpoint.pretrained import load_hf, read
from dtensor.checkpoint.state_dict_loader import load
from dtensor.checkpoint.state_dict_saver import async_save, save
from dtensor.checkpoint.stateful import Stateful

__all__ = [
    "BytesStorageMetadata",
    "CheckpointException",
    "ChunkStorageMetadata",
    "DefaultLoadPlanner",
    "DefaultSavePlanner",
    "FileSystemReader",
    "FileSystemWriter",
    "HuggingFaceStorageReader",
    "HuggingFaceStorageWriter",
    "Metadata",
    "Stateful",
    "TensorProperties",
    "TensorStorageMetadata",
    "async_save",
    "load",
    "load_hf",
    "load_npy",
    "read",
    "save",
    "save_npy",
    "state_dict",
]
