"""Words of rules: helpers to write rules of functions that permute or combine dims."""

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.operator import Operand, Rule, call, letters

__all__ = [
    "Answer",
    "Shape",
    "Words",
    "aligned",
    "factored",
    "group",
    "hollow",
    "method_of",
    "rule",
]

Shape = tuple[int, ...]
Words = list[str]
# What an operator's function returns; the third item is the dtype of the results.
Answer = tuple[Rule, call] | tuple[Rule, call, Any]


def rule(
    operands: Iterable[Iterable[str]],
    results: Iterable[Iterable[str]],
    partial: str | None = None,
    lengths: dict[str, int] | None = None,
) -> Rule:
    """Return the rule with these words for the dims of operands and results."""
    sides = [",".join(" ".join(term) for term in side) for side in (operands, results)]
    ends = ", ".join(f"{name}={length}" for name, length in (lengths or {}).items())
    return Rule("->".join(sides) + (f"; {ends}" if ends else ""), partial=partial)


def group(words: Iterable[str]) -> str:
    """Return the word of a dim made of other dims, row-major; of none: length 1.

    >>> group([]), group(["a"]), group(["a", "b"])
    ('1', 'a', '(a b)')
    """
    kept = [word for word in words if word != "1"]
    return f"({' '.join(kept)})" if len(kept) > 1 else "".join(kept) or "1"


def hollow(shape: Sequence[int], dtype: npt.DTypeLike = np.bool_) -> npt.NDArray[Any]:
    """Return an array of a shape that takes no memory.

    NumPy functions called on it give the result's shape, or raise NumPy's errors.
    """
    return np.broadcast_to(np.zeros((), dtype), shape)


def method_of(name: str, a: Operand) -> Callable[..., Any]:
    """Return the array method that a NumPy function ends up calling.

    Calling it directly is much faster, but Python numbers do not have it.
    """
    kernel: Callable[..., Any] = getattr(np if a.dtype is None else np.ndarray, name)
    return kernel


def aligned(*shapes: Shape) -> tuple[list[Words], Words]:
    """Return the words of shapes that are broadcast, and those of the result.

    >>> aligned((4, 1, 3), (5, 3))
    ([['a', '1', 'c'], ['b', 'c']], ['a', 'b', 'c'])
    """
    ndim = max(map(len, shapes))
    padded = [(1,) * (ndim - len(shape)) + shape for shape in shapes]
    # If all lengths are 1, no operand has to be broadcast.
    spread = [any(n != 1 for n in lengths) for lengths in zip(*padded, strict=True)]
    out = letters(ndim)
    terms = [
        [
            "1" if length == 1 and spread[dim] else out[dim]
            for dim, length in enumerate(shape, ndim - len(shape))
        ]
        for shape in shapes
    ]
    return terms, out


def factored(old: Shape, new: Shape) -> tuple[Words, Words, dict[str, int]]:
    """Return the words of a row-major reshape: the factors that both shapes share.

    They are found where the products of leading lengths agree or divide each other.
    Otherwise the common divisor is a factor, and the dims that follow are whole until
    the shapes agree again.

    Parameters
    ----------
    old, new : tuple of int
        Shapes with the same number of elements.

    Returns
    -------
    old_words, new_words : list of str
    lengths : dict
        Of the factors.

    Examples
    --------
    >>> factored((4, 6), (8, 1, 3))
    (['a', '(b c)'], ['(a b)', '1', 'c'], {'a': 4, 'b': 2, 'c': 3})
    >>> factored((4, 6), (6, 4))
    (['(a 2)', '6'], ['(a 3)', '4'], {'a': 2})
    >>> factored((1, 4), (1, 2, 2))
    (['c', '(a b)'], ['c', 'a', 'b'], {'a': 2, 'b': 2, 'c': 1})
    """
    if 0 in old:
        return [str(n) for n in old], [str(n) for n in new], {}
    ends = [list(accumulate(shape, operator.mul)) for shape in (old, new)]
    names = iter(letters(len(old) + len(new)))
    pieces: list[tuple[int, int, str]] = []  # first, end, name; no name: whole
    start = 1
    for stop in sorted({*ends[0]} & {*ends[1]} - {1}):
        marks = sorted(e for e in {*ends[0], *ends[1]} if start <= e <= stop)
        marks = [start, *marks] if marks[0] > start else marks
        if all(b % a == 0 for a, b in pairwise(marks)):
            pieces += [(a, b, next(names)) for a, b in pairwise(marks)]
        else:
            share = math.gcd(*(min(e for e in side if e > start) for side in ends))
            if share > start:
                pieces.append((start, share, next(names)))
            pieces.append((share, stop, ""))
        start = stop
    lengths = {name: end // first for first, end, name in pieces if name}
    words = _in_dims(old, pieces), _in_dims(new, pieces)
    for i, j in _ones(old, new):
        words[0][i] = words[1][j] = name = next(names)
        lengths[name] = 1
    return *words, lengths


def _ones(old: Shape, new: Shape) -> list[tuple[int, int]]:
    """Return pairs of dims of length 1 with the same elements before them: a rank that
    has the one has the other."""
    found: list[tuple[int, int]] = []
    places: dict[int, list[int]] = {}
    for k, end in enumerate(accumulate(old, operator.mul)):
        if old[k] == 1:
            places.setdefault(end, []).append(k)
    for k, end in enumerate(accumulate(new, operator.mul)):
        if new[k] == 1 and places.get(end):
            found.append((places[end].pop(0), k))
    return found


def _in_dims(shape: Shape, pieces: list[tuple[int, int, str]]) -> Words:
    """Return the words of a shape from the pieces of its row-major index."""
    words = []
    for length, end in zip(shape, accumulate(shape, operator.mul), strict=True):
        inside = [
            (max(end // length, a), min(end, b), name)
            for a, b, name in pieces
            if max(end // length, a) < min(end, b)
        ]
        words.append(group(name or str(b // a) for a, b, name in inside))
    return words
