"""What an expression will do: its operators, the rows of their rules, and costs."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.nested import mapped
from dtensor.debug._pictures._html import framed, table
from dtensor.debug._units import duration, size, traffic
from dtensor.debug._watch import Call, Record, unwatch, watch

__all__ = ["Expression", "OperatorPlan", "Row", "explain_expression"]

MOST_WAYS = 400  # tried on a mesh dimension, at most
MOST_ROWS = 6  # printed for each mesh dimension, at most
MOST_SHOWN = 100  # operators in a notebook, at most
_HEAD = ("operator", "operands", "results", "line", "sent", "messages", "predicted")


@dataclass(frozen=True)
class Row:
    """A way to compute an operator on one mesh dimension."""

    mesh_dim: int
    """The mesh dimension; the other ones keep the chosen row."""
    text: str
    """Placements of operands and results on it: "S(0),R->S(0)"."""
    seconds: float
    """Predicted time of all moves of the operands, on all mesh dimensions."""
    bytes_sent: int
    """Bytes that the rank sends for these moves."""
    chosen: bool
    """Whether this row is chosen."""


@dataclass(frozen=True)
class OperatorPlan:
    """An operator, or a redistribute in the expression, and what it costs a rank."""

    name: str
    """The operator, or "redistribute"."""
    rule: str
    """The text of its rule (docs/operators.md); "" for a move."""
    operands: tuple[str, ...]
    """Placements of the operands."""
    moved_to: tuple[str, ...]
    """The placements that they are moved to; unchanged if nothing moves."""
    results: tuple[str, ...]
    """Placements of the results."""
    bytes_sent: int
    """Bytes that the rank sends."""
    messages: int
    """Messages that the rank sends."""
    seconds: float
    """Predicted time of the moves."""
    rows: tuple[Row, ...]
    """The possible rows, by mesh dimension, cheapest first."""
    site: str
    """The line of the program."""

    def _moves(self) -> str:
        """Return where the operands are moved from and to."""
        pairs = zip(self.operands, self.moved_to, strict=True)
        return ", ".join(old if old == new else f"{old} -> {new}" for old, new in pairs)

    def _cells(self) -> tuple[str, ...]:
        """Return the row of a table."""
        costs = size(self.bytes_sent), f"{self.messages:,}", duration(self.seconds)
        return self.name, self._moves(), ", ".join(self.results), self.site, *costs

    def __str__(self) -> str:
        rule = f"  rule {self.rule}" if self.rule else ""
        lines = [
            f"{self.name}({self._moves()}) = {', '.join(self.results)}{rule}",
            f"    sends {traffic(self.bytes_sent, self.messages)}, "
            f"predicted {duration(self.seconds)}  ({self.site})",
        ]
        for mesh_dim, rows in itertools.groupby(self.rows, lambda row: row.mesh_dim):
            for number, row in enumerate(rows):
                if number < MOST_ROWS or row.chosen:
                    mark = "*" if row.chosen else " "
                    cost = f"{size(row.bytes_sent)}, {duration(row.seconds)}"
                    lines.append(f"  {mark} mesh dim {mesh_dim}: {row.text}  {cost}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Expression:
    """What an expression does, operator by operator. ``str()`` prints it."""

    rank: int
    """The rank that the numbers are for."""
    operators: tuple[OperatorPlan, ...]
    """The operators in order, without those on this rank's Tensors alone."""
    result: Any
    """The expression's value, with a Layout for each tensor."""

    @property
    def bytes_sent(self) -> int:
        """Total bytes that the rank sends."""
        return sum(plan.bytes_sent for plan in self.operators)

    @property
    def messages(self) -> int:
        """Total messages that the rank sends."""
        return sum(plan.messages for plan in self.operators)

    @property
    def predicted_seconds(self) -> float:
        """Predicted time of all moves, by the cost model."""
        return sum(plan.seconds for plan in self.operators)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.operators), self._total()])

    def _repr_html_(self) -> str:
        rows = [plan._cells() for plan in self.operators[:MOST_SHOWN]]
        more = len(self.operators) - len(rows)
        note = f"; {more} more operators are not shown" if more else ""
        body = table(_HEAD, rows, 4, self._total() + note)
        return framed("Explanation of an expression", body)

    def _total(self) -> str:
        return (
            f"rank {self.rank}: sends {traffic(self.bytes_sent, self.messages)}, "
            f"predicted {duration(self.predicted_seconds)}"
        )


def explain_expression(
    fn: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    rank: int | None,
) -> Expression:
    """Return what ``fn(*args, **kwargs)`` would do; see `dtensor.debug.explain`."""
    steps: list[tuple[Record, Call | None, str]] = []

    def tell(record: Record, call: Call | None) -> None:
        if record.distributed:
            steps.append((record, call, _rule_of(call)))

    given = mapped((args, kwargs), (_C.Layout, _C.DTensor), _hollow)
    watch(tell)
    try:
        result = fn(*given[0], **given[1])
    except NotImplementedError as error:
        error.add_note(
            "explain runs the function on tensors without data: it cannot follow what "
            "reads elements, or writes to those that an array of indices picks"
        )
        raise
    finally:
        unwatch(tell)
    world = _C.World.current()
    if rank is None:
        rank = 0 if world is None else world.rank
    plans = [_plan(*step, rank) for step in steps]
    value = mapped(result, _C.DTensor, lambda y: y.layout)
    return Expression(rank, tuple(plan for plan in plans if plan is not None), value)


def _hollow(x: _C.Layout | _C.DTensor) -> _C.DTensor:
    """Return a DTensor without data."""
    if isinstance(x, _C.Layout):
        return _C.without_data(x)
    return _C.without_data(x.layout).requires_grad_(x.requires_grad)


def _rule_of(call: Call | None) -> str:
    rule = None
    if call is not None:
        rule = _C._rule(call.operator, *call.args, **call.kwargs)
    return "" if rule is None else rule.text


@dataclass(frozen=True)
class _Cost:
    seconds: float
    bytes: int
    messages: int


def _cost(old: Sequence[_C.Layout], new: Sequence[_C.Layout], rank: int) -> _Cost:
    """Return the cost to a rank of moving the operands."""
    plans = [
        _C._explain(a, b, _on(a, rank)) for a, b in zip(old, new, strict=True) if a != b
    ]
    steps = [step for _, _, steps in plans for step in steps]
    return _Cost(
        sum(seconds for seconds, _, _ in plans),
        sum(step[4] for step in steps),
        sum(step[6] for step in steps),
    )


def _on(layout: _C.Layout, rank: int) -> int:
    return rank if rank in layout.mesh.ranks else int(layout.mesh.ranks.flat[0])


def _plan(
    record: Record, call: Call | None, rule: str, rank: int
) -> OperatorPlan | None:
    sources = [x for x in record.sources if isinstance(x, _C.Layout)]
    targets = [x for x in record.targets if isinstance(x, _C.Layout)]
    if len(sources) != len(targets) or (call is None and sources == targets):
        return None
    cost = _cost(sources, targets, rank)
    return OperatorPlan(
        record.name,
        rule,
        tuple(map(str, sources)),
        tuple(map(str, targets)),
        tuple(map(str, record.results)),
        cost.bytes,
        cost.messages,
        record.seconds if call is not None else cost.seconds,
        () if call is None else tuple(_rows(record, call, sources, targets, rank)),
        str(record.site),
    )


# --- the possible rows ----------------------------------------------------------------


def _rows(
    record: Record,
    call: Call,
    sources: Sequence[_C.Layout],
    targets: Sequence[_C.Layout],
    rank: int,
) -> Iterator[Row]:
    """Yield, for each mesh dimension, the placements that the operator accepts there.

    A row is a combination that needs no move; the operator itself is asked.
    """
    spread = [isinstance(x, _C.DTensor | _C.Layout) for x in _operands(call)]
    if len(spread) != len(sources):
        return
    for mesh_dim in range(targets[0].mesh.ndim):
        now = [x.placements[mesh_dim] for x in sources]
        ways = [
            _ways(layout, mesh_dim, _addends(now, k)) if spread[k] else [layout]
            for k, layout in enumerate(targets)
        ]
        rows = []
        if math.prod(map(len, ways)) <= MOST_WAYS:
            for layouts in itertools.product(*ways):
                results = _accepted(call, layouts, spread)
                if results is not None:
                    text = _text(layouts, results, mesh_dim)
                    cost = _cost(sources, layouts, rank)
                    chosen = list(layouts) == list(targets)
                    row = Row(mesh_dim, text, cost.seconds, cost.bytes, chosen)
                    rows.append(row)
        yield from sorted(rows, key=lambda row: (row.seconds, not row.chosen))


def _addends(now: Sequence[_C.Placement], k: int) -> list[_C.Placement]:
    """Return the Partial placements that operand k may have on a mesh dimension.

    Only an operand that is replicated beside a Partial operand is made Partial
    (csrc/core/rule/propagate.h).
    """
    if now[k]._is_pending:
        return [now[k]]
    if not now[k]._is_whole:
        return []
    return sorted({p for p in now if p._is_pending}, key=str)


def _ways(
    layout: _C.Layout, mesh_dim: int, addends: Sequence[_C.Placement]
) -> list[_C.Layout]:
    """Return the variants of a layout with every placement on one mesh dimension."""
    places: list[_C.Placement] = [_C.Replicate()]
    places += [_C.Shard(dim) for dim in range(layout.ndim)]
    now = layout.placements
    others = [p for p in (*places, *addends) if p != now[mesh_dim]]
    ways = [(*now[:mesh_dim], p, *now[mesh_dim + 1 :]) for p in others]
    return [layout, *(layout.with_placements(way) for way in ways)]


def _accepted(
    call: Call, layouts: Sequence[_C.Layout], spread: Sequence[bool]
) -> tuple[_C.Layout, ...] | None:
    """Return the results' layouts if an operator accepts its operands unmoved."""
    left = iter([x for x, varies in zip(layouts, spread, strict=True) if varies])
    args, kwargs = mapped(
        (call.args, call.kwargs), (_C.DTensor, _C.Layout), lambda _x: next(left)
    )
    try:
        results, moved, _ = call.operator.abstract(*args, **kwargs)
    except (NotImplementedError, TypeError, ValueError):
        return None
    pairs = zip(layouts, moved, spread, strict=True)
    stays = all(old == new for old, new, varies in pairs if varies)
    return results if stays else None


def _operands(call: Call) -> Iterator[Any]:
    """Yield the operands of a call, as docs/operators.md counts them."""
    values = [*call.args, *call.kwargs.values()]
    for k, value in enumerate(values):
        expected = k < min(len(call.args), call.operator.operands)
        if isinstance(value, list | tuple) and any(map(_is_array, value)):
            yield from (x for x in value if _is_array(x) or _is_number(x))
        elif _is_array(value) or (expected and _is_number(value)):
            yield value


def _is_array(x: Any) -> bool:
    return isinstance(x, _C.Tensor | np.ndarray | _C.Layout)


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float | complex | np.generic)


def _text(
    operands: Sequence[_C.Layout], results: Sequence[_C.Layout], mesh_dim: int
) -> str:
    before, after = (
        ",".join(str(x.placements[mesh_dim]) for x in layouts)
        for layouts in (operands, results)
    )
    return f"{before}->{after}"
