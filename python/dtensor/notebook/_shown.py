"""What ranks print and display: kept for each, and shown once where it is the same."""

import contextlib
import contextvars
import io
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from dtensor.notebook._ranks import Said

__all__ = ["Routed", "bundle", "named", "show"]

_WRITER: contextvars.ContextVar[Said | None] = contextvars.ContextVar(
    "dtensor_said", default=None
)

_SENDER = re.compile(r"^rank \d+: ")  # of an error that all ranks raise


class _Stream(io.TextIOBase):
    """Hands on what is written: to the rank that this is, else to where it went."""

    def __init__(self, kind: str, before: Any) -> None:
        self.kind, self.before = kind, before

    def write(self, text: str) -> int:
        said = _WRITER.get()
        if said is None:
            return int(self.before.write(text))
        setattr(said, self.kind, getattr(said, self.kind) + text)
        if said.is_live and self.kind == "err":
            self.before.write(text)
        return len(text)

    def flush(self) -> None:
        self.before.flush()

    def isatty(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.before, name)


class Routed(contextlib.ExitStack):
    """While it lasts, what ranks that are threads print is kept for each of them."""

    def __enter__(self) -> "Routed":
        super().__enter__()
        self.enter_context(contextlib.redirect_stdout(_Stream("out", sys.stdout)))
        self.enter_context(contextlib.redirect_stderr(_Stream("err", sys.stderr)))
        return self

    @staticmethod
    @contextlib.contextmanager
    def to(said: Said) -> Iterator[None]:
        """This thread is the rank that says it."""
        token = _WRITER.set(said)
        try:
            yield
        finally:
            _WRITER.reset(token)


def bundle(value: Any) -> dict[str, Any]:
    """Return the texts that display a value, by MIME type."""
    found = {"text/plain": repr(value)}
    html = getattr(value, "_repr_html_", None)
    text = html() if html is not None else None
    if text:
        found["text/html"] = text
    return found


# --- folded ---------------------------------------------------------------------------


def named(ranks: Sequence[int]) -> str:
    """Return "rank 2" or "ranks 0-2, 5"."""
    spans: list[list[int]] = []
    for rank in ranks:
        if spans and rank == spans[-1][-1] + 1:
            spans[-1].append(rank)
        else:
            spans.append([rank])
    texts = [f"{s[0]}-{s[-1]}" if len(s) > 2 else ", ".join(map(str, s)) for s in spans]
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(texts)}"


def _folded(
    said: Sequence[Said], key: Callable[[Said], Any]
) -> list[tuple[list[int], Said]]:
    """Return what ranks have said, each time with all the ranks that said the same."""
    found: list[tuple[list[int], Said]] = []
    for each in said:
        same = next((ranks for ranks, other in found if key(other) == key(each)), None)
        if same is not None:
            same.append(each.rank)
        elif key(each):
            found.append(([each.rank], each))
    return found


def _seen(kinds: Sequence[str]) -> Callable[[Said], list[str]]:
    """Return what gives all that is seen of what a rank has displayed."""

    def seen(said: Said) -> list[str]:
        return [next((d[k] for k in kinds if d.get(k)), "") for d in said.shown]

    return seen


def _print(data: dict[str, Any]) -> None:
    print(data.get("text/plain", ""))


def show(
    said: Sequence[Said],
    display: Callable[[dict[str, Any]], Any] = _print,
    rich: bool = False,
) -> None:
    """Show what ranks have said, and raise what they have raised, as after a cell.

    What is the same on several ranks is shown once. Not collective.

    Parameters
    ----------
    said : sequence of Said
        What `Ranks.run` has returned.
    display : callable, optional
        ``display(data)`` shows texts by MIME type; default: it prints the plain one.
    rich : bool, default False
        Whether `display` shows HTML where there is some.

    Raises
    ------
    Exception
        The error of the first rank that had one of its own, with the ranks that had it.
    """
    for ranks, first in _folded(said, lambda s: s.out):
        _write(sys.stdout, ranks, first.out)
    for ranks, first in _folded(said, lambda s: s.err):
        if not first.is_live:  # else it has been seen
            _write(sys.stderr, ranks, first.err)
    kinds = ("text/html", "text/plain") if rich else ("text/plain",)
    for ranks, first in _folded(said, _seen(kinds)):
        print(f"[{named(ranks)}]")
        for data in first.shown:
            display(data)
    _raise(said)


def _write(stream: Any, ranks: Sequence[int], text: str) -> None:
    stream.write(f"[{named(ranks)}]\n{text}")
    if not text.endswith("\n"):
        stream.write("\n")


def _raise(said: Sequence[Said]) -> None:
    """Raise the first error, with the ranks that had it; others are told of."""
    failed = [s for s in said if s.error is not None]
    first = [s for s in failed if not s.given_up] or failed
    kinds: dict[tuple[str, str], list[Said]] = {}
    for each in first:
        kinds.setdefault(_kind(each.error), []).append(each)
    for (kind, sentence), same in [*kinds.items()][1:]:
        where = named([s.rank for s in same])
        print(f"[{where}] {kind}: {sentence}", file=sys.stderr)
    if not kinds:
        return
    same = next(iter(kinds.values()))
    error = same[0].error
    assert error is not None
    where = f"raised by {named([s.rank for s in same])}"
    error.add_note(where)
    if hasattr(error, "ename"):  # ipyparallel shows no notes
        print(where, file=sys.stderr)
    raise error


def _kind(error: Any) -> tuple[str, str]:
    """Return type and sentence of an error; an engine's was another one there."""
    kind = getattr(error, "ename", type(error).__name__)
    sentence = str(getattr(error, "evalue", error))
    return kind, _SENDER.sub("", sentence)
