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


_LINE = _Parser("%%ranks", usage="%%%%ranks [N] [--mpi] [--on 0,2]", add_help=False)
_LINE.add_argument("n", nargs="?", type=int)
_LINE.add_argument("--mpi", action="store_true")
_LINE.add_argument("--on")


def _ranks_for(n: int | None, mpi: bool) -> Ranks:
    """Return the ranks that there are, or others if those are not the ones."""
    now = running()
    if now is None or n not in (None, len(now)) or (mpi and not now.are_processes):
        return start(n or 4, "mpi" if mpi else "threads")
    return now


def register(ipython: Any) -> None:
    """Make the magic known to IPython."""
    display = require("ipyparallel", "IPython.display").display

    def ranks(line: str, cell: str) -> None:
        """Run a cell on ranks: ``%%ranks [N] [--mpi] [--on 0,2]``.

        N ranks (else those that there are, or 4) are started first, if they are not
        there: threads, or MPI processes with ``--mpi``. ``--on`` names the ranks that
        run the cell. What all print and display alike is shown once, with the ranks; an
        error is raised once. Variables are kept until N or the kind of ranks changes.
        """
        given = _LINE.parse_args(shlex.split(line))
        on = None if given.on is None else [int(rank) for rank in given.on.split(",")]
        said = _ranks_for(given.n, given.mpi).run(cell, on)
        show(said, lambda data: display(data, raw=True))

    ipython.register_magic_function(ranks, magic_kind="cell")
