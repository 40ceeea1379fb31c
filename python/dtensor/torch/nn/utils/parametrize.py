"""``torch.nn.utils.parametrize``: `dtensor.nn.utils.parametrize`."""

from dtensor.nn.utils.parametrize import *  # noqa: F403
