"""Functions of parts as one step of backward, with the gradient of an operator."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.composite import within
from dtensor.ops._make.step import kept, unpacked

__all__ = ["recorded"]

Function = Callable[..., Any]


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
        tuple with that of each. `grad` and `out` are tuples if the result is.
    """
    bare = [x.detach() if isinstance(x, _C.Tensor) else x for x in operands]
    with within(name, *operands, *args):
        result = function(*bare, *args)
    needs = any(getattr(x, "requires_grad", False) for x in operands)
    if not (needs and _C.is_grad_enabled()):
        return result
    several = isinstance(result, tuple)
    outputs = tuple(result) if several else (result,)
    saved, given = kept([y.detach() for y in outputs]), kept((operands, args))

    def through(*grads: Any) -> Any:
        operands, args = unpacked(given)
        if _C.is_grad_enabled():  # the results have a gradient, too
            out = recorded(name, function, back, operands, *args)
        else:
            out = tuple(unpacked(saved)) if several else saved[0].unpack()
        grad: Any = grads[0]
        if several:
            pairs = zip(grads, out, strict=True)
            grad = tuple(np.zeros_like(y) if g is None else g for g, y in pairs)
        with within(f"gradient of {name}", *grads):
            return back(grad, out, *operands, *args)

    _C.record_function(name, through, operands, outputs)
    return result
