"""Bringing ranks back in step after an error that only some of them have seen."""

from dtensor._C import DTensor
from dtensor._core import world as _world

__all__ = ["resync"]


def resync(*tensors: DTensor) -> None:
    """Bring all ranks back in step after an error, and compare replicas.

    An exception that some ranks have caught and others have not seen leaves them in
    different calls. When all ranks have called `resync`, from wherever each of them is,
    none of their earlier calls counts any more: the next calls meet each other. A rank
    that waits for another one in a call that the other has not made, and will not make
    because it is here, raises there at once, and is asked to call `resync` too.

    What earlier calls have sent and nobody has received is discarded. Moves that were
    started with ``async_op=True`` and not waited for are given up: waiting for one
    raises RuntimeError. Ranks that could not exchange data any more because a call had
    failed half way can do so again. Failures of kernels that other ranks have not been
    told of are forgotten.

    Collective over all ranks of the job, or of `dtensor.testing.run_ranks`.

    Parameters
    ----------
    *tensors : DTensor
        Tensors to go on with, the same on all ranks. They are from now on what they
        hold, however each rank came to it. Where ranks hold the same part of one (along
        mesh dims that are ``Replicate()``), the bytes are compared. Other tensors keep
        their history: using one that the ranks have made by different calls raises as
        before.

    Raises
    ------
    RuntimeError
        If replicas of a tensor differ, or ranks bring other tensors: the error names
        them. The ranks are in step then, and the tensors keep their history. Also if
        some rank does not call `resync` within ``DTENSOR_TIMEOUT`` seconds, or has
        ended. Then every other call of this rank raises until all ranks have called
        `resync`.
    TypeError
        If an argument is not a DTensor, on all ranks.
    ValueError
        If an argument belongs to other ranks, on all ranks.

    Notes
    -----
    The default generator of random numbers is not a tensor: ranks that have drawn
    different numbers from it call `dtensor.random.manual_seed` again.

    Examples
    --------
    >>> from dtensor import init_device_mesh, ones
    >>> weight = ones(3, device_mesh=init_device_mesh("cpu", (1,)))
    >>> resync(weight)  # on every rank, for example after a cell that failed on some
    """
    why = "called resync(), which waits for all ranks; call it too"
    _world.current().resync(why, tensors)
