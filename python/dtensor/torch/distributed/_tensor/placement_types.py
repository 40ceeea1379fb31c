"""``torch.distributed._tensor.placement_types``: `dtensor.placement_types`."""

from dtensor.placement_types import *  # noqa: F403
