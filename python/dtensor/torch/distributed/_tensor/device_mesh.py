"""``torch.distributed._tensor.device_mesh``: `dtensor.device_mesh`."""

from dtensor.device_mesh import *  # noqa: F403
