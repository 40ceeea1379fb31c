"""``torch.nn.utils.clip_grad``: `dtensor.nn.utils.clip_grad`."""

from dtensor.nn.utils.clip_grad import *  # noqa: F403
