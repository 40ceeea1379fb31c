"""``torch.nn.modules``: PyTorch's files of modules, by which older scripts import.

`batchnorm`, `conv` and the others all have the names of `torch.nn`, and the bases that
scripts ask ``isinstance`` for.
"""

import collections
import copy
import itertools
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from dtensor.nn import batch_norm, conv, conv_transpose, instance_norm, loss
from dtensor.torch import nn as _nn
from dtensor.torch.nn import _modules
from dtensor.torch.nn.parallel import DataParallel

FILES = """
    activation batchnorm channelshuffle container conv distance dropout flatten fold
    instancenorm lazy linear loss module normalization padding pixelshuffle pooling rnn
    sparse transformer upsampling utils
""".split()


def _base(ours: Any, kinds: Any) -> Any:
    """A base class, of which some modules are instances."""
    made = _modules._module(ours)
    made._ours = kinds
    return made


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    def parse(x: Any) -> tuple[Any, ...]:
        return tuple(x) if isinstance(x, Iterable) else tuple(itertools.repeat(x, n))

    parse.__name__ = name
    parse.__doc__ = f"Return a number {n} times, and other things as a tuple."
    return parse


def _clones(module: Any, N: int) -> Any:  # noqa: N803
    return _nn.ModuleList([copy.deepcopy(module) for _ in range(N)])


def _without_prefix(state_dict: dict[str, Any], prefix: str) -> None:
    """Take a prefix, as ``"module."``, off the names of a state dict, in place."""
    metadata = getattr(state_dict, "_metadata", {})
    for names in (state_dict, metadata):
        for name in list(names):
            if name.startswith(prefix):
                names[name[len(prefix) :]] = names.pop(name)
    if prefix.rstrip(".") in metadata:
        metadata[""] = metadata.pop(prefix.rstrip("."))


_batch_norms = tuple(
    getattr(batch_norm, f"{name}BatchNorm{dims}")
    for name, dims in [("", "1d"), ("", "2d"), ("", "3d"), ("Sync", "")]
)
_names: dict[str, Any] = {
    name: value for name, value in vars(_nn).items() if isinstance(value, type)
} | {
    "DataParallel": DataParallel,
    **{name: x for name, x in vars(_nn).items() if name.startswith("register_module_")},
    "_BatchNorm": _base(batch_norm._BatchNorm, _batch_norms),
    "_NormBase": _base(batch_norm._BatchNorm, batch_norm._BatchNorm),
    "_InstanceNorm": _base(instance_norm._InstanceNorm, instance_norm._InstanceNorm),
    "_ConvNd": _base(conv._Conv, (conv._Conv, conv_transpose._ConvTranspose)),
    "_Loss": _base(loss._Loss, loss._Loss),
    "_WeightedLoss": _base(loss._WeightedLoss, loss._WeightedLoss),
    "_get_clones": _clones,
    "_ntuple": _ntuple,
    "consume_prefix_in_state_dict_if_present": _without_prefix,
    "_single": _ntuple(1, "_single"),
    "_pair": _ntuple(2, "_pair"),
    "_triple": _ntuple(3, "_triple"),
    "_quadruple": _ntuple(4, "_quadruple"),
    "_IncompatibleKeys": collections.namedtuple(
        "_IncompatibleKeys", ["missing_keys", "unexpected_keys"]
    ),
}
globals().update({name: value for name, value in _names.items() if name[0] != "_"})

for _file in FILES:
    _made = ModuleType(f"{__name__}.{_file}", f"``torch.nn.modules.{_file}``.")
    vars(_made).update(_names)
    sys.modules[_made.__name__] = globals()[_file] = _made
