"""Ends Open MPI's launcher where it cannot end a job.

When a rank ends a job of several nodes, mpiexec orders its daemons to end their ranks,
and waits for their answers. If the link to a node is cut, no answer comes, and neither
mpiexec nor the daemon behind the cut ever ends. So a rank that ends a job leaves a
process behind (this file, run as a script), which gives its node's launcher some
seconds, and then ends it. Of daemons that run several jobs (prte) nothing is ended.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

# What is sent to a launcher, and for how many seconds it is then waited for. A healthy
# one ends by itself in the first of these; a second SIGTERM tells that of Open MPI not
# to wait for its daemons any more.
STEPS = [
    (0, 5.0),
    (signal.SIGTERM, 0.5),
    (signal.SIGTERM, 0.5),
    (signal.SIGKILL, 0.5),
]
# Mpiexec and its daemons, of Open MPI 5 and 4, that serve one job alone.
NAMES = {"prterun", "prted", "mpiexec", "mpirun", "orterun", "orted"}
GENERATIONS = 5  # scripts that may stand between a rank and its launcher


class _Process(NamedTuple):
    number: int
    name: str
    parent: int
    started: str  # tells it from a later process of the same number


def _look(number: int) -> _Process | None:
    """Return a process; None if it has ended."""
    try:
        text = Path("/proc", str(number), "stat").read_text()
    except OSError:
        return None
    name, rest = text.split("(", 1)[1].rsplit(")", 1)
    state, parent, *fields = rest.split()
    return None if state == "Z" else _Process(number, name, int(parent), fields[17])


def find() -> _Process | None:
    """Return the launcher that has started this rank, if it serves one job alone."""
    if os.environ.get("PMIX_NAMESPACE", "").startswith("prte-"):
        return None
    process = _look(os.getppid())
    for _ in range(GENERATIONS):
        if process is None or process.name in NAMES:
            break
        process = _look(process.parent)
    return process if process is not None and process.name in NAMES else None


def watch() -> None:
    """See to it that this rank's launcher ends soon, in a job of several nodes."""
    sizes = [os.environ.get(f"OMPI_COMM_WORLD_{n}SIZE") for n in ("", "LOCAL_")]
    launcher = None if sizes[0] == sizes[1] else find()
    if launcher is None:
        return
    nothing = subprocess.DEVNULL
    with contextlib.suppress(OSError):  # this rank ends with an error of its own
        subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, str(launcher.number)],
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            start_new_session=True,  # or it would be ended as a part of this rank
        )


def _children(parent: _Process) -> list[_Process]:
    """Return what a launcher has started: its ranks, or ssh to other nodes."""
    numbers = [int(entry) for entry in os.listdir("/proc") if entry.isdecimal()]
    found = [process for process in map(_look, numbers) if process is not None]
    return [process for process in found if process.parent == parent.number]


def _lives(process: _Process) -> bool:
    now = _look(process.number)
    return now is not None and now.started == process.started


def _signal(process: _Process, number: int) -> None:
    if _lives(process):
        with contextlib.suppress(OSError):
            os.kill(process.number, number)


def _ends_within(seconds: float, process: _Process) -> bool:
    until = time.monotonic() + seconds
    while _lives(process):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def end(launcher: _Process) -> None:
    """Wait for a launcher; if it does not end, end it and what it has started."""
    for number, seconds in STEPS:
        children = _children(launcher) if number else []
        _signal(launcher, number)
        if _ends_within(seconds, launcher):
            break
    for child in children:
        _signal(child, signal.SIGKILL)


if __name__ == "__main__":
    found = _look(int(sys.argv[1]))
    if found is not None:
        end(found)
