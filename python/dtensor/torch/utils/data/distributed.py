"""``torch.utils.data.distributed``: `dtensor.utils.data.distributed`."""

from dtensor.utils.data.distributed import *  # noqa: F403
