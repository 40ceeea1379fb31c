"""Bytes and seconds in readable form."""

__all__ = ["duration", "size"]


def size(count: int) -> str:
    """Return a number of bytes: "384 B", "1.5 KiB"."""
    if count < 1024:
        return f"{count} B"
    value, unit = count / 1024, "KiB"
    for larger in ("MiB", "GiB", "TiB"):
        if value >= 1024:
            value, unit = value / 1024, larger
    return f"{value:.1f} {unit}"


def duration(seconds: float) -> str:
    """Return a time: "1.5 us", "12.0 ms", "2.00 s"."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} us"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
