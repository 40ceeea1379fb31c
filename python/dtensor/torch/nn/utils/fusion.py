"""``torch.nn.utils.fusion``: `dtensor.nn.utils.fusion`."""

from dtensor.nn.utils.fusion import *  # noqa: F403
