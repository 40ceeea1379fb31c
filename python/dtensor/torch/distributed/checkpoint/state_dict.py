"""``torch.distributed.checkpoint.state_dict``: the same of `dtensor.checkpoint`."""

from dtensor.checkpoint._optimizer_state import (
    initialised as _init_optim_state,  # noqa: F401  PyTorch's own example imports it
)
from dtensor.checkpoint.state_dict import *  # noqa: F403
