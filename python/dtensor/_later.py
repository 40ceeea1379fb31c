"""What is loaded when it is first asked for, so that `import dtensor` is short."""

import functools
import importlib
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.device_mesh import DeviceMesh
from dtensor.ops._make.operator import FUNCTIONS

__all__ = ["HOMES", "ROOMS", "begin", "load"]

HOMES = {  # a name of `dtensor`: the module that it is imported from
    "ExportedProgram": "dtensor._export",
    "debug": "dtensor",
    "distribute_module": "dtensor.nn._distribute",
    "export": "dtensor._export",
    "halo": "dtensor.overlap",
    "map_overlap": "dtensor.overlap",
    "nn": "dtensor",
    "optim": "dtensor",
}

ROOMS = (  # modules that are attributes of `dtensor`, and not of what `*` imports
    "amp",
    "checkpoint",
    "doctor",
    "experimental",
    "fsdp",
    "functional_collectives",
    "io",
    "notebook",
    "parallel",
    "sparse",
    "testing",
    "top",
    "torch",
    "utils",
)


def load(name: str) -> Any:
    """Return an attribute of `dtensor` that is not there yet: its `__getattr__`."""
    home = HOMES.get(name, "dtensor" if name in ROOMS else None)
    if home is None:
        raise AttributeError(f"module 'dtensor' has no attribute {name!r}")
    if home == "dtensor":  # which has it from then on
        return importlib.import_module(f"dtensor.{name}")
    value = getattr(importlib.import_module(home), name)
    setattr(sys.modules["dtensor"], name, value)
    return value


def _picture(function: str) -> Callable[[Any], str]:
    """Return a method that shows a thing in notebooks, by a function that draws it."""

    def _repr_html_(self: Any) -> str:
        shown = importlib.import_module("dtensor.debug._pictures._shown")
        html: str = getattr(shown, function)(self)
        return html

    return _repr_html_


_C.install_in(_C.Tensor, {"_repr_html_": _picture("tensor_html")})
_C.install_in(_C.Layout, {"_repr_html_": _picture("layout_html")})
DeviceMesh._repr_html_ = _picture("mesh_html")  # type: ignore[attr-defined]


def _write(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call NumPy's function that writes a file, given a tensor."""
    return importlib.import_module("dtensor.io._numpy").write(function, args, kwargs)


for _writer in (np.save, np.savez, np.savez_compressed, np.savetxt):
    FUNCTIONS[_writer] = functools.partial(_write, _writer)


def begin() -> None:
    """Load what the environment asks for, when all of `dtensor` is there."""
    if {"DTENSOR_LOGS", "TORCH_LOGS"} & os.environ.keys():
        importlib.import_module("dtensor.debug.logs")
