"""Which MPI is loaded, and the extension that was built for it.

MPI libraries are of few families; those of one family take the place of each other. The
extension of a binary wheel is there once for each family (``_C_openmpi``,
``_C_mpich``), and the one for the library that mpi4py has loaded is taken. Built from
source, it is one file (``_C``), for the MPI that it was built with.
"""

import importlib.machinery
import importlib.util
import re
import sys
from pathlib import Path

__all__ = ["NAME", "extensions", "family", "load_extension", "loaded"]

# The families, by the name of the library.
FAMILIES = {
    "libmpi.so.40": "Open MPI",
    "libmpi.so.12": "MPICH",
    "libmpich.so.12": "MPICH",
    "libmpi_abi.so.1": "the MPI standard's ABI",
}
NAME = r"libmpi(?:ch|_abi)?\.so\.\d+"
MODULES = {"_C_openmpi": "Open MPI", "_C_mpich": "MPICH"}


def family(library: str) -> str:
    """Return the family of an MPI library.

    Parameters
    ----------
    library : str
        The file's path or name.
    """
    name = re.match(NAME, Path(library).name)  # of libmpi.so.40.30.3 the first part
    return FAMILIES.get(name[0] if name else "", "an unknown MPI")


def loaded() -> list[str]:
    """Return the paths of the MPI libraries that this process has loaded."""
    try:
        text = Path("/proc/self/maps").read_text()
    except OSError:
        return []
    return [*dict.fromkeys(re.findall(rf"/\S*/{NAME}\S*", text))]


def extensions() -> dict[str, Path]:
    """Return a wheel's extensions by family; nothing where dtensor was built here."""
    folder = Path(__file__).parents[1]
    endings = importlib.machinery.EXTENSION_SUFFIXES
    files = {
        kind: folder / (name + ending)
        for name, kind in MODULES.items()
        for ending in reversed(endings)  # the most special one counts
    }
    return {kind: file for kind, file in files.items() if file.exists()}


def load_extension() -> None:
    """Import the ``dtensor._C`` for the MPI that is loaded, where there are several."""
    found = extensions()
    for library in loaded() if found else ():
        if file := found.get(family(library)):
            spec = importlib.util.spec_from_file_location("dtensor._C", file)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules["dtensor._C"] = module
            spec.loader.exec_module(module)
            return
