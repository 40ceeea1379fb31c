"""``torch.nn.init``: `dtensor.nn.init`."""

from dtensor.nn.init import *  # noqa: F403
