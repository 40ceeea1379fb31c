"""``torch.nn``: `dtensor.nn`, whose modules hold tensors in PyTorch's dialect."""

from dtensor.nn import *  # noqa: F403

# isort: split
from dtensor.torch.nn import (  # type: ignore[no-redef]
    _modules,
    attention as attention,
    functional,  # noqa: F401
    init,  # noqa: F401
    parameter as parameter,
    utils,  # noqa: F401
)

globals().update(_modules.modules())
