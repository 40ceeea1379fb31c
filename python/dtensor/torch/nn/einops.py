"""The layers of einops, `Rearrange`, `Reduce`, `EinMix`: its own file needs PyTorch.

A script that has ``from einops.layers.torch import Rearrange`` takes it from here. They
are made when they are first asked for, of what einops has for all libraries.
"""

import importlib
from typing import Any

from dtensor import ops as _ops
from dtensor.torch._create import zeros
from dtensor.torch.nn._modules import Module, Parameter

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports

_MIXINS = {
    "Rearrange": ("einops.layers", "RearrangeMixin"),
    "Reduce": ("einops.layers", "ReduceMixin"),
    "EinMix": ("einops.layers._einmix", "_EinmixMixin"),
}


def _forward(self: Any, input: Any) -> Any:
    return self._apply_recipe(input)


# --- EinMix ---------------------------------------------------------------------------


def _drawn(shape: Any, bound: float) -> Any:
    return None if shape is None else Parameter(zeros(shape).uniform_(-bound, bound))


def _create_parameters(
    self: Any,
    weight_shape: Any,
    weight_bound: float,
    bias_shape: Any,
    bias_bound: float,
) -> None:
    self.weight = _drawn(weight_shape, weight_bound)
    self.bias = _drawn(bias_shape, bias_bound)


def _create_rearrange_layers(
    self: Any, pattern: Any, lengths: Any, last_pattern: Any, last_lengths: Any
) -> None:
    rearrange = __getattr__("Rearrange")
    self.pre_rearrange = pattern and rearrange(pattern, **lengths)
    self.post_rearrange = last_pattern and rearrange(last_pattern, **last_lengths)


def _mix(self: Any, input: Any) -> Any:
    x = self.pre_rearrange(input) if self.pre_rearrange else input
    found = ops.einsum(self.einsum_pattern, x, self.weight)
    found = found if self.bias is None else found + self.bias
    return self.post_rearrange(found) if self.post_rearrange else found


_MEMBERS: dict[str, dict[str, Any]] = {
    "Rearrange": {"forward": _forward},
    "Reduce": {"forward": _forward},
    "EinMix": {
        "forward": _mix,
        "_create_parameters": _create_parameters,
        "_create_rearrange_layers": _create_rearrange_layers,
    },
}


def __getattr__(name: str) -> Any:
    if name not in _MIXINS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, mixin_name = _MIXINS[name]
    mixin = getattr(importlib.import_module(home), mixin_name)
    members = {"__doc__": mixin.__doc__, "__module__": __name__, **_MEMBERS[name]}
    kind: Any = type(Module)
    made = kind(name, (mixin, Module), members)
    globals()[name] = made
    return made
