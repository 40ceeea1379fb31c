"""Exceptions of what PyTorch's dialect refuses: RuntimeErrors, as PyTorch's.

They are still what NumPy raises, too.
"""

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from types import FunctionType
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.refusal import set_speaker
from dtensor.torch import _check_dims, _check_places  # noqa: F401  # add to CHECKS
from dtensor.torch._checks import CHECKS
from dtensor.torch._words import Call, in_words, types

__all__ = [
    "ArgumentError",
    "DtypeError",
    "LinAlgError",
    "OutOfMemoryError",
    "PlaceError",
    "RangeError",
    "TextError",
    "refuses",
    "speak",
    "spoken",
]


class ArgumentError(RuntimeError, ValueError):
    """Shapes do not fit each other, or an argument has a value that it cannot have."""


class DtypeError(NotImplementedError, TypeError):
    """Something is not computed in a dtype."""


class LinAlgError(RuntimeError, np.linalg.LinAlgError):
    """A matrix is singular, or not positive definite, or an iteration did not end."""


vars(_C)["_LinAlgError"] = LinAlgError  # what PyTorch's users find at torch._C


class OutOfMemoryError(RuntimeError):
    """A device has no memory left: never raised here, where there is a MemoryError."""


class PlaceError(RuntimeError, IndexError):
    """An index is not in a tensor, where PyTorch does not raise an IndexError."""


class RangeError(RuntimeError, OverflowError):
    """A number is not in the range of a dtype."""


class TextError(ValueError, TypeError, IndexError):
    """Data are texts, or an index is one: either ValueError or TypeError in PyTorch."""


_TYPES: dict[type[Exception], type[Exception]] = {
    OverflowError: RangeError,
    ValueError: ArgumentError,
    np.linalg.LinAlgError: LinAlgError,
}
# Where a wrong index is a RuntimeError.
_PLACES = """
    gather scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_
    take_along_dim index_add index_add_
""".split()
_OTHERS: dict[str, dict[type[Exception], type[Exception]]] = {
    **dict.fromkeys(_PLACES, {IndexError: PlaceError}),
    **dict.fromkeys(("tensor", "as_tensor"), {TypeError: DtypeError}),
}
_TEXT = re.compile(r".*(holds text;|\(got str\)$)")
# What stands before the sentence of another rank.
_OF_RANK = r"^(rank \d+(?: failed in [^:]*)?: )?"
# NumPy's, of a dtype in which something is not computed.
_NO_LOOP = re.compile(types.NO_LOOP)
_SPOKEN = (IndexError, TypeError, np.exceptions.AxisError, *_TYPES)


def spoken(
    error: Exception, name: str, args: tuple[Any, ...], options: Mapping[str, Any]
) -> Exception | None:
    """Return PyTorch's exception for one of ours or of NumPy's, in its words.

    None if it stays as it is: it is another's, or PyTorch has the same one.
    """
    kind, sentence = type(error), str(error)
    _, whose, told = re.split(_OF_RANK, sentence, maxsplit=1)
    lacks = isinstance(error, TypeError) and _NO_LOOP.match(told) is not None
    if lacks:
        kind = TypeError
    if kind not in _SPOKEN:
        return None
    words = in_words(told, Call(name, args, dict(options)))
    to = (_TYPES | _OTHERS.get(name, {})).get(kind, kind)
    to = DtypeError if lacks else to
    to = TextError if _TEXT.match(words or told) else to
    if words is None and to is kind:
        return None
    made = to(sentence if words is None else f"{whose or ''}{words}")
    for note in getattr(error, "__notes__", ()):
        made.add_note(note)
    made.__cause__, made.__suppress_context__ = error.__cause__, True
    return made.with_traceback(error.__traceback__)


set_speaker(spoken)


_NUMPYS = {"axis": "dim", "keepdims": "keepdim"}  # what PyTorch takes for its names


@functools.cache
def _names(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)


def _renamed(
    options: Mapping[str, Any], function: Callable[..., Any]
) -> dict[str, Any]:
    """Return arguments by PyTorch's names, where the function has those alone."""
    names = _names(function)
    return {
        to if to in names and name not in names and to not in options else name: value
        for name, value in options.items()
        for to in [_NUMPYS.get(name, name)]
    }


def refuses(
    name: str,
    function: Callable[..., Any],
    check: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """Return a function that raises PyTorch's exceptions for ours.

    Parameters
    ----------
    name : str
        What it is called by.
    function : callable
    check : callable, optional
        Looks at the arguments first, where all fit it.
    """

    @functools.wraps(function)
    def answer(*args: Any, **options: Any) -> Any:
        if options and not _NUMPYS.keys().isdisjoint(options):
            options = _renamed(options, function)
        try:
            if check is not None:
                check(*args, **options)
            return function(*args, **options)
        except (
            ValueError,
            IndexError,
            TypeError,
            AttributeError,
            OverflowError,
        ) as error:
            other = spoken(error, name, args, options)
            if isinstance(error, AttributeError):
                other = _no_tensor(error, name, args)
            if other is None:
                raise
            raise other from error.__cause__

    return answer


def _no_tensor(
    error: AttributeError, name: str, args: tuple[Any, ...]
) -> TypeError | None:
    """Return the TypeError of an argument that is no tensor, where one was meant."""
    given = error.obj
    if isinstance(given, _C.Tensor | np.ndarray) or not any(x is given for x in args):
        return None
    place = next(k for k, x in enumerate(args) if x is given)
    which = " 'input'" if place == 0 else ""
    return TypeError(
        f"{name}(): argument{which} (position {place + 1}) must be Tensor, not "
        f"{type(given).__name__}"
    )


# Their functions are wrapped; what is not here raises PyTorch's exceptions already.
_ROOMS = ("dtensor.ops", "dtensor.linalg", "dtensor.fft", "dtensor.nn")
_OURS = """
    _alike _checked _create _draws _index _linalg _lu _matrix _memory _methods _order
    _pointwise _products _questions _recurrent _reduce _reflected _scans _seldom _shape
    _special _spectra
""".split()
_OF = (*_ROOMS, *(f"dtensor.torch.{name}" for name in _OURS))


def speak(room: MutableMapping[str, Any], names: Iterable[str] | None = None) -> None:
    """Let the functions of a room raise PyTorch's exceptions for ours."""
    for name in list(room if names is None else names):
        given = room[name]
        check = CHECKS.get(name)
        ours = isinstance(given, FunctionType) and given.__module__.startswith(_OF)
        if ours or check:
            room[name] = refuses(name, given, check)
