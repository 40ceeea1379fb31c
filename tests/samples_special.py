"""Rows of special functions, compared with those of scipy."""

from collections.abc import Callable
from typing import Any

import numpy as np
from rows import SUM, Sample, each
from scipy import special

import dtensor
from dtensor.ops.elementwise.gamma import lgamma, polygamma
from dtensor.ops.elementwise.special import SPECIAL, _in_float64


def row(name: str) -> list[Sample]:
    kind = "unit" if name in ("ndtri", "erfcx") else "pos"
    words = f"d5,7:{kind} | f4,3:{kind} | d0,3"
    if "polynomial" in name:
        words = "d5,7 d7:0..5 | f4,3 f4,3:0..5"
    elif name == "zeta":
        words = "d5,7:over1 d7:pos"

    def reference(*xs: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            wide = _in_float64(name)(*(np.asarray(x, np.float64) for x in xs))
        return np.asarray(wide).astype(xs[0].dtype)

    return each(f"special.{name}", SPECIAL[name], words, reference=reference)


def floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of SciPy's that keeps the dtype of floats, and computes in float64."""

    def found(x: np.ndarray, *more: int) -> np.ndarray:
        wide = np.asarray(x, np.float64)
        kept = x.dtype if x.dtype.kind == "f" else wide.dtype
        return np.asarray(function(wide, *more)).astype(kept)

    return found


WORDS = "d5,7:pos | f4,3:pos | e7:pos | l5,6:1..9 | ?3 | d | d0,3 | d2,3,4:unit"
GAMMA = [
    *each("special.lgamma", lgamma, WORDS, mode=SUM, reference=floats(special.gammaln)),
    *each(
        "special.polygamma",
        polygamma,
        WORDS,
        [(0,), (1,), (2,)],
        SUM,
        floats(lambda x, n: special.polygamma(n, x)),
    ),
    *each(
        "erfinv",
        dtensor.erfinv,
        "d5,7:unit | f7:unit | e4,3:unit | ?6 | l4:-1..2 | d0,3 | d2,3,4:unit",
        mode=SUM,
        reference=floats(special.erfinv),
    ),
]

ROWS: list[Sample] = [each_row for name in SPECIAL for each_row in row(name)] + GAMMA
