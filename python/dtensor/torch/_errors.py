"""Exceptions of what PyTorch's dialect refuses: RuntimeErrors, as PyTorch's.

They are still what NumPy raises, too.
"""

import functools
from collections.abc import Callable, Iterable, MutableMapping
from types import FunctionType
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.refusal import TYPES, translated
from dtensor.torch._checks import CHECKS

__all__ = [
    "ArgumentError",
    "DtypeError",
    "LinAlgError",
    "OutOfMemoryError",
    "PlaceError",
    "refuses",
    "speak",
]


class ArgumentError(RuntimeError, ValueError):
    """Shapes do not fit each other, or an argument has a value that it cannot have."""


class DtypeError(NotImplementedError, TypeError):
    """Something is not computed in a dtype."""


class LinAlgError(RuntimeError, np.linalg.LinAlgError):
    """A matrix is singular, or not positive definite, or an iteration did not end."""


class OutOfMemoryError(RuntimeError):
    """A device has no memory left: never raised here, where there is a MemoryError."""


class PlaceError(RuntimeError, IndexError):
    """An index is not in a tensor, where PyTorch does not raise an IndexError."""


TYPES |= {ValueError: ArgumentError, np.linalg.LinAlgError: LinAlgError}
_C.set_torch_errors(dict[type[BaseException], type[BaseException]](TYPES.items()))


def refuses(
    function: Callable[..., Any],
    check: Callable[..., Any] | None = None,
    also: dict[type[Exception], type[Exception]] | None = None,
) -> Callable[..., Any]:
    """Return a function that raises PyTorch's exceptions for ours.

    Parameters
    ----------
    function : callable
    check : callable, optional
        Looks at the arguments first, where all fit it.
    also : dict of type to type, optional
        More exceptions that are PyTorch's others, of this function alone.
    """
    more: Any = also or {}

    @functools.wraps(function)
    def answer(*args: Any, **options: Any) -> Any:
        try:
            if check is not None:
                check(*args, **options)
            return function(*args, **options)
        except (ValueError, AttributeError, *more) as error:
            other = translated(error)
            if type(error) in more:
                other = more[type(error)](*error.args)
            elif isinstance(error, AttributeError):
                other = _no_tensor(error, args)
            if other is None:
                raise
            raise other from error.__cause__

    return answer


def _no_tensor(error: AttributeError, args: tuple[Any, ...]) -> TypeError | None:
    """Return the TypeError of an argument that is no tensor, where one was meant."""
    given = error.obj
    if isinstance(given, _C.Tensor | np.ndarray) or not any(x is given for x in args):
        return None
    place = next(k for k, x in enumerate(args) if x is given)
    return TypeError(
        f"argument (position {place + 1}) must be Tensor, not {type(given).__name__}"
    )


# Their functions are wrapped; what is not here raises PyTorch's exceptions already.
_ROOMS = ("dtensor.ops", "dtensor.linalg", "dtensor.fft")
_OURS = """
    _alike _checked _create _draws _index _linalg _lu _matrix _order _pointwise
    _products _questions _recurrent _reduce _reflected _scans _seldom _shape _special
    _spectra
""".split()
_OF = (*_ROOMS, *(f"dtensor.torch.{name}" for name in _OURS))
# Where a wrong index, or an object that is no number, is a RuntimeError.
_PLACES = """
    gather scatter scatter_ scatter_add scatter_add_ scatter_reduce scatter_reduce_
    take_along_dim
""".split()
ALSO: dict[str, dict[type[Exception], type[Exception]]] = {
    **dict.fromkeys(_PLACES, {IndexError: PlaceError}),
    **dict.fromkeys(("tensor", "as_tensor"), {TypeError: DtypeError}),
}


def speak(room: MutableMapping[str, Any], names: Iterable[str] | None = None) -> None:
    """Let the functions of a room raise PyTorch's exceptions for ours."""
    for name in list(room if names is None else names):
        given = room[name]
        check, also = CHECKS.get(name), ALSO.get(name)
        ours = isinstance(given, FunctionType) and given.__module__.startswith(_OF)
        if ours or check or also:
            room[name] = refuses(given, check, also)
