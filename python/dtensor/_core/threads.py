"""The threads of this rank that share long loops."""

import os

from dtensor import _C
from dtensor._core.several import local_ranks

__all__ = ["get_num_threads", "set_num_threads"]

_MOST = 256
# What BLAS goes by, too, in the order in which OpenBLAS looks at them.
_BLAS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


def set_num_threads(num: int) -> None:
    """Set how many threads of this rank share long loops.

    Elementwise functions, copies, and the kernels of activations, losses, softmax,
    norms, attention and optimizers share loops over 256 KiB or more. Results have the
    same bits with every number of threads. The threads sleep between loops. Those of
    NumPy's BLAS, which matrix products run in, are not ours: they are set before Python
    starts (``OPENBLAS_NUM_THREADS``, ``MKL_NUM_THREADS``), and rest while ours work.

    Parameters
    ----------
    num : int
        From 1 to 256, the calling thread among them.

    Raises
    ------
    ValueError
        If it is less or more. On this rank only: the call is local, and nothing is
        sent.

    See Also
    --------
    get_num_threads : How many there are.

    Notes
    -----
    The default is the environment variable ``DTENSOR_THREADS``, otherwise what
    ``OPENBLAS_NUM_THREADS`` or ``OMP_NUM_THREADS`` says, otherwise this rank's share of
    the processors of its node: those that it may use, divided by the ranks that the
    launcher starts there, and at least 1. Ranks that are threads of one process
    (`dtensor.testing.run_ranks`) have these threads together: one rank's loop is shared
    at a time.

    Examples
    --------
    >>> import dtensor
    >>> dtensor.set_num_threads(2)
    >>> dtensor.get_num_threads()
    2
    """
    _C.set_num_threads(num)


def get_num_threads() -> int:
    """Return how many threads of this rank share long loops.

    Local: nothing is sent.

    Returns
    -------
    int
        What `set_num_threads` has set, or its default.
    """
    return _C.get_num_threads()


def _default() -> int:
    given = os.environ.get("DTENSOR_THREADS", "")
    if given:
        if not given.isdecimal() or not 1 <= int(given) <= _MOST:
            raise ValueError(
                f"DTENSOR_THREADS must be a number from 1 to {_MOST}, got {given!r}"
            )
        return int(given)
    for name in _BLAS:
        if os.environ.get(name, "").isdecimal():
            return min(max(1, int(os.environ[name])), _MOST)
    return min(max(1, len(os.sched_getaffinity(0)) // local_ranks()), _MOST)


_C.set_num_threads(_default())
