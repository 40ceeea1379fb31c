"""The backend of einops for tensors: made when einops is imported, by whoever does."""

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np

from dtensor import _C

__all__ = ["watch"]

MODULE = "einops._backends"


def _reduce(self: Any, x: Any, operation: str, axes: Any) -> Any:
    return getattr(np, operation)(x, axis=tuple(sorted(axes)))


def _add_axes(self: Any, x: Any, n_axes: int, pos2len: dict[int, int]) -> Any:
    shape = list(x.shape)
    for place in sorted(pos2len):
        x = np.expand_dims(x, place)
        shape.insert(place, pos2len[place])
    return np.broadcast_to(x, tuple(shape))


# What einops asks of a backend, by NumPy's functions, the same in both dialects.
METHODS = {
    "framework_name": "dtensor",
    "is_appropriate_type": lambda self, x: isinstance(x, _C.Tensor),
    "from_numpy": lambda self, x: _C.as_tensor(x),
    "to_numpy": lambda self, x: np.asarray(x.detach()),
    "arange": lambda self, start, stop: _C.as_tensor(np.arange(start, stop)),
    "shape": lambda self, x: tuple(x.shape),
    "reshape": lambda self, x, shape: np.reshape(x, tuple(shape)),
    "transpose": lambda self, x, axes: np.transpose(x, tuple(axes)),
    "reduce": _reduce,
    "stack_on_zeroth_dimension": lambda self, tensors: np.stack(tensors),
    "add_axis": lambda self, x, place: np.expand_dims(x, place),
    "add_axes": _add_axes,
    "tile": lambda self, x, repeats: np.tile(x, tuple(repeats)),
    "concat": lambda self, tensors, axis: np.concatenate(tensors, axis),
    "is_float_type": lambda self, x: x.dtype.kind not in "biu",
    "einsum": lambda self, pattern, *x: np.einsum(pattern, *x),
}


def _register(backends: ModuleType) -> None:
    """Make the class; einops looks for the subclasses of its own."""
    names = {**METHODS, "__doc__": "Tensors and DTensors."}
    backends.DTensorBackend = type(  # type: ignore[attr-defined]
        "DTensorBackend", (backends.AbstractBackend,), names
    )


class _Finder:
    """Finds the module as it would be found without this, and registers behind it."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: Any = None
    ) -> ModuleSpec | None:
        if name != MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        loader: Any = None if spec is None else spec.loader
        if loader is not None:
            execute = loader.exec_module

            def both(module: ModuleType) -> None:
                execute(module)
                _register(module)

            loader.exec_module = both
        return spec


def watch() -> None:
    """Register the backend, now or as soon as einops is imported."""
    backends = sys.modules.get(MODULE)
    if backends is not None:
        _register(backends)
    else:
        sys.meta_path.insert(0, _Finder())
