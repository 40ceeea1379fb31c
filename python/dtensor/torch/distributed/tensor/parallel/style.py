"""``torch.distributed.tensor.parallel.style``: `dtensor.parallel.style`."""

from dtensor.parallel.style import *  # noqa: F403
