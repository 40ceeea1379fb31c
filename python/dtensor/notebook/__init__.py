"""Ranks for notebooks, that live from cell to cell: `start`, and the magic ``%%ranks``.

``%load_ext dtensor`` gives a notebook the magic: a cell ``%%ranks 4`` runs on four
ranks, threads of the notebook's process or, with ``--mpi``, engines of ipyparallel.
What a cell assigns is there in the next one. What ranks print alike is shown once.
"""

from dtensor.notebook._ranks import Ranks, Said
from dtensor.notebook._shown import show
from dtensor.notebook._start import running, start

__all__ = ["Ranks", "Said", "running", "show", "start"]
