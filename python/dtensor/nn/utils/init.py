"""Modules whose parameters are not drawn."""

import inspect
from typing import Any

from dtensor.nn.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """Return a module of a class with arbitrary parameters: they are to be loaded.

    Parameters
    ----------
    module_cls : type
        A subclass of Module that takes `device`.
    *args, **kwargs
        Its arguments; `device` is where the parameters are.

    Raises
    ------
    RuntimeError
        If it is no subclass of Module, or takes no `device`.
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    final = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=final)
