"""``torch.utils.data.sampler``: `dtensor.utils.data.sampler`."""

from dtensor.utils.data.sampler import *  # noqa: F403
