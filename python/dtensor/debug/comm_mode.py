"""Which collectives a piece of code runs, and what they send."""

from collections import Counter
from types import TracebackType
from typing import Self

from dtensor import _C

__all__ = ["CommDebugMode"]

_Counts = dict[str, tuple[int, int, int]]  # calls, bytes, messages by name


def _totals(world: _C.World | None) -> _Counts:
    """What this rank did since its world was made; nothing before that."""
    return {} if world is None else world.counters()


class CommDebugMode:
    """Count the collectives that run inside a ``with`` block, on this rank.

    Counted is what moves elements of arrays, whoever asked for it: `redistribute`, an
    operator that moves its operands, `full_tensor`, ``print``. What ranks tell each
    other to compare their calls is not. Entering and leaving is not collective, costs
    a microsecond, and changes nothing about what runs.

    The names are "all_gather", "all_reduce", "reduce_scatter", "all_to_all",
    "broadcast", "scatter", "gather", and "exchange" for any other pattern. Several
    arrays that move together count once. An asynchronous move counts when it runs: at
    the latest when somebody waits for it. On ranks that the array lies on, calls are
    equal; bytes and messages are those that this rank sends.

    Blocks may be nested: each counts all that runs inside it. The same object may be
    entered again, and then counts from 0, unless it is inside a block of its own, which
    goes on counting. Ranks that are threads (`dtensor.testing.run_ranks`) need an
    object each.

    See Also
    --------
    explain : The steps and bytes of a move before it runs.

    Notes
    -----
    After ``torch.distributed.tensor.debug.CommDebugMode``, which has operators of torch
    for names, and no bytes.

    Examples
    --------
    >>> import numpy as np
    >>> from dtensor import Shard, distribute_tensor, init_device_mesh
    >>> from dtensor.testing import run_ranks
    >>> def gather():
    ...     mesh = init_device_mesh("cpu", (2,))
    ...     x = distribute_tensor(np.arange(8.0), mesh, [Shard(0)])
    ...     with CommDebugMode() as comm:
    ...         x.full_tensor()
    ...     return comm
    >>> comm = run_ranks(2, gather)[0]
    >>> comm.get_total_counts(), dict(comm.get_comm_bytes())
    (1, {'all_gather': 32})
    """

    def __init__(self) -> None:
        self._world: _C.World | None = None
        self._depth = 0
        self._start: _Counts = {}
        self._seen: _Counts = {}

    def __enter__(self) -> Self:
        """Start counting.

        Raises
        ------
        RuntimeError
            If another rank of this process uses the object, or another thread is inside
            a call of this rank.
        """
        world = _C.World.current()
        mine = self._world
        if mine is not None and mine is not world and not mine.closed:
            raise RuntimeError(
                f"this CommDebugMode counts for rank {mine.rank}: ranks that are "
                "threads need an object each, made in the function that all call"
            )
        if self._depth == 0:
            self._start, self._seen = _totals(world), {}
            self._world = world
        self._depth += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop counting; what was counted stays readable."""
        try:
            self._look()
        except RuntimeError:  # of a world that was closed, or is inside a call
            if error is None:
                raise
        finally:
            self._depth -= 1

    def get_comm_counts(self) -> Counter[str]:
        """Return how often each collective ran.

        Returns
        -------
        Counter
            By name; only what ran, so that ``== {"all_reduce": 1}`` says all. A name
            that is not there reads as 0.
        """
        return self._column(0)

    def get_total_counts(self) -> int:
        """Return how many collectives ran."""
        return self.get_comm_counts().total()

    def get_comm_bytes(self) -> Counter[str]:
        """Return how many bytes this rank has sent in each collective that ran.

        Returns
        -------
        Counter
            By name, as `get_comm_counts`; 0 where this rank only received.
        """
        return self._column(1)

    def get_comm_messages(self) -> Counter[str]:
        """Return how many messages this rank has sent in each collective that ran.

        Returns
        -------
        Counter
            By name, one for each peer and round; long ones that are sent in pieces
            count once.
        """
        return self._column(2)

    def __repr__(self) -> str:
        parts = [
            f"{name} {calls} ({size} B in {messages} messages)"
            for name, (calls, size, messages) in self._counted().items()
        ]
        return f"CommDebugMode({', '.join(parts) or 'nothing ran'})"

    def _look(self) -> None:
        """Take down what has run since the start."""
        if self._world is None:  # until the first mesh is made
            self._world = _C.World.current()
        self._seen = {
            name: (row[0] - before[0], row[1] - before[1], row[2] - before[2])
            for name, row in _totals(self._world).items()
            if name != "local"
            and row[0] > (before := self._start.get(name, (0, 0, 0)))[0]
        }

    def _counted(self) -> _Counts:
        if self._depth > 0:
            self._look()
        return self._seen

    def _column(self, k: int) -> Counter[str]:
        return Counter({name: row[k] for name, row in self._counted().items()})
