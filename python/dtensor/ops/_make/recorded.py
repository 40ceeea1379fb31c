"""Functions of parts as one step of backward, with the gradient of an operator."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.composite import within
from dtensor.ops._make.step import kept, unpacked

__all__ = ["recorded"]

Function = Callable[..., Any]


def _named(back: Any) -> tuple[str, ...]:
    """Return the names of the parameters of a gradient."""
    given = 0
    while isinstance(back, partial):
        back, given = back.func, given + len(back.args)
    code = back.__code__
    return tuple(code.co_varnames[given : code.co_argcount])


def _unread(x: Any) -> Any:
    """Return what is known of a tensor without its data."""
    return _C.operand_of(x) if isinstance(x, _C.Tensor) else x


def recorded(
    name: str, function: Function, back: Function, operands: tuple[Any, ...], *args: Any
) -> Any:
    """Call a function of tensors and other arguments, recorded as one step.

    Parameters
    ----------
    name : str
        Of the operator, for messages.
    function : callable
        ``function(*operands, *args)``: a tensor, or a tuple of some. The operands come
        without a gradient.
    back : callable
        ``back(grad, out, *operands, *args)``: the gradient of the first operand, or a
        tuple with that of each. `grad` and `out` are tuples if the result is. A
        parameter with an underscore first is not kept, so that it may be written to
        before backward: it comes as an Operand. Operands are all kept if `out` is, for
        second gradients.
    """
    bare = [x.detach() if isinstance(x, _C.Tensor) else x for x in operands]
    with within(name, *operands, *args):
        result = function(*bare, *args)
    needs = any(getattr(x, "requires_grad", False) for x in operands)
    if not (needs and _C.is_grad_enabled()):
        return result
    several = isinstance(result, tuple)
    outputs = tuple(result) if several else (result,)
    _, of_out, *names = _named(back)
    reads_out = not of_out.startswith("_")
    read = [
        x if reads_out or not word.startswith("_") else _unread(x)
        for x, word in zip(operands, [*names, *"x" * len(operands)], strict=False)
    ]
    seen = [y.detach() if reads_out else _unread(y) for y in outputs]
    saved, given = kept(seen), kept((tuple(read), args))

    def through(*grads: Any) -> Any:
        operands, args = unpacked(given)
        if reads_out and _C.is_grad_enabled():  # the results have a gradient, too
            out = recorded(name, function, back, operands, *args)
        else:
            out = tuple(unpacked(saved)) if several else unpacked(saved)[0]
        grad: Any = grads[0]
        if several:
            pairs = zip(grads, out, strict=True)
            grad = tuple(np.zeros_like(y) if g is None else g for g, y in pairs)
        with within(f"gradient of {name}", *grads):
            return back(grad, out, *operands, *args)

    _C.record_function(name, through, operands, outputs)
    return result
