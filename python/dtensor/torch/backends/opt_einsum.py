"""``torch.backends.opt_einsum``: settings that are kept, and have no effect."""

__all__ = ["enabled", "is_available", "strategy"]

enabled = True
strategy: str | None = "auto"


def is_available() -> bool:
    """Return False: `torch.einsum` finds the order of its products by itself."""
    return False
