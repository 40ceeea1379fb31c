"""One style and one table for all that notebooks and pages show."""

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["document", "facts", "framed", "row", "table"]

# Lines are grey and letters those of the page: right on light pages and on dark ones.
_STYLE = (
    ".dtensor{font:13px/1.45 system-ui,sans-serif;overflow-x:auto}"
    ".dtensor>div{display:flex;flex-wrap:wrap;gap:.5em 1.5em;align-items:flex-start}"
    ".dtensor table{border-collapse:collapse;margin:.3em 0;font-size:12px}"
    ".dtensor caption{text-align:left;padding:.2em .6em .2em 0}"
    ".dtensor tr{background:none}.dtensor td,.dtensor th{padding:.15em .8em .15em 0;"
    "text-align:left;vertical-align:top;border:0;border-bottom:1px solid #8886}"
    ".dtensor .n{text-align:right;font-variant-numeric:tabular-nums}"
    ".dtensor pre{margin:.3em 0;font-size:12px}.dtensor svg{display:block}"
)
_PAGE_STYLE = (
    "body{margin:2em auto;max-width:75em;padding:0 1em;color:#1f2328;background:#fff}"
    "@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}}"
)


def row(cells: Sequence[object], left: int, tag: str = "td") -> str:
    """Return a row of a table; the cells after the first `left` are numbers."""
    opened = [
        f'<{tag} class="n">' if k >= left else f"<{tag}>" for k in range(len(cells))
    ]
    texts = (f"{escape(str(cell))}</{tag}>" for cell in cells)
    return f"<tr>{''.join(map(str.__add__, opened, texts))}</tr>"


def table(
    head: Sequence[object],
    rows: Iterable[Sequence[object]],
    left: int = 1,
    caption: str = "",
) -> str:
    """Return a table, whose columns after the first `left` are numbers."""
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    body = "".join(row(cells, left) for cells in rows)
    return (
        f"<table>{title}<thead>{row(head, left, 'th')}</thead>"
        f"<tbody>{body}</tbody></table>"
    )


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Return a table of names and what they are."""
    lines = (
        f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>"
        for name, text in pairs
    )
    return f"<table><tbody>{''.join(lines)}</tbody></table>"


def framed(title: str, *parts: str) -> str:
    """Return what a notebook shows: a title, and parts beside each other."""
    text = title if len(title) <= 300 else title[:300] + " ..."
    return (
        f'<div class="dtensor"><style>{_STYLE}</style><code>{escape(text)}</code>'
        f"<div>{''.join(parts)}</div></div>"
    )


def document(title: str, body: str) -> str:
    """Return a page that needs no other file."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{_PAGE_STYLE}</style>"
        f"<body>{body}</body></html>"
    )
