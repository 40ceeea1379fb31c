"""``torch.distributed._tensor``, the older name of ``torch.distributed.tensor``."""

from dtensor.torch.distributed.tensor import *  # noqa: F403
