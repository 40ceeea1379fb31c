"""Rules that are changed a little: the samples must notice.

A mutant is a rule with one mistake. It is *killed* if some row gives another value or
fails, *dearer* or *cheaper* if only the bytes that move differ, and it *survives* where
nothing differs: then it says the same in other words, or the samples are too few.
"""

import functools
import gc
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import oracle
from everything import everything
from rows import Sample
from validator import NOW, check
from ways import Row, rows_of

from dtensor import _C, DeviceMesh
from dtensor._core import world as _world
from dtensor.testing import run_ranks

Spec = tuple[str, str | None, str | None]  # text, partial, reduce
Call = tuple[_C.Operator, Any, Any]  # with layouts in the place of DTensors
Choice = tuple[str, str, float]  # layouts of operands and results, and seconds
CALLS = 300  # of a rule, of which it is asked how they are computed
ROWS = 150  # that a mutant is tried on
LETTER = re.compile(r"[a-z]'*")
WHOLE = re.compile(r"[A-Z]'*")


# Mutants that are right and no dearer, and why: what is in the rule's text, in the
# mistake, and in the operator's name.
EXPLAINED = [
    (r"->(.* )?0\b", "", "", "there are no elements"),
    ("", "^partial is ", "", "a row that the rule could have"),
    ("", "^C may be cut", "quantile", "the points could be cut"),
    ("", "^reduce is 'product'", "^where=$", "a product of booleans is their minimum"),
    ("", "^reduce is 'bitwise_or'", "", "of booleans it is their maximum"),
    ("", "^reduce is '(sum|max)'", "^bitwise_or", "of booleans it is the same"),
    ("", "may not be cut$", "", "another cut costs the same"),
    (r"^\(", "swap$", "resize", "another cut costs the same"),
    ("g=2$", "^operand 0: g is z", "attention", "another cut costs the same"),
    ("g=4$", "b and g swap$", "attention", "there is one head of keys"),
    ("^n .g c. 3 4,.g f. c 2 2.*g=4", " c( |$)", "conv2d", "a group has one channel"),
    ("", "^operand 2: . is ", "embedding_backward", "only its shape is used"),
]


class Mutant(NamedTuple):
    """A rule, and what became of it."""

    rule: Spec
    changed: Spec
    how: str

    def __str__(self) -> str:
        return f"{self.rule} where {self.how}"


# --- substituting ---------------------------------------------------------------------


def operators() -> list[_C.Operator]:
    """Every operator that something refers to."""
    found = {
        id(x): x
        for holder in everything()
        for x in gc.get_referents(holder)
        if type(x) is _C.Operator
    }
    return list(found.values())


def abstract(argument: Any) -> Any:
    """An argument of an operator's function, for a call without data."""
    if isinstance(argument, _C.Operand):
        if argument.layout is not None:
            return argument.layout
        if argument.dtype is None:
            return 2
        return np.ones(argument.shape, argument.dtype)
    if isinstance(argument, dict):
        return {key: abstract(value) for key, value in argument.items()}
    if isinstance(argument, tuple | list):
        return type(argument)(map(abstract, argument))
    return argument


class Substitute:
    """Rules that operators get in the place of their own; `NOW.rules` notes which."""

    def __init__(self) -> None:
        self.swap: dict[Spec, Spec] = {}
        self.users: dict[Spec, set[_C.Operator]] = {}
        self.calls: dict[Spec, dict[str, Call]] = {}

    def rule(
        self, op: _C.Operator, rule: _C.Rule, *args: Any, **kwargs: Any
    ) -> _C.Rule:
        """The rule that an operator gets for its own one."""
        spec = (rule.text, rule.partial, rule.reduce)
        self.users.setdefault(spec, set()).add(op)
        args, kwargs = abstract(args), abstract(kwargs)
        words = f"{op} {args} {kwargs}"
        if spec not in self.swap:
            self.calls.setdefault(spec, {}).setdefault(words, (op, args, kwargs))
        if getattr(NOW, "rules", None) is not None:
            NOW.rules.append((spec, words))
        return _C.Rule(*self.swap[spec]) if spec in self.swap else rule

    def put(self, swap: dict[Spec, Spec]) -> None:
        """Exchange these rules from now on, and none of those before."""
        stale = {op for s in (*swap, *self.swap) for op in self.users.get(s, ())}
        self.swap = swap
        self.start(stale)

    def start(self, held: Iterable[_C.Operator]) -> None:
        """Have these operators make their rules anew."""
        for op in held:
            op.replace_rule(functools.partial(self.rule, op))

    def __enter__(self) -> "Substitute":
        self.start(operators())
        return self

    def __exit__(self, *_: object) -> None:
        for op in operators():
            op.replace_rule(None)


# --- mutating -------------------------------------------------------------------------


def mutants(rule: Spec) -> Iterator[Mutant]:
    """Every small mistake that is still a rule."""
    seen = {rule}
    for changed, how in mistakes(*rule):
        if changed in seen:
            continue
        seen.add(changed)
        try:
            _C.Rule(*changed)
        except ValueError:
            continue
        yield Mutant(rule, changed, how)


def mistakes(
    text: str, partial: str | None, reduce: str | None
) -> Iterator[tuple[Spec, str]]:
    body, tail = text.partition(";")[0], "".join(text.partition(";")[1:])
    left, _, right = body.partition("->")
    operands, results = left.split(","), right.split(",")
    for changed, how in in_terms(operands, "*"):
        yield (f"{','.join(changed)}->{right}{tail}", partial, reduce), f"operand {how}"
    for changed, how in in_terms(results, "7"):
        yield (f"{left}->{','.join(changed)}{tail}", partial, reduce), f"result {how}"
    for whole in sorted(set(WHOLE.findall(body))):
        freed = fresh(body) + whole[1:]
        yield (text.replace(whole, freed), partial, reduce), f"{whole} may be cut"
    for letter in sorted(set(LETTER.findall(body))):
        kept = re.sub(rf"{letter}(?!')", letter.upper(), text)
        yield (kept, partial, reduce), f"{letter} may not be cut"
    for other in partials(partial):
        yield (text, other, reduce), f"partial is {other!r}"
    for other in (*oracle.REDUCE, None):
        yield (text, partial, other), f"reduce is {other!r}"


def in_terms(terms: list[str], whole: str) -> Iterator[tuple[list[str], str]]:
    """One letter of one term is whole, or another, or changes place with the next."""
    for k, term in enumerate(terms):
        places = list(LETTER.finditer(term))
        for place in places:
            for word in (whole, fresh("".join(terms))):
                changed = term[: place.start()] + word + term[place.end() :]
                yield (
                    [*terms[:k], changed, *terms[k + 1 :]],
                    f"{k}: {place[0]} is {word}",
                )
        for a, b in zip(places, places[1:], strict=False):
            swapped = b[0] + term[a.end() : b.start()] + a[0]
            changed = term[: a.start()] + swapped + term[b.end() :]
            yield [*terms[:k], changed, *terms[k + 1 :]], f"{k}: {a[0]} and {b[0]} swap"


def fresh(text: str) -> str:
    """A letter that the rule does not use."""
    return next(c for c in "zyxwvutsrqponmlkjihgfedcba" if c not in text.lower())


def partials(partial: str | None) -> Iterator[str | None]:
    """Other lists of Partial rows: one less, one more, or another."""
    rows = [row.strip() for row in (partial or "").split(";") if row.strip()]
    swaps = {"all": "each", "each": "all", "increasing": "decreasing"}
    swaps["decreasing"] = "increasing"
    for k, row in enumerate(rows):
        yield "; ".join(rows[:k] + rows[k + 1 :]) or None
        if row in swaps:
            yield "; ".join(rows[:k] + [swaps[row]] + rows[k + 1 :])
    for more in ("all", "each", "any", "increasing", "decreasing"):
        if more not in rows:
            yield "; ".join([*rows, more])


# --- judging --------------------------------------------------------------------------


class Fate(NamedTuple):
    """What the samples say of a mutant."""

    mutant: Mutant
    fate: str
    samples: list[Sample]

    def reason(self) -> str:
        """Why the mutant does no harm; nothing if that is not known."""
        if self.fate not in ("cheaper", "other"):
            return self.fate
        text, how, name = self.mutant.rule[0], self.mutant.how, self.samples[0].name
        for in_text, in_how, in_name, why in EXPLAINED:
            if all(map(re.search, (in_text, in_how, in_name), (text, how, name))):
                return why
        return ""


def fates(samples: Sequence[Sample], mesh: DeviceMesh, most: int) -> Iterator[Fate]:
    """Try every mutant of every rule that these samples make."""
    rows = [r for k, s in enumerate(samples) for r in rows_of(s, mesh, most, 0, k)]
    with Substitute() as substitute:
        users: dict[Spec, dict[str, Row]] = {}
        for verdict in check(rows):
            made = [x for heard in verdict.heard if heard for x in heard.rules]
            for spec, words in [] if verdict.why else made:
                users.setdefault(spec, {}).setdefault(words, verdict.row)
        for spec, by_call in users.items():
            makers = some(list(by_call.values()), CALLS)
            calls = [substitute.calls[spec][words] for words in some([*by_call], CALLS)]
            substitute.put({})
            before = choices(calls, mesh.size())
            for mutant in mutants(spec):
                substitute.put({spec: mutant.changed})
                after = choices(calls, mesh.size())
                fate = fate_of(before, after, makers)
                yield Fate(mutant, fate, [row.sample for row in by_call.values()])


def some(items: list[Any], most: int) -> list[Any]:
    """So many of them at most, from all over the list."""
    return items[:: -(-len(items) // most) or 1]


def choices(calls: Sequence[Call], size: int) -> list[Choice]:
    """How calls are computed, by what the ranks measured: as rows will be played."""

    def first() -> list[Choice]:
        return [*map(choice, calls)] if _world.current().rank == 0 else []

    return run_ranks(size, first)[0]


def choice(call: Call) -> Choice:
    """How an operator is computed: layouts of operands and results, and seconds."""
    op, args, kwargs = call
    try:
        results, operands, seconds = op.abstract(*args, **kwargs)
    except Exception as error:
        return repr(error), "", 0.0
    return str(operands), str(results), seconds


def fate_of(before: list[Choice], after: list[Choice], makers: list[Row]) -> str:
    """What becomes of calls, whose rows `makers` were right.

    "same": all calls are computed as before. "killed": one gives something else.
    "cheaper": all are right, and one sends less: a row that the rule could have.
    "dearer": all are right, and one sends more. "other": all are right all the same.
    """
    differ = [k for k, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    if not differ:
        return "same"
    rows = list(dict.fromkeys(makers[k] for k in differ))
    if any(verdict.why for verdict in check(some(rows, ROWS), worlds=1)):
        return "killed"
    if any(after[k][2] < before[k][2] for k in differ):
        return "cheaper"
    return "dearer" if any(after[k][2] > before[k][2] for k in differ) else "other"
