"""Rows for gradients: what the samples of operators lack, and what has no gradient."""

import numpy as np

import dtensor
from dtensor.ops.elementwise.special import SLOPES, SPECIAL

# What is differentiable nowhere, or of no use: name of the samples -> why.
NO_GRADIENT = {
    # bits of a number
    "spacing": "the bits of a number",
    **{
        f"special.{name}": "PyTorch has none"
        for name in SPECIAL.keys() - SLOPES.keys() - {"zeta"}
    },
    # folds that nobody uses
    "divide.reduce": "a fold of a function that does not commute",
    "subtract.reduce": "a fold of a function that does not commute",
    "subtract.accumulate": "a fold of a function that does not commute",
    # sets and counts: the result is a choice of elements, or numbers of them
    "histogram": "counts; edges are found in the data",
    "histogram2d": "counts; edges are found in the data",
    "histogram_bin_edges": "edges are found in the data",
    "unique": "a set",
    "unique_all": "a set",
    "unique_counts": "a set",
    "unique_inverse": "a set",
    "unique_values": "a set",
    "intersect1d": "a set",
    "union1d": "a set",
    "setdiff1d": "a set",
    "setxor1d": "a set",
}

# Operands that have none, where others have.
CONSTANT = {"cross_entropy": 2, "nll_loss": 2, "special.zeta": 0}

# Names that are not differentiated by their samples, and why.
OTHERS = {
    **dict.fromkeys(("linspace", "geomspace", "logspace"), "ends are plain numbers"),
    "binary_cross_entropy": "compared in test_loss.py",
    **dict.fromkeys(("huber_loss", "trim_zeros"), "compared by rows below"),
}

# Names that have a gradient for some arguments only.
PARTLY = {
    "pad": "not in all modes",
    "apply_along_axis": "functions of NumPy arrays have none",
    "linalg.qr": "complete ones of tall matrices are not unique",
}

# Functions that have no sample: questions, what makes arrays from nothing, what writes
# into arrays (test_gradients_views.py), and others that have rows below.
WITHOUT_SAMPLES = set(
    """
    can_cast common_type isrealobj may_share_memory min_scalar_type ndim result_type
    shape shares_memory size
    empty fftfreq fromfunction indices ix_ ravel_multi_index rfftfreq tri
    triu_indices_from unravel_index
    array asanyarray ascontiguousarray asfortranarray
    copyto fill_diagonal place put put_along_axis putmask
    einsum einsum_path histogramdd logn real_if_close
    save savetxt savez savez_compressed
    """.split()
)


def method(name, *args):
    """A call of a method."""
    return lambda x: getattr(x, name)(*args)


LEVELS = np.array([0.1, 0.5, 0.75])

EXTRA = [
    *((method(name), "d5,3") for name in "relu sigmoid neg abs clone double t".split()),
    *((method(name), "d5,3:pos") for name in "rsqrt".split()),
    *((method(name), "D5,3") for name in "sigmoid rsqrt sgn abs angle".split()),
    (method("clamp", -0.5, 1.0), "d5,3"),
    (method("clamp_min", 0.3), "d5,3"),
    (method("clamp_max", 0.3), "d5,3"),
    (method("div", 3.0), "d5,3"),
    (lambda x, y: x.div(y, rounding_mode="trunc"), "d5,3 d3"),
    (lambda x, y: x.add(y, alpha=2.5), "d5,3 d3"),
    (lambda x, y: x.sub(y, alpha=2.5), "d5,3 d3"),
    (lambda x, a, b: np.clip(x, a, b), "d5,3 d3 d5,1"),
    (lambda x, a: np.clip(x, None, a), "d5,3 d3"),
    (lambda x, y: np.where(x > 0, x, y), "d5,3 d3"),
    (lambda x, y: np.select([x > 1, y > 0], [x, 2 * y], x * y), "d5,3 d5,3"),
    (lambda k, x, y: np.choose(k, [x, y]), "l5:0..2 d5 d5"),
    (lambda x, y: np.choose(np.array([0, 5, -1, 1]), [x, y], mode="wrap"), "d4 d4"),
    (lambda x, y: np.interp(x, np.arange(-2.0, 3.0), y), "d7 d5"),
    (np.trim_zeros, "d5"),
    (lambda x, y: dtensor.huber_loss(x, y), "d4 d4"),
    (lambda x, y: np.interp(np.linspace(-3, 3, 9), np.sort(x), y), "d5 d5"),
    (lambda x, y: np.interp(x, np.arange(3.0), y, left=0.0, right=1.0), "d7 d3"),
    (np.nan_to_num, "d5,3"),
    (np.real_if_close, "D5,3"),
    (lambda x: np.quantile(x, LEVELS, axis=0), "d5,3"),
    (lambda x: np.nanpercentile(x, 30, axis=(0, 1), keepdims=True), "d5,3"),
    (lambda x: np.median(x, axis=1), "d4,6"),
    (lambda x: np.prod(x, axis=(0, 2)), "d3,4,2"),
    (lambda x: np.sum(x, axis=0, where=x > 0), "d5,3"),
    (lambda x: np.prod(x, axis=0, where=x > 0, initial=2.0), "d5,3"),
    (lambda x: np.max(x, axis=0, where=x > 0, initial=0.5), "d5,3"),
    (lambda x: np.mean(x, axis=0, where=x > 0), "d5,3"),
    (lambda x: np.std(x, axis=1, ddof=1), "D5,3"),
    (lambda x: np.var(x, axis=(0, 1), mean=x[:1, :1]), "d5,3"),
    (lambda x, w: np.average(x, axis=1, weights=w), "d5,3 d3:pos"),
    (lambda x, y: np.cov(x, y), "d2,5 d2,5"),
    (lambda p, x: np.polyval(p, x), "d3 d5"),
    (lambda x, y: np.convolve(x, y, "same"), "D5 D4"),
    (lambda x, y: np.correlate(x, y, "same"), "D4 D7"),
    (lambda x, y: np.correlate(x, y, "valid"), "D4 D7"),
    (lambda x: np.bincount(np.array([1, 0, 1, 3]), x, 5), "d4"),
    (lambda x: np.trace(x, 1, 2, 0), "d4,3,5"),
    (lambda x: np.gradient(x, np.array([0.0, 1, 3, 4]), edge_order=2), "d4"),
    (lambda x: np.gradient(x, 0.5, axis=0, edge_order=2), "d6,3"),
    (lambda x: np.add.reduceat(x, np.array([0, 3, 1]), axis=1), "d3,5"),
    (lambda x: np.minimum.reduceat(x, np.array([1, 4])), "d7"),
    (lambda x: np.fmax.reduceat(x, np.array([2, 0, 0, 3])), "d5,3"),
    (lambda x: np.multiply.reduceat(x, np.array([0, 2, 3])), "D5,3"),
    (lambda x: np.logaddexp.accumulate(x, axis=1), "d3,5"),
    (lambda x: np.logaddexp2.accumulate(x), "d5"),
    (lambda x: np.maximum.accumulate(x, axis=1), "d3,5"),
    (lambda x: np.fmin.accumulate(x), "d7"),
    (lambda x: np.logaddexp2.reduce(x), "d5,3"),
    (lambda x, y: np.arctan2.outer(x, y), "d5 d3"),
    (lambda x: np.insert(x, [1, 3], x[:2] * 2, axis=0), "d5,3"),
    (lambda x: np.resize(x, (4, 5)), "d3,4"),
    (lambda x: dtensor.logsumexp(x, 1), "d5,3"),
    (lambda x, y: written_at(np.add, x, y), "d5,3 d4,3"),
    (lambda x, y: written_at(np.subtract, x, y), "d5,3 d4,3"),
]


def written_at(ufunc, x, y):
    """What `ufunc.at` makes of a copy."""
    x = x * 2
    ufunc.at(x, np.array([0, 3, 3, 1]), y)
    return x


# A function for each kind of formula.
TWICE = [
    *((f, "d3") for f in (np.sin, np.exp, np.tanh, np.square, np.abs, np.cumsum)),
    *((f, "d3:pos") for f in (np.log, np.sqrt, np.reciprocal, np.std, np.cumprod)),
    *((f, "D3") for f in (np.exp, np.abs, np.square, np.sign, np.angle, np.prod)),
    *((f, "d3:pos d3") for f in (np.power, np.divide, np.hypot, np.arctan2)),
    *((f, "d3 d3") for f in (np.multiply, np.logaddexp, np.maximum, np.remainder)),
    *((f, "d3,4") for f in (np.prod, np.max, np.var, np.median, np.trace)),
    (lambda x: np.gradient(x) ** 2, "d5"),
    (lambda x, y: np.convolve(x, y) ** 2, "d4 d3"),
    (lambda x, y: np.correlate(x, y, "same") ** 2, "d5 d2"),
    (lambda x: dtensor.logsumexp(x, 1), "d4,3"),
    (method("sigmoid"), "d4"),
]
