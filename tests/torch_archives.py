"""Files of torch.save as their members, for tests that alter them."""

import io
import sys
from pathlib import Path

import dtensor.torch as torch
from dtensor._torchfile import Archive, write

DATA = Path(__file__).parent / "data"
FILE = DATA / "torch_files.pt"
sys.path.insert(0, str(DATA))
import torch_files as program  # noqa: E402

__all__ = ["DATA", "FILE", "archive", "loaded", "members_of", "program"]


def members_of(file):
    """The bytes of the members of an open file, by name."""
    archive = Archive(file)
    return {name: archive.array(name).tobytes() for name in archive.members}


def archive(members=(), **replaced):
    """A file with a pickle, data and whatever else, whose checksums are right."""
    given = {"data.pkl": b"", "version": b"3\n"} | dict(members)
    file = io.BytesIO()
    write(file, "x", (given | replaced).items())
    return file.getvalue()


def loaded(data):
    """What some bytes hold as a file."""
    return torch.load(io.BytesIO(data))
