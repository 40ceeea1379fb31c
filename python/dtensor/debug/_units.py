"""Bytes, seconds and tables in readable form."""

from collections.abc import Iterator, Sequence

from dtensor import _C

__all__ = ["aligned", "by", "duration", "size", "traffic"]


def size(count: int) -> str:
    """Return a number of bytes: "384 B", "1.5 KiB"."""
    if count < 1024:
        return f"{count} B"
    value, unit = count / 1024, "KiB"
    for larger in ("MiB", "GiB", "TiB"):
        if value >= 1024:
            value, unit = value / 1024, larger
    return f"{value:.1f} {unit}"


def by(messages: int) -> str:
    """Say how bytes go: ranks of a node read them from each other's memory.

    Between nodes a few go along with the ranks' agreement on the call.
    """
    if messages:
        return f"in {messages} messages"
    world = _C.World.current()
    far = world is not None and not world.shared_memory
    return "with the agreement" if far else "by shared memory"


def traffic(count: int, messages: int) -> str:
    """Say what is sent: "3.0 KiB in 3 messages", "64 B by shared memory", "nothing"."""
    return f"{size(count)} {by(messages)}" if count or messages else "nothing"


def duration(seconds: float) -> str:
    """Return a time: "1.5 us", "12.0 ms", "2.00 s"."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} us"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def aligned(
    head: Sequence[str], rows: Sequence[Sequence[str]], left: int
) -> Iterator[str]:
    """Yield the lines of a table; the first `left` columns are aligned to the left."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, ["-" * width for width in widths], *rows):
        cells = enumerate(zip(row, widths, strict=True))
        texts = (t.ljust(n) if k < left else t.rjust(n) for k, (t, n) in cells)
        yield "  ".join(texts).rstrip()
