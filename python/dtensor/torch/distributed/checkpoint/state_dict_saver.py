"""``torch.distributed.checkpoint.state_dict_saver``."""

from dtensor.checkpoint.state_dict_saver import *  # noqa: F403
