"""The quantile function of the normal distribution, by rational approximation."""

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["normal_quantile"]

Array = npt.NDArray[Any]

# Numerators and denominators of algorithm AS 241 (PPND16), from the highest power down:
# M. J. Wichura, Applied Statistics 37 (1988). The relative error is about 1e-16.
_CENTRE = (
    (
        2509.0809287301226727,
        33430.575583588128105,
        67265.770927008700853,
        45921.953931549871457,
        13731.693765509461125,
        1971.5909503065514427,
        133.14166789178437745,
        3.387132872796366608,
    ),
    (
        5226.495278852854561,
        28729.085735721942674,
        39307.89580009271061,
        21213.794301586595867,
        5394.1960214247511077,
        687.1870074920579083,
        42.313330701600911252,
        1.0,
    ),
)
_SIDE = (
    (
        7.7454501427834140764e-4,
        0.0227238449892691845833,
        0.24178072517745061177,
        1.27045825245236838258,
        3.64784832476320460504,
        5.7694972214606914055,
        4.6303378461565452959,
        1.42343711074968357734,
    ),
    (
        1.05075007164441684324e-9,
        5.475938084995344946e-4,
        0.0151986665636164571966,
        0.14810397642748007459,
        0.68976733498510000455,
        1.6763848301838038494,
        2.05319162663775882187,
        1.0,
    ),
)
_TAIL = (
    (
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        0.0012426609473880784386,
        0.026532189526576123093,
        0.29656057182850489123,
        1.7848265399172913358,
        5.4637849111641143699,
        6.6579046435011037772,
    ),
    (
        2.04426310338993978564e-15,
        1.4215117583164458887e-7,
        1.8463183175100546818e-5,
        7.868691311456132591e-4,
        0.0148753612908506148525,
        0.13692988092273580531,
        0.59983220655588793769,
        1.0,
    ),
)


def normal_quantile(p: Array) -> Array:
    """Return the quantiles of the standard normal distribution at probability `p`.

    Parameters
    ----------
    p : ndarray of float, 0 < p < 1

    Returns
    -------
    ndarray of float64
    """
    p = np.asarray(p, np.float64)
    q = p - 0.5
    r = 0.180625 - q * q
    out = np.asarray(q * np.polyval(_CENTRE[0], r) / np.polyval(_CENTRE[1], r))
    far = np.abs(q) > 0.425
    if far.any():
        distance = np.sqrt(-np.log(np.minimum(p, 1 - p)[far]))
        near = distance <= 5
        side, tail = distance - 1.6, distance - 5
        value = np.where(
            near,
            np.polyval(_SIDE[0], side) / np.polyval(_SIDE[1], side),
            np.polyval(_TAIL[0], tail) / np.polyval(_TAIL[1], tail),
        )
        out[far] = np.copysign(value, q[far])
    return out
