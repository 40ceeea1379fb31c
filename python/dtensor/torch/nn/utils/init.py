"""``torch.nn.utils.init``: `dtensor.nn.utils.init`."""

from dtensor.nn.utils.init import *  # noqa: F403
