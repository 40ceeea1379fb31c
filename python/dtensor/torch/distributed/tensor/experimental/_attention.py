"""``torch.distributed.tensor.experimental._attention``."""

from dtensor.experimental.attention import *  # noqa: F403

# isort: split
from dtensor.experimental.attention import _cp_options as _cp_options
