"""``torch.backends.cpu``."""

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """Return "DEFAULT": kernels choose their instructions by themselves."""
    return "DEFAULT"
