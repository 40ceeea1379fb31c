"""Which rows of a sharded sequence each rank holds."""

from collections.abc import Iterator
from contextvars import ContextVar

import numpy as np
import numpy.typing as npt

__all__ = ["chunk", "options", "order", "rows"]

ROTATE_METHODS = ("allgather", "alltoall")


class _Options:
    """The options of `context_parallel`, for this thread and those it starts."""

    _balance: ContextVar[bool] = ContextVar("balance", default=True)
    _rotate: ContextVar[str] = ContextVar("rotate", default="allgather")

    @property
    def enable_load_balance(self) -> bool:
        """Whether each rank gets a chunk from the head and one from the tail."""
        return self._balance.get()

    @enable_load_balance.setter
    def enable_load_balance(self, value: bool) -> None:
        self._balance.set(bool(value))

    @property
    def rotate_method(self) -> str:
        """How keys and values reach the ranks: "allgather" or "alltoall"."""
        return self._rotate.get()

    @rotate_method.setter
    def rotate_method(self, value: str) -> None:
        if value not in ROTATE_METHODS:
            raise NotImplementedError(
                f"Unknown rotate method {value!r}; use "
                f"{' or '.join(map(repr, ROTATE_METHODS))}"
            )
        self._rotate.set(value)


options = _Options()


def chunk(length: int, count: int, index: int) -> slice:
    """Return the rows of one of `count` chunks, as torch.chunk makes them."""
    size = -(-length // count)
    return slice(min(index * size, length), min((index + 1) * size, length))


def rows(length: int, ranks: int, rank: int, balanced: bool) -> Iterator[slice]:
    """Yield the rows that a rank holds, in their order.

    Under a causal mask the first rows have few keys and the last ones many. Balanced, a
    rank has two of ``2 * ranks`` chunks: number `rank` from the head and from the tail.

        length 10, 2 ranks:  [0,3) and [9,10);  [3,6) and [6,9)
    """
    if not balanced:
        yield chunk(length, ranks, rank)
        return
    for index in (rank, 2 * ranks - 1 - rank):
        yield chunk(length, 2 * ranks, index)


def order(length: int, ranks: int, balanced: bool) -> npt.NDArray[np.int64]:
    """Return the rows of all ranks, one rank after the other."""
    return np.concatenate(
        [
            np.arange(part.start, part.stop)
            for rank in range(ranks)
            for part in rows(length, ranks, rank, balanced)
        ]
    )
