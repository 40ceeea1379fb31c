"""Attention index by index, and functions of scores and masks, twice each: for tensors
of indices, and for numbers."""

import math

import numpy as np

import dtensor.torch as torch
from dtensor.torch.nn.attention.flex_attention import (
    and_masks,
    noop_mask,
    or_masks,
)

RNG = np.random.default_rng(3)
B, H, L, S, E = 2, 4, 9, 7, 3
Q, K, V = (RNG.normal(size=(B, H, n, E)) for n in (L, S, S))
SLOPES = 0.5 ** np.arange(1, H + 1)
BIAS = RNG.normal(size=(H, L + S))
DOCS = np.array([[0, 0, 0, 1, 1, 1, 1, 2, 2], [0, 1, 1, 1, 1, 1, 2, 2, 2]])


def t(x, grad=False):
    return torch.tensor(x, requires_grad=grad)


def a(x):
    return np.asarray(x.detach())


def causal(b, h, q, k):
    return q >= k


def window(b, h, q, k):
    return (q - k < 3) & (k - q < 3)


def everywhere(q, k, v, change=None, seen=None, scale=None):
    """Attention, index by index: results, logarithms of sums, probabilities."""
    batches, heads, queries = q.shape[:3]
    groups = heads // k.shape[1]
    out = np.zeros((*q.shape[:3], v.shape[-1]))
    sums = np.full(q.shape[:3], -np.inf)
    found = np.zeros((*q.shape[:3], k.shape[2]))
    for b, h, i in np.ndindex(batches, heads, queries):
        g = h // groups
        scores = k[b, g] @ q[b, h, i] * (scale or 1 / math.sqrt(q.shape[-1]))
        for j in range(len(scores)):
            if change is not None:
                scores[j] = change(scores[j], b, h, i, j)
            if seen is not None and not seen(b, h, i, j):
                scores[j] = -np.inf
        if np.isneginf(scores).all():
            continue
        p = np.exp(scores - scores.max())
        found[b, h, i] = p / p.sum()
        out[b, h, i] = found[b, h, i] @ v[b, g]
        sums[b, h, i] = np.log(p.sum()) + scores.max()
    return out, sums, found


CHANGES = {
    "alibi": (
        lambda s, b, h, q, k: s + t(SLOPES)[h] * (k - q),
        lambda s, b, h, q, k: s + SLOPES[h] * (k - q),
    ),
    "relative": (
        lambda s, b, h, q, k: s + t(BIAS)[h, q - k + S],
        lambda s, b, h, q, k: s + BIAS[h, q - k + S],
    ),
    "capped": (
        lambda s, b, h, q, k: 2 * torch.tanh(s / 2),
        lambda s, b, h, q, k: 2 * np.tanh(s / 2),
    ),
    "masked": (
        lambda s, b, h, q, k: torch.where(q >= k, s, -float("inf")),
        lambda s, b, h, q, k: s if q >= k else -np.inf,
    ),
    "table by table": (
        lambda s, b, h, q, k: s * t(BIAS)[h][q + k],
        lambda s, b, h, q, k: s * BIAS[h, q + k],
    ),
    "table in three": (
        lambda s, b, h, q, k: s * t(K)[b][h][k][0],
        lambda s, b, h, q, k: s * K[b, h, k, 0],
    ),
    "dot products": (
        lambda s, b, h, q, k: s + (t(Q)[b, h, q] * t(K)[b, h, k]).sum(),
        lambda s, b, h, q, k: s + Q[b, h, q] @ K[b, h, k],
    ),
    "nothing of it": (lambda s, b, h, q, k: s, None),
}
MASKS = {
    "causal": (causal, causal),
    "window": (and_masks(causal, window), lambda b, h, q, k: q >= k > q - 3),
    "prefix": (
        or_masks(causal, lambda b, h, q, k: k < t([2, 4])[b]),
        lambda b, h, q, k: q >= k or k < (2, 4)[b],
    ),
    "documents": (
        lambda b, h, q, k: t(DOCS)[b, q] == t(DOCS)[b, k],
        lambda b, h, q, k: DOCS[b, q] == DOCS[b, k],
    ),
    "by tables": (
        lambda b, h, q, k: t(DOCS)[b][q] == t(DOCS)[b][k],
        lambda b, h, q, k: DOCS[b, q] == DOCS[b, k],
    ),
    "heads": (
        lambda b, h, q, k: (q >= k) | (h > 1),
        lambda b, h, q, k: q >= k or h > 1,
    ),
    "some see nothing": (
        lambda b, h, q, k: (q > 2) & (k < 5),
        lambda b, h, q, k: q > 2 and k < 5,
    ),
    "all": (noop_mask, None),
}
