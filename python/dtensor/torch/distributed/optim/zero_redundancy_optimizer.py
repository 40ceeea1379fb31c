"""``torch.distributed.optim.zero_redundancy_optimizer``: `dtensor.fsdp.zero`."""

from dtensor.fsdp.zero import *  # noqa: F403
