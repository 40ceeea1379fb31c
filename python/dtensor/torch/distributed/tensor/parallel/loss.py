"""``torch.distributed.tensor.parallel.loss``: `dtensor.parallel.loss`."""

from dtensor.parallel.loss import *  # noqa: F403
