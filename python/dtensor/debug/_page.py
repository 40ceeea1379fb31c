"""The browser view: dumps of CommDebugMode as one HTML page.

The page needs no network and runs no script: the tree folds without one. Everything
read from a file is checked for its type and escaped.
"""

import json
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from dtensor.debug._dump import FORMAT, VERSION
from dtensor.debug._units import duration, size

__all__ = ["load", "page"]

MOST_BYTES = 1 << 28  # of a file, at most
MOST_DEPTH = 100  # of nested modules
MOST_CELLS = 64  # ranks along a side of the matrix

_STYLE = """
body{font:14px/1.45 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em;
color:#1f2328;background:#fff}
h1{font-size:1.4em}h2{font-size:1.1em;margin-top:2em}
table{border-collapse:collapse}th,td{padding:.2em .7em;text-align:left}
th{border-bottom:1px solid #888}td.n,th.n{text-align:right}
details{margin:.15em 0 .15em 1.2em;border-left:1px solid #ddd;padding-left:.6em}
summary{cursor:pointer}code{font-size:.93em}
.c{background:#fff3cd;border-radius:.3em;padding:0 .4em;margin-left:.4em}
.q{color:#666}.m td{min-width:2.4em;text-align:right;border:1px solid #eee}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}
.c{background:#4d3800}.q{color:#9198a1}details{border-color:#333}
.m td{border-color:#333}}
"""


def load(paths: Sequence[str]) -> dict[str, Any]:
    """Return the first dump, with the matrix rows of all dumps.

    Parameters
    ----------
    paths : sequence of str
        The files of one run: one rank's file, one file of all ranks, or one for each.

    Raises
    ------
    ValueError
        If a file is not a dump of CommDebugMode, or is too large.
    OSError
        If a file cannot be read.
    """
    documents = [_load(path) for path in paths]
    first = documents[0]
    for path, other in zip(paths, documents, strict=True):
        if other["ranks"] != first["ranks"]:
            raise ValueError(
                f"{path} is of {other['ranks']} ranks, {paths[0]} of {first['ranks']}"
            )
        first["matrix"] |= other["matrix"]
    return first


def _load(path: str) -> dict[str, Any]:
    length = Path(path).stat().st_size
    if length > MOST_BYTES:
        raise ValueError(
            f"{path} has {size(length)}; a dump has at most {size(MOST_BYTES)}"
        )
    try:
        document = json.loads(Path(path).read_bytes())
    except (ValueError, RecursionError) as error:  # also for numbers with 5000 digits
        raise ValueError(f"{path} is not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError(
            f"{path} was not written by CommDebugMode.generate_json_dump of dtensor"
        )
    if document.get("version") != VERSION:
        raise ValueError(
            f"{path} has format version {document.get('version')!r}, but this "
            f"dtensor reads version {VERSION}"
        )
    try:
        _check(document)
    except _Wrong as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    return document


# --- what a document must be ----------------------------------------------------------


class _Wrong(ValueError):
    """A value of the document does not have the required type."""


_TEXTS = [str]
_HEAD = {
    "rank": int,
    "ranks": int,
    "matrix": {str: [int]},
    "sites": [
        {
            "file": str,
            "line": int,
            "function": str,
            "names": _TEXTS,
            "calls": int,
            "bytes": int,
            "messages": int,
            "seconds": float,
        }
    ],
}
_OPERATION = {
    "name": str,
    "kind": str,
    "input_shape": _TEXTS,
    "input_sharding": _TEXTS,
    "moved_to": _TEXTS,
    "output_sharding": _TEXTS,
    "site": str,
    "seconds": float,
    "collectives": [{"name": str, "bytes": int, "messages": int, "seconds": float}],
}
_NODE = {
    "fqn": str,
    "module_type": str,
    "parameters": [(str, str)],
    "collectives_forward": [(str, int)],
    "collectives_backward": [(str, int)],
    "bytes_forward": {str: int},
    "bytes_backward": {str: int},
    "operations_forward": [_OPERATION],
    "operations_backward": [_OPERATION],
}


def _check(document: dict[str, Any]) -> None:
    _fits(document, _HEAD, "the file")
    ranks = document["ranks"]
    for rank, row in document["matrix"].items():
        if not (rank.isascii() and rank.isdigit() and int(rank[:9]) < ranks):
            raise _Wrong(f"matrix names a rank {rank[:20]!r} of {ranks}")
        if len(row) != ranks:
            raise _Wrong(f"row {rank} of matrix has {len(row)} entries, not {ranks}")
    _check_node(document, 0)


def _check_node(node: Any, depth: int) -> None:
    if depth > MOST_DEPTH:
        raise _Wrong(f"modules are more than {MOST_DEPTH} deep")
    _fits(node, _NODE, "a module")
    _fits(node, {"children": [dict]}, "a module")
    for child in node["children"]:
        _check_node(child, depth + 1)


def _fits(value: Any, wanted: Any, what: str) -> None:
    """Raise unless a value has the types and keys of a sample."""
    if isinstance(wanted, list):
        _is(value, list, what)
        for item in value:
            _fits(item, wanted[0], what)
    elif isinstance(wanted, tuple):
        _is(value, list, what)
        if len(value) != len(wanted):
            raise _Wrong(f"{what} has {len(value)} entries, not {len(wanted)}")
        for item, kind in zip(value, wanted, strict=True):
            _fits(item, kind, what)
    elif isinstance(wanted, dict) and str in wanted:
        _is(value, dict, what)
        for item in value.values():
            _fits(item, wanted[str], what)
    elif isinstance(wanted, dict):
        _is(value, dict, what)
        for key, kind in wanted.items():
            if key not in value:
                raise _Wrong(f"{what} lacks {key!r}")
            _fits(value[key], kind, key)
    else:
        _is(value, wanted, what)


def _is(value: Any, kind: type, what: str) -> None:
    number = kind in (int, float) and type(value) in (int, kind)
    if not (number if kind in (int, float) else isinstance(value, kind)):
        raise _Wrong(f"{what} is {type(value).__name__}, not {kind.__name__}")
    if number and not 0 <= value < 1 << 63:  # nor NaN
        raise _Wrong(f"{what} is {value!r}")


# --- the page -------------------------------------------------------------------------


def page(document: dict[str, Any]) -> str:
    """Return the page for what `load` returned."""
    title = f"Communication of rank {document['rank']} of {document['ranks']}"
    return "\n".join(
        [
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
            '<link rel="icon" href="data:,">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{title}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{title}</h1>",
            *_collectives(document),
            *_sites(document["sites"]),
            *_matrix(document["matrix"], document["ranks"]),
            "<h2>Modules and operators</h2>",
            *_node(document, True),
            "</body></html>",
            "",
        ]
    )


def _row(cells: Sequence[Any], tag: str = "td") -> str:
    """Return a row of a table; numbers are right-aligned."""
    return (
        "<tr>"
        + "".join(
            f"<{tag}{' class=n' * isinstance(cell, int)}>{escape(str(cell))}</{tag}>"
            for cell in cells
        )
        + "</tr>"
    )


def _collectives(node: dict[str, Any]) -> Iterator[str]:
    yield "<h2>Collectives</h2>"
    counts = {p: dict(node[f"collectives_{p}"]) for p in ("forward", "backward")}
    names = [*dict.fromkeys([*counts["forward"], *counts["backward"]])]
    if not names:
        yield "<p>Nothing was sent.</p>"
        return
    yield "<table>" + _row(["", "forward", "backward", "sent by this rank"], "th")
    for name in names:
        sent = sum(node[f"bytes_{p}"].get(name, 0) for p in counts)
        runs = [counts[p].get(name, 0) for p in ("forward", "backward")]
        yield _row([name, *runs, size(sent)])
    yield "</table>"


def _sites(sites: list[dict[str, Any]]) -> Iterator[str]:
    yield "<h2>Lines of the program</h2>"
    yield "<table>" + _row(["line", "for", "calls", "sent", "time"], "th")
    for site in sites:
        where = f"{site['file']}:{site['line']} in {site['function']}"
        names, time = ", ".join(site["names"]), duration(site["seconds"])
        yield _row([where, names, site["calls"], size(site["bytes"]), time])
    yield "</table>"


def _matrix(rows: dict[str, list[int]], ranks: int) -> Iterator[str]:
    """Yield the table of bytes from rank to rank, darker for more."""
    yield "<h2>Bytes from rank to rank</h2>"
    known = sorted((int(rank), row) for rank, row in rows.items())
    if len(known) < ranks:
        yield (
            f"<p class=q>Of {len(known)} of {ranks} ranks: "
            "<code>generate_json_dump(all_ranks=True)</code>, or the files of all "
            "ranks, give the others.</p>"
        )
    shown = min(ranks, MOST_CELLS)
    if shown < ranks:
        yield f"<p class=q>The first {shown} of {ranks} ranks.</p>"
    most = max((max(row, default=0) for _, row in known), default=0) or 1
    yield "<table class=m>" + _row(["from \\ to", *range(shown)], "th")
    for rank, row in known[:shown]:
        cells = "".join(
            f'<td style="background:rgba(31,119,180,{count / most * 0.75:.2f})" '
            f'title="{count} bytes from rank {rank} to rank {to}">{size(count)}</td>'
            for to, count in enumerate(row[:shown])
        )
        yield f"<tr><th>{rank}</th>{cells}</tr>"
    yield "</table>"


def _node(node: dict[str, Any], is_open: bool) -> Iterator[str]:
    marks = "".join(
        f"<span class=c>{escape(name)} {count} {arrow}</span>"
        for pass_, arrow in (("forward", "&rarr;"), ("backward", "&larr;"))
        for name, count in node[f"collectives_{pass_}"]
    )
    kind = f" <span class=q>{escape(node['module_type'])}</span>"
    yield f"<details{' open' * is_open}><summary><b>{escape(node['fqn'])}</b>"
    yield f"{kind}{marks}</summary>"
    if node["parameters"]:
        yield "<table>" + _row(["parameter", "placements"], "th")
        yield from map(_row, node["parameters"])
        yield "</table>"
    for pass_ in ("forward", "backward"):
        operations = node[f"operations_{pass_}"]
        if operations:
            yield f"<details><summary>{pass_}: {len(operations)} operators</summary>"
            heads = ["", "shapes", "placements", "moved to", "result", "sent", "line"]
            yield "<table>" + _row(heads, "th")
            yield from map(_operation, operations)
            yield "</table></details>"
    for child in node["children"]:
        yield from _node(child, is_open)
    yield "</details>"


def _operation(operation: dict[str, Any]) -> str:
    sent = ", ".join(
        f"{c['name']} {size(c['bytes'])} in {duration(c['seconds'])}"
        for c in operation["collectives"]
    )
    keys = "input_shape", "input_sharding", "moved_to", "output_sharding"
    texts = [", ".join(operation[key]) for key in keys]
    return _row([operation["name"], *texts, sent, operation["site"]])
