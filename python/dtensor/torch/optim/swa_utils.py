"""``torch.optim.swa_utils``: `dtensor.optim.swa_utils`."""

from dtensor.optim.swa_utils import *  # noqa: F403
