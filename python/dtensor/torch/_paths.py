"""Modules that only have names of others: PyTorch's files, by which scripts import.

A table says which names each has; there is no file for it.
"""

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

__all__ = ["add_paths"]


def add_paths(
    package: str, room: Mapping[str, Any], files: Mapping[str, str]
) -> dict[str, ModuleType]:
    """Make modules of a package that have some of its names.

    Parameters
    ----------
    package : str
        The package's own name, ``dtensor.torch.optim``.
    room : mapping
        What there is, by name; a missing name is left out.
    files : mapping
        For each module the names that it has, separated by spaces.

    Returns
    -------
    dict
        The modules, which can be imported from now on, by their short names.
    """
    made = {}
    for file, names in files.items():
        path = package.removeprefix("dtensor.")
        module = ModuleType(f"{package}.{file}", f"``{path}.{file}``.")
        known = [name for name in names.split() if name in room]
        vars(module).update({name: room[name] for name in known}, __all__=known)
        sys.modules[module.__name__] = made[file] = module
    return made
