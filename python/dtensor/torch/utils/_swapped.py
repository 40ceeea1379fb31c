"""Two tensors that change places."""

from typing import Any

__all__ = ["swap_tensors"]


def swap_tensors(t1: Any, t2: Any) -> None:
    """Swap two tensors: their elements, gradients, attributes and types.

    Whoever holds one of the objects then has the other one's elements. On this rank
    only: nothing is sent.

    Raises
    ------
    RuntimeError
        If one is a result of recorded operations.
    TypeError
        If one is a DTensor, and the other is not.
    """
    for each in (t1, t2):
        if each.grad_fn is not None:
            raise RuntimeError(
                "swap_tensors: a result of recorded operations cannot be swapped"
            )
    if type(t1) is not type(t2):
        t1.__class__, t2.__class__ = type(t2), type(t1)
    data, grads = (t1.detach(), t2.detach()), (t1.grad, t2.grad)
    needed = t1.requires_grad, t2.requires_grad
    for each, other, grad, requires in (
        (t1, data[1], grads[1], needed[1]),
        (t2, data[0], grads[0], needed[0]),
    ):
        each.requires_grad_(False)
        each.grad = None
        each.data = other
        each.requires_grad_(requires)
        each.grad = grad
    names = [getattr(each, "__dict__", {}) for each in (t1, t2)]
    kept = [dict(each) for each in names]
    for each, other_names in zip(names, reversed(kept), strict=True):
        each.clear()
        each.update(other_names)
