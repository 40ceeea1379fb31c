"""What a notebook shows of a CommDebugMode."""

from collections.abc import Mapping, Sequence

from dtensor.debug._counts import CallSite
from dtensor.debug._pictures._html import framed, table
from dtensor.debug._units import duration, size

__all__ = ["sent_html"]

MOST_SITES = 20  # lines of the program, at most


def sent_html(
    rank: int, counts: Mapping[str, tuple[int, int, int]], sites: Sequence[CallSite]
) -> str:
    """Return calls, bytes and messages by collective, and the lines that sent most."""
    if not counts:
        return framed("CommDebugMode: nothing was sent")
    rows = [
        (name, f"{calls:,}", size(sent), f"{messages:,}")
        for name, (calls, sent, messages) in counts.items()
    ]
    lines = [
        (f"{site.file}:{site.line}", ", ".join(site.names), f"{site.calls:,}")
        + (size(site.bytes), duration(site.seconds))
        for site in sites[:MOST_SITES]
    ]
    more = len(sites) - len(lines)
    return framed(
        f"CommDebugMode of rank {rank}",
        table(("collective", "calls", "sent", "messages"), rows),
        table(
            ("line", "operators", "calls", "sent", "time"),
            lines,
            2,
            f"{more} more lines are not shown" if more else "",
        ),
    )
