"""Attention: softmax(scale q k^T + mask) v, head by head.

The kernels (csrc/kernels/attention.h) never hold all scores; the gradient makes them
again. Any leading dim (batch, heads) may be cut, and then the same of all operands;
or the queries, and in the gradient the keys, unless they are causal.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.autocast import narrowed
from dtensor.ops._make.halves import in_float32
from dtensor.ops._make.operator import Operand, call, letters, operator
from dtensor.ops._make.words import Answer, Shape, Words, group, rule
from dtensor.ops.model.attention_scores import (
    scale_of,
    second_gradients,
    with_dropout as with_dropout,
)

__all__ = ["attention", "scaled_dot_product_attention"]

# --- what is said of the arguments ----------------------------------------------------


def _check(q: Operand, k: Operand, v: Operand, mask: Operand | None) -> None:
    """Raise what torch raises."""
    dims = f"query.dim: {q.ndim} key.dim: {k.ndim} and value.dim: {v.ndim}"
    types = f"query.dtype: {q.dtype} key.dtype: {k.dtype} and value.dtype: {v.dtype}"
    if min(q.ndim, k.ndim, v.ndim) < 2:
        raise RuntimeError(
            "Expected query, key, and value to all be at least 2 dimensional, but got "
            f"{dims} instead."
        )
    if not q.dtype == k.dtype == v.dtype:
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got {types} "
            "instead."
        )
    if q.dtype.kind not in "fV" or q.dtype.itemsize > 8:
        raise RuntimeError(f"expected a floating-point dtype but found {q.dtype}")
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise RuntimeError(
            "Expected query (..., L, E), key (..., S, E) and value (..., S, Ev), but "
            f"got {q.shape}, {k.shape} and {v.shape}."
        )
    if mask is None:
        return
    if mask.dtype != bool and mask.dtype not in (q.dtype, np.float32):
        raise RuntimeError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but "
            f"got attn_mask.dtype: {mask.dtype} and query.dtype: {q.dtype} instead."
        )
    scores = (*q.shape[:-1], k.shape[-2])
    _check_lengths(scores, mask.shape, "attn_mask")


def _check_lengths(whole: Shape, part: Shape, what: str) -> None:
    """Raise unless `part` can be broadcast to `whole`."""
    extra = len(part) - len(whole)
    tail = whole[max(0, -extra) :]
    if extra > 0 or any(n not in (1, m) for n, m in zip(part, tail, strict=True)):
        raise RuntimeError(
            f"{what}: a tensor of shape {part} cannot be broadcast to {whole}"
        )


def _check_heads(q: Operand, k: Operand, v: Operand) -> None:
    if min(q.ndim, k.ndim, v.ndim) < 3:
        raise IndexError(
            "Dimension out of range (expected to be in range of [-2, 1], but got -3)"
        )
    if any(x.shape[-3] == 0 or q.shape[-3] % x.shape[-3] for x in (k, v)):
        raise RuntimeError(
            "Number of heads in key and value must divide the number of heads in query"
            f": {q.shape[-3]}, {k.shape[-3]} and {v.shape[-3]}"
        )


# --- the rule -------------------------------------------------------------------------


class _Terms:
    """Words of the operands' dims: leading ones, then queries, keys and columns.

    Queries do without each other, and with the logarithms of their sums, in the
    gradient, keys do, too; but causal ones must know where they stand.
    """

    def __init__(
        self,
        q: Operand,
        k: Operand,
        v: Operand,
        mask: Operand | None,
        gqa: bool,
        causal: bool,
        gradient: bool = False,
    ) -> None:
        lead = q.ndim - 2
        free = 0 if causal else 2 if gradient else 1
        whole = range(lead + free, lead + 4)
        names = letters(lead + 5, whole=whole)
        self.shape, self.names = q.shape[:lead], names[:lead]
        queries, keys, width, depth, rest = names[lead:]
        self.lengths = {}
        groups = {x.shape[-3] for x in (k, v)} if gqa else set()
        full = list(self.names)
        if groups and groups != {self.shape[-1]}:
            # Where keys and values are in groups of their own, no head is cut.
            heads = self.names[-1] if len(groups) == 1 else ""
            full[-1] = group([heads, rest]) if heads else str(self.shape[-1])
            self.lengths = {rest: self.shape[-1] // min(groups)} if heads else {}
        self.q = [*full, queries, width]
        self.k = [*self._leading(k, full), keys, width]
        self.v = [*self._leading(v, full), keys, depth]
        self.out = [*full, queries, depth]
        self.sum = [*full, queries]
        self.mask: list[Words] = []
        if mask is not None:
            ends = zip((queries, keys), mask.shape[-2:], (q, k), strict=True)
            tail = [w if n == x.shape[-2] else "1" for w, n, x in ends]
            self.mask = [[*self._leading(mask, full), *tail]]

    def _leading(self, x: Operand, full: Words) -> Words:
        """Return the words of the leading dims of another operand."""
        first = len(self.shape) - x.ndim + 2
        words = []
        for dim, n in enumerate(x.shape[:-2], first):
            grouped = n not in (1, self.shape[dim])
            heads = self.names[dim] if self.lengths else str(n)
            word = full[dim] if n == self.shape[dim] else "1"
            words.append(heads if grouped else word)
        return words


def _spread(q: Any, k: Any, v: Any, mask: Any, *constants: Any) -> Any:
    """Attention where the leading dims of q are broadcast."""
    lead = np.broadcast_shapes(*(x.shape[:-2] for x in (q, k, v)))
    return _attention(
        np.broadcast_to(q, (*lead, *q.shape[-2:])), k, v, mask, *constants
    )


def _with_flat_mask(q: Any, k: Any, v: Any, mask: Any, *constants: Any) -> Any:
    return _attention(q, k, v, np.reshape(mask, (1, -1)), *constants)


# --- kernels --------------------------------------------------------------------------


def _kernel(name: str, dtypes: list[Any]) -> Callable[..., Any]:
    """Return the kernel whose results have these dtypes."""
    kernel = _C.kernel(name)
    plain = dtypes[0] in (np.float32, np.float64)
    return kernel if plain else in_float32(kernel, *dtypes)


def _sum_dtype(q: Operand) -> np.dtype[Any]:
    """Return the dtype of the logarithms: no narrower than float32."""
    return np.dtype(np.float64 if q.dtype == np.float64 else np.float32)


@operator(name="scaled_dot_product_attention")
def _attention(
    query: Operand,
    key: Operand,
    value: Operand,
    attn_mask: Operand | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Answer | Callable[..., Any]:
    """Return the result, and the logarithm of the sum of exp of each query's scores."""
    if enable_gqa and min(query.ndim, key.ndim, value.ndim) > 1:
        _check_heads(query, key, value)
    leads = [
        x.shape[: -3 if enable_gqa else -2] for x in (query, key, value) if x.ndim > 1
    ]
    _check_together(leads)
    if len(leads) == 3 and np.broadcast_shapes(*leads) != leads[0]:
        return _spread
    _check(query, key, value, attn_mask)
    if attn_mask is not None and attn_mask.ndim < 2:
        return _with_flat_mask
    words = _Terms(query, key, value, attn_mask, enable_gqa, is_causal)
    operands = [words.q, words.k, words.v, *words.mask]
    dtypes = [query.dtype, _sum_dtype(query)]
    width = scale_of(scale, query.shape[-1])
    kernel = _kernel("attention", dtypes)
    return (
        rule(operands, [words.out, words.sum], lengths=words.lengths),
        call(kernel, query, key, value, attn_mask, bool(is_causal), width),
        tuple(dtypes),
    )


def _check_together(leads: list[Shape]) -> None:
    try:
        np.broadcast_shapes(*leads)
    except ValueError:
        shapes = ", ".join(map(str, leads))
        raise RuntimeError(
            "The batch dims of query, key and value must match or be 1, but they are "
            f"{shapes}"
        ) from None


@operator(name="scaled_dot_product_attention_backward")
def _attention_backward(
    grad: Operand,
    grad_sum: Operand,
    query: Operand,
    key: Operand,
    value: Operand,
    attn_mask: Operand | None,
    out: Operand,
    logsumexp: Operand,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
    mask_too: bool,
) -> Answer:
    """Return the gradients of query, key and value, and of the mask if it has one."""
    words = _Terms(query, key, value, attn_mask, enable_gqa, is_causal, gradient=True)
    inputs = [words.q, words.k, words.v, *words.mask]
    operands = [words.out, words.sum, *inputs, words.out, words.sum]
    results = inputs if mask_too else inputs[:3]
    dtypes = [query.dtype] * 3
    if mask_too and attn_mask is not None:
        dtypes.append(attn_mask.dtype)
    kernel = call(
        _kernel("attention_backward", dtypes),
        *(grad, grad_sum, query, key, value, attn_mask, out, logsumexp),
        *(bool(is_causal), scale_of(scale, query.shape[-1]), mask_too),
    )
    return rule(operands, results, lengths=words.lengths), kernel, tuple(dtypes)


@_attention.vjp_all
def _attention_vjp(
    needs: tuple[bool, ...],
    grad: Any,
    out: Any,
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> tuple[Any, ...]:
    operands = (*grad, query, key, value, attn_mask, *out)
    mask_too = len(needs) > 3 and needs[3]
    found: tuple[Any, ...] = _attention_backward(
        *operands, is_causal, scale, enable_gqa, mask_too
    )
    return (*found, None)[: len(needs)]


_attention_backward.vjp_all(second_gradients)
attention = _attention  # for those who name operators


# --- what is called -------------------------------------------------------------------


@narrowed
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Return ``softmax(scale * query @ key.mT + mask) @ value``.

    Each leading dim may be cut on some mesh dim, of all operands alike: nothing is sent
    then. So may the queries, unless `is_causal`, and in the gradient the keys. Other
    dims are whole meanwhile.

    Parameters
    ----------
    query : tensor, shape (..., L, E)
    key : tensor, shape (..., S, E)
    value : tensor, shape (..., S, Ev)
        Floating-point numbers of one dtype. Leading dims are broadcast.
    attn_mask : tensor of bool or float, optional
        Broadcast to (..., L, S). False hides a key from a query; floats are added.
    dropout_p : float, default 0.0
        How likely a probability is set to 0.
    is_causal : bool, default False
        Query i sees the keys 0 to i only.
    scale : float, optional
        Default ``1 / sqrt(E)``.
    enable_gqa : bool, default False
        Each head (dim -3) of key and value serves a group of heads of the query.

    Returns
    -------
    tensor, shape (..., L, Ev)
        A query that sees no key has a row of zeros.

    Raises
    ------
    RuntimeError
        For shapes and dtypes that do not go together, as torch does; on every rank.

    Notes
    -----
    After FlashAttention (Dao et al. 2022, arXiv:2205.14135): neither the result nor its
    gradient needs memory for all scores. Dropout and second gradients do.
    """
    if not 0 <= dropout_p <= 1:
        raise RuntimeError(
            f"dropout probability has to be between 0 and 1, but got {dropout_p}"
        )
    if dropout_p > 0:
        mask = (attn_mask, is_causal)
        return with_dropout(query, key, value, *mask, dropout_p, scale, enable_gqa)
    return _attention(query, key, value, attn_mask, is_causal, scale, enable_gqa)[0]
