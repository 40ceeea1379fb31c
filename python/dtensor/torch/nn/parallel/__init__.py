"""``torch.nn.parallel``: data parallelism, of `dtensor.fsdp`."""

from dtensor.fsdp.data_parallel import (
    DataParallel as DataParallel,
    DistributedDataParallel as DistributedDataParallel,
)

# isort: split
from dtensor.torch.nn.parallel import distributed as distributed
