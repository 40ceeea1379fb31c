"""What NumPy's own functions write of DTensors: `save`, `savez`, `savetxt`."""

import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dtensor._C import DTensor, Tensor
from dtensor._core.nested import leaves, mapped
from dtensor.checkpoint._ranks import WorldRanks
from dtensor.checkpoint.npy import write_npy
from dtensor.io._saving import Arrays, save
from dtensor.ops._make.fallback import alone, fallback

__all__ = ["write"]

ENDINGS = {"save": ".npy", "savez": ".npz", "savez_compressed": ".npz"}


def write(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """Write one file of all ranks' parts. Collective over the mesh of the DTensors.

    As the functions of `dtensor.io`, it replaces an old file when the new one is
    complete, and raises on all ranks if it fails on one. `numpy.save` is
    `dtensor.checkpoint.save_npy`, and sends nothing. For the others, the first rank of
    the mesh gathers the arrays and writes the file, so it holds all of them.

    An open file is an object of its own on each rank: the arrays are gathered on every
    rank, with a `FallbackWarning`, and each writes to its file.

    Parameters
    ----------
    function : callable
        ``np.save``, ``np.savez``, ``np.savez_compressed`` or ``np.savetxt``.
    args, kwargs : tuple and mapping
        Of the call; a Tensor or DTensor is among them.
    """
    given = inspect.signature(function).bind(*args, **kwargs)
    name, (first, file) = function.__name__, next(iter(given.arguments.items()))
    tensors: list[DTensor] = []
    mapped((given.args, given.kwargs), DTensor, tensors.append)
    if not tensors:
        return alone(function, args, kwargs)
    if not isinstance(file, str | os.PathLike):
        return fallback(function)(args, kwargs)
    path = os.fspath(file)
    if not path.endswith(ENDINGS.get(name, "")):
        path += ENDINGS[name]
    what = f"numpy.{name}({path!r})"
    if name == "save" and isinstance(given.arguments["arr"], DTensor):
        return write_npy(path, given.arguments["arr"], what)
    given.arguments[first] = path
    values = [_plain(x) for x in leaves([given.args, given.kwargs])]
    compared = [x for x in values if x.dtype.kind in "biufc"]
    once = {id(x): x for x in [*tensors, *compared]}.values()
    arrays = {str(number): x for number, x in enumerate(once)}
    return save(path, arrays, what, _ByNumPy(function, given))


def _plain(x: Any) -> np.ndarray[Any, Any]:
    """Return an array of a value that must be the same everywhere; else of text."""
    is_array = isinstance(x, Tensor | np.ndarray | np.generic | int | float | complex)
    return np.asarray(x if is_array and not isinstance(x, DTensor) else "")


class _ByNumPy:
    """A file that a function of NumPy writes on the first rank: see `Format`."""

    def __init__(
        self, function: Callable[..., Any], given: inspect.BoundArguments
    ) -> None:
        self.function, self.given = function, given

    def check(self, path: str, arrays: Arrays) -> str:
        if os.path.exists(path) and not os.path.isfile(path):
            raise OSError(
                f"{path!r} is no regular file, which a new one could replace: write "
                "x.full_tensor(root=0) to it on one rank"
            )
        return ""

    def create(self, path: str, arrays: Arrays) -> bytes:
        return b""

    def parts(self, arrays: Arrays, ranks: WorldRanks) -> inspect.BoundArguments | None:
        whole = {
            id(x): x.detach().full_tensor(root=0)
            for x in arrays.values()
            if isinstance(x, DTensor)
        }
        if ranks.rank:
            return None
        given = self.given
        for name, value in given.arguments.items():
            value = mapped(value, DTensor, lambda x: np.asarray(whole[id(x)]))
            given.arguments[name] = mapped(value, Tensor, np.asarray)
        return given

    def write(
        self, path: str, told: bytes, given: inspect.BoundArguments | None
    ) -> None:
        if given is None:
            return
        first = next(iter(given.arguments))
        given.arguments[first] = path
        self.function(*given.args, **given.kwargs)
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
