"""``torch.utils``: checkpoints of activations, data, and smaller things."""

import importlib
from types import SimpleNamespace
from typing import Any

from dtensor.torch.utils import (
    _pytree as _pytree,
    checkpoint as checkpoint,
    data as data,
    dlpack as dlpack,
    hooks as hooks,
    model_zoo as model_zoo,
)
from dtensor.torch.utils._swapped import swap_tensors as swap_tensors

_LATER = {"benchmark", "flop_counter", "tensorboard"}  # loaded when they are asked for

# Whether memory that `empty` gives is filled: kept, without effect.
deterministic = SimpleNamespace(fill_uninitialized_memory=True)


def set_module(obj: Any, mod: str) -> None:
    """Set the module that a function or class says it is of.

    Raises
    ------
    TypeError
        If it is not the name of one.
    """
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
