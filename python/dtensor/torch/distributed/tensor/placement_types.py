"""``torch.distributed.tensor.placement_types``: `dtensor.placement_types`."""

from dtensor.placement_types import *  # noqa: F403
from dtensor.placement_types import Partial

_Partial = Partial  # its name until PyTorch 2.3, which PyTorch keeps
