"""The layers `Rearrange` and `Reduce` of einops: its own file of them needs PyTorch.

A script that has ``from einops.layers.torch import Rearrange`` takes it from here. They
are made when they are first asked for, of what einops has for all libraries.
"""

import importlib
from typing import Any

from dtensor.torch.nn._modules import Module

_MIXINS = {"Rearrange": "RearrangeMixin", "Reduce": "ReduceMixin"}


def _forward(self: Any, input: Any) -> Any:
    return self._apply_recipe(input)


def __getattr__(name: str) -> Any:
    if name not in _MIXINS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    mixin = getattr(importlib.import_module("einops.layers"), _MIXINS[name])
    members = {"__doc__": mixin.__doc__, "__module__": __name__, "forward": _forward}
    kind: Any = type(Module)
    made = kind(name, (mixin, Module), members)
    globals()[name] = made
    return made
