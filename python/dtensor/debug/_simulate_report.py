"""What a simulated rank would do: as numbers, text, JSON and HTML."""

import json
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dtensor.debug._pictures._html import document, framed, table
from dtensor.debug._units import aligned, duration, size

__all__ = ["Moves", "Simulation"]


class Moves(NamedTuple):
    """The collectives of one kind, for one rank."""

    calls: int
    """How often they run."""
    bytes: int
    """Bytes that it sends."""
    messages: int
    """Messages that it sends. For arrays that move together, those of one array: too
    few if other arrays go to other ranks."""
    seconds: float
    """Predicted time."""


@dataclass(frozen=True)
class Simulation:
    """What a program costs one rank of a mesh, by the plans that would run.

    ``str()`` returns a table; a notebook shows the page of `to_html`.
    """

    mesh_shape: tuple[int, ...]
    """Lengths of the dims of the mesh."""
    mesh_dim_names: tuple[str, ...] | None
    """Their names."""
    rank: int
    """The rank."""
    moves: dict[str, Moves] = field(repr=False)
    """By kind of collective, and "local" for moves that send nothing."""
    peak_bytes: int
    """The most bytes of tensors without data that were alive at the same time."""
    live_bytes: int
    """The bytes of those that were alive at the end."""

    @property
    def comm_counts(self) -> Counter[str]:
        """How often each collective ran, like ``CommDebugMode.get_comm_counts``."""
        return Counter({name: m.calls for name, m in self._collectives().items()})

    @property
    def comm_bytes(self) -> Counter[str]:
        """Bytes that the rank sent in each, like ``CommDebugMode.get_comm_bytes``."""
        return Counter({name: m.bytes for name, m in self._collectives().items()})

    @property
    def predicted_seconds(self) -> float:
        """Predicted time of all moves, without waiting and without arithmetic."""
        return sum(m.seconds for m in self.moves.values())

    def _collectives(self) -> dict[str, Moves]:
        return {name: m for name, m in self.moves.items() if m.calls > 0}

    # --- shown ------------------------------------------------------------------------

    def _head(self) -> str:
        names = self.mesh_dim_names or [""] * len(self.mesh_shape)
        dims = [f"{name}={n}" if name else str(n) for name, n in self._dims(names)]
        ranks = math.prod(self.mesh_shape)
        return f"rank {self.rank} of {ranks:,} ({' x '.join(dims)})"

    def _dims(self, names: Any) -> list[tuple[str, int]]:
        return list(zip(names, self.mesh_shape, strict=True))

    def _rows(self) -> list[tuple[str, str, str, str, str]]:
        columns = zip(Moves(0, 0, 0, 0.0), *self.moves.values(), strict=True)
        rows = [*self.moves.items(), ("total", Moves(*map(sum, columns)))]
        return [
            (name, f"{calls:,}", size(sent), f"{messages:,}", duration(seconds))
            for name, (calls, sent, messages, seconds) in rows
        ]

    def __str__(self) -> str:
        lines = aligned(_HEAD, self._rows(), 1)
        memory = f"peak {size(self.peak_bytes)}, at the end {size(self.live_bytes)}"
        return "\n".join([self._head(), *lines, memory])

    def to_json(self) -> str:
        """Return the report as a JSON object.

        Returns
        -------
        str
            The fields and properties of this class, with bytes and seconds as numbers.
        """
        return json.dumps(
            {
                "mesh_shape": self.mesh_shape,
                "mesh_dim_names": self.mesh_dim_names,
                "rank": self.rank,
                "moves": {name: m._asdict() for name, m in self.moves.items()},
                "comm_counts": self.comm_counts,
                "comm_bytes": self.comm_bytes,
                "peak_bytes": self.peak_bytes,
                "live_bytes": self.live_bytes,
                "predicted_seconds": self.predicted_seconds,
            },
            indent=2,
        )

    def _repr_html_(self) -> str:
        memory = f"{size(self.peak_bytes)}, at the end {size(self.live_bytes)}"
        title = f"Simulation of {self._head()}"
        return framed(title, table(_HEAD, self._rows(), 1, f"peak memory {memory}"))

    def to_html(self) -> str:
        """Return the report as a self-contained page.

        Returns
        -------
        str
            An HTML document.
        """
        return document(self._head(), self._repr_html_())


_HEAD = ("collective", "calls", "sent", "messages", "predicted")
