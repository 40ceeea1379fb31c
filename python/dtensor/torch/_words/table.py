"""PyTorch's sentences for NumPy's, about shapes, dims and places.

A row is a pattern of NumPy's sentence, and PyTorch's: a text with the pattern's groups,
or a function of them and the call. Where it lacks a fact it returns None, and NumPy's
sentence stays.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dtensor._C import Tensor

__all__ = ["Call", "in_words", "parted", "says", "shapes_in", "texts"]

Shape = tuple[int, ...]


class Call(NamedTuple):
    """The call that was refused; an operator's own, or that of a function around it."""

    name: str
    args: tuple[Any, ...]
    options: dict[str, Any]

    @property
    def shapes(self) -> list[Shape]:
        """Those of its tensors, in order."""
        return [tuple(x.shape) for x in self.args if isinstance(x, Tensor | np.ndarray)]

    def told(self, name: str, place: int, default: Any = None) -> Any:
        """An argument, by its name or its place."""
        if place < len(self.args):
            return self.args[place]
        return self.options.get(name, default)

    @property
    def sizes(self) -> list[int] | None:
        """The integers after the first argument: one by one, or as a sequence."""
        given: Any = self.args[1:] or tuple(self.options.values())
        if len(given) == 1 and isinstance(given[0], Sequence | np.ndarray):
            given = given[0]
        whole = all(isinstance(n, int | np.integer) for n in given)
        return [int(n) for n in given] if whole else None


Answer = Callable[..., str | None]
_ROWS: list[tuple[re.Pattern[str], str | Answer]] = []


def in_words(sentence: str, call: Call) -> str | None:
    """Return PyTorch's sentence for one of NumPy's; None if it has no other."""
    for pattern, answer in _ROWS:
        found = pattern.match(sentence)
        words = None if found is None else _answered(answer, call, found.groups())
        if words is not None:
            return words
    return None


def _answered(
    answer: str | Answer, call: Call, groups: tuple[str | Any, ...]
) -> str | None:
    if isinstance(answer, str):
        return answer.format(*groups, name=call.name)
    try:
        return answer(call, *groups)
    except (IndexError, StopIteration, TypeError, ValueError):
        return None  # the call is another than the row thinks: NumPy's sentence stays


def says(*patterns: str) -> Callable[[Answer], Answer]:
    def keep(answer: Answer) -> Answer:
        _ROWS.extend((re.compile(pattern), answer) for pattern in patterns)
        return answer

    return keep


def texts(rows: dict[str, str]) -> None:
    """Add rows without functions."""
    _ROWS.extend((re.compile(pattern), text) for pattern, text in rows.items())


# --- what rows need -------------------------------------------------------------------


def shapes_in(text: str) -> list[Shape]:
    """Read shapes as NumPy writes them: ``(4,3) (5,)``, ``(4, newaxis)``."""
    found = re.findall(r"\(([\d, ]*)\)", text)
    return [tuple(map(int, re.findall(r"\d+", one))) for one in found]


def parted(shapes: Sequence[Shape]) -> str | None:
    """Name the first two lengths that cannot be broadcast."""
    seen: Shape = ()
    for shape in shapes:
        for k in range(1, min(len(seen), len(shape)) + 1):
            if seen[-k] != shape[-k] and 1 not in (seen[-k], shape[-k]):
                return (
                    f"The size of tensor a ({seen[-k]}) must match the size of tensor "
                    f"b ({shape[-k]}) at non-singleton dimension "
                    f"{max(len(seen), len(shape)) - k}"
                )
        seen = np.broadcast_shapes(seen, shape)
    return None
