"""The cell magic ``%%ranks``."""

import argparse
import shlex
from typing import Any, NoReturn

from dtensor._core.require import require
from dtensor.notebook._ranks import Ranks
from dtensor.notebook._shown import show
from dtensor.notebook._start import running, start

__all__ = ["register"]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(f"%%ranks: {message}; {self.format_usage().strip()}")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number of ranks, 1 or more, not {text!r}")
    return int(text)


def _listed(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"numbers of ranks, as 0,2, not {text!r}")
    return [int(part) for part in parts]


_LINE = _Parser("%%ranks", usage="%%%%ranks [N] [--mpi] [--on 0,2]", add_help=False)
_LINE.add_argument("n", nargs="?", type=_count)
_LINE.add_argument("--mpi", action="store_true")
_LINE.add_argument("--on", type=_listed)


def _ranks_for(n: int | None, mpi: bool) -> Ranks:
    """Return the ranks that there are, or others if those are not the ones."""
    now = running()
    if now is None or n not in (None, len(now)) or (mpi and not now.are_processes):
        new = start(n or 4, "mpi" if mpi else "threads")
        if now is not None:
            print(
                f"[{len(new)} new ranks: what cells have assigned on the {len(now)} "
                "ranks before is gone]"
            )
        return new
    return now


def register(ipython: Any) -> None:
    """Make the magic known to IPython."""
    display = require("ipyparallel", "IPython.display").display
    usage_error = require("ipyparallel", "IPython.core.error").UsageError

    def ranks(line: str, cell: str) -> None:
        """Run a cell on ranks: ``%%ranks [N] [--mpi] [--on 0,2]``.

        N ranks (else those that there are, or 4) are started first, if they are not
        there: threads, or MPI processes with ``--mpi``. ``--on`` names the ranks that
        run the cell. What all print and display alike is shown once, with the ranks; an
        error is raised once. Variables are kept until N or the kind of ranks changes.
        """
        try:
            given = _LINE.parse_args(shlex.split(line))
        except ValueError as error:  # IPython shows a UsageError in one line
            raise usage_error(str(error)) from None
        said = _ranks_for(given.n, given.mpi).run(cell, given.on)
        rich = getattr(ipython, "kernel", None) is not None
        show(said, lambda data: display(data, raw=True), rich)

    ipython.register_magic_function(ranks, magic_kind="cell")
