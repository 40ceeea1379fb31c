"""``torch.utils.data.dataset``: `dtensor.utils.data.dataset`."""

from dtensor.utils.data.dataset import *  # noqa: F403
