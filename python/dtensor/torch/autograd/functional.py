"""``torch.autograd.functional``: derivatives of functions, over `torch.func`."""

from collections.abc import Callable
from typing import Any

from dtensor import _C, ops as _ops
from dtensor._core.nested import mapped
from dtensor.torch.func import _grad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports


def _several(inputs: Any) -> tuple[Any, ...]:
    return inputs if isinstance(inputs, tuple) else (inputs,)


def _places(inputs: Any) -> Any:
    return tuple(range(len(inputs))) if isinstance(inputs, tuple) else 0


def _known(inputs: Any, create_graph: bool) -> Any:
    """Return inputs that results are recorded for, if they are to be."""

    def recorded(x: Any) -> Any:
        return x if x.requires_grad else x.detach().requires_grad_()

    return mapped(inputs, _C.Tensor, recorded) if create_graph else inputs


def _kept(found: Any, create_graph: bool) -> Any:
    return found if create_graph else mapped(found, _C.Tensor, lambda x: x.detach())


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the derivatives of all elements of a function with respect to its inputs.

    Parameters
    ----------
    func : callable
        Takes tensors, and returns one or a tuple.
    inputs : Tensor or tuple of Tensor
    create_graph : bool, default False
        Whether the result has gradients.
    strict, vectorize, strategy
        Ignored.

    Returns
    -------
    Tensor or tuple
        Of shape ``output.shape + input.shape``: for each output, of each input.
    """
    inputs = _known(inputs, create_graph)
    found = _grad.jacrev(func, _places(inputs))(*_several(inputs))
    return _kept(found, create_graph)


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the second derivatives of a function that returns a number.

    See `jacobian`. The result is nested twice if `inputs` is a tuple.
    """
    inputs = _known(inputs, create_graph)
    found = _grad.hessian(lambda *x: _number(func(*x)), _places(inputs))
    return _kept(found(*_several(inputs)), create_graph)


def _number(found: Any) -> Any:
    return ops.reshape(found, ())


def _check_single(what: str, x: Any) -> None:
    if len(_several(x)) > 1 or _several(x)[0].numel() != 1:
        raise RuntimeError(
            f"The vector v can only be None if {what} a single Tensor with a single "
            "element."
        )


def vjp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return what a function returns, and `v` times its Jacobian."""
    inputs = _known(inputs, create_graph)
    out, pull = _grad.vjp(func, *_several(inputs))
    if v is None:
        _check_single("the user-provided function returns", out)
        v = ops.ones_like(out)
    found = pull(v)
    found = found if isinstance(inputs, tuple) else found[0]
    return _kept((out, found), create_graph)  # type: ignore[no-any-return]


def jvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return what a function returns, and its Jacobian times `v`."""
    if v is None:
        _check_single("the input to the user-provided function is", inputs)
    inputs = _several(_known(inputs, create_graph))
    given = tuple(map(ops.ones_like, inputs)) if v is None else _several(v)
    found = _grad.jvp(func, inputs, given)
    return _kept(found, create_graph)  # type: ignore[no-any-return]


def hvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return what a function returns, a number, and its Hessian times `v`."""
    if v is None:
        _check_single("the input to the user-provided function is", inputs)
        v = mapped(inputs, _C.Tensor, ops.ones_like)
    inputs = _known(inputs, create_graph)
    slope = _grad.grad(lambda *x: _number(func(*x)), _places(inputs))
    _, found = vjp(slope, inputs, v, create_graph)
    out = func(*_several(inputs))
    return _kept((out, found), create_graph)  # type: ignore[no-any-return]


vhp = hvp  # the matrix is symmetric
