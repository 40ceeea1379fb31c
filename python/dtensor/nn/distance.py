"""Layers of distances between vectors."""

from typing import Any

from dtensor.nn import functional as F
from dtensor.nn._kind import T
from dtensor.nn.module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class CosineSimilarity(Module):
    """The cosine of the angles between vectors along a dim.

    Parameters
    ----------
    dim : int, default 1
    eps : float, default 1e-8
        What norms are at least.
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim, self.eps = dim, eps

    def forward(self, x1: T, x2: Any) -> T:
        """Return the cosines, without the dim."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The norm of ``x1 - x2 + eps`` along the last dim.

    Parameters
    ----------
    p : float, default 2.0
        The type of the norm.
    eps : float, default 1e-6
    keepdim : bool, default False
        Whether the last dim is kept, with length 1.
    """

    def __init__(
        self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
    ) -> None:
        super().__init__()
        self.norm, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: T, x2: Any) -> T:
        """Return the distances."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
