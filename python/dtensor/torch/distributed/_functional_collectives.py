"""``torch.distributed._functional_collectives``: `dtensor.functional_collectives`."""

from dtensor.functional_collectives import *  # noqa: F403
