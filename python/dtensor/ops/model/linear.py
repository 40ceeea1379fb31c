"""``x @ weight.T + bias`` and what its gradient is made of.

The three products are each other's gradients. On each rank they are one product of two
matrices, whatever the leading dims are and whichever of them is cut.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

from dtensor import _C
from dtensor.ops._make.autocast import narrowed
from dtensor.ops._make.halves import product_call
from dtensor.ops._make.operator import Operand, Part, Rule, letters, operator
from dtensor.ops._make.words import Answer, Shape, rule
from dtensor.ops.elementwise.pointwise import add
from dtensor.ops.linalg.adjoint import conj
from dtensor.ops.linalg.matmul import matmul

__all__ = ["linear"]

Array = npt.NDArray[Any]

# Which operands may be Partial on a mesh dim. A bias that is not is added once.
_WITH_BIAS = (
    "sum,R,R->sum; R,sum,R->sum; sum,R,sum->sum; R,sum,sum->sum;"
    "avg,R,R->avg; R,avg,R->avg; avg,R,avg->avg; R,avg,avg->avg; R,R,avg->avg"
)

# --- kernels --------------------------------------------------------------------------


def _rows(x: Array) -> Array:
    """Return a matrix of an array's last dim."""
    return x.reshape(math.prod(x.shape[:-1]), x.shape[-1])


def _times(x: Array, matrix: Array) -> Array:
    out = _C.product(_rows(x), matrix)
    return out.reshape(*x.shape[:-1], matrix.shape[1])


def _forward(x: Array, weight: Array) -> Array:
    return _times(x, weight.T)


def _forward_bias(x: Array, weight: Array, bias: Array, adds: bool) -> Array:
    out = _C.product(_rows(x), weight.T, bias if adds else None)
    return out.reshape(*x.shape[:-1], len(weight))


def _outer(grad: Array, x: Array) -> Array:
    return _C.product(_rows(grad).T, _rows(x))


def adds_once(
    bias: int, operands: Sequence[_C.Layout], results: Sequence[_C.Layout]
) -> bool:
    """Return whether this rank adds a bias, an operand, to its part of a result.

    Where the result is a sum over ranks, and the bias is none, one rank does.
    """
    pairs = zip(results[0].placements, operands[bias].placements, strict=True)
    sums = [m for m, (p, q) in enumerate(pairs) if p._pending_op == "sum" and q != p]
    where = results[0].mesh.get_coordinate() if sums else []
    return where is not None and all(where[m] == 0 for m in sums)


# --- operators ------------------------------------------------------------------------


def _check(x: Operand, weight: Operand, bias: Operand | None) -> None:
    """Raise what torch raises."""
    if min(x.ndim, weight.ndim) == 0:
        raise RuntimeError(
            "both arguments to linear need to be at least 1D, but they are "
            f"{x.ndim}D and {weight.ndim}D"
        )
    if weight.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {weight.ndim}D"
        )
    if x.dtype != weight.dtype or (bias is not None and bias.dtype != x.dtype):
        types = [str(each.dtype) for each in (x, weight, bias) if each is not None]
        raise RuntimeError(
            "input, weight and bias of linear must have the same dtype, but got: "
            + " != ".join(types)
        )
    if x.shape[-1] != weight.shape[-1]:
        rows = math.prod(x.shape[:-1])
        turned = "x".join(map(str, weight.shape[::-1]))
        raise RuntimeError(
            "mat1 and mat2 shapes cannot be multiplied "
            f"({rows}x{x.shape[-1]} and {turned})"
        )
    if weight.ndim == 1 and bias is not None and bias.ndim > 0:
        raise RuntimeError(f"mat2 must be a matrix, got {weight.ndim}-D tensor")


def _check_bias(out: Shape, bias: Shape) -> None:
    tail = out[len(out) - len(bias) :]
    if len(bias) > len(out) or any(
        n not in (1, m) for n, m in zip(bias, tail, strict=True)
    ):
        raise RuntimeError(
            "The expanded size of bias must match that of the result.  Target sizes: "
            f"{list(out)}.  Tensor sizes: {list(bias)}"
        )


@narrowed
@operator
def linear(
    input: Operand,  # noqa: A002
    weight: Operand,
    bias: Operand | None = None,
) -> Answer | Callable[..., Any]:
    """Return ``input @ weight.T + bias``.

    Any dim may be cut: leading dims of `input`, rows of `weight` with `bias` (columns
    of the result), or the columns of both: then the result is Partial, and `bias` is
    added on one rank. Nothing is sent.

    Parameters
    ----------
    input : tensor, shape (..., k)
    weight : tensor, shape (n, k) or (k,)
    bias : tensor, shape (n,), optional

    Returns
    -------
    tensor, shape (..., n)

    Raises
    ------
    RuntimeError
        For shapes and dtypes that do not go together, as torch does; on every rank.
    """
    _check(input, weight, bias)
    if weight.ndim == 1:
        return _vector
    names = letters(input.ndim + 1)
    lead, (n, k) = names[:-2], names[-2:]
    terms, out = [[*lead, k], [n, k]], [*lead, n]
    if bias is None:
        return (
            rule(terms, [out], "each"),
            product_call(_forward, input, weight),
            input.dtype,
        )
    if bias.shape != weight.shape[:1]:
        _check_bias((*input.shape[:-1], weight.shape[0]), bias.shape)
        return _with_any_bias
    adds = Part(lambda operands, results: adds_once(2, operands, results))
    product = rule([*terms, [n]], [out], _WITH_BIAS)
    return product, product_call(_forward_bias, input, weight, bias, adds), input.dtype


def _vector(input: Any, weight: Any, bias: Any = None) -> Any:  # noqa: A002
    out = matmul(input, weight)
    return out if bias is None else add(out, bias)


def _with_any_bias(input: Any, weight: Any, bias: Any) -> Any:  # noqa: A002
    return add(linear(input, weight), bias)


@operator(name="linear_input")
def _linear_input(rows: Operand, weight: Operand) -> Answer:
    """Return ``rows @ weight``."""
    return (
        Rule("...n,nk->...k", partial="each"),
        product_call(_times, rows, weight),
        rows.dtype,
    )


@operator(name="linear_weight")
def _linear_weight(rows: Operand, others: Operand) -> Answer:
    """Return ``rows.T @ others``, with all leading dims as one."""
    names = letters(rows.ndim + 1)
    lead, (n, k) = names[:-2], names[-2:]
    product = rule([[*lead, n], [*lead, k]], [[n, k]], "each")
    return product, product_call(_outer, rows, others), rows.dtype


linear.vjp(
    lambda grad, _out, _input, weight, _bias=None: _linear_input(grad, conj(weight)),
    lambda grad, _out, input, _weight, _bias=None: _linear_weight(grad, conj(input)),
    lambda grad, _out, _input, _weight, _bias=None: grad,  # it is summed to its shape
)
_linear_input.vjp(
    lambda grad, _out, _rows, weight: linear(grad, conj(weight)),
    lambda grad, _out, rows, _weight: _linear_weight(conj(rows), grad),
)
_linear_weight.vjp(
    lambda grad, _out, _rows, others: linear(conj(others), grad),
    lambda grad, _out, rows, _others: _linear_input(conj(rows), grad),
)
