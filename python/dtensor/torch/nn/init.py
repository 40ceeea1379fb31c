"""``torch.nn.init``: `dtensor.nn.init`, and the older names, without an underscore."""

import functools
import warnings
from collections.abc import Callable
from typing import Any

from dtensor.nn.init import *  # noqa: F403

OLDER = """
    constant dirac eye kaiming_normal kaiming_uniform normal orthogonal sparse uniform
    xavier_normal xavier_uniform
""".split()


def _older(name: str) -> Callable[..., Any]:
    function = globals()[f"{name}_"]

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        warnings.warn(
            f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **options)

    call.__name__ = call.__qualname__ = name
    return call


globals().update({name: _older(name) for name in OLDER})
