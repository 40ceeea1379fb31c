"""Tensors beside DTensors, taken for replicated."""

from collections.abc import Iterator
from contextlib import contextmanager

from dtensor import _C

__all__ = ["implicit_replication"]


@contextmanager
def implicit_replication() -> Iterator[None]:
    """Let a Tensor that stands beside a DTensor count as replicated.

    Elsewhere an operator that gets both raises RuntimeError, as in torch, since nobody
    knows whether all ranks hold the same. Plain NumPy arrays always count as
    replicated; ``DTENSOR_CHECK=2`` compares them across ranks. Backward to such a
    Tensor raises: make it a DTensor if it requires a gradient.

    Examples
    --------
    >>> x = dtensor.zeros(2, device_mesh=mesh)
    >>> with implicit_replication():
    ...     y = x + dtensor.tensor([1.0, 2.0])
    >>> y.placements
    (Replicate(),)
    """
    before = _C.set_implicit_replication(True)
    try:
        yield
    finally:
        _C.set_implicit_replication(before)
