"""Rows of reductions and scans, and of what is made of them."""

import numpy as np
from rows import BITS, SUM, Sample, each

import dtensor

AXES = [
    {},
    {"axis": 0},
    {"axis": 1, "keepdims": True},
    {"axis": -1},
    {"axis": (0, 1)},
    {"keepdims": True},
]
ARRAYS = "d5,7 | l7,5 | f5,6"
EDGES = "d | d7 | d4,5:inf | d1,5 | d0,3 | d3,0 | d2,3,4 | D3,4 | ?5,7 | e4,3"


def reduction(name, mode=BITS, arrays=ARRAYS, edges=EDGES):
    """Rows of ``np.name(x, axis, keepdims)``."""
    fn = getattr(np, name)
    return [
        *each(name, fn, arrays, AXES, mode),
        *each(name, fn, edges, [{}, {"axis": 0}], mode),
        *each(name, fn, "d2,3,4", [{"axis": (0, 2)}, {"axis": (2, 1)}], mode),
        *each(name, fn, "d5,7", [{"axis": 2}, {"axis": (0, 0)}], mode),
    ]


def positional(name, mode=BITS, arrays=ARRAYS, edges="d | d7 | d0,3 | d2,3,4 | ?5,7"):
    """Rows of what takes one axis at most."""
    fn = getattr(np, name)
    return [
        *each(name, fn, arrays, [{}, {"axis": 0}, {"axis": -1}], mode),
        *each(name, fn, edges, [{}, {"axis": 0}], mode),
        *each(name, fn, "d5,7", [{"axis": 2}], mode),
    ]


NAN = "d5,7:nan | d4,5:inf | f7,5:nan | l5,6 | d11:nan"
TIES = "d5,7:ties | d4,5:inf | l7,5:ties | d5,7:nan"

REDUCTIONS = [
    *reduction("sum", SUM),
    *reduction("mean", SUM),
    *reduction("prod", SUM, "d3,4:pos | l3,4 | f2,3"),
    *reduction("var", SUM),
    *reduction("std", SUM),
    *reduction("min", arrays="d5,7 | l7,5 | d5,7:nan"),
    *reduction("max", arrays="d5,7 | l7,5 | d5,7:nan"),
    *reduction("any", arrays="?5,7 | d5,7:sparse | l7,5:ties"),
    *reduction("all", arrays="?5,7 | d5,7:sparse | l7,5:ties"),
    *reduction("count_nonzero", arrays="?5,7 | d5,7:sparse | l7,5:ties"),
    *reduction("ptp"),
    *reduction("median", SUM, edges="d | d7 | d1,5 | d3,4,2"),
    *reduction("nansum", SUM, NAN),
    *reduction("nanmean", SUM, NAN),
    *reduction("nanprod", SUM, "d3,4:nan"),
    *reduction("nanvar", SUM, NAN),
    *reduction("nanstd", SUM, NAN),
    *reduction("nanmin", arrays=NAN, edges="d | d7 | d3,4,2 | ?5,7"),
    *reduction("nanmax", arrays=NAN, edges="d | d7 | d3,4,2 | ?5,7"),
    *reduction("nanmedian", SUM, NAN, "d | d7 | d3,4,2"),
    *each("argmin", np.argmin, TIES, AXES[:4]),
    *each("argmax", np.argmax, TIES, AXES[:4]),
    *each("argmin", np.argmin, "d | d7 | d3,4,2 | ?5,7 | d0,3 | D3,4 | f7:ties"),
    *each("argmax", np.argmax, "d | d7 | d3,4,2 | ?5,7 | d0,3 | D3,4 | f7:ties"),
    *each("nanargmin", np.nanargmin, "d5,7:nan | l5,7:ties", AXES[:4]),
    *each("nanargmax", np.nanargmax, "d5,7:nan | l5,7:ties", AXES[:4]),
]

ARGUMENTS = [
    *each("var", np.var, "d5,7 | l5,6", [{"ddof": 1}, {"axis": 0, "ddof": 1}], SUM),
    *each("var", np.var, "d5,7", [{"axis": 1, "correction": 1}], SUM),
    *each("std", np.std, "d5,7 | f5,6", [{"ddof": 1}, {"axis": 1, "ddof": 2}], SUM),
    *each("std", np.std, "d1,7", [{"axis": 0, "ddof": 1}], SUM),
    *each("sum", np.sum, "d5,7", [{"axis": 0, "initial": 3.0}, {"initial": 3.0}], SUM),
    *each("sum", np.sum, "b5,7 | ?5,7 | f5,7", [{"axis": 0, "dtype": "d"}], SUM),
    *each("sum", np.sum, "d5,7", [{"dtype": "l"}], SUM),
    *each("prod", np.prod, "l3,4", [{"axis": 0, "initial": 3}], SUM),
    *each("max", np.max, "d5,7 | d0,3", [{"axis": 0, "initial": -2.0}]),
    *each("min", np.min, "d5,7 | d0,3", [{"axis": 1, "initial": 0.0}]),
    *each("mean", np.mean, "f5,7 | l5,7", [{"axis": 0, "dtype": "d"}], SUM),
    *each("amax", np.amax, "d5,7", [{"axis": 0}]),
    *each("amin", np.amin, "d5,7", [{"axis": 0}]),
    *each("average", np.average, "d5,7 | l5,6", [{}, {"axis": 0}], SUM),
    Sample("average", lambda x, w: np.average(x, 0, w), "d5,7 d5:pos", SUM),
    Sample("average", lambda x, w: np.average(x, weights=w), "d5,7 d5,7:pos", SUM),
    *each("trace", np.trace, "d5,7 | l4,4 | d2,3,4", [{}, {"offset": 1}], SUM),
    *each("cov", np.cov, "d3,5", mode=SUM),
    *each("corrcoef", np.corrcoef, "d3,5:distinct", mode=SUM),
    *each("trapezoid", np.trapezoid, "d5,7", [{}, {"axis": 0, "dx": 0.5}], SUM),
]

QUANTILES = [
    *each("quantile", np.quantile, "d5,7 | f7,5", [(0.25,), (0.5, 0), (0.9, 1)], SUM),
    *each("quantile", np.quantile, "d5,7", [([0.0, 0.25, 1.0], 0), ([0.5],)], SUM),
    *each("quantile", np.quantile, "d5,7", [{"q": 0.3, "axis": (0, 1)}], SUM),
    *each(
        "quantile",
        np.quantile,
        "d5,7 | l5,7",
        [{"q": 0.3, "axis": 0, "method": m} for m in ("lower", "nearest", "hazen")],
        SUM,
    ),
    *each(
        "quantile", np.quantile, "d5,7", [(0.3, 1, None, False, "linear", True)], SUM
    ),
    Sample("quantile", lambda x, q: np.quantile(x, q, axis=0), "d5,7 d3:frac", SUM),
    *each("quantile", np.quantile, "d5,7", [(1.5,)]),
    *each("nanquantile", np.nanquantile, "d5,7:nan", [(0.25,), (0.5, 0)], SUM),
    *each("percentile", np.percentile, "d5,7", [(25,), ([10, 90], 0)], SUM),
    *each("nanpercentile", np.nanpercentile, "d5,7:nan", [(25,), (60, 1)], SUM),
]

SCANS = [
    *positional("cumsum", SUM),
    *each("cumsum", np.cumsum, "d4,5:inf", [{}, {"axis": 0}], SUM),
    *positional("cumprod", SUM, "d3,4:pos | l3,4 | f2,3"),
    *positional("nancumsum", SUM, NAN),
    *positional("nancumprod", SUM, "d3,4:nan"),
    *each("cumsum", np.cumsum, "l5,7 | f5,7", [{"axis": 0, "dtype": "d"}], SUM),
    *each(
        "cumulative_sum",
        np.cumulative_sum,
        "d5,7 | l7,3",
        [{"axis": 0}, {"axis": 1, "include_initial": True}],
        SUM,
    ),
    *each("cumulative_sum", np.cumulative_sum, "d7", mode=SUM),
    *each("cumulative_prod", np.cumulative_prod, "d3,4:pos", [{"axis": 0}], SUM),
    *each("cumulative_prod", np.cumulative_prod, "d5:pos", [{}], SUM),
    *each("diff", np.diff, "d5,7 | l5,7", [{}, {"axis": 0}, {"n": 2}, {"n": 0}]),
    *each("diff", np.diff, "d5,7", [{"axis": 0, "prepend": 0.0, "append": 1.0}]),
    *each("diff", np.diff, "?5,7"),
    *each("ediff1d", np.ediff1d, "d7"),
    *each("gradient", np.gradient, "d5,7 | d7", [{"axis": 0}], SUM),
    *each("gradient", np.gradient, "d5,7", [{}, (0.5,)], SUM),
]


# --- what NumPy has no function for ---------------------------------------------------


def numpy_logsumexp(x, axis=None, keepdims=False):
    top = np.max(x, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0).astype(x.dtype)
    total = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return total if keepdims else np.squeeze(total, axis=axis)


def numpy_softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def numpy_log_softmax(x, axis=-1):
    x = x - np.max(x, axis=axis, keepdims=True)
    return x - np.log(np.sum(np.exp(x), axis=axis, keepdims=True))


def own(name):
    """The function of this name that the package has."""
    return lambda *xs, **more: getattr(dtensor, name)(*xs, **more)


SOFT = [
    *each(
        "logsumexp",
        own("logsumexp"),
        "d5,7 | f7,5 | d2,3,4 | d4,5:inf"
        " | d6,8:-900000..900000 | d2,4,6:-900000..900000",
        [{"axis": 0}, {"axis": 1, "keepdims": True}, {"axis": -1}, {"axis": (0, 1)}],
        SUM,
        numpy_logsumexp,
    ),
    *[
        row
        for name, reference in [
            ("softmax", numpy_softmax),
            ("log_softmax", numpy_log_softmax),
        ]
        for row in each(
            name,
            own(name),
            "d5,7 | f7,5 | d2,3,4 | d1,7 | d0,3 | d4,5:inf",
            [{"axis": 1}, {"axis": -1}],
            SUM,
            reference,
        )
        + each(name, own(name), "d5,7 | d7 | d4,5:inf", [{"axis": 0}], SUM, reference)
    ],
]


# --- methods --------------------------------------------------------------------------


def method(name):
    return lambda x, *args, **more: getattr(x, name)(*args, **more)


METHODS = [
    *[
        row
        for name in ("sum", "mean", "var", "std")
        for row in each(
            f"x.{name}",
            method(name),
            "d5,7 | l5,6",
            [{}, {"axis": 0}, (1,), {"axis": 0, "keepdims": True}],
            SUM,
        )
    ],
    *each("x.prod", method("prod"), "d3,4:pos", [{}, {"axis": 0}], SUM),
    *[
        row
        for name in ("min", "max", "argmin", "argmax")
        for row in each(f"x.{name}", method(name), "d5,7", [{}, {"axis": 0}, (1,)])
    ],
    *each("x.any", method("any"), "?5,7", [{}, {"axis": 0}]),
    *each("x.all", method("all"), "?5,7", [{}, {"axis": 0}]),
    *each("x.cumsum", method("cumsum"), "d5,7", [{}, {"axis": 0}], SUM),
    *each("x.cumprod", method("cumprod"), "d3,4:pos", [{}, {"axis": 0}], SUM),
    *each("x.trace", method("trace"), "d5,7", mode=SUM),
    *[
        Sample(
            f"{name}(dim=)",
            lambda x, name=name: getattr(x, name)(dim=0, keepdim=True),
            "d5,7",
            SUM,
            lambda x, name=name: getattr(x, name)(axis=0, keepdims=True),
        )
        for name in ("sum", "mean", "max", "min", "any", "std", "var")
    ],
]

ROWS = [*REDUCTIONS, *ARGUMENTS, *QUANTILES, *SCANS, *SOFT, *METHODS]
