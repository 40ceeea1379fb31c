"""``torch.utils.checkpoint``: `dtensor.utils.checkpoint`."""

from dtensor.utils.checkpoint import *  # noqa: F403
