"""``torch.nn.functional``: `dtensor.nn.functional`."""

from dtensor.nn.functional import *  # noqa: F403
