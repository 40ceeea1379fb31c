"""``torch.backends.mha``: a setting that is kept, and has no effect."""

__all__ = ["get_fastpath_enabled", "set_fastpath_enabled"]

_enabled = True


def get_fastpath_enabled() -> bool:
    """Return what `set_fastpath_enabled` was given last."""
    return _enabled


def set_fastpath_enabled(value: bool) -> None:
    """Allow PyTorch's faster way of attention at inference: no effect."""
    globals()["_enabled"] = bool(value)
