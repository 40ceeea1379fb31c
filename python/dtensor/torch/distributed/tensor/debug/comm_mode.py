"""``torch.distributed.tensor.debug.comm_mode``: `dtensor.debug.comm_mode`."""

from dtensor.debug.comm_mode import *  # noqa: F403
