"""``torch.nn``: `dtensor.nn`, whose modules hold tensors in PyTorch's dialect."""

from dtensor.nn import *  # noqa: F403

# isort: split
import importlib
from typing import Any

import dtensor.torch.nn.functional as functional  # type: ignore[no-redef] # noqa: F401
import dtensor.torch.nn.init as init  # type: ignore[no-redef] # noqa: F401
import dtensor.torch.nn.utils as utils  # type: ignore[no-redef] # noqa: F401
from dtensor.torch.nn import (
    _modules,
    attention as attention,
    common_types as common_types,
    grad as grad,
    parallel as parallel,
    parameter as parameter,
)
from dtensor.torch.nn.parallel import DataParallel as DataParallel

globals().update(_modules.modules())


def __getattr__(name: str) -> Any:
    if name == "modules":  # PyTorch's files, which have the names that are here
        return importlib.import_module(f"{__name__}.modules")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
