"""Files of ``torch.save``: zip archives of storages, and a pickle that names them.

The pickle is read by a machine of its own, which knows plain containers and tensors and
can call nothing else, and written by another one. Neither uses the module `pickle`.
`dtensor.torch` loads and saves with them, `dtensor.checkpoint` reads parts.
"""

from dtensor._torchfile.archive import Archive, Damaged, folder_of, write
from dtensor._torchfile.calls import Makes, Spec
from dtensor._torchfile.reader import read
from dtensor._torchfile.writer import Storage, dumps

__all__ = [
    "Archive",
    "Damaged",
    "Makes",
    "Spec",
    "Storage",
    "dumps",
    "folder_of",
    "read",
    "write",
]
