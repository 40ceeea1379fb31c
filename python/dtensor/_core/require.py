"""Libraries that only some functions need."""

import importlib
from typing import Any

__all__ = ["require"]


def require(extra: str, module: str | None = None) -> Any:
    """Return the module of an optional dependency.

    Parameters
    ----------
    extra : str
        The extra of this package that installs it: ``pip install dtensor-mpi[extra]``.
    module : str, optional
        The module to import; default: `extra`.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed, with the command that installs it. On this rank only.
    """
    name = module or extra
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != name.split(".")[0]:
            raise
        raise ModuleNotFoundError(
            f"{name} is not installed: pip install 'dtensor-mpi[{extra}]'",
            name=error.name,
        ) from None
