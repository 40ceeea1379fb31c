"""Starting ranks for a notebook; one group of them at a time."""

from typing import Literal

from dtensor.notebook._engines import Engines
from dtensor.notebook._ranks import Ranks
from dtensor.notebook._threads import Threads

__all__ = ["running", "start"]

_now: list[Ranks] = []


def start(
    n: int = 4, kind: Literal["threads", "mpi"] = "threads", *, timeout: float = 60
) -> Ranks:
    """Start ranks that live until they are stopped, and run cells.

    Parameters
    ----------
    n : int, default 4
        How many; there may be more than processors.
    kind : {"threads", "mpi"}
        Threads of this process start at once, and compute one at a time but for what
        NumPy does without the interpreter's lock. MPI processes are engines of
        ipyparallel, which is an extra: they take some seconds to start, and compute
        beside each other.
    timeout : float, default 60
        How many seconds a rank waits for another one at most.

    Returns
    -------
    Ranks
        Those that were started before are stopped.

    Raises
    ------
    ValueError
        If `n` is below 1, or there is no such kind.
    ModuleNotFoundError
        If ipyparallel is not installed, for MPI processes.

    Examples
    --------
    >>> ranks = start(3)
    >>> said = ranks.run("from dtensor import init_device_mesh, ones")
    >>> said = ranks.run("mesh = init_device_mesh('cpu', (3,))")
    >>> said = ranks.run("total = ones(6, device_mesh=mesh).sum().item()")
    >>> ranks["total"]
    [6.0, 6.0, 6.0]
    >>> ranks.stop()
    """
    if n < 1:
        raise ValueError(f"start needs at least 1 rank, not {n}")
    if kind not in ("threads", "mpi"):
        raise ValueError(f'ranks are "threads" or "mpi", not {kind!r}')
    if (before := running()) is not None:
        before.stop()
    made: Ranks
    if kind == "threads":
        made = Threads(n, timeout)
    else:
        made = Engines(n, timeout)
    _now[:] = [made]
    return made


def running() -> Ranks | None:
    """Return the ranks that `start` has started; None if there are none.

    Returns
    -------
    Ranks or None
    """
    return next((ranks for ranks in _now if not ranks.stopped), None)
