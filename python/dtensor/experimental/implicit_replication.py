"""Tensors beside DTensors, treated as replicated."""

from collections.abc import Iterator
from contextlib import contextmanager

from dtensor import _C

__all__ = ["implicit_replication"]


@contextmanager
def implicit_replication() -> Iterator[None]:
    """Treat a Tensor beside a DTensor as replicated.

    Outside the context, an operator that gets both raises RuntimeError, as in torch,
    because the Tensor may differ between ranks. Plain NumPy arrays always count as
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
