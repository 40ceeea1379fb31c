"""Composites that compute with parts of tensors: one node each for backward."""

import functools
from collections.abc import Callable
from typing import Any

from dtensor import _C
from dtensor._core.nested import mapped

__all__ = ["kept", "one_step", "unpacked"]

Function = Callable[..., Any]


def one_step(name: str, back: Function) -> Callable[[Function], Function]:
    """Give a function that an operator calls the operator's gradient.

    Parameters
    ----------
    name : str
        Of the operator.
    back : callable
        ``back(grad, out, x, *args)``: the gradient of its first operand, `x`, which
        comes as an Operand; `out` is None. The other operands have none.
    """

    def mark(function: Function) -> Function:
        @functools.wraps(function)
        def step(x: Any, *args: Any, **named: Any) -> Any:
            if not (_C.is_grad_enabled() and getattr(x, "requires_grad", False)):
                return function(x, *args, **named)
            result = function(x.detach(), *args, **named)
            # Writes to a view of elements that had to move go to `x`, and are recorded.
            origin = getattr(result, "_origin", None)
            known, arguments = _C.operand_of(x), kept((args, named))

            def through(grad: Any) -> Any:
                args, named = unpacked(arguments)
                before = _C.begin_call(f"gradient of {name}", (grad,), {})
                try:
                    return back(grad, None, known, *args, **named)
                finally:
                    _C.end_call(before)

            _C.record_function(name, through, (x,), (result,))
            if origin is not None:
                _C.set_origin(result, x, origin[1])
            return result

        return step

    return mark


def kept(arguments: Any) -> Any:
    """Return arguments with tensors saved for backward, which must not be changed."""
    return mapped(arguments, _C.Tensor, _C.save)


def unpacked(arguments: Any) -> Any:
    """Return the arguments from the result of `kept`."""
    return mapped(arguments, _C.Saved, lambda saved: saved.unpack())
