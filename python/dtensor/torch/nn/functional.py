"""``torch.nn.functional``: `dtensor.nn.functional`."""

from dtensor.nn.functional import *  # noqa: F403
from dtensor.torch import _layers
from dtensor.torch._matrix import pdist as pdist

globals().update({f"{name}_": getattr(_layers, f"{name}_") for name in _layers.WRITTEN})
