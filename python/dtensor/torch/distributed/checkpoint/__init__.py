"""``torch.distributed.checkpoint``: `dtensor.checkpoint`."""

from dtensor.checkpoint import *  # noqa: F403

# isort: split
from dtensor.torch.distributed.checkpoint import metadata as metadata
