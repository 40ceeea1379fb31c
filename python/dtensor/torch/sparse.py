"""``torch.sparse``: there are no sparse tensors, and its functions say so."""

from typing import Any

from dtensor.torch._settings import no_sparse

__all__ = ["addmm", "log_softmax", "mm", "softmax", "sum"]


def mm(mat1: Any, mat2: Any, reduce: str = "sum") -> Any:
    """Raise NotImplementedError: there are no sparse tensors. On this rank only."""
    no_sparse("torch.sparse.mm")


def addmm(mat: Any, mat1: Any, mat2: Any, **options: Any) -> Any:
    """Raise NotImplementedError: there are no sparse tensors. On this rank only."""
    no_sparse("torch.sparse.addmm")


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """Raise NotImplementedError: there are no sparse tensors. On this rank only."""
    no_sparse("torch.sparse.sum")


def softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """Raise NotImplementedError: there are no sparse tensors. On this rank only."""
    no_sparse("torch.sparse.softmax")


def log_softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """Raise NotImplementedError: there are no sparse tensors. On this rank only."""
    no_sparse("torch.sparse.log_softmax")
