"""Rows of softmax, losses and their gradients, with their definitions in NumPy."""

import numpy as np
from rows import SUM, Sample, each

import dtensor
from dtensor.ops.model.cross_entropy import class_loss_backward
from dtensor.ops.model.number_loss import beside, number_loss_backward
from dtensor.ops.model.softmax import (
    log_softmax_backward,
    row_dot,
    row_logsumexp,
    softmax_backward,
    softmin,
)


def soft(x):
    """log(1 + e^x)."""
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def log_softmax(x, axis):
    x = x - np.max(x, axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


# --- softmax of rows that are cut -----------------------------------------------------


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def softmax_grad(g, y, axis):
    return y * (g - (g * y).sum(axis, keepdims=True))


def log_softmax_grad(g, y, axis):
    return g - np.exp(y) * g.sum(axis, keepdims=True)


LONG = "d3,20 | f2,33 | d2,14,3 | d40 | d2,30:inf"
# So far apart that only the greatest keeps e^x finite; no shape is another sample's, as
# an operator is made once for a shape.
FAR = "d3,22:-900000..900000"
SOFTMAX = [
    *each(
        "softmax",
        dtensor.softmax,
        f"{LONG} | {FAR} | d42:-900000..900000",
        [{"axis": -1}],
        SUM,
        softmax,
    ),
    *each(
        "softmax",
        dtensor.softmax,
        "d2,14,3 | d2,16,3:-900000..900000",
        [{"axis": 1}],
        SUM,
        softmax,
    ),
    *each(
        "log_softmax",
        dtensor.log_softmax,
        LONG,
        [{"axis": -1}],
        SUM,
        lambda x, axis: np.log(softmax(x, axis)),
    ),
    *each(
        "log_softmax",
        dtensor.log_softmax,
        FAR,
        [{"axis": -1}],
        SUM,
        log_softmax,
    ),
    *each(
        "softmin",
        softmin,
        "d3,20",
        [{"axis": 1}],
        SUM,
        lambda x, axis: softmax(-x, axis),
    ),
    *each(
        "softmax",
        dtensor.softmax,
        "f3,20 | l3,20",
        [{"axis": 0, "dtype": "d"}],
        SUM,
        lambda x, axis, dtype: softmax(x.astype(dtype), axis),
    ),
    *each(
        "softmax backward",
        softmax_backward,
        "d3,20 d3,20:unit | d5,7 d5,7",
        [(1,), (0,)],
        SUM,
        softmax_grad,
    ),
    *each(
        "log_softmax backward",
        log_softmax_backward,
        "d3,20 d3,20:unit | f5,7 f5,7:unit",
        [(1,), (0,)],
        SUM,
        log_softmax_grad,
    ),
    *each(
        "row_dot",
        row_dot,
        "d5,7 d5,7 | d3,20 d3,20 | d2,5,3 d2,5,3",
        [(1,)],
        SUM,
        lambda g, y, axis: (g * y).sum(axis),
    ),
    *each(
        "row_logsumexp",
        row_logsumexp,
        f"{LONG} | d24,3 | d22,3:-900000..900000",
        [(0,)],
        SUM,
        lambda x, axis: np.logaddexp.reduce(x.astype("d"), axis).astype(x.dtype),
    ),
]

# --- losses of numbers ----------------------------------------------------------------

LOSSES = [
    (dtensor.mse_loss, {}, lambda x, t: (x - t) ** 2),
    (dtensor.l1_loss, {}, lambda x, t: np.abs(x - t)),
    (
        dtensor.smooth_l1_loss,
        {"beta": 2.0},
        lambda x, t: np.where(np.abs(x - t) < 2, (x - t) ** 2 / 4, np.abs(x - t) - 1),
    ),
    (
        dtensor.huber_loss,
        {"delta": 2.0},
        lambda x, t: np.where(
            np.abs(x - t) <= 2, (x - t) ** 2 / 2, 2 * (np.abs(x - t) - 1)
        ),
    ),
    (dtensor.binary_cross_entropy_with_logits, {}, lambda x, t: soft(x) - x * t),
    (dtensor.kl_div, {"log_target": True}, lambda x, t: np.exp(t) * (t - x)),
]
REDUCED = {"none": np.asarray, "sum": np.sum, "mean": np.mean}


def reduced(reference, reduction):
    return lambda x, t, **_: REDUCED[reduction](reference(x, t)).astype(x.dtype)


PAIRS = "d5,7 d5,7 | f7 f7 | d2,3,4 d2,3,4"
NUMBERS = [
    *[
        row
        for function, options, reference in LOSSES
        for reduction in REDUCED
        for row in each(
            function.__name__,
            function,
            PAIRS,
            [{**options, "reduction": reduction}],
            SUM,
            reduced(reference, reduction),
        )
    ],
    *[
        row
        for reduction in REDUCED
        for row in each(
            "binary_cross_entropy",
            dtensor.binary_cross_entropy,
            "d5,7:frac d5,7:frac",
            [{"reduction": reduction}],
            SUM,
            reduced(lambda x, t: bce(x, t), reduction),
        )
    ],
    Sample(
        "kl_div",
        lambda x, t: dtensor.kl_div(x, t, reduction="batchmean"),
        "d5,7 d5,7:frac",
        SUM,
        lambda x, t: np.sum(t * (np.log(np.where(t, t, 1)) - x)) / 5,
    ),
    Sample(
        "mse_loss",
        lambda x, t, w: dtensor.mse_loss(x, t, weight=w),
        "d5,7 d5,7 d5,7:pos",
        SUM,
        lambda x, t, w: np.average((x - t) ** 2, weights=w),
    ),
    Sample(
        "binary_cross_entropy_with_logits",
        lambda x, t, p: dtensor.binary_cross_entropy_with_logits(x, t, pos_weight=p),
        "d5,7 d5,7:frac d7:pos",
        SUM,
        lambda x, t, p: np.mean((1 - t) * x + ((p - 1) * t + 1) * soft(-x)),
    ),
    Sample(
        "mse_loss backward",
        lambda g, x, t: number_loss_backward(g, x, t, "mse", 0.0, 0.5),
        "d d5,7 d5,7",
        SUM,
        lambda g, x, t: g * (x - t),
    ),
    Sample(
        "huber_loss backward",
        lambda g, x, t: number_loss_backward(g, x, t, "huber", 2.0, 1.0),
        "d5,7 d5,7 d5,7",
        SUM,
        lambda g, x, t: g * np.clip(x - t, -2, 2),
    ),
]


def bce(x, t):
    with np.errstate(all="ignore"):
        logs = [np.maximum(np.log(p), -100) for p in (x, 1 - x)]
    return -t * logs[0] - (1 - t) * logs[1]


# --- losses of classes ----------------------------------------------------------------


def picked(logs, t, w=None, ignore=-100, reduction="mean", smoothing=0.0):
    """The loss of logarithms of probabilities, whose classes are dim 1."""
    logs = np.moveaxis(logs, 1, -1) if logs.ndim > 1 else logs
    w = np.ones(logs.shape[-1]) if w is None else w
    valid = t != ignore
    at = np.where(valid, t, 0)
    one = np.take_along_axis(logs, at[..., None], -1)[..., 0] * w[at]
    every = (logs * w).mean(-1)
    losses = -np.where(valid, (1 - smoothing) * one + smoothing * every, 0)
    if reduction == "mean":
        losses = losses.sum() / (w[at] * valid).sum()
    return np.asarray(losses.sum() if reduction == "sum" else losses)


def logs_of(x):
    return log_softmax(x, min(1, x.ndim - 1))


def entropy(**options):
    return lambda x, t, *w: dtensor.cross_entropy(x, t, *w, **options)


def entropy_reference(ignore_index=-100, reduction="mean", label_smoothing=0.0):
    def fn(x, t, w=None):
        found = picked(logs_of(x), t, w, ignore_index, reduction, label_smoothing)
        return found.astype(x.dtype)

    return fn


OPTIONS = [
    {},
    {"reduction": "sum"},
    {"reduction": "none"},
    {"reduction": "none", "label_smoothing": 0.25},
    {"ignore_index": 2},
    {"label_smoothing": 0.25, "ignore_index": 0},
]
CLASSES = [
    Sample(
        "cross_entropy", entropy(**options), words, SUM, entropy_reference(**options)
    )
    for words in (
        "d5,7 l5:0..7",
        "f6,20 l6:0..20",
        "d6,20 l6:0..20 l20:1..5",
        "d3,5,4 l3,4:0..5",
        "d2,18,3 l2,3:0..18 l18:1..5",
        "d30 l:0..30",
        "d6,22:-900000..900000 l6:0..22",
    )
    for options in OPTIONS
]
CLASSES += [
    Sample(
        "nll_loss",
        lambda x, t, *w, r=r: dtensor.nll_loss(x, t, *w, reduction=r),
        words,
        SUM,
        lambda x, t, w=None, r=r: picked(x, t, w, reduction=r),
    )
    for words in ("d5,7 l5:0..7 l7:1..5", "d6,20 i6:0..20", "d3,5,4 l3,4:0..5")
    for r in ("mean", "sum", "none")
]
CLASSES += [
    Sample(
        "cross_entropy",
        lambda x, p: dtensor.cross_entropy(x, p),
        words,
        SUM,
        lambda x, p: np.asarray(-(logs_of(x) * p).sum() / (x.size / x.shape[1])),
    )
    for words in ("d5,7 d5,7:frac", "d3,20 d3,20:frac", "d2,5,3 d2,5,3:frac")
]


def loss_grad(g, x, t, w):
    """The gradient of a sum of cross entropies with weights."""
    d = np.exp(log_softmax(x, 1)) * w[t][:, None]
    d[np.arange(len(t)), t] -= w[t]
    return g * d


CLASSES += [
    Sample(
        "cross_entropy backward",
        lambda g, x, t, w: class_loss_backward(
            g, x, t, w, row_logsumexp(beside(x, g, t, w), 1), None, -100, 0.0, "sum"
        ),
        words,
        SUM,
        loss_grad,
    )
    for words in ("d d2,9 l2:0..9 l9:1..5", "d d3,20 l3:0..20 l20:1..5")
]

ROWS = [*SOFTMAX, *NUMBERS, *CLASSES]
