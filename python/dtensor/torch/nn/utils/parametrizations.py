"""``torch.nn.utils.parametrizations``: `dtensor.nn.utils.parametrizations`."""

from dtensor.nn.utils.parametrizations import *  # noqa: F403
