"""``torch.distributed.checkpoint.state_dict_loader``."""

from dtensor.checkpoint.state_dict_loader import *  # noqa: F403
