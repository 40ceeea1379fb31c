"""Which collectives a piece of code runs, what they send, and who asked for them."""

import json
import os
from collections import Counter
from types import TracebackType
from typing import Any, Self

from dtensor import _C
from dtensor.debug import _dump, _table, _trace
from dtensor.debug._counts import CallSite, Counts, call_sites, module_counts
from dtensor.debug._modules import Span
from dtensor.debug._watch import Call, Record, tracker, unwatch, watch
from dtensor.nn.module import Module

__all__ = ["CallSite", "CommDebugMode"]

_Counts = dict[str, tuple[int, int, int]]  # calls, bytes, messages by name


def _totals(world: _C.World | None) -> _Counts:
    """What this rank did since its world was made; nothing before that."""
    return {} if world is None else world.counters()


class CommDebugMode:
    """Count the collectives that run inside a ``with`` block, on this rank.

    Counted is what moves elements of arrays, whoever asked for it: `redistribute`, an
    operator that moves its operands, `full_tensor`, ``print``. What ranks tell each
    other to compare their calls is not. Beside the counts there is a record of every
    operator and move, with the module (of `dtensor.nn`), the direction, and the line of
    the program that it belongs to. Entering and leaving is not collective, and nothing
    about what runs is changed; the hooks on modules are there inside the block only.

    The names are "all_gather", "all_reduce", "reduce_scatter", "all_to_all",
    "broadcast", "scatter", "gather", and "exchange" for any other pattern. Several
    arrays that move together count once. An asynchronous move counts when it runs: at
    the latest when somebody waits for it. On ranks that the array lies on, calls are
    equal; bytes and messages are those that this rank sends.

    Blocks may be nested: each counts all that runs inside it. The same object may be
    entered again, and then counts from 0, unless it is inside a block of its own, which
    goes on counting. Ranks that are threads (`dtensor.testing.run_ranks`) need an
    object each. Records are of the thread that entered.

    Attributes
    ----------
    comm_module_counts : dict
        ``["Global" or a module]["forward" or "backward"][collective]``: how often it
        ran there. A module has what its children have, and "Global" has all. Modules
        are called as "Model.layers.0": the class of the outermost, then attributes.

    See Also
    --------
    explain : The steps and bytes of a move before it runs.

    Notes
    -----
    After ``torch.distributed.tensor.debug.CommDebugMode``, which has operators of torch
    for names, and no bytes. Its names are understood where counts are read:
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
        self._where = (0, 1)  # rank, and how many there are

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
            self._records, self._modules, self._spans = [], {}, []
            watch(self._tell)
            self._first_span = len(tracker().spans)
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
            `file`, `line`, `function`; the names of operators and moves; and the
            collectives' number, bytes and messages sent by this rank, and seconds.
            Lines of this library and of NumPy count for whoever called them. Backward
            is the line that called it.
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
        """Return the placements of those parameters that are DTensors.

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
            0: the collectives of each module. 1: and what it is, its parameters, and
            the operators on DTensors, but for trivial ones such as `reshape`. 2: and
            operators on arrays of this rank alone. 3: and trivial ones.

        Returns
        -------
        str
            Without colours.

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

        Not collective: let one rank do it, or give each a name of its own.

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

        Collective with `all_ranks` only.

        Parameters
        ----------
        file_name : str
            Replaced if it is there.
        noise_level : int, default 3
            As for `generate_comm_debug_tracing_table`.
        all_ranks : bool, default False
            Every rank tells rank 0 what it sent to whom; rank 0 writes. Without it the
            file knows of this rank alone.

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

        Collective: rank 0 writes. Clocks of different machines are set by their time of
        day.

        Parameters
        ----------
        path : str
            Of a file in the JSON format of Chrome's traces.

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
            f"{name} {calls} ({size} B in {messages} messages)"
            for name, (calls, size, messages) in self._counted().items()
        ]
        return f"CommDebugMode({', '.join(parts) or 'nothing ran'})"

    # --- what is behind ---------------------------------------------------------------

    def _tell(self, record: Record, _call: Call | None) -> None:
        self._records.append(record)

    def _look(self) -> None:
        """Take down what has run since the start."""
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
        """Take down which modules were called, while that is known."""
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
        """Return what every rank gives; all ranks of the job take part."""
        world = _C.World.current()
        if world is None:
            return [part]
        return [json.loads(text) for text in world.share(json.dumps(part).encode())]


def _is(x: Any) -> bool:
    return x is not None


def _write(path: str, text: str) -> None:
    """Write a file, whole or not at all."""
    draft = f"{path}.{os.getpid()}.part"
    try:
        with open(draft, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, path)
    except OSError:
        if os.path.exists(draft):
            os.unlink(draft)
        raise
