"""``torch.distributed._tensor.placement_types``: `dtensor.placement_types`."""

from dtensor.torch.distributed.tensor.placement_types import *  # noqa: F403
from dtensor.torch.distributed.tensor.placement_types import _Partial as _Partial
