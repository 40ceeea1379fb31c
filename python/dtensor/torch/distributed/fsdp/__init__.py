"""``torch.distributed.fsdp``: `dtensor.fsdp`."""

from dtensor.fsdp import *  # noqa: F403

# isort: split
from dtensor.torch.distributed.fsdp import wrap as wrap
