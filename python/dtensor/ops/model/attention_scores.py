"""Attention by operators that hold all scores: with dropout, and second gradients."""

import math
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.copies import astype
from dtensor.ops._make.fallback import on_mesh
from dtensor.ops.elementwise.functions import isneginf
from dtensor.ops.elementwise.piecewise import where_
from dtensor.ops.elementwise.pointwise import exp
from dtensor.ops.linalg.matmul import matmul
from dtensor.ops.model.softmax import softmax
from dtensor.ops.random.dropout import dropout
from dtensor.ops.reduce.reductions import amax
from dtensor.ops.shape.permute import matrix_transpose

__all__ = ["scale_of", "second_gradients", "with_dropout"]


def scale_of(scale: float | None, width: int) -> float:
    """Return what scores are multiplied by: ``1 / sqrt(width)`` unless it is given."""
    return 1 / math.sqrt(width or 1) if scale is None else float(scale)


def _masked(scores: Any, attn_mask: Any, is_causal: bool) -> Any:
    if attn_mask is not None:
        if attn_mask.dtype == bool:
            scores = where_(attn_mask, scores, -math.inf)
        else:
            scores = scores + attn_mask
    if is_causal:
        scores = where_(np.tri(*scores.shape[-2:], dtype=bool), scores, -math.inf)
    return scores


def _together(*tensors: Any) -> list[Any]:
    """Return what may be called together: plain arrays become replicated DTensors."""
    mesh = next((x.device_mesh for x in tensors if isinstance(x, _C.DTensor)), None)
    return [x if x is None or mesh is None else on_mesh(x, mesh) for x in tensors]


def _for_each_head(x: Any, heads: int) -> Any:
    """Return keys or values, repeated for all heads of their groups."""
    groups = x.shape[-3]
    return x if groups in (1, heads) else np.repeat(x, heads // groups, axis=-3)


def with_dropout(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any,
    is_causal: bool,
    dropout_p: float,
    scale: float | None,
    enable_gqa: bool,
) -> Any:
    """Return the result with dropout: it is drawn for all probabilities."""
    query, key, value, attn_mask = _together(query, key, value, attn_mask)
    if enable_gqa:
        key, value = (_for_each_head(x, query.shape[-3]) for x in (key, value))
    query = query * scale_of(scale, query.shape[-1])
    scores = _masked(matmul(query, matrix_transpose(key)), attn_mask, is_causal)
    hidden = isneginf(amax(scores, axis=-1, keepdims=True))  # a query that sees no key
    weights = softmax(where_(hidden, 0, scores), -1)
    return matmul(dropout(where_(hidden, 0, weights), dropout_p), value)


# --- second gradients -----------------------------------------------------------------


def _summed(grad: Any, like: Any) -> Any:
    """Return the gradient of what was broadcast, or repeated for groups of heads."""
    extra = grad.ndim - like.ndim
    if extra:
        grad = np.sum(grad, axis=tuple(range(extra)))
    for dim, n in enumerate(like.shape):
        length = grad.shape[dim]
        if length != n:
            parts = (*grad.shape[:dim], n, length // n, *grad.shape[dim + 1 :])
            grad = np.sum(np.reshape(grad, parts), axis=dim + 1)
    return astype(grad, like.dtype)


def _rows(x: Any) -> Any:
    return np.sum(x, axis=-1, keepdims=True)


def second_gradients(
    needs: tuple[bool, ...],
    grads: Any,
    _results: Any,
    grad: Any,
    grad_sum: Any,
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any,
    out: Any,
    logsumexp: Any,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
    _mask_too: bool,
) -> tuple[Any, ...]:
    """Return the gradients of the operands of attention's gradient.

    With s = scale q k^T + mask, p = exp(s - logsumexp) and t = g v^T - rows(g out) +
    grad_sum, that gradient is dq = scale (p t) k, dk = scale (p t)^T q, dv = p^T g and
    dmask = p t. Below, x, y, z and w are the gradients of these four.
    """
    operands = _together(grad, grad_sum, query, key, value, attn_mask, out, logsumexp)
    of_results = _together(*grads)
    g, gs, q, k, v, mask, o, lse, x, y, z, *w = (
        a if a is None or a.dtype == bool else astype(a, logsumexp.dtype)
        for a in (*operands, *of_results)
    )
    if enable_gqa:
        k, v, y, z = (_for_each_head(a, q.shape[-3]) for a in (k, v, y, z))
    by, mt = scale_of(scale, q.shape[-1]), matrix_transpose
    shift = np.expand_dims(where_(isneginf(lse), 0, lse), -1)
    p = exp(_masked(by * (q @ mt(k)), mask, is_causal) - shift)
    t = g @ mt(v) - _rows(g * o) + np.expand_dims(gs, -1)
    pt = p * t

    of_pt = by * (x @ mt(k) + q @ mt(y))
    of_pt = of_pt + w[0] if w else of_pt
    of_t = of_pt * p
    of_s = (of_pt * t + g @ mt(z)) * p
    each = _rows(of_t)
    found = (
        p @ z + of_t @ v - each * o,
        each[..., 0],
        by * (pt @ y + of_s @ k),
        by * (mt(pt) @ x + mt(of_s) @ q),
        mt(of_t) @ g,
        of_s if mask is not None and needs[5] else None,
        -each * g,
        -_rows(of_s)[..., 0],
    )
    return tuple(
        None if a is None else _summed(a, like)
        for a, like in zip(found, operands, strict=True)
        if like is not None
    )
