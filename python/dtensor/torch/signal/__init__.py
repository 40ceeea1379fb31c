"""``torch.signal``: windows."""

from dtensor.torch.signal import windows as windows

__all__ = ["windows"]
