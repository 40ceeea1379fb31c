"""``torch.nn``: `dtensor.nn`, whose modules hold tensors in PyTorch's dialect."""

from dtensor.nn import *  # noqa: F403

# isort: split
from dtensor.torch.nn import (
    _modules,
    attention as attention,
    functional as functional,
    init as init,
    parameter as parameter,
    utils as utils,
)

globals().update(_modules.modules())
Module = _modules.Module
Parameter = _modules.Parameter
Buffer = _modules.Buffer
