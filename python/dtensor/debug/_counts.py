"""Sums over records: by collective, by module, by line of the program."""

import re
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

from dtensor.debug._modules import GLOBAL
from dtensor.debug._watch import Collective, Record

__all__ = ["CallSite", "Counts", "call_sites", "chain", "module_counts"]

# Prefixes and suffixes of torch's names for one collective.
_BEFORE = re.compile(r"^(_?c10d(_functional)?\.|dist\.|aten\.)+")
_AFTER = re.compile(r"(\.default|_into_tensor|_tensor|_single|_base|_|_coalesced)+$")
_OTHERS = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "alltoall": "all_to_all",
}


class Counts(Counter[str]):
    """A Counter by name of collective that also understands torch's names."""

    def __missing__(self, key: Any) -> int:
        name = _BEFORE.sub("", key if isinstance(key, str) else _name(key))
        name = _AFTER.sub("", name.lstrip("_"))
        name = _OTHERS.get(name, name)
        return self[name] if name in self else 0


def _name(key: Any) -> str:
    return str(getattr(key, "__name__", key))


@dataclass(frozen=True)
class CallSite:
    """A line of the program, and what this rank sent because of it."""

    file: str
    line: int
    function: str
    names: tuple[str, ...]
    """The operators and moves."""
    calls: int
    """The number of collectives."""
    bytes: int
    """Sent by this rank."""
    messages: int
    """Sent by this rank."""
    seconds: float
    """Time in collectives, including waiting for other ranks."""


def chain(module: str, known: Container[str]) -> list[str]:
    """Return a module and those that contain it, outermost first: "Global", "A", "A.b".

    Unknown names are left out: a ModuleList only contains modules and is never called.
    """
    if module == GLOBAL:
        return [GLOBAL]
    parts = module.split(".")
    names = [".".join(parts[: k + 1]) for k in range(len(parts))]
    return [GLOBAL, *(name for name in names if name in known or name == module)]


def module_counts(
    records: Sequence[Record], known: Container[str]
) -> dict[str, dict[str, Counter[str]]]:
    """Return how often each collective ran, by module and direction."""
    counts: dict[str, dict[str, Counter[str]]] = _Modules()
    for record in records:
        for name in chain(record.module, known):
            row = counts[name]["backward" if record.backward else "forward"]
            for collective in record.collectives:
                row[collective.name] += 1
    return counts


class _Modules(dict[str, dict[str, Counter[str]]]):
    """Counts by module; empty ones for modules in which nothing ran."""

    def __missing__(self, name: str) -> dict[str, Counter[str]]:
        row: dict[str, Counter[str]] = {"forward": Counts(), "backward": Counts()}
        self[name] = row
        return row


def call_sites(records: Sequence[Record]) -> list[CallSite]:
    """Return the lines that sent something, most bytes first."""
    found: dict[Any, list[Record]] = {}
    for record in records:
        if record.collectives:
            found.setdefault(record.site, []).append(record)
    sites = [
        _call_site(records, [c for record in records for c in record.collectives])
        for records in found.values()
    ]
    return sorted(sites, key=lambda site: -site.bytes)


def _call_site(records: list[Record], collectives: list[Collective]) -> CallSite:
    return CallSite(
        *records[0].site,
        names=tuple(dict.fromkeys(record.name for record in records)),
        calls=len(collectives),
        bytes=sum(c.bytes for c in collectives),
        messages=sum(c.messages for c in collectives),
        seconds=sum(c.end - c.begin for c in collectives),
    )
