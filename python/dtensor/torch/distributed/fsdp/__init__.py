"""``torch.distributed.fsdp``: `dtensor.fsdp`."""

from dtensor.fsdp import *  # noqa: F403

# isort: split
from dtensor.torch.distributed.fsdp import (
    api as api,
    fully_sharded_data_parallel as fully_sharded_data_parallel,
    wrap as wrap,
)
