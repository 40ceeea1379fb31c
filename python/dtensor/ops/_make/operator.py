"""Defining operators: `operator`, `implements`, `method`, rules and letters.

See docs/operators.md."""

import copyreg
import operator as op
import string
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast, overload

from dtensor._C import LOCAL_SHAPE, Call, Operand, Operator, Part, Rule
from dtensor.ops._make.axes import normalize_axis_tuple
from dtensor.ops._make.one_rank import AT_ONCE, by_numpy

__all__ = [
    "FUNCTIONS",
    "LOCAL_SHAPE",
    "METHODS",
    "Operand",
    "Operator",
    "Part",
    "Rule",
    "axes_of",
    "broadcasts_out",
    "call",
    "implements",
    "letters",
    "method",
    "operator",
]

F = TypeVar("F", bound=Callable[..., Any])

# NumPy's function (or ufunc) -> its implementation for tensors
FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}
# name of a method of Tensor and DTensor -> its implementation
METHODS: dict[str, Callable[..., Any]] = {}

call = Call

# An operator is copied and pickled as a function is: by its name.
copyreg.pickle(Operator, lambda op: op.__name__)


Error = type[Exception]


@overload
def operator(
    fn: Callable[..., Any],
    *,
    operands: int = 1,
    name: str | None = None,
    agrees: Error | None = None,
    view: bool = False,
) -> Operator: ...
@overload
def operator(
    fn: None = None,
    *,
    operands: int = 1,
    name: str | None = None,
    agrees: Error | None = None,
    view: bool = False,
) -> Callable[[Callable[..., Any]], Operator]: ...
def operator(
    fn: Callable[..., Any] | None = None,
    *,
    operands: int = 1,
    name: str | None = None,
    agrees: Error | None = None,
    view: bool = False,
) -> Operator | Callable[[Callable[..., Any]], Operator]:
    """Make an operator of a function that gives the rule and the kernel's call.

    Parameters
    ----------
    fn : callable
        Signature and docstring of the operator; called once for each kind of call.
    operands : int, default 1
        How many leading positional parameters are arrays even if they are numbers.
    name : str, optional
        The name in messages; default: the name of `fn`.
    agrees : type of exception, optional
        The exception that the kernel may raise because of values in one rank's part.
        The ranks then agree after the kernel, and all raise it: the operator is
        collective.
    view : bool, default False
        Whether the results show the memory of the operand, unless it has to move.
    """
    if fn is None:
        return lambda function: operator(
            function, operands=operands, name=name, agrees=agrees, view=view
        )
    made = Operator(fn, name or fn.__name__, operands, agrees)
    made.view = view
    return made


def broadcasts_out(answer: F) -> F:
    """Let an operator's result be broadcast into `out=`, as NumPy does for ufuncs."""
    answer.broadcasts_out = True  # type: ignore[attr-defined]
    return answer


def implements(*functions: Callable[..., Any]) -> Callable[[F], F]:
    """Register an operator or a function as the implementation of `functions`; on one
    rank some are NumPy's own (`one_rank`)."""

    def register(answer: F) -> F:
        if functions[0] in AT_ONCE:
            answer = cast(F, by_numpy(functions[0], answer))
        for function in functions:
            FUNCTIONS[function] = answer
        return answer

    return register


@overload
def method(answer: F, *, name: str | None = None) -> F: ...
@overload
def method(answer: None = None, *, name: str | None = None) -> Callable[[F], F]: ...
def method(answer: F | None = None, *, name: str | None = None) -> F | Callable[[F], F]:
    """Make an operator or a function a method of Tensor and DTensor as well."""
    if answer is None:
        return lambda given: method(given, name=name)
    METHODS[name or answer.__name__] = answer
    return answer


def axes_of(axis: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Return the dims that NumPy's `axis` names, ascending; None: all of them."""
    if axis is None:
        return tuple(range(ndim))
    if isinstance(axis, Operand):
        axis = op.index(axis)
    return tuple(sorted(normalize_axis_tuple(axis, ndim)))


def letters(ndim: int, whole: Iterable[int] = (), skip: int = 0) -> list[str]:
    """Return a factor for each dim, upper-case for dims that must not be cut.

    Parameters
    ----------
    ndim : int
        How many.
    whole : iterable of int
        Dims that no mesh dim may cut.
    skip : int
        How many letters another operand uses already.
    """
    kept = set(whole)
    names = []
    for dim in range(ndim):
        turn, place = divmod(skip + dim, len(string.ascii_lowercase))
        letter = string.ascii_lowercase[place] + "'" * turn
        names.append(letter.upper() if dim in kept else letter)
    return names
