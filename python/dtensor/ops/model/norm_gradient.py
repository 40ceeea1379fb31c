"""What layer_norm, rms_norm and group_norm have in common: their rules and gradients.

The gradients of weight and bias are sums over rows, and Partial where rows are cut:
nothing is sent for them here."""

import functools
from collections.abc import Sequence
from operator import add
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.halves import in_float32, is_half
from dtensor.ops._make.kernel import kernel_for, refuse_complex
from dtensor.ops._make.operator import Operand, call, letters, operator
from dtensor.ops._make.words import Answer, Words, group, rule
from dtensor.ops.model.norm_numpy import BACKWARD, FORWARD

__all__ = ["gradients", "norm", "norm_backward"]

# --- rules ----------------------------------------------------------------------------


def _words(name: str, x: Operand, dims: int) -> tuple[Words, Words]:
    """Return the words of `x` and those of its weights."""
    if name != "group_norm":
        names = letters(x.ndim, whole=range(x.ndim - dims, x.ndim))
        return names, names[x.ndim - dims :]
    names = letters(x.ndim, whole=range(2, x.ndim))
    names[1] = group([names[1], str(dims)])  # a rank has whole groups
    return names, names[1:2]


def norm(
    name: str, x: Operand, weights: Sequence[Operand | None], eps: float, dims: int
) -> Answer:
    """Return rule and call of a norm: of `dims` dims, or of groups of channels."""
    refuse_complex(name, x.dtype)
    whole, affine = _words(name, x, dims)
    given = [w for w in weights if w is not None]
    dtypes = [w.dtype for w in given]
    if _is_mixed(x.dtype, *dtypes):
        kernel, dtype = in_float32(_C.kernel(name), x.dtype), x.dtype
    else:
        kernel, dtype = kernel_for(name, [x.dtype, *dtypes], FORWARD[name])
    text = rule([whole, *[affine] * len(given)], [whole])
    return text, call(kernel, x, *weights, float(eps), dims), dtype


def _is_mixed(x: np.dtype[Any], *weights: np.dtype[Any]) -> bool:
    """Return whether 16-bit floats are scaled by float32: then they stay what they are,
    and gradients of weights are of float32."""
    return is_half(x) and {*weights} == {np.dtype(np.float32)}


# --- gradients ------------------------------------------------------------------------


@operator
def norm_backward(
    grad: Operand,
    x: Operand,
    weight: Operand | None,
    name: str,
    eps: float,
    dims: int,
    wanted: int,
) -> Answer:
    """Return the gradients of the operands of `layer_norm`, `rms_norm` or `group_norm`.

    Parameters
    ----------
    grad : array_like
        The gradient of the result.
    x, weight : array_like
        The operands; `weight` may be None.
    name : str
        Which norm.
    eps : float
    dims : int
        How many dims are normed together; of `group_norm` how many channels.
    wanted : int
        Bits 0, 1 and 2: whether the gradient of x, of weight and of bias is wanted.

    Returns
    -------
    DTensor or tuple of DTensor
        Those of weight and bias are Partial where `x` is cut.
    """
    whole, affine = _words(name, x, dims)
    given = [grad, x] if weight is None else [grad, x, weight]
    kernel: Any
    dtype: Any
    if weight is not None and _is_mixed(x.dtype, weight.dtype):
        each = (x.dtype, weight.dtype, weight.dtype)
        dtype = tuple(d for k, d in enumerate(each) if wanted >> k & 1)
        kernel = in_float32(_C.kernel(f"{name}_backward"), *dtype)
        dtype = dtype if len(dtype) > 1 else dtype[0]
    else:
        dtypes = [v.dtype for v in given]
        kernel, dtype = kernel_for(f"{name}_backward", dtypes, BACKWARD[name])
    results = [w for k, w in enumerate((whole, affine, affine)) if wanted >> k & 1]
    terms = [whole, whole] if weight is None else [whole, whole, affine]
    text = rule(terms, results, "0")
    return text, call(kernel, grad, x, weight, eps, dims, wanted), dtype


def gradients(
    needs: Sequence[bool],
    grad: Any,
    x: Any,
    weight: Any,
    bias: Any,
    name: str,
    eps: float,
    dims: int,
) -> tuple[Any, ...]:
    """Return the gradients of those operands that there are."""
    there = [True, weight is not None, bias is not None]
    flags = iter(needs)
    wanted = [present and next(flags) for present in there]
    bits = sum(flag << k for k, flag in enumerate(wanted))
    found = norm_backward(grad, x, weight, name, eps, dims, bits)
    each = iter(found if isinstance(found, tuple) else (found,))
    full = [next(each) if flag else None for flag in wanted]
    return tuple(g for g, present in zip(full, there, strict=True) if present)


# --- and their gradients, made of operators -------------------------------------------


class _Normed:
    """What is known of the rows of a norm: n = (x - mean) * scale."""

    def __init__(self, x: Any, name: str, eps: float, dims: int) -> None:
        self.x, self.name, self.eps, self.dims = x, name, eps, dims
        off = x - self.mean(x) if name != "rms_norm" else x
        self.scale = 1 / np.sqrt(self.mean(off * off) + eps)
        self.n = off * self.scale

    def mean(self, v: Any) -> Any:
        """Return the mean over each row, as often as a row has numbers."""
        if self.name != "group_norm":
            axes = tuple(range(v.ndim - self.dims, v.ndim))
            return np.mean(v, axis=axes, keepdims=True)
        rows = np.reshape(v, (v.shape[0], v.shape[1] // self.dims, -1))
        spread = np.broadcast_to(np.mean(rows, axis=-1, keepdims=True), rows.shape)
        return np.reshape(spread, v.shape)

    def back(self, v: Any) -> Any:
        """Return the gradient of x from that of n."""
        return norm_backward(v, self.x, None, self.name, self.eps, self.dims, 1)

    def spread(self, weight: Any) -> Any:
        """Return a weight such that it is broadcast to x."""
        if self.name != "group_norm":
            return weight
        return np.reshape(weight, (-1,) + (1,) * (self.x.ndim - 2))

    def gathered(self, v: Any) -> Any:
        """Return sums for each weight."""
        if self.name == "group_norm":
            return np.sum(v, axis=(0, *range(2, v.ndim)))
        return np.sum(v, axis=tuple(range(v.ndim - self.dims)))


@norm_backward.vjp_all
def _(
    needs: tuple[bool, ...],
    grad: Any,
    _out: Any,
    first: Any,
    x: Any,
    weight: Any,
    name: str,
    eps: float,
    dims: int,
    wanted: int,
) -> tuple[Any, ...]:
    given = iter(grad if isinstance(grad, tuple) else (grad,))
    u, a, b = (next(given) if wanted >> k & 1 else None for k in range(3))
    rows = _Normed(x, name, eps, dims)
    w = None if weight is None else rows.spread(weight)
    h = first if w is None else first * w
    by_first, by_x, by_weight = [], [], None
    if u is not None:
        back = rows.back(u)
        by_first.append(back if w is None else back * w)
        mixed = u * rows.mean(h * rows.n) + h * rows.mean(u * rows.n)
        bent = rows.n * rows.mean(u * rows.back(h)) + rows.back(mixed)
        by_x.append(-rows.scale * bent)
        by_weight = rows.gathered(first * back) if needs[2:] == (True,) else None
    if a is not None:
        by_first.append(rows.spread(a) * rows.n)
        by_x.append(rows.back(rows.spread(a) * first))
    if b is not None:
        by_first.append(np.broadcast_to(rows.spread(b), x.shape))
    found = (_total(by_first), _total(by_x), by_weight)
    return found if len(needs) == 3 else found[:2]


def _total(addends: list[Any]) -> Any:
    return functools.reduce(add, addends) if addends else None
