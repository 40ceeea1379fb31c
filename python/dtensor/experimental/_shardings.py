"""Lists of acceptable shardings, written as rules."""

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dtensor import _C
from dtensor.ops._make.operator import Operand, Rule
from dtensor.placement_types import Placement

__all__ = ["Sharding", "rule_of"]

Placements = Sequence[Placement | None]
Sharding = tuple[Placements, Placements]
Place = tuple[int, int]  # a term (operands, then results), and one of its dims

WORD = re.compile(r"\.\.\.|\([^)]*\)(?:\[[^]]*\])?|[A-Za-z]'*(?:\[[^]]*\])?|\d+|\*")


def rule_of(
    rule: _C.Rule,
    shardings: Sequence[Sharding],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> _C.Rule:
    """Return the rule that accepts `shardings`, and all replicated.

    Shapes and words are those of the operator's own rule, with no factor sharded; each
    sharding joins the dims that it shards with a new factor.
    """
    operands = list(_operands([*args, *kwargs.values()]))
    operands.sort(key=lambda operand: operand.index)
    terms, count = _terms(rule, operands)
    lengths = {
        word: length
        for term, operand in zip(terms, operands, strict=False)
        for word, length in zip(term, operand.shape, strict=True)
        if word.isalpha()
    }
    joined: dict[Place, str] = {}
    rows, reduce = [], None
    names = iter(c for c in string.ascii_lowercase if c.upper() not in lengths)
    for results, given in _checked(shardings):
        row = [p for p in given if p is not None] + [
            p for p in results if p is not None
        ]
        if len(row) != len(terms):
            raise ValueError(
                f"register_sharding: {len(row)} placements for {count} arguments and "
                f"{len(terms) - count} results: {results}, {given}"
            )
        cut = [p._cut_dim for p in row]
        if cut == [None] * len(row):
            rows.append(_partial_row(row, count))
            continue
        if cut[:count] == [None] * count:
            raise ValueError(
                f"register_sharding: in {results}, {given} a result is sharded but no "
                "argument is"
            )
        name = next(names)
        for term, dim in enumerate(cut):
            if dim is not None:
                place = term, _dim(dim, row[term], terms[term])
                if place in joined:
                    raise ValueError(
                        f"register_sharding: dim {place[1]} of argument {term} is "
                        "in two shardings; a rule shards each dim in one way"
                    )
                joined[place] = name
        made = {p._pending_op for p in row[count:]} - {None}
        mixed = len(made | ({reduce} - {None})) > 1
        if mixed or any(p._is_pending for p in row[:count]):
            raise ValueError(
                "register_sharding: with shards, results must be addends of one kind, "
                f"and arguments must not be Partial: {results}, {given}"
            )
        reduce = made.pop() if made else reduce
    words = [
        [joined.get((t, d), word) for d, word in enumerate(term)]
        for t, term in enumerate(terms)
    ]
    sides = (
        ",".join(map(" ".join, words[:count])),
        ",".join(map(" ".join, words[count:])),
    )
    ends = ", ".join(
        f"{word}={length}"
        for word, length in lengths.items()
        if any(word in term for term in words)
    )
    text = "->".join(sides) + (f"; {ends}" if ends else "")
    return Rule(text, partial=";".join(filter(None, rows)) or None, reduce=reduce)


def _checked(shardings: Any) -> list[tuple[list[Any], list[Any]]]:
    """Return pairs of lists of placements; TypeError for anything else."""
    try:
        pairs = [(list(results), list(given)) for results, given in shardings]
        right = all(isinstance(p, Placement | None) for x, y in pairs for p in x + y)
    except (TypeError, ValueError):
        right = False
    if not right:
        raise TypeError(
            "register_sharding: the function must return pairs (placements of results, "
            f"placements of arguments), not {shardings}"
        )
    return pairs


def _dim(dim: int, placement: Placement, words: list[str]) -> int:
    if not -len(words) <= dim < len(words):
        raise IndexError(
            f"register_sharding: {placement} is out of range for {len(words)} dims"
        )
    return dim % len(words)


def _operands(values: Sequence[Any]) -> Iterator[Operand]:
    for value in values:
        if isinstance(value, Operand):
            yield value
        elif isinstance(value, list):
            yield from _operands(value)


def _terms(rule: _C.Rule, operands: Sequence[Operand]) -> tuple[list[list[str]], int]:
    """Return the words of operands and results, unsharded, and the operand count."""
    given, results = rule.text.upper().split(";")[0].split("->")
    terms = [
        WORD.findall(term) for side in (given, results) for term in side.split(",")
    ]
    count = given.count(",") + 1
    if any("..." in term for term in terms):
        ndim = max(
            (
                x.ndim - len(term) + 1
                for term, x in zip(terms, operands, strict=False)
                if "..." in term
            ),
            default=0,
        )
        free = [c for c in string.ascii_uppercase if c not in rule.text.upper()][:ndim]
        for k, term in enumerate(terms):
            if "..." in term:
                have = operands[k].ndim - len(term) + 1 if k < count else ndim
                place = term.index("...")
                term[place : place + 1] = free[ndim - have :]
    return terms, count


def _partial_row(row: Sequence[Placement], count: int) -> str | None:
    """Return a sharding without shards in the notation of csrc/core/rule/rule.h."""
    if all(p._is_whole for p in row):
        return None
    words = [p._pending_op or "R" for p in row]
    return f"{','.join(words[:count])}->{','.join(words[count:])}"
