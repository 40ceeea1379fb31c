"""Products, and sums of them, with PyTorch's arguments."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dtensor import ops as _ops
from dtensor._C import Operator, Tensor
from dtensor.ops._make.autocast import narrowed as _narrowed
from dtensor.torch._cast import cast_alike as _cast_alike, rounded_once
from dtensor.torch._types import torch_dtype as _torch_dtype

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports

__all__ = [
    "addbmm",
    "addcdiv",
    "addcmul",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "bmm",
    "cross",
    "dot",
    "einsum",
    "ger",
    "lerp",
    "matmul",
    "mm",
    "mv",
    "outer",
    "tensordot",
]


# What PyTorch says where operands have other numbers of dims than they must.
_DIMS: dict[str, Callable[[int, int], str]] = {
    "mm": lambda a, b: f"{'self' if a != 2 else 'mat2'} must be a matrix",
    "bmm": lambda a, b: f"batch{1 if a != 3 else 2} must be a 3D tensor",
    "mv": lambda a, b: f"vector + matrix @ vector expected, got 1, {a}, {b}",
    "dot": lambda a, b: f"1D tensors expected, but got {a}D and {b}D tensors",
    "outer": lambda a, b: (
        f"outer: Expected 1-D argument {'self' if a != 1 else 'vec2'}, but got "
        f"{a if a != 1 else b}-D"
    ),
}


def _product(name: str, base: Any, *dims: int) -> Any:
    """Return an operator that takes what PyTorch takes: operands of one dtype and, if
    given, of so many dims."""
    make = base.__wrapped__

    def answer(x1: Any, x2: Any, /, *args: Any, **options: Any) -> Any:
        if dims and dims != (x1.ndim, x2.ndim):
            raise RuntimeError(_DIMS[name](x1.ndim, x2.ndim))
        numbers = x1.dtype is None or x2.dtype is None
        if not numbers and x1.dtype != x2.dtype and not options:
            of = " != ".join(_torch_dtype(x.dtype).legacy for x in (x1, x2))
            raise RuntimeError(f"{name}: expected operands of one dtype, but got {of}")
        return make(x1, x2, *args, **options)

    answer.__name__, answer.__doc__ = name, base.__doc__
    answer.__wrapped__ = make  # type: ignore[attr-defined]  # its signature is shown
    made = Operator(answer, name, base.operands, base=base)
    return made if base.autocast is None else _narrowed(made)


matmul = _product("matmul", ops.matmul)
mm = _product("mm", ops.matmul, 2, 2)
bmm = _product("bmm", ops.matmul, 3, 3)
mv = _product("mv", ops.matmul, 2, 1)
dot = _product("dot", ops.dot, 1, 1)
_outer = _product("outer", ops.outer, 1, 1)


def outer(input: Any, vec2: Any) -> Any:
    """Return the products of all pairs of elements of two vectors."""
    return _outer(*_cast_alike(input, vec2))


ger = outer


def einsum(equation: str, *operands: Any) -> Any:
    """Return a sum of products, as the equation says; operands may be in one list.

    Dims of an ellipsis that the result has not are summed over.
    """
    if len(operands) == 1 and isinstance(operands[0], list | tuple):
        operands = tuple(operands[0])
    if isinstance(equation, str):
        terms, arrow, result = equation.partition("->")
        operands = _summed_alike(
            _cast_alike(*operands), terms, result if arrow else None
        )
        if arrow and "..." in terms and "..." not in result:
            found = ops.einsum(f"{terms}->...{result}", *operands)
            count = found.ndim - len(result.replace(" ", ""))
            return ops.sum(found, axis=tuple(range(count)))
    return ops.einsum(equation, *operands)


def _summed_alike(
    operands: tuple[Any, ...], terms: str, result: str | None
) -> tuple[Any, ...]:
    """Return integers as int64 where dims of each operand are summed before it meets
    another one, as `sum` returns them."""
    if any(np.dtype(x.dtype).kind not in "bui" for x in operands):
        return operands
    inputs = terms.replace(" ", "").split(",")
    every = "".join(inputs)
    kept = {c for c in every if every.count(c) == 1} if result is None else set(result)
    alone = all(
        any(c.isalpha() and c not in kept and every.count(c) == 1 for c in term)
        for term in inputs
    )
    return tuple(ops.astype(x, np.int64) for x in operands) if alone else operands


def tensordot(a: Any, b: Any, dims: int | Sequence[Sequence[int]] = 2) -> Any:
    """Return products summed over the last `dims` of `a` and the first ones of `b`."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    return ops.tensordot(a, b, dims)


def cross(input: Any, other: Any, dim: int | None = None) -> Any:
    """Return the cross products along a dim of length 3, by default the first such."""
    if dim is None:
        dim = next((d for d, n in enumerate(input.shape) if n == 3), -1)
    return ops.cross(input, other, axis=dim)


def _weighted(input: Any, product: Any, beta: float, alpha: float) -> Any:
    if np.dtype(input.dtype).kind in "bui" and np.dtype(product.dtype).kind in "bui":
        if np.dtype(product.dtype).kind == "b":
            product = product & bool(alpha)
            return (input & bool(beta)) | product
        beta, alpha = int(beta), int(alpha)
    product = product if alpha == 1 else alpha * product
    if beta == 0:  # even where the input is NaN
        return product
    return (input if beta == 1 else beta * input) + product


@_narrowed
def addmm(
    input: Any, mat1: Any, mat2: Any, *, beta: float = 1, alpha: float = 1
) -> Any:
    """Return ``beta * input + alpha * mat1 @ mat2``."""
    return _weighted(input, mm(mat1, mat2), beta, alpha)


@_narrowed
def addmv(input: Any, mat: Any, vec: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """Return ``beta * input + alpha * mat @ vec``."""
    return _weighted(input, mv(mat, vec), beta, alpha)


@_narrowed
def baddbmm(
    input: Any, batch1: Any, batch2: Any, *, beta: float = 1, alpha: float = 1
) -> Any:
    """Return ``beta * input + alpha * batch1 @ batch2``."""
    return _weighted(input, bmm(batch1, batch2), beta, alpha)


@_narrowed
def addbmm(
    input: Any, batch1: Any, batch2: Any, *, beta: float = 1, alpha: float = 1
) -> Any:
    """Return ``beta * input + alpha * (batch1 @ batch2).sum(0)``."""
    product = ops.einsum("bik,bkj->ij", batch1, batch2)
    return _weighted(input, product, beta, alpha)


@_narrowed
def addr(input: Any, vec1: Any, vec2: Any, *, beta: float = 1, alpha: float = 1) -> Any:
    """Return ``beta * input + alpha * outer(vec1, vec2)``."""
    return _weighted(input, outer(vec1, vec2), beta, alpha)


def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Any:
    """Return ``input + value * tensor1 * tensor2``."""
    return rounded_once(
        lambda x, a, b: _weighted(x, a * b, 1, value), input, tensor1, tensor2
    )


def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: float = 1) -> Any:
    """Return ``input + value * tensor1 / tensor2``."""
    return rounded_once(
        lambda x, a, b: _weighted(x, a / b, 1, value), input, tensor1, tensor2
    )


def lerp(input: Any, end: Any, weight: Any) -> Any:
    """Return ``input + weight * (end - input)``."""
    return rounded_once(lambda x, y, w: x + w * (y - x), input, end, weight)
