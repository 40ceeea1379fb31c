"""``torch.multiprocessing``: Python's own, and `spawn` for scripts of one job.

The ranks of an MPI job run already: `spawn` starts none, and calls the function of this
rank.
"""

from collections.abc import Callable
from multiprocessing import *  # noqa: F403
from typing import Any

from dtensor._core import world as _world

__all__ = ["spawn", "start_processes"]


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> None:
    """Call ``fn(rank, *args)`` on each rank of the job.

    Not collective in itself: each rank returns when its own function has.

    Parameters
    ----------
    fn : callable
    args : tuple
        What it gets after the rank.
    nprocs : int, default 1
        The number of ranks of the job.
    join, daemon, start_method
        Ignored.

    Raises
    ------
    RuntimeError
        If the job has another number of ranks. On every rank.
    """
    world = _world.current()
    if nprocs != world.size:
        raise RuntimeError(
            f"spawn(nprocs={nprocs}) in a job of {world.size} ranks: no processes are "
            f"started here, start the job with mpiexec -n {nprocs}"
        )
    fn(world.rank, *args)


start_processes = spawn
