"""The threads of this rank that share long loops."""

import os

from dtensor import _C
from dtensor._core.several import local_ranks

__all__ = ["get_num_threads", "set_num_threads"]

# What BLAS goes by, too, in the order in which OpenBLAS looks at them.
_BLAS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")


def set_num_threads(num: int) -> None:
    """Set how many threads of this rank share long loops.

    What takes as long as a copy of 256 KiB or more is shared: ufuncs on arrays in C
    order, copies, random numbers, and the kernels of activations, losses, softmax,
    norms, attention, embeddings and optimizers. Results have the same bits with every
    number of threads. The threads sleep between loops. Those of NumPy's BLAS, which
    matrix products run in, are not these: they are set before Python starts
    (``OPENBLAS_NUM_THREADS``), and have nothing to do while these work.

    Parameters
    ----------
    num : int
        From 1 to 256, the calling thread among them.

    Raises
    ------
    TypeError, OverflowError, ValueError
        If it is no integer, does not fit in a C int, or is less or more. On this rank
        only: the call is local, and nothing is sent.

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
        if not given.isdecimal() or not 1 <= int(given) <= _C.MOST_THREADS:
            raise ValueError(
                f"DTENSOR_THREADS must be a number from 1 to {_C.MOST_THREADS}, "
                f"got {given!r}"
            )
        return int(given)
    told = (os.environ.get(name, "") for name in _BLAS)
    cores = len(os.sched_getaffinity(0)) // local_ranks()
    count = next((int(text) for text in told if text.isdecimal()), cores)
    return min(max(1, count), _C.MOST_THREADS)


_C.set_num_threads(_default())
