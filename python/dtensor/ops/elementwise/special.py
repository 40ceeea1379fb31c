"""Special functions, element by element: the operators, and their derivatives.

Kernels are SciPy's, an extra. They compute in float64 and round once.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._core.require import require
from dtensor.ops._make.elementwise import broadcast
from dtensor.ops._make.kernel import refuse_complex
from dtensor.ops._make.operator import Operand, call, operator
from dtensor.ops._make.words import Answer
from dtensor.ops.elementwise.functions import bessel
from dtensor.ops.elementwise.piecewise import where_
from dtensor.ops.elementwise.pointwise import exp, log, sign

__all__ = ["NAMES", "SLOPES", "SPECIAL"]

# By PyTorch's names SciPy's; polynomials take their degree first there.
NAMES = {
    name: name for name in "entr erfcx i0e i1 i1e log_ndtr ndtr ndtri zeta".split()
}
NAMES |= {
    "airy_ai": "airy",
    "spherical_bessel_j0": "spherical_jn",
    "hermite_polynomial_h": "eval_hermite",
    "hermite_polynomial_he": "eval_hermitenorm",
    "laguerre_polynomial_l": "eval_laguerre",
    "legendre_polynomial_p": "eval_legendre",
}
for _k in "01":
    NAMES |= {f"bessel_{kind}{_k}": f"{kind}{_k}" for kind in "jy"}
    NAMES |= {f"modified_bessel_{kind}{_k}": f"{kind}{_k}" for kind in "ik"}
    NAMES[f"scaled_modified_bessel_k{_k}"] = f"k{_k}e"
for _k in "tuvw":
    NAMES[f"chebyshev_polynomial_{_k}"] = f"eval_cheby{_k}"
    NAMES[f"shifted_chebyshev_polynomial_{_k}"] = f"eval_cheby{_k}"

Array = npt.NDArray[Any]


def _third(scipy: Any, sign: int) -> Callable[[Array, Array], Array]:
    """Return Chebyshev polynomials of the third (-1) or fourth (1) kind by the second:
    Mason and Handscomb, Chebyshev Polynomials, 1.2.3."""

    def found(n: Array, x: Array) -> Array:
        second, before = scipy.eval_chebyu, np.maximum(n - 1, 0)
        return np.asarray(second(n, x) + np.where(n > 0, sign * second(before, x), 0))

    return found


def _polynomial(scipy: Any, name: str) -> Callable[[Array, Array], Array]:
    kinds = {"eval_chebyv": -1, "eval_chebyw": 1}
    of = NAMES[name]
    known = _third(scipy, kinds[of]) if of in kinds else getattr(scipy, of)

    def found(x: Array, degree: Array) -> Array:
        x = 2 * x - 1 if name.startswith("shifted") else x
        n = degree.astype(np.int64)
        return np.where(n < 0, 0.0, known(np.maximum(n, 0), x))

    return found


def _in_float64(name: str) -> Callable[..., Array]:
    scipy = require("scipy", "scipy.special")
    if "polynomial" in name:
        return _polynomial(scipy, name)
    if name == "spherical_bessel_j0":
        return lambda x: np.asarray(scipy.spherical_jn(0, x))
    if name == "airy_ai":
        return lambda x: np.asarray(scipy.airy(x)[0])
    known: Callable[..., Array] = getattr(scipy, NAMES[name])
    return known


def _kernel(name: str) -> Callable[..., Array]:
    function = _in_float64(name)

    def compute(*xs: npt.ArrayLike) -> Array:
        arrays = [np.asarray(x) for x in xs]
        dtype = np.result_type(*xs)
        with np.errstate(all="ignore"):
            wide = function(*(x.astype(np.float64) for x in arrays))
        return np.asarray(wide).astype(dtype)

    return compute


def _operator(name: str, count: int) -> Any:
    def of_one(x: Operand) -> Answer:
        refuse_complex(name, x.dtype)
        return broadcast([x]), call(_kernel(name), x)

    def of_two(x: Operand, y: Operand) -> Answer:
        refuse_complex(name, x.dtype, y.dtype)
        return broadcast([x, y]), call(_kernel(name), x, y)

    return operator((of_one, of_two)[count - 1], name=name, operands=count)


# Those of two operands; all others have one.
_TWO = {name for name in NAMES if "polynomial" in name} | {"zeta"}

SPECIAL: dict[str, Any] = {name: _operator(name, 1 + (name in _TWO)) for name in NAMES}
_of = SPECIAL


def _over(y: Any, x: Any, limit: float) -> Any:
    """Return ``y / x``, and a limit where x is 0."""
    return where_(x == 0, limit, y / where_(x == 0, 1.0, x))


_ROOT = math.sqrt(2 * math.pi)
# The derivative: a function of the result and the operand. PyTorch has none of others.
SLOPES: dict[str, Callable[[Any, Any], Any]] = {
    "entr": lambda _out, x: -log(x) - 1,
    "erfcx": lambda out, x: 2 * x * out - 2 / math.sqrt(math.pi),
    "i0e": lambda out, x: _of["i1e"](x) - sign(x) * out,
    "i1": lambda _out, x: (bessel(x, 0) + bessel(x, 2)) / 2,
    "i1e": lambda out, x: _of["i0e"](x) - sign(x) * out - _over(out, x, 0.5),
    "log_ndtr": lambda _out, x: (
        math.sqrt(2 / math.pi) / _of["erfcx"](x * -math.sqrt(0.5))
    ),
    "ndtr": lambda _out, x: exp(x * x * -0.5) * (1 / _ROOT),
    "ndtri": lambda out, _x: exp(out * out * 0.5) * _ROOT,
}
for _name, _slope in SLOPES.items():
    SPECIAL[_name].vjp(lambda g, out, x, slope=_slope: g * slope(out, x))


def _unknown(_grad: Any, _out: Any, _x: Any, _q: Any) -> Any:
    raise NotImplementedError("the derivative for 'zeta' is not implemented.")


# An integer x may have no room for -x, nor for x + 1.
SPECIAL["zeta"].vjp(
    _unknown, lambda g, _out, x, q: -g * x * SPECIAL["zeta"](x + 1.0, q)
)
