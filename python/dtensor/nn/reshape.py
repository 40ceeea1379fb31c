"""Layers that change the shape."""

from collections.abc import Sequence

from dtensor.nn._kind import T
from dtensor.nn.module import Module
from dtensor.ops._make.axes import normalize_axis_index

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Join dims: those from `start_dim` to `end_dim` become one.

    Parameters
    ----------
    start_dim : int, default 1
    end_dim : int, default -1
        Included.
    """

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: T) -> T:
        """Return the input in the new shape."""
        shape: tuple[int, ...] = input.shape
        first: int = normalize_axis_index(self.start_dim, input.ndim)
        last: int = normalize_axis_index(self.end_dim, input.ndim)
        return input.reshape((*shape[:first], -1, *shape[last + 1 :]))

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """Split a dim into several.

    Parameters
    ----------
    dim : int
    unflattened_size : sequence of int
        The lengths of the new dims; one may be -1.
    """

    def __init__(self, dim: int, unflattened_size: Sequence[int]) -> None:
        super().__init__()
        self.dim, self.unflattened_size = dim, tuple(unflattened_size)

    def forward(self, input: T) -> T:
        """Return the input in the new shape."""
        dim: int = normalize_axis_index(self.dim, input.ndim)
        shape: tuple[int, ...] = input.shape
        return input.reshape((*shape[:dim], *self.unflattened_size, *shape[dim + 1 :]))

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
