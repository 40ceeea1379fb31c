"""``torch.autograd.gradcheck``: gradients beside differences."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C, ops as _ops
from dtensor.autograd import grad, no_grad

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

Array = npt.NDArray[Any]


class GradcheckError(RuntimeError):
    """A gradient is not what differences are."""


def _tensors(x: Any) -> list[Any]:
    found = x if isinstance(x, Sequence) else [x]
    return [y for y in found if isinstance(y, _C.Tensor)]


def _smooth(x: Any) -> bool:
    return np.dtype(x.dtype).kind not in "bui"


def _array(x: Any) -> Array:
    x = x.detach()
    return np.array(x.full_tensor() if isinstance(x, _C.DTensor) else x)


def _sums(outputs: Any, weights: Sequence[Array]) -> Any:
    """Return the sum of all outputs' elements, weighted, as one number."""
    total: Any = 0.0
    kept = [x for x in _tensors(outputs) if _smooth(x)]
    for x, w in zip(kept, weights, strict=True):
        total = total + ops.sum(ops.real(ops.conj(x) * w.astype(np.dtype(x.dtype))))
    return total


def _set(x: Any, array: Array) -> None:
    with no_grad():
        x.copy_(_C.as_tensor(array).as_torch())


def _number(x: Any) -> Any:
    return _array(x) if isinstance(x, _C.Tensor) else x


def _differences(
    function: Callable[..., Any], inputs: tuple[Any, ...], k: int, eps: float
) -> Array:
    """Return the slopes of a number by the elements of an input, by differences."""
    x, before = inputs[k], _array(inputs[k])
    found = np.zeros_like(before)
    steps = [eps, 1j * eps] if before.dtype.kind == "c" else [eps]
    for place in np.ndindex(*before.shape):
        for step in steps:
            values = []
            for sign in (1, -1):
                moved = before.copy()
                moved[place] += sign * step
                _set(x, moved)
                values.append(float(_number(function(*inputs))))
            slope = (values[0] - values[1]) / (2 * eps)
            found[place] += slope * (step / eps)
        _set(x, before)
    return found


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of a function with differences.

    For several directions of the outputs, each element of the inputs is moved by `eps`.

    Parameters
    ----------
    func : callable
        Takes tensors, and returns one or several.
    inputs : Tensor or tuple of Tensor
        Those that require a gradient are compared; in float64.
    eps, atol, rtol : float
        The step, and how far gradients may be off.
    raise_exception : bool, default True
        Whether to raise, or to return False.
    **others
        Ignored.

    Raises
    ------
    GradcheckError
        If a gradient is off, or a second call gives something else.
    ValueError
        If no input requires a gradient.
    """
    given = inputs if isinstance(inputs, tuple | list) else (inputs,)
    given = tuple(given)
    places = [
        k for k, x in enumerate(given) if isinstance(x, _C.Tensor) and x.requires_grad
    ]
    if not places:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none "
            "of the them have requires_grad=True."
        )
    try:
        _check(func, given, places, (eps, atol, rtol, nondet_tol))
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check(
    func: Callable[..., Any],
    inputs: tuple[Any, ...],
    places: list[int],
    limits: tuple[float, float, float, float],
) -> None:
    eps, atol, rtol, apart = limits
    smooth = [x for x in _tensors(func(*inputs)) if _smooth(x)]
    shapes = [(tuple(x.shape), np.dtype(x.dtype).kind) for x in smooth]
    count = sum(math.prod(shape) for shape, _ in shapes)
    random = np.random.default_rng(0)
    for _ in range(min(max(count, 1), 3)):
        weights = [
            random.normal(size=shape) + (1j * random.normal(size=shape))
            if kind == "c"
            else random.normal(size=shape)
            for shape, kind in shapes
        ]

        def number(*x: Any, w: list[Array] = weights) -> Any:
            return _sums(func(*x), w)

        wanted = [inputs[k] for k in places]
        pair = [_gradients(number(*inputs), wanted) for _ in range(2)]
        for k, first, second in zip(places, *pair, strict=True):
            if not np.allclose(first, second, 0, apart, equal_nan=True):
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input "
                    "and grad_output multiple times gives different values, although "
                    "analytical gradient matches numerical gradient."
                )
            numerical = _differences(number, inputs, k, eps)
            if not np.allclose(first, numerical, rtol, atol):
                raise GradcheckError(
                    f"Jacobian mismatch for output 0 with respect to input {k},\n"
                    f"numerical:{numerical}\nanalytical:{first}\n"
                )


def _gradients(number: Any, inputs: list[Any]) -> list[Array]:
    if not (isinstance(number, _C.Tensor) and number.requires_grad):
        return [np.zeros(x.shape, np.dtype(x.dtype)) for x in inputs]
    found = grad([number], inputs, allow_unused=True)
    return [
        np.zeros(x.shape, np.dtype(x.dtype)) if g is None else _array(g)
        for x, g in zip(inputs, found, strict=True)
    ]


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    **others: Any,
) -> bool:
    """Compare second derivatives with differences of gradients: see `gradcheck`.

    Parameters
    ----------
    grad_outputs : Tensor or sequence of Tensor, optional
        The direction of the outputs; default: drawn.
    """
    given = tuple(inputs) if isinstance(inputs, tuple | list) else (inputs,)
    outputs = [x for x in _tensors(func(*given)) if _smooth(x)]
    if grad_outputs is None:
        random = np.random.default_rng(1)
        weights = [random.normal(size=tuple(x.shape)) for x in outputs]
    else:
        weights = [_array(x) for x in _tensors(grad_outputs)]

    def slopes(*x: Any) -> Any:
        wanted = [y for y in x if isinstance(y, _C.Tensor) and y.requires_grad]
        found = grad([_sums(func(*x), weights)], wanted, create_graph=True)
        return [each for each in found if each is not None]

    return gradcheck(
        slopes,
        given,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
    )
