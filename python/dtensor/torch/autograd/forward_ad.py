"""``torch.autograd.forward_ad``: tangents, by the gradient of a gradient.

There is no forward mode here, and a dual tensor carries no tangent: it is an alias that
requires a gradient. `unpack_dual` goes back from a result twice, as `torch.func.jvp`
does. So the operators need gradients of gradients; operators must be recorded, and
within `no_grad` a result has no tangent; and what is unpacked costs two backwards, each
time.
"""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dtensor import _C, ops as _ops
from dtensor.autograd import enable_grad, grad, is_grad_enabled

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports


class UnpackedDualTensor(NamedTuple):
    """A tensor, and the tangent that it has at the current level, or None."""

    primal: Any
    tangent: Any


class _Levels(threading.local):
    """Of this thread: the pairs of the level that is open, or None."""

    duals: list[tuple[Any, Any]] | None = None


_levels = _Levels()


def enter_dual_level() -> int:
    """Open a level: from now on `make_dual` works. Not collective.

    Returns
    -------
    int
        0: there is one level.

    Raises
    ------
    RuntimeError
        If one is open.
    """
    if _levels.duals is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _levels.duals = []
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level, and forget its tangents. Not collective.

    Raises
    ------
    RuntimeError
        If none is open, or another one.
    """
    if _levels.duals is None:
        raise RuntimeError("Dual level must be a positive number.")
    if level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was "
            "created. This is not supported."
        )
    _levels.duals = None


@contextlib.contextmanager
def dual_level() -> Iterator[int]:
    """Open a level for a block. Not collective."""
    level = enter_dual_level()
    try:
        yield level
    finally:
        exit_dual_level(level=level)


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """Return an alias of a tensor that has a tangent. Not collective.

    Unlike PyTorch's it requires a gradient.

    Parameters
    ----------
    tensor, tangent : tensor
        Of the same shape.
    level : int, optional
        Without effect: there is one.

    Raises
    ------
    RuntimeError
        If no level is open, shapes differ, or nothing is recorded.
    ValueError
        If one is not of floating-point or complex numbers.
    """
    if _levels.duals is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make "
            "sure to enter_dual_level() first."
        )
    for what, x in (("primal", tensor), ("tangent", tangent)):
        if not isinstance(x, _C.Tensor):
            raise TypeError(f"make_dual: the {what} must be a tensor, not {type(x)}")
        if np.dtype(x.dtype).kind in "bui":
            raise ValueError(
                f"Expected {what} to be floating point or complex, but got: {x.dtype}"
            )
    if tuple(tensor.shape) != tuple(tangent.shape):
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of "
            "the original Tensor, this is not supported. Tensor is of size "
            f"{list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )
    if not is_grad_enabled():
        raise RuntimeError(
            "make_dual: tangents are computed from what is recorded, and nothing is "
            "recorded within no_grad; leave it, or use torch.func.jvp"
        )
    if _used(tensor, _levels.duals):
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward "
            "gradient at the same level 0 is not supported."
        )
    recorded = tensor.requires_grad
    made = tensor.view(tuple(tensor.shape)) if recorded else tensor.detach()
    made = made if recorded else made.requires_grad_()
    _levels.duals.append((made, tangent))
    return made


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """Return a tensor without its tangent, and the tangent. Collective if backward is.

    The tensor, and the tangent, can be differentiated with respect to all that requires
    a gradient but for the dual tensors of tensors that did not.

    Parameters
    ----------
    tensor : tensor
    level : int, optional
        Without effect: there is one.

    Returns
    -------
    UnpackedDualTensor
        The tangent is None if the tensor does not depend on a dual one, or no level is
        open.

    Raises
    ------
    NotImplementedError
        If an operator has no gradient, or its gradient has none.
    """
    if not isinstance(tensor, _C.Tensor):
        raise TypeError(
            "_unpack_dual(): argument 'dual' (position 1) must be Tensor, not "
            f"{type(tensor).__name__}"
        )
    used = _used(tensor, _levels.duals or [])
    if not used:
        return UnpackedDualTensor(tensor, None)
    with enable_grad():
        tangent, dummy = _tangent(tensor, used)
    leaves = {id(x) for x, _ in used if x.is_leaf} | {id(dummy)}
    return UnpackedDualTensor(*(_released(x, leaves) for x in (tensor, tangent)))


# --- the way back ---------------------------------------------------------------------


def _before(x: Any) -> Iterator[Any]:
    """Yield the nodes and leaves that a tensor was made of."""
    seen: set[int] = set()
    todo = [x if x.is_leaf else x.grad_fn]
    while todo:
        node = todo.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if not isinstance(node, _C.Tensor):
            todo += [before for before, _ in node.next_functions]


def _used(x: Any, duals: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Return the dual tensors that a tensor depends on, with their tangents."""
    if not duals or not x.requires_grad:
        return []
    reached = {id(node) for node in _before(x)}
    return [
        (dual, tangent)
        for dual, tangent in duals
        if id(dual if dual.is_leaf else dual.grad_fn) in reached
    ]


def _tangent(x: Any, used: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Return the tangent of a tensor, and the leaf that it was computed with."""
    dummy = ops.zeros_like(x.detach()).requires_grad_()
    inputs = [dual for dual, _ in used]
    options: dict[str, Any] = {"create_graph": True, "materialize_grads": True}
    products = grad([x], inputs, [dummy], **options)
    pairs = [
        (product, tangent)
        for product, (_, tangent) in zip(products, used, strict=True)
        if product.requires_grad
    ]
    if not pairs:
        return ops.zeros_like(x.detach()), dummy
    outputs, given = map(list, zip(*pairs, strict=True))
    return grad(outputs, [dummy], given, **options)[0], dummy


def _released(x: Any, leaves: set[int]) -> Any:
    """Return a tensor, detached unless it depends on other leaves than these."""
    if not x.requires_grad:
        return x
    others = (
        isinstance(node, _C.Tensor) and id(node) not in leaves for node in _before(x)
    )
    return x if any(others) else x.detach()
