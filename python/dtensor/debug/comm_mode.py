"""Which collectives a piece of code runs, what they send, and what caused them."""

import json
import os
from collections import Counter
from typing import Any, Self

from dtensor import _C
from dtensor.debug import _dump, _table, _trace
from dtensor.debug._counts import CallSite, Counts, call_sites, module_counts
from dtensor.debug._modules import Span
from dtensor.debug._pictures._sent import sent_html
from dtensor.debug._units import by
from dtensor.debug._watch import Call, Record, tracker, unwatch, watch
from dtensor.nn.module import Module

__all__ = ["CallSite", "CommDebugMode"]

_Counts = dict[str, tuple[int, int, int]]  # calls, bytes, messages by name


def _totals(world: _C.World | None) -> _Counts:
    """The counts of this rank since its world was made; none before that."""
    return {} if world is None else world.counters()


class CommDebugMode:
    """Count the collectives that run inside a ``with`` block, on this rank.

    It counts every collective that moves elements of arrays, whatever caused it:
    `redistribute`, an operator that moves its operands, `full_tensor`, ``print``. The
    messages with which ranks compare their calls are not counted. Every operator and
    move is also recorded, with its module (of `dtensor.nn`), its direction, and its
    line of the program. Entering and leaving is not collective, and does not change
    what runs; modules have hooks only inside the block.

    The names are "all_gather", "all_reduce", "reduce_scatter", "all_to_all",
    "broadcast", "scatter", "gather", and "exchange" for any other pattern. Arrays that
    move together count once. An asynchronous move counts when it runs: at the latest
    when it is waited for. All ranks that hold the array count the same calls; bytes and
    messages are those that this rank sends.

    Blocks may be nested: each counts all that runs inside it. An object that is entered
    again counts from 0; if it is entered inside its own block, it goes on counting.
    Ranks that are threads (`dtensor.testing.run_ranks`) need one object each. Records
    are of the thread that entered.

    Attributes
    ----------
    comm_module_counts : dict
        ``["Global" or a module]["forward" or "backward"][collective]``: how often it
        ran there. A module includes its children, and "Global" includes all. Modules
        are named like "Model.layers.0": the class of the outermost, then attributes.

    See Also
    --------
    explain : The steps and bytes of a move before it runs.

    Notes
    -----
    Modelled on ``torch.distributed.tensor.debug.CommDebugMode``, whose counts are by
    torch operator and do not include bytes. Its names also work for reading counts:
    ``get_comm_counts()["all_gather_into_tensor"]``.

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
        self._records: list[Record] = []
        self._modules: dict[str, Module] = {}
        self._spans: list[Span] = []
        self._first_span = 0
        self._where = (0, 1)  # rank, and number of ranks

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
                "threads need one object each, made in the function that run_ranks runs"
            )
        if self._depth == 0:
            self._start, self._seen = _totals(world), {}
            self._world = world
            self._records, self._modules, self._spans = [], {}, []
            watch(self._tell)
            self._first_span = len(tracker().spans)
        self._depth += 1
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Stop counting; the counts stay readable."""
        try:
            self._look()
        except RuntimeError:  # the world was closed, or is inside a call
            if kind is None:
                raise
        finally:
            self._look_at_modules()
            self._depth -= 1
            if self._depth == 0:
                unwatch(self._tell)

    # --- counts -----------------------------------------------------------------------

    def get_comm_counts(self) -> Counter[str]:
        """Return how often each collective ran.

        Returns
        -------
        Counter
            Counts by name, only of collectives that ran, so that it can be compared:
            ``== {"all_reduce": 1}``. A missing name reads as 0.
        """
        return self._column(0)

    @property
    def comm_counts(self) -> Counter[str]:
        """What `get_comm_counts` returns."""
        return self.get_comm_counts()

    def get_total_counts(self) -> int:
        """Return how many collectives ran."""
        return self.get_comm_counts().total()

    def get_comm_bytes(self) -> Counter[str]:
        """Return how many bytes this rank sent in each collective that ran.

        Returns
        -------
        Counter
            Bytes by name, as in `get_comm_counts`; 0 if this rank only received.
        """
        return self._column(1)

    def get_comm_messages(self) -> Counter[str]:
        """Return how many messages this rank sent in each collective that ran.

        Returns
        -------
        Counter
            Messages by name: one for each peer and round. A long message that is sent
            in pieces counts once.
        """
        return self._column(2)

    @property
    def comm_module_counts(self) -> dict[str, dict[str, Counter[str]]]:
        """How often each collective ran in each module, forward and backward."""
        self._look_at_modules()
        return module_counts(self._records, self._modules)

    def get_call_sites(self) -> list[CallSite]:
        """Return the lines of the program that sent something, most bytes first.

        Returns
        -------
        list of CallSite
            `file`, `line`, `function`; the names of operators and moves; the number of
            collectives, the bytes and messages that this rank sent, and seconds. Calls
            inside this library and NumPy count for the line that called these. Backward
            counts for the line that called it.
        """
        return call_sites(self._records)

    # --- modules ----------------------------------------------------------------------

    def get_parameter_info(self) -> dict[str, dict[str, Any]]:
        """Return the parameters of the modules that were called.

        Returns
        -------
        dict
            ``["Model.layer"]["weight"]``: a tensor that shares the parameter's memory.
        """
        self._look_at_modules()
        return {
            name: {key: x.detach() for key, x in module._parameters.items() if _is(x)}
            for name, module in self._modules.items()
            if any(_is(x) for x in module._parameters.values())
        }

    def get_sharding_info(self) -> dict[str, Any]:
        """Return the placements of the parameters that are DTensors.

        Returns
        -------
        dict
            ``["Model.layer.weight"]``: a tuple of placements.
        """
        return {
            f"{name}.{key}": x.placements
            for name, parameters in self.get_parameter_info().items()
            for key, x in parameters.items()
            if isinstance(x, _C.DTensor)
        }

    # --- texts and files --------------------------------------------------------------

    def generate_comm_debug_tracing_table(self, noise_level: int = 3) -> str:
        """Return a table of modules, operators and collectives.

        Parameters
        ----------
        noise_level : int, default 3
            0: the collectives of each module. 1: also its type, its parameters, and the
            operators on DTensors, except trivial ones such as `reshape`. 2: also
            operators on this rank's own arrays. 3: also trivial ones.

        Returns
        -------
        str
            The table, without colours.

        Raises
        ------
        ValueError
            If there is no such level. On this rank only.
        """
        return _table.table(self._document(noise_level))

    def log_comm_debug_tracing_table_to_file(
        self, file_name: str = "comm_mode_log.txt", noise_level: int = 3
    ) -> None:
        """Write `generate_comm_debug_tracing_table` to a file.

        Not collective: call it on one rank, or give each rank its own file name.

        Raises
        ------
        ValueError
            If there is no such level. On this rank only.
        OSError
            If the file cannot be written. On this rank only.
        """
        _write(file_name, self.generate_comm_debug_tracing_table(noise_level))

    def generate_json_dump(
        self,
        file_name: str = "comm_mode_log.json",
        noise_level: int = 3,
        *,
        all_ranks: bool = False,
    ) -> None:
        """Write what ran to a file for ``python -m dtensor.debug view``.

        Collective only with `all_ranks`.

        Parameters
        ----------
        file_name : str
            An existing file is replaced.
        noise_level : int, default 3
            As for `generate_comm_debug_tracing_table`.
        all_ranks : bool, default False
            Whether rank 0 collects how much each rank sent to each other, and writes
            the file. If False, the file is about this rank alone.

        Raises
        ------
        ValueError
            If there is no such level. On this rank only.
        OSError
            If the file cannot be written. On the rank that writes only.
        """
        document = self._document(noise_level)
        if all_ranks:
            parts = self._share(document["matrix"])
            document["matrix"] = {k: row for part in parts for k, row in part.items()}
        if not all_ranks or self._rank()[0] == 0:
            _write(file_name, json.dumps(document, indent=1))

    def export_chrome_trace(self, path: str) -> None:
        """Write a timeline of all ranks for https://ui.perfetto.dev, one track each.

        Collective: rank 0 writes. Clocks of different machines are aligned by their
        time of day.

        Parameters
        ----------
        path : str
            A file in Chrome's trace format (JSON).

        Raises
        ------
        OSError
            If the file cannot be written. On rank 0 only.
        """
        self._look_at_modules()
        mine = _trace.events(self._rank()[0], self._records, self._spans)
        parts = self._share(mine)
        if self._rank()[0] == 0:
            _write(path, json.dumps(_trace.merge(parts)))

    def __repr__(self) -> str:
        parts = [
            f"{name} {calls} ({size} B {by(messages)})"
            for name, (calls, size, messages) in self._counted().items()
        ]
        return f"CommDebugMode({', '.join(parts) or 'nothing ran'})"

    def _repr_html_(self) -> str:
        return sent_html(self._rank()[0], self._counted(), self.get_call_sites())

    # --- implementation ---------------------------------------------------------------

    def _tell(self, record: Record, _call: Call | None) -> None:
        self._records.append(record)

    def _look(self) -> None:
        """Record what has run since the start."""
        if self._world is None:  # until the first mesh is made
            self._world = _C.World.current()
        self._rank()
        self._seen = {
            name: (row[0] - before[0], row[1] - before[1], row[2] - before[2])
            for name, row in _totals(self._world).items()
            if name != "local"
            and row[0] > (before := self._start.get(name, (0, 0, 0)))[0]
        }

    def _look_at_modules(self) -> None:
        """Record which modules were called, while that is known."""
        if self._depth > 0:
            self._modules = dict(tracker().modules)
            self._spans = tracker().spans[self._first_span :]

    def _rank(self) -> tuple[int, int]:
        if self._world is not None:
            self._where = self._world.rank, self._world.size
        return self._where

    def _counted(self) -> _Counts:
        if self._depth > 0:
            self._look()
        return self._seen

    def _column(self, k: int) -> Counter[str]:
        return Counts({name: row[k] for name, row in self._counted().items()})

    def _document(self, noise_level: int) -> dict[str, Any]:
        self._look_at_modules()
        return _dump.document(noise_level, self._rank(), self._records, self._modules)

    def _share(self, part: Any) -> list[Any]:
        """Return the parts of all ranks. Collective over all ranks of the job."""
        world = _C.World.current()
        if world is None:
            return [part]
        data = json.dumps(part).encode()
        return [json.loads(text) for text in world.share(data, what="CommDebugMode")]


def _is(x: Any) -> bool:
    return x is not None


def _write(path: str, text: str) -> None:
    """Write a file atomically."""
    draft = f"{path}.{os.getpid()}.part"
    try:
        with open(draft, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, path)
    except OSError:
        if os.path.exists(draft):
            os.unlink(draft)
        raise
