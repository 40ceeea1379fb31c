"""`GradBucket`: gradients that a communication hook averages."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from dtensor import _C, Tensor

__all__ = ["GradBucket", "averaged"]


class GradBucket:
    """The gradients of all parameters of one dtype: ``torch.distributed.GradBucket``.

    Parameters
    ----------
    index, count : int
        Which bucket of a backward it is, and how many there are.
    parameters, gradients : sequence of Tensor
        The parameters, and what this rank has of their gradients.
    """

    def __init__(
        self,
        index: int,
        count: int,
        parameters: Sequence[Any],
        gradients: Sequence[Any],
    ) -> None:
        self._index, self._count = index, count
        self._parameters = list(parameters)
        self._shapes = [tuple(x.shape) for x in gradients]
        flat = Tensor(np.concatenate([np.ravel(np.asarray(x)) for x in gradients]))
        self._buffer = _C.into_torch(flat) if _C.is_torch(parameters[0]) else flat
        self._size = self._buffer.numel()

    def index(self) -> int:
        """Return its number, from 0."""
        return self._index

    def is_last(self) -> bool:
        """Return whether it is the last one of this backward."""
        return self._index == self._count - 1

    def buffer(self) -> Any:
        """Return the tensor of one dim with all gradients, one after the other."""
        return self._buffer

    def set_buffer(self, buffer: Any) -> None:
        """Replace that tensor, by one of as many elements."""
        self._buffer = buffer

    def gradients(self) -> list[Any]:
        """Return the gradients, which are views of the buffer."""
        return self._cut(self._buffer)

    def parameters(self) -> list[Any]:
        """Return the parameters."""
        return list(self._parameters)

    def _cut(self, flat: Any) -> list[Any]:
        """Return views of a tensor of one dim in the shapes of the gradients."""
        ends = accumulate(map(int, map(np.prod, self._shapes)), initial=0)
        return [
            flat[begin:end].reshape(shape)
            for (begin, end), shape in zip(pairwise(ends), self._shapes, strict=True)
        ]


def averaged(hook: Any, state: Any, bucket: GradBucket) -> list[Any]:
    """Return what a communication hook makes of a bucket, in the gradients' shapes.

    Raises
    ------
    TypeError
        If the hook returns no future of a tensor of as many elements.
    """
    future = hook(state, bucket)
    if isinstance(future, Tensor) or not callable(getattr(future, "wait", None)):
        raise TypeError(
            "expected a communication hook to return a torch.futures.Future, but got "
            f"{type(future).__name__}"
        )
    found = future.wait()
    flat = found[0] if isinstance(found, list | tuple) and len(found) == 1 else found
    if not isinstance(flat, Tensor) or tuple(flat.shape) != (bucket._size,):
        raise TypeError(
            "expected the future of a communication hook to have a tensor of shape "
            f"({bucket._size},), but its value is {_described(flat)}"
        )
    return bucket._cut(flat)


def _described(found: Any) -> str:
    if isinstance(found, Tensor):
        return f"one of shape {tuple(found.shape)}"
    return f"of type {type(found).__name__}"
