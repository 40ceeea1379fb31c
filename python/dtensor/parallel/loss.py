"""`loss_parallel`: losses of logits with sharded classes, without gathering them."""

import contextlib
from collections.abc import Iterator

from dtensor.ops.model.loss_parallel import set_loss_parallel

__all__ = ["loss_parallel"]


@contextlib.contextmanager
def loss_parallel() -> Iterator[None]:
    """Compute losses of logits with sharded classes without gathering them.

    Inside, `cross_entropy` and `nll_loss` of a DTensor whose class dim is sharded over
    one mesh dim

    - in forward all-reduce two numbers for each row and move nothing else, however
      short a row is; in backward they move nothing;
    - accept rank-local Tensors as `target` and `weight`, which are then replicated;
    - return a result that is replicated on that mesh dim.

    Outside, they also use the all-reduce, except for rows so short that moving them
    costs less. The value of a loss does not depend on the context. The context holds
    for this thread. Nothing is communicated on entry or exit.

    Yields
    ------
    None

    Raises
    ------
    ValueError
        By the loss: if the classes are not sharded over exactly one mesh dim, or a
        rank-local target is given where the batch is sharded as well. On every rank.

    Examples
    --------
    >>> import numpy as np
    >>> from dtensor import Shard, distribute_tensor, init_device_mesh
    >>> from dtensor.ops import cross_entropy
    >>> from mpi4py import MPI
    >>> mesh = init_device_mesh("cpu", (MPI.COMM_WORLD.size,))
    >>> logits = distribute_tensor(np.zeros((4, 16)), mesh, [Shard(1)])
    >>> logits.requires_grad_()  # doctest: +ELLIPSIS
    DTensor(...)
    >>> with loss_parallel():
    ...     loss = cross_entropy(logits, np.arange(4))
    ...     loss.backward()
    >>> logits.grad.placements
    (Shard(dim=1),)
    """
    before = set_loss_parallel(True)
    try:
        yield
    finally:
        set_loss_parallel(before)
