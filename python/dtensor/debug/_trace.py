"""A timeline in Chrome's trace format (JSON), with one track for each rank."""

import itertools
import time
from collections.abc import Sequence
from typing import Any

from dtensor.debug._modules import Span
from dtensor.debug._watch import Record

__all__ = ["events", "merge"]

Event = dict[str, Any]
MICRO = 1e6  # the format counts in microseconds


def events(
    rank: int, records: Sequence[Record], spans: Sequence[Span]
) -> dict[str, Any]:
    """Return the events of a rank, on its own clock, and how to set that clock.

    Modules, operators and collectives are nested intervals. One that ends outside the
    interval that it began in, as an asynchronous move may, is a separate interval.
    """
    found = [
        _event(f"{span.module}{' (backward)' * span.backward}", "module", span[2:])
        for span in spans
    ]
    for record in records:
        names = {"sharding": ", ".join(map(str, record.sources))}
        if record.targets != record.sources:
            names["moved to"] = ", ".join(map(str, record.targets))
        names |= {"module": record.module, "site": str(record.site)}
        if record.kind == "operator":
            times = record.begin, max(record.begin, record.end)
            found.append(_event(record.name, "operator", times, **names))
        for c in record.collectives:
            sent = {f"to rank {peer}": size for peer, size in c.peers}
            times = c.begin, max(c.begin, c.end)
            what = {"for": record.name, "bytes": c.bytes} | sent | names
            found.append(_event(c.name, "collective", times, **what))
    offset = time.time() - time.monotonic()
    return {"rank": rank, "offset": offset, "events": _nested(rank, found)}


def _event(name: str, kind: str, times: Sequence[float], **args: Any) -> Event:
    begin, end = times
    return {
        "name": name,
        "cat": kind,
        "ph": "X",
        "ts": begin * MICRO,
        "dur": (end - begin) * MICRO,
        "args": args,
    }


def _nested(rank: int, found: list[Event]) -> list[Event]:
    """Return the events by time, with those that do not nest as a pair of marks."""
    out: list[Event] = []
    ends: list[float] = []
    for number, event in enumerate(
        sorted(found, key=lambda event: (event["ts"], -event["dur"]))
    ):
        begin, end = event["ts"], event["ts"] + event.pop("dur")
        while ends and ends[-1] <= begin:
            ends.pop()
        if not ends or end <= ends[-1]:
            ends.append(end)
            out.append(event | {"dur": end - begin})
            continue
        pair = {"id": f"{rank}.{number}"}
        out.append(event | pair | {"ph": "b"})
        out.append(event | pair | {"ph": "e", "ts": end, "args": {}})
    return out


def merge(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the file's content: the events of all ranks, timed from the first one."""
    times = [e["ts"] + p["offset"] * MICRO for p in parts for e in p["events"]]
    start = min(times, default=0.0)
    named = [_mark(part, "thread_name", name=f"rank {part['rank']}") for part in parts]
    order = [
        _mark(part, "thread_sort_index", sort_index=part["rank"]) for part in parts
    ]
    shifted = [
        event | _place(part) | {"ts": event["ts"] + part["offset"] * MICRO - start}
        for part in parts
        for event in part["events"]
    ]
    return {
        "traceEvents": [*itertools.chain(named, order), *shifted],
        "displayTimeUnit": "ns",
    }


def _mark(part: dict[str, Any], what: str, **args: Any) -> Event:
    """Return what the track of a rank is given."""
    return {"name": what, "ph": "M", "args": args} | _place(part)


def _place(part: dict[str, Any]) -> dict[str, int]:
    return {"pid": 0, "tid": part["rank"]}
