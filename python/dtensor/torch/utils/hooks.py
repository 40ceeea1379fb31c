"""``torch.utils.hooks``."""

from dtensor.nn import RemovableHandle as RemovableHandle
