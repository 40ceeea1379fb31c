"""Rows of what models are made of: activations, norms, losses, and their gradients.

Each has its definition in NumPy, written down here once more."""

import math

import numpy as np
import samples_loss
from rows import SUM, VALUE, Sample, each

import dtensor
from dtensor.ops.model.activation import relu, sigmoid as sigmoid_operator
from dtensor.ops.model.activation_gradient import activation_backward
from dtensor.ops.model.channels import channel_mix, channel_squares, channel_sums
from dtensor.ops.model.norm_gradient import norm_backward

# --- activations ----------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def normal(x):
    """P(X <= x) of the normal distribution."""
    return 0.5 * np.vectorize(math.erfc, otypes="d")(-x / math.sqrt(2))


def soft(x):
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


# Operator, and what it does to floats. Products of arrays of ones keep the dtype.
ACTIVATIONS = [
    (dtensor.hardtanh, lambda x: np.clip(x, -1, 1)),
    (dtensor.relu6, lambda x: np.clip(x, 0, 6)),
    (dtensor.leaky_relu, lambda x: np.where(x > 0, x, 0.01 * x)),
    (dtensor.hardshrink, lambda x: np.where(np.abs(x) > 0.5, x, 0)),
    (dtensor.softshrink, lambda x: x - np.clip(x, -0.5, 0.5)),
    (dtensor.hardsigmoid, lambda x: np.clip(x + 3, 0, 6) / 6),
    (dtensor.hardswish, lambda x: x * np.clip(x + 3, 0, 6) / 6),
    (dtensor.gelu, lambda x: x * normal(x)),
    (dtensor.silu, lambda x: x * sigmoid(x)),
    (dtensor.mish, lambda x: x * np.tanh(soft(x))),
    (sigmoid_operator, sigmoid),
    (dtensor.logsigmoid, lambda x: -soft(-x)),
    (dtensor.softplus, soft),
    (dtensor.elu, lambda x: np.where(x > 0, x, np.expm1(x))),
    (dtensor.celu, lambda x: np.where(x > 0, x, np.expm1(x))),
    (dtensor.erf, np.vectorize(math.erf, otypes="d")),
    (dtensor.erfc, np.vectorize(math.erfc, otypes="d")),
    (dtensor.softsign, lambda x: x / (1 + np.abs(x))),
    (dtensor.tanhshrink, lambda x: x - np.tanh(x)),
]


def as_float(function):
    """The function, of integers as of float64, and with the dtype of its operand."""

    def fn(x, *more):
        real = x if x.dtype.kind in "fc" else x.astype("d")
        return np.asarray(function(real, *more)).astype(real.dtype)

    return fn


WORDS = "d5,7 | f7 | e4,3 | l5,6 | ?6 | d | d0,3 | d2,3,4 | d4,5:inf"
MORE = [
    (dtensor.leaky_relu, (0.5,), lambda x, a: np.where(x > 0, x, a * x)),
    (dtensor.threshold, (0.5, -2.0), lambda x, t, v: np.where(x > t, x, v)),
    (dtensor.hardtanh, (-0.5, 2.0), np.clip),
    (dtensor.gelu, ("tanh",), lambda x, _: gelu_tanh(x)),
    (
        dtensor.softplus,
        (2.0, 3.0),
        lambda x, b, t: np.where(b * x > t, x, soft(b * x) / b),
    ),
    (dtensor.elu, (1.5,), lambda x, a: np.where(x > 0, x, a * np.expm1(x))),
    (dtensor.celu, (1.5,), lambda x, a: np.where(x > 0, x, a * np.expm1(x / a))),
    (
        dtensor.selu,
        (),
        lambda x: (
            1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))
        ),
    ),
]
ONE_BY_ONE = [
    *each(
        "relu",
        relu,
        WORDS,
        mode=VALUE,
        reference=lambda x: np.maximum(x, 0),
    ),
    *[
        row
        for function, reference in ACTIVATIONS
        for row in each(
            function.__name__, function, WORDS, mode=SUM, reference=as_float(reference)
        )
    ],
    *[
        row
        for function, more, reference in MORE
        for row in each(
            function.__name__,
            function,
            "d5,7 | f4,5:inf",
            [more],
            SUM,
            as_float(reference),
        )
    ],
    *each(
        "glu",
        dtensor.glu,
        "d5,6 | d4,6,2",
        [{}, {"dim": 1}],
        SUM,
        lambda x, dim=-1: halves(x, dim),
    ),
    *each(
        "prelu",
        dtensor.prelu,
        "d5,7 d7 | d5,7,2 d | f4,3,5,2 f3 | e3,4 e4 | d6 d1 | d3,4,2 d1 | l4,3 d3",
        mode=SUM,
        reference=lambda x, w: np.where(x > 0, x, x * slopes(x, w)),
    ),
]


def slopes(x, w):
    """A weight for each channel, beside the elements."""
    return np.reshape(w, (-1,) + (1,) * (x.ndim - 2)) if w.size > 1 else np.ravel(w)


def halves(x, dim):
    a, b = np.split(x, 2, dim)
    return a * sigmoid(b)


def slope(name, *more):
    """The gradient kernel of an activation, as an operator of two arrays."""
    return lambda g, x: activation_backward(g, x, name, *more)


GRADIENTS = [
    Sample(
        f"{name} backward",
        slope(name, *more),
        words,
        SUM,
        lambda g, x, f=f: (g * f(x)).astype(x.dtype),
    )
    for words in ("d5,7 d5,7", "f7 f7", "d2,3,4 d2,3,4")
    for name, more, f in [
        ("relu", (), lambda y: y > 0),
        ("leaky_relu", (0.5,), lambda x: np.where(x > 0, 1, 0.5)),
        ("sigmoid", (), lambda y: y * (1 - y)),
        ("silu", (), lambda x: sigmoid(x) * (1 + x * (1 - sigmoid(x)))),
        (
            "gelu",
            (),
            lambda x: normal(x) + x * np.exp(-x * x / 2) / math.sqrt(2 * math.pi),
        ),
        ("softplus", (1.0, 20.0), sigmoid),
        ("elu", (1.5, 1.0, 1.0), lambda x: np.where(x > 0, 1, 1.5 * np.exp(x))),
    ]
]

# --- norms ----------------------------------------------------------------------------


def centred(x, dims):
    axes = tuple(range(x.ndim - dims, x.ndim))
    mean = x.mean(axes, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


def rms(x, dims, eps=1e-5):
    axes = tuple(range(x.ndim - dims, x.ndim))
    return x / np.sqrt((x * x).mean(axes, keepdims=True) + eps)


def grouped(x, groups):
    return centred(x.reshape(x.shape[0], groups, -1), 1).reshape(x.shape)


def channels(w, x):
    return w.reshape((-1,) + (1,) * (x.ndim - 2))


def shapes(dims):
    """Calls with the last dims of `x`."""
    return lambda x: x.shape[x.ndim - dims :]


NORMS = [
    Sample(
        "layer_norm",
        lambda x, w, b, k=k: dtensor.layer_norm(x, shapes(k)(x), w, b),
        words,
        SUM,
        lambda x, w, b, k=k: (centred(x, k) * w + b).astype(x.dtype),
    )
    for k, words in [
        (1, "d5,7 d7 d7"),
        (1, "f3,4,6 f6 f6"),
        (2, "d3,4,6 d4,6 d4,6"),
        (1, "d0,3 d3 d3"),
        (1, "e4,5 e5 e5"),
        (1, "d7 d7 d7"),
    ]
] + [
    Sample(
        "layer_norm",
        lambda x: dtensor.layer_norm(x, shapes(1)(x)),
        "d5,7",
        SUM,
        lambda x: centred(x, 1),
    ),
    Sample(
        "layer_norm",
        lambda x, b: dtensor.layer_norm(x, 7, bias=b),
        "d5,7 d7",
        SUM,
        lambda x, b: centred(x, 1) + b,
    ),
    Sample(
        "rms_norm",
        lambda x, w: dtensor.rms_norm(x, [7], w, 1e-5),
        "d5,7 d7",
        SUM,
        lambda x, w: rms(x, 1) * w,
    ),
    Sample(
        "rms_norm",
        lambda x: dtensor.rms_norm(x, (4, 6)),
        "f3,4,6",
        SUM,
        lambda x: rms(x, 2, np.finfo("f").eps).astype("f"),
    ),
    Sample(
        "group_norm",
        lambda x, w, b: dtensor.group_norm(x, 3, w, b),
        "d5,6,4 d6 d6",
        SUM,
        lambda x, w, b: grouped(x, 3) * channels(w, x) + channels(b, x),
    ),
    Sample(
        "group_norm",
        lambda x, w, b: dtensor.group_norm(x, 4, w, b),
        "f2,8,3,2 f8 f8",
        SUM,
        lambda x, w, b: grouped(x, 4) * channels(w, x) + channels(b, x),
    ),
    Sample(
        "group_norm",
        lambda x: dtensor.group_norm(x, 6),
        "d5,6,4",
        SUM,
        lambda x: grouped(x, 6),
    ),
]


def each_channel(x):
    return x.sum((0, *range(2, x.ndim)))


def norm_grads(g, x, w):
    """The gradients of layer_norm over the last dim."""
    n = centred(x, 1)
    h = g * w
    dx = h - h.mean(-1, keepdims=True) - n * (h * n).mean(-1, keepdims=True)
    dx /= np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    rest = tuple(range(x.ndim - 1))
    return dx, (g * n).sum(rest), g.sum(rest)


NORM_GRADIENTS = [
    Sample(
        "layer_norm backward",
        lambda g, x, w: norm_backward(g, x, w, "layer_norm", 1e-5, 1, 7),
        words,
        SUM,
        norm_grads,
    )
    for words in ("d5,7 d5,7 d7", "d3,4,6 d3,4,6 d6")
] + [
    Sample(
        "layer_norm backward",
        lambda g, x, w: norm_backward(g, x, w, "layer_norm", 1e-5, 1, 6),
        "d5,7 d5,7 d7",
        SUM,
        lambda g, x, w: norm_grads(g, x, w)[1:],
    ),
    Sample(
        "group_norm backward",
        lambda g, x: norm_backward(g, x, None, "group_norm", 1e-5, 2, 1),
        "d5,6,4 d5,6,4",
        SUM,
        lambda g, x: norm_grads(g.reshape(5, 3, 8), x.reshape(5, 3, 8), np.ones(8))[
            0
        ].reshape(x.shape),
    ),
]

CHANNELS = [
    sample
    for words in ("d5,6 d6", "d5,4,3 d4", "f3,7,2,2 f7")
    for sample in (
        Sample(
            "channel_squares",
            channel_squares,
            words,
            SUM,
            lambda x, m: each_channel((x - channels(m, x)) ** 2),
        ),
        Sample(
            "channel_sums",
            lambda x, m: channel_sums(x + 1, x, m),
            words,
            SUM,
            lambda x, m: (
                each_channel(x + 1),
                each_channel((x + 1) * (x - channels(m, x))),
            ),
        ),
        Sample(
            "channel_mix",
            lambda x, m: channel_mix(x, m, m * 2),
            words,
            SUM,
            lambda x, m: (x - channels(m, x)) * channels(m * 2, x),
        ),
        Sample(
            "channel_mix",
            lambda x, m: channel_mix(x, m, m * 2, m + 1, x * 3, m),
            words,
            SUM,
            lambda x, m: (
                (x - channels(m, x)) * channels(m * 2, x)
                + channels(m + 1, x)
                + x * 3 * channels(m, x)
            ),
        ),
    )
]

ROWS = [
    *ONE_BY_ONE,
    *GRADIENTS,
    *NORMS,
    *NORM_GRADIENTS,
    *CHANNELS,
    *samples_loss.ROWS,
]
