"""``torch.nn.init``: `dtensor.nn.init`, and the older names, without an underscore."""

import functools
from collections.abc import Callable
from typing import Any

from dtensor._core.caller import warn
from dtensor.nn.init import *  # noqa: F403
from dtensor.nn.init import (
    _calculate_correct_fan as _calculate_correct_fan,
    _calculate_fan_in_and_fan_out as _calculate_fan_in_and_fan_out,
    constant_,
    normal_,
    ones_,
    trunc_normal_,
    uniform_,
    zeros_,
)

# Scripts call these to write to a parameter without recording it, as all here do.
_no_grad_uniform_, _no_grad_normal_, _no_grad_fill_ = uniform_, normal_, constant_
_no_grad_trunc_normal_, _no_grad_zero_, _no_grad_ones_ = trunc_normal_, zeros_, ones_

OLDER = """
    constant dirac eye kaiming_normal kaiming_uniform normal orthogonal sparse uniform
    xavier_normal xavier_uniform
""".split()


def _older(name: str) -> Callable[..., Any]:
    function = globals()[f"{name}_"]

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        warn(
            f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.",
            FutureWarning,
        )
        return function(*args, **options)

    call.__name__ = call.__qualname__ = name
    return call


globals().update({name: _older(name) for name in OLDER})
