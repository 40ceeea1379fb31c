"""einsum: parses the subscripts, then multiplies two operands at a time.

The text of a rule is much like the subscripts. A letter that an operand has twice (a
diagonal) must not be cut, nor must dims of length 1 that are broadcast.
"""

import math
import string
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._C import Tensor
from dtensor._core.dtype import dtype_of
from dtensor.ops._make.autocast import narrowed
from dtensor.ops._make.copies import copy
from dtensor.ops._make.halves import is_half, is_multiplied, wide_call
from dtensor.ops._make.operator import Operand, call, implements, letters, operator
from dtensor.ops._make.words import Answer, Shape, hollow, rule
from dtensor.ops.linalg.adjoint import conj
from dtensor.ops.linalg.contract import contract, is_product
from dtensor.ops.linalg.triangle import diagonal, on_diagonal

__all__ = ["einsum"]

# From this many products on BLAS is faster, although NumPy plans the order first.
_BY_BLAS = 1 << 15

# A dim's label: the code of a letter, or -1, -2, ... for the last, last but one, ... of
# those that an ellipsis stands for.
Term = tuple[int, ...]


# --- subscripts -----------------------------------------------------------------------


def _read(operands: tuple[Any, ...]) -> tuple[str, list[Any]]:
    """Return the subscripts and the arrays, for both forms of call."""
    if isinstance(operands[0], str):
        return operands[0].replace(" ", ""), list(operands[1:])
    subscripts = ",".join(map(_letters_of, operands[1::2]))
    if len(operands) % 2:
        subscripts += "->" + _letters_of(operands[-1])
        return subscripts, list(operands[:-1:2])
    return subscripts, list(operands[::2])


def _letters_of(sublist: Any) -> str:
    """Return a list of numbers, perhaps with an Ellipsis, as letters; as NumPy does."""
    symbols = string.ascii_uppercase + string.ascii_lowercase
    if not all(s is Ellipsis or 0 <= s < len(symbols) for s in sublist):
        raise ValueError("subscript is not within the valid range [0, 52)")
    return "".join("..." if s is Ellipsis else symbols[s] for s in sublist)


def _labels(word: str, dots: int) -> Term:
    """Return the labels of a word whose ellipsis stands for so many dims."""
    head, found, tail = word.partition("...")
    plain = not head + tail or (head + tail).isalpha()
    if not plain or dots < 0 or (dots and not found):
        raise ValueError(f"no subscripts of such an array: {word!r}")
    return (*map(ord, head), *range(-dots, 0), *map(ord, tail))


@lru_cache(maxsize=1024)
def _parse(subscripts: str, shapes: tuple[Shape, ...]) -> tuple[tuple[Term, ...], Term]:
    """Return the labels of operands and result; ValueError for what NumPy refuses."""
    left, arrow, right = subscripts.partition("->")
    words = left.split(",")
    if len(words) != len(shapes):
        raise ValueError(f"subscripts of {len(words)} operands, not {len(shapes)}")
    pairs = list(zip(words, shapes, strict=True))
    dots = [len(shape) - len(word.replace("...", "")) for word, shape in pairs]
    terms = tuple(_labels(word, n) for word, n in zip(words, dots, strict=True))
    counts = Counter(label for term in terms for label in term)
    if arrow:
        out = _labels(right, max(dots) if "..." in right else 0)
    else:
        once = sorted(label for label, n in counts.items() if n == 1 and label > 0)
        out = (*range(-max(dots), 0), *once)
    broadcast = {label for label in counts if label < 0}
    if len({*out}) < len(out) or not broadcast <= {*out} <= {*counts}:
        raise ValueError(f"a result of other subscripts than the operands: {right!r}")
    lengths = {
        pair
        for term, shape in zip(terms, shapes, strict=True)
        for pair in zip(term, shape, strict=True)
        if pair[1] != 1
    }
    if len(dict(lengths)) < len(lengths):
        raise ValueError(f"lengths that are not the same: {subscripts!r}, {shapes}")
    return terms, out


def _parsed(
    subscripts: str, shapes: tuple[Shape, ...]
) -> tuple[tuple[Term, ...], Term]:
    """Return what `_parse` does, or raise NumPy's error."""
    try:
        return _parse(subscripts, shapes)
    except ValueError:
        np.einsum(subscripts, *map(hollow, shapes))
        raise


def _text(terms: tuple[Term, ...], out: Term) -> str:
    """Return labels as subscripts."""
    labels = dict.fromkeys(label for term in terms for label in term)
    names = dict(zip(labels, string.ascii_letters, strict=False))
    words = ["".join(names[label] for label in term) for term in (*terms, out)]
    return ",".join(words[:-1]) + "->" + words[-1]


# --- one or two operands --------------------------------------------------------------


@narrowed
@operator(name="einsum")
def _einsum(
    subscripts: str,
    *arrays: Operand,
    dtype: npt.DTypeLike | None = None,
    order: str = "K",
    casting: str = "safe",
) -> Answer | Callable[..., Any]:
    shapes = tuple(x.shape for x in arrays)
    terms, result = _parsed(subscripts, shapes)
    if any(_is_cut_twice(x, term) for x, term in zip(arrays, terms, strict=True)):
        return _of_diagonals
    lengths: dict[int, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        for label, length in zip(term, shape, strict=True):
            lengths[label] = length if lengths.get(label, 1) == 1 else lengths[label]
    whole = {k for term in terms for k, n in Counter(term).items() if n > 1}
    names = dict(zip(lengths, letters(len(lengths)), strict=True))

    def word(label: int, length: int) -> str:
        lacking = length == 1 != lengths[label]
        return str(length) if label in whole or lacking else names[label]

    words = [
        [word(label, length) for label, length in zip(term, shape, strict=True)]
        for term, shape in zip(terms, shapes, strict=True)
    ]
    out = [word(label, lengths[label]) for label in result]
    settings = {"dtype": dtype, "order": order, "casting": casting}
    if len(arrays) == 2 and math.prod(lengths.values()) > _BY_BLAS:
        settings["optimize"] = ["einsum_path", (0, 1)]
    product = rule(words, [out], "each")
    if dtype is None and order == "K" and _is_multiplied(terms, result, arrays):
        return product, call(contract, *arrays, *terms, result)
    make = wide_call if dtype is None else call
    return product, make(np.einsum, _text(terms, result), *arrays, **settings)


def _is_multiplied(terms: Sequence[Term], out: Term, arrays: Sequence[Operand]) -> bool:
    """Return whether the processor multiplies two operands as matrices."""
    if len(arrays) != 2 or not is_multiplied(*arrays):
        return False
    (a, b), (x, y) = terms, arrays
    lengths = dict(zip(a, x.shape, strict=True))
    same = all(lengths.get(label, n) == n for label, n in zip(b, y.shape, strict=True))
    return same and is_product(a, b, out)


def _is_cut_twice(x: Operand, term: Term) -> bool:
    """Return whether an operand's diagonal is wanted of dims one of which is cut."""
    dims = [d for d, label in enumerate(term) if term.count(label) > 1]
    same = all(x.shape[d] == x.shape[term.index(term[d])] for d in dims)
    return same and x.layout is not None and any(map(x.layout.is_cut, dims))


def _of_diagonals(subscripts: str, *arrays: Any, **options: Any) -> Any:
    """Take the diagonals first: each rank gives what it has of them."""
    terms, result = _parsed(subscripts, tuple(np.shape(x) for x in arrays))
    taken, left = [], []
    for array, labels in zip(arrays, terms, strict=True):
        x, term = array, list(labels)
        while twice := [label for label in term if term.count(label) > 1]:
            first = term.index(twice[0])
            second = term.index(twice[0], first + 1)
            x = diagonal(x, 0, first, second)
            term = [w for d, w in enumerate(term) if d not in (first, second)]
            term.append(twice[0])
        taken.append(x)
        left.append(tuple(term))
    return _einsum(_text(tuple(left), result), *taken, **options)


def _gradient(place: int, grad: Any, subscripts: str, arrays: Sequence[Any]) -> Any:
    """Return the gradient of one operand, whose values are not needed: the product of
    the result's gradient with the other operand."""
    terms, result = _parsed(subscripts, tuple(np.shape(x) for x in arrays))
    other = [k for k in range(len(arrays)) if k != place]
    words = (result, *(terms[k] for k in other))
    known = {label for word in words for label in word}
    mine = dict(zip(terms[place], arrays[place].shape, strict=True))
    kept = tuple(label for label in mine if label in known)
    found = _einsum(_text(words, kept), grad, *(conj(arrays[k]) for k in other))
    found = _spread(found, kept, mine)
    return _on_diagonals(found, tuple(mine), terms[place])


def _spread(x: Any, labels: Term, lengths: dict[int, int]) -> Any:
    """Return an array with a dim for each label: what was summed over is repeated."""
    here = dict(zip(labels, x.shape, strict=True))
    if len(labels) < len(lengths):
        x = np.reshape(x, [here.get(label, 1) for label in lengths])
    shape = [n if here.get(k, 1) == 1 else here[k] for k, n in lengths.items()]
    return x if x.shape == tuple(shape) else np.broadcast_to(x, shape)


def _on_diagonals(x: Any, labels: Term, term: Term) -> Any:
    """Return zeros with `x` on the diagonals of dims whose labels are equal."""
    have = list(labels)
    for label, n in Counter(term).items():
        for _ in range(n - 1):
            place = have.index(label)
            x = np.moveaxis(x, place, -1)
            x = on_diagonal(x, (*x.shape, x.shape[-1]), 0, -2, -1)
            have += [have.pop(place), label]
    places = {label: [k for k, w in enumerate(have) if w == label] for label in term}
    order = [places[label].pop() for label in term]
    return x if order == sorted(order) else np.transpose(x, order)


_einsum.vjp(
    lambda grad, _out, text, _a, *b, **_: _gradient(0, grad, text, (_a, *b)),
    lambda grad, _out, text, a, _b, **_: _gradient(1, grad, text, (a, _b)),
)


# --- more of them ---------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _path(
    terms: tuple[Term, ...], out: Term, shapes: tuple[Shape, ...]
) -> list[tuple[int, ...]]:
    """Return the operands of each step; its result is appended to the list."""
    path = np.einsum_path(_text(terms, out), *map(hollow, shapes), optimize="greedy")
    steps: list[tuple[int, ...]] = []
    for step in path[0][1:]:  # more than two are all that are left
        steps += [tuple(step)] if len(step) == 2 else [(0, 1)] * (len(step) - 1)
    return steps


def _in_steps(subscripts: str, arrays: list[Any], out: Any, options: Any) -> Any:
    """Return the product of many operands, two at a time."""
    shapes = tuple(x.shape for x in arrays)
    terms, result = _parsed(subscripts, shapes)
    if options.get("dtype") is None:
        options["dtype"] = np.result_type(*(x.dtype for x in arrays))
    left = list(zip(arrays, terms, strict=True))
    for step in _path(terms, result, shapes):
        taken = [left.pop(k) for k in sorted(step, reverse=True)][::-1]
        needed = {*result}.union(*(term for _, term in left))
        seen = dict.fromkeys(label for _, term in taken for label in term)
        kept = tuple(k for k in seen if k in needed) if left else result
        text = _text(tuple(term for _, term in taken), kept)
        # The product of plain arrays stays a plain array until the last step.
        distributed = any(isinstance(x, Tensor) for x, _ in taken) or not left
        step_options = options if left else {**options, "out": out}
        value = (_einsum if distributed else np.einsum)(
            text, *(x for x, _ in taken), **step_options
        )
        left.append((value, kept))
    return left[0][0]


def _dtype_into(
    out: Any,
    arrays: Sequence[Any],
    dtype: npt.DTypeLike | None = None,
    casting: Any = "safe",
    **_options: Any,
) -> dict[str, Any]:
    """Return the dtype that NumPy computes in, if not that of the operands, or refuse
    to cast it to that of `out`."""
    own = np.result_type(*(x.dtype for x in arrays))
    loop = np.result_type(own, out.dtype) if dtype is None else dtype_of(dtype)
    if not np.can_cast(loop, out.dtype, casting):
        raise TypeError(
            f"Iterator requested dtype could not be cast from {loop!r} to "
            f"{out.dtype!r}, the operand {len(arrays)} dtype, according to the rule "
            f"'{casting}'"
        )
    return {} if loop == own else {"dtype": loop}


@implements(np.einsum)
@narrowed
def einsum(
    *operands: Any, out: Any = None, optimize: object = False, **options: Any
) -> Any:
    """Sum of products over the dims that subscripts name.

    Parameters
    ----------
    *operands
        Subscripts as text (``"ij,jk->ik"``, ``"...ii"``) and arrays, or arrays each
        followed by a list of numbers, and last perhaps the list of the result.
    out : array, optional
    optimize
        Accepted and ignored: operands are multiplied two at a time, in NumPy's "greedy"
        order.
    **options
        dtype, order and casting as for `numpy.einsum`.

    Returns
    -------
    array
        Partial where a cut dim is summed over.

    Raises
    ------
    ValueError
        For invalid subscripts, or subscripts that do not fit the shapes.
    """
    subscripts, given = _read(operands)
    arrays = [x if isinstance(x, Tensor) else np.asarray(x) for x in given]
    if out is not None:
        options |= _dtype_into(out, arrays, **options)
    if len(arrays) < 3:
        return _einsum(subscripts, *arrays, out=out, **options)
    dtype = np.result_type(*(x.dtype for x in arrays))
    if options.get("dtype") is not None or not is_half(dtype):
        return _in_steps(subscripts, arrays, out, options)
    wide = [x.astype(np.float32) for x in arrays]
    result = _in_steps(subscripts, wide, None, options).astype(dtype)
    return result if out is None else copy(result, out=out)
