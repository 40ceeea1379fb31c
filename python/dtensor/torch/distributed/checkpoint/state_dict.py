"""``torch.distributed.checkpoint.state_dict``: the same of `dtensor.checkpoint`."""

from dtensor.checkpoint.state_dict import *  # noqa: F403
