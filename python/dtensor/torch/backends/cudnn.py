"""``torch.backends.cudnn``: settings that are kept, and have no effect."""

import contextlib
from collections.abc import Iterator

__all__ = ["allow_tf32", "benchmark", "benchmark_limit", "deterministic", "enabled"]
__all__ += ["flags", "is_acceptable", "is_available", "set_flags", "version"]

enabled = True
benchmark = False
benchmark_limit: int | None = 10
deterministic = False
allow_tf32 = True
fp32_precision = "none"

_NAMES = ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32")


def is_available() -> bool:
    """Return False: there is no CUDA."""
    return False


def version() -> None:
    """Return None: there is no CUDA."""


def is_acceptable(tensor: object) -> bool:
    """Return False: there is no CUDA."""
    return False


def set_flags(*values: object, **named: object) -> tuple[object, ...]:
    """Set the settings, in their order or by name, and return what they were."""
    before = tuple(globals()[name] for name in _NAMES)
    chosen = {**dict(zip(_NAMES, values, strict=False)), **named}
    for name, value in chosen.items():
        if name in _NAMES and value is not None:
            globals()[name] = value
    return before


@contextlib.contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int | None = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> Iterator[None]:
    """Set the settings for a block."""
    before = set_flags(enabled, benchmark, benchmark_limit, deterministic, allow_tf32)
    try:
        yield
    finally:
        set_flags(*before)
