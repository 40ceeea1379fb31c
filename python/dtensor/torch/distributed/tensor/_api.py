"""``torch.distributed.tensor._api``: what ``torch.distributed.tensor.api`` has."""

from dtensor.torch.distributed.tensor.api import *  # noqa: F403
