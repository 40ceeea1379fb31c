"""``python -m dtensor.top``: the jobs of this node as they run: who waits for whom.

Shows each rank of the user's jobs on this node: its processor time and memory, the
collectives it has run, the bytes and messages it has sent, the rates of these, and in
which call it waits, since when and for which ranks. It reads pages that every rank of a
job of several processes has; ranks do nothing for it, and do not notice it. ``--once``
prints one picture and ends. Needs the extra ``rich``.
"""

import argparse
import contextlib
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dtensor._core.require import require
from dtensor.debug._units import duration, size

__all__ = ["Rank", "jobs", "main", "waited_for"]

PROC = Path("/proc")
MAGIC = b"dtboard1"
_COUNTER = np.dtype(
    [("calls", "i8"), ("bytes", "i8"), ("messages", "i8"), ("seconds", "f8")]
)
_HEAD = np.dtype(
    [
        ("magic", "S8"),
        ("pid", "i4"),
        ("rank", "i4"),
        ("size", "i4"),
        ("kinds", "i4"),
        ("file", "i4"),
    ]
)
_WAIT = np.dtype(
    [
        ("turn", "u8"),
        ("since", "f8"),
        ("group", "u8"),
        ("number", "u8"),
        ("members", "i4"),
        ("ranks", "i4", 1024),
        ("what", "S256"),
    ]
)
_NAME = 16
_TRIES = 100


@dataclass(frozen=True)
class Rank:
    """What a rank does."""

    job: str
    """What is the same for the ranks of a job on this node."""
    pid: int
    """Its process."""
    rank: int
    """Its rank."""
    ranks: int
    """The ranks of the job, also on other nodes."""
    counters: dict[str, tuple[int, int, int]]
    """Calls, bytes and messages sent, by kind of collective."""
    ticks: int
    """Ticks of processor time."""
    memory: int
    """Bytes of resident memory, those that it shares with others included."""
    time: float
    """When this was read, by the monotonic clock."""
    since: float
    """Since when it waits; 0: it does not."""
    call: tuple[int, int]
    """In which task of which group."""
    members: tuple[int, ...]
    """With which ranks."""
    what: str
    """The call."""

    @property
    def sent(self) -> tuple[int, int, int]:
        """Calls of collectives, bytes and messages sent."""
        rows = [row for name, row in self.counters.items() if name != "local"]
        calls, count, messages = (sum(column) for column in zip(*rows, strict=True))
        return calls, count, messages


def jobs() -> dict[str, list[Rank]]:
    """Return the ranks of this user's jobs on this node, by job. Not collective.

    Only jobs of several processes have pages, from their first mesh on. Of other users'
    jobs only root sees anything.

    Examples
    --------
    >>> from dtensor import top
    >>> isinstance(top.jobs(), dict)
    True
    """
    found: dict[str, list[Rank]] = {}
    for process in PROC.iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError, ValueError):  # it may end meanwhile
                for rank in _ranks_of(process):
                    found.setdefault(rank.job, []).append(rank)
    return {
        job: sorted(ranks, key=lambda rank: rank.rank)
        for job, ranks in sorted(found.items())
    }


def waited_for(rank: Rank, others: Sequence[Rank]) -> list[int]:
    """Return the ranks that have not come to the call in which a rank waits.

    Ranks of other nodes are not known here, and count as if they had come.
    """
    if not rank.since:
        return []
    there = {other.rank: other for other in others}
    return [
        member
        for member in rank.members
        if member in there
        and not (there[member].since and there[member].call == rank.call)
    ]


# --- reading --------------------------------------------------------------------------


def _ranks_of(process: Path) -> Iterator[Rank]:
    for entry in (process / "fd").iterdir():
        if os.readlink(entry).startswith("/memfd:dtensor-board"):
            page = _page(entry)
            head = np.frombuffer(page, _HEAD, 1)[0]
            # A child of fork has its parent's page, and is no rank.
            if head["magic"] == MAGIC and head["pid"] == int(process.name):
                yield _rank(process, page, head)


def _page(path: Path) -> bytes:
    """Return a page, read while nothing was being written into it."""
    for _ in range(_TRIES):
        first, page = path.read_bytes(), path.read_bytes()
        turns = [int(_waits(data)["turn"]) for data in (first, page)]
        if turns[0] == turns[1] and turns[0] % 2 == 0:
            break
    return page


def _waits(page: bytes) -> Any:
    kinds = int(np.frombuffer(page, _HEAD, 1)[0]["kinds"])
    return np.frombuffer(page, _WAIT, 1, _counters_at(kinds) + kinds * 32)[0]


def _counters_at(kinds: int) -> int:
    """Return where the counters are: behind the names, aligned."""
    return (_HEAD.itemsize + kinds * _NAME + 7) // 8 * 8


def _rank(process: Path, page: bytes, head: Any) -> Rank:
    kinds, waits = int(head["kinds"]), _waits(page)
    names = np.frombuffer(page, f"S{_NAME}", kinds, _HEAD.itemsize)
    counters = np.frombuffer(page, _COUNTER, kinds, _counters_at(kinds))
    stat = (process / "stat").read_text().rpartition(")")[2].split()
    pages = int((process / "statm").read_text().split()[1])
    members = min(int(waits["members"]), len(waits["ranks"]))
    return Rank(
        _job(process, stat[1]),
        int(head["pid"]),
        int(head["rank"]),
        int(head["size"]),
        {
            name.decode(): (int(c["calls"]), int(c["bytes"]), int(c["messages"]))
            for name, c in zip(names, counters, strict=True)
        },
        int(stat[11]) + int(stat[12]),
        pages * os.sysconf("SC_PAGE_SIZE"),
        time.monotonic(),
        float(waits["since"]),
        (int(waits["group"]), int(waits["number"])),
        tuple(waits["ranks"][:members].tolist()),
        bytes(waits["what"]).decode(errors="replace"),
    )


def _job(process: Path, parent: str) -> str:
    """Return the launcher's name of a job, or else the process that started it."""
    found = re.search(
        rb"(?:^|\0)(?:PMIX_NAMESPACE|SLURM_JOB_ID|PMI_JOBID)=([^\0]+)",
        (process / "environ").read_bytes(),
    )
    return found[1].decode(errors="replace") if found else f"process {parent}"


# --- the picture ----------------------------------------------------------------------


def picture(
    now: dict[str, list[Rank]], before: dict[str, list[Rank]], rich: Any
) -> Any:
    """Return the tables of all jobs; rates are those since `before`."""
    if not now:
        return "No job of several processes with a mesh runs on this node."
    old = {rank.pid: rank for ranks in before.values() for rank in ranks}
    return rich.console.Group(
        *(_table(job, ranks, old, rich) for job, ranks in now.items())
    )


def _table(job: str, ranks: Sequence[Rank], old: dict[int, Rank], rich: Any) -> Any:
    here = f"{len(ranks)} of {ranks[0].ranks} ranks are on this node"
    title = rich.text.Text(f"{job}: {here}")
    table = rich.table.Table(title=title, title_justify="left", box=rich.box.SIMPLE)
    for head in ("rank", "pid", "cpu", "memory", "calls", "sent", "messages", "sent/s"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("waits")
    for rank in ranks:
        table.add_row(
            *_cells(rank, old.get(rank.pid)), rich.text.Text(_words(rank, ranks))
        )
    return table


def _cells(rank: Rank, old: Rank | None) -> list[str]:
    calls, sent, messages = rank.sent
    share = rate = "-"
    if old is not None and rank.time > old.time:
        seconds = rank.time - old.time
        ticks = (rank.ticks - old.ticks) / os.sysconf("SC_CLK_TCK")
        share = f"{100 * ticks / seconds:.0f} %"
        rate = size(round(max(0, sent - old.sent[1]) / seconds))
    texts = [str(rank.rank), str(rank.pid), share, size(rank.memory)]
    return [*texts, f"{calls:,}", size(sent), f"{messages:,}", rate]


def _words(rank: Rank, ranks: Sequence[Rank]) -> str:
    """Return in which call a rank waits, and for whom."""
    if not rank.since:
        return ""
    late = waited_for(rank, ranks)
    names = ", ".join(map(str, late[:8])) + (", ..." if len(late) > 8 else "")
    whom = f" for rank{'s' * (len(late) > 1)} {names}" if late else ""
    return f"{duration(rank.time - rank.since)}{whom} in {rank.what[:60]}"


# --- the command ----------------------------------------------------------------------


def main(arguments: Sequence[str] = ()) -> int:
    """Show the jobs of this node until Ctrl-C; return the exit status, 0.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the command line: ``--once``, ``--interval SECONDS``.
    """
    parser = argparse.ArgumentParser(
        prog="python -m dtensor.top",
        description="Show the jobs of this node: what each rank does, and who waits.",
    )
    parser.add_argument("--once", action="store_true", help="print one picture and end")
    parser.add_argument(
        "--interval", type=float, default=1.0, help="seconds between two pictures"
    )
    options = parser.parse_args(arguments)
    if not 0.1 <= options.interval <= 3600:
        parser.error(f"--interval must be 0.1 to 3600 seconds, not {options.interval}")
    rich = require("rich")
    for module in ("box", "console", "live", "table", "text"):
        require("rich", f"rich.{module}")
    before = jobs()
    time.sleep(min(options.interval, 0.5) if before else 0)
    if options.once:
        rich.console.Console(width=_width()).print(picture(jobs(), before, rich))
        return 0
    with contextlib.suppress(KeyboardInterrupt), rich.live.Live(screen=True) as live:
        while True:
            now = jobs()
            live.update(picture(now, before, rich))
            before = now
            time.sleep(options.interval)
    return 0


def _width() -> int | None:
    """Return a width for texts that no terminal shows; None: that of the terminal."""
    return None if sys.stdout.isatty() else 160


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
