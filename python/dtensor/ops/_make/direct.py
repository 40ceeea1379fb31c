"""Operators in front of Python functions: a common call of these runs no Python.

A row gives rule and kernel, as the function of any operator does, once for each kind of
call. It gives None for a call that it does not take: then the function that it stands
in front of is called, as it is for arguments that the row does not have. Gradients are
those of the operator that a row is based on, or stand beside it. Where a function does
no more than call an operator, its row names that one, and all else is that one's.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from dtensor import _C
from dtensor.ops._make.operator import FUNCTIONS, METHODS, Operand
from dtensor.ops._make.reduction import MISSING
from dtensor.ops._make.words import Answer

__all__ = ["Maybe", "Row", "in_front", "is_cut", "passed"]

# (operator, n): the call is that operator's, with the first n arguments. An operand:
# the call gives the first one as it is.
Maybe = Answer | tuple[_C.Operator, int] | Operand | None
Gradient = Callable[..., Any] | None


class Row(NamedTuple):
    """How a function is an operator."""

    ask: Callable[..., Any]
    base: Any = None
    operands: int = 0
    gradients: tuple[Gradient, ...] = ()
    told: tuple[float, ...] = ()

    def before(self, name: str, function: Callable[..., Any]) -> Any:
        """Return the operator that stands in front of a function."""
        made: Any = _C.Operator(
            self.ask,
            name,
            self.operands,
            otherwise=function,
            base=self.base,
            told=self.told,
        )
        made.autocast = _within_autocast
        if self.gradients:
            made.vjp(*self.gradients)
        return made


def _within_autocast(operator: Any, *args: Any, **options: Any) -> Any:
    return operator.otherwise(*args, **options)


def in_front(
    ask: Callable[..., Any],
    base: Any = None,
    *gradients: Gradient,
    operands: int = 0,
    told: tuple[float, ...] = (),
    name: str | None = None,
) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that puts an operator in front of a function.

    The operator also takes the function's place as a method and as the implementation
    of functions of NumPy's.

    Parameters
    ----------
    ask : callable
        The row: its parameters are those of the function that may be given by
        position, with their names and defaults, or the first of these.
    base : Operator, optional
        The operator whose gradient it has, and whose rules of users it heeds.
    *gradients : callable or None
        Instead of these: see `Operator.vjp`.
    operands : int, default 0
        How many leading parameters are arrays even if they are numbers.
    told : tuple of numbers
        The values of which the last operand is told: see `Operator.told`.
    name : str, optional
        What users call it; default: the function's name.
    """

    def put(function: Callable[..., Any]) -> Any:
        row = Row(ask, base, operands, gradients, told)
        own: str = getattr(function, "__name__", ask.__name__)
        made = row.before(own if name is None else name, function)
        table: dict[Any, Any]
        for table in (FUNCTIONS, METHODS):
            table |= {key: made for key, known in table.items() if known is function}
        return made

    return put


def passed(operator: Any, *args: Any) -> Maybe:
    """Return the row of a call that is another operator's, with the same arguments.

    At the end some may be `MISSING`, the default of a row that does not know how many
    arguments there are; not between others."""
    count = len(args)
    while args[count - 1] is MISSING:
        count -= 1
    return None if any(x is MISSING for x in args[:count]) else (operator, count)


def is_cut(x: Operand, axes: tuple[int, ...], alone: bool = False) -> bool:
    """Return whether some dims of an operand are cut among several ranks, or, if
    `alone`, perhaps on one rank alone."""
    if x.layout is None or (x.layout.mesh.size() == 1 and not alone):
        return False
    return any(p._cut_dim in axes for p in x.layout.placements)
