"""``torch.nn.parallel.distributed``: data parallelism, of `dtensor.fsdp`."""

from dtensor.fsdp.data_parallel import (
    DistributedDataParallel as DistributedDataParallel,
)
