"""Rows of special functions, whose kernels are those of scipy."""

import numpy as np
from rows import Sample, each

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


ROWS: list[Sample] = [each_row for name in SPECIAL for each_row in row(name)]
