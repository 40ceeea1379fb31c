"""Special functions, element by element: the operators, and their derivatives.

Kernels compute in float64 and round once: see `special_numpy`.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.elementwise import broadcast
from dtensor.ops._make.operator import Operand, call, operator
from dtensor.ops._make.words import Answer
from dtensor.ops.elementwise import special_numpy
from dtensor.ops.elementwise.piecewise import where_
from dtensor.ops.elementwise.pointwise import exp, log

__all__ = ["SLOPES", "SPECIAL"]


def _kernel(name: str) -> Callable[..., Any]:
    function = special_numpy.FUNCTIONS[name]

    def compute(*xs: npt.ArrayLike) -> npt.NDArray[Any]:
        arrays = [np.asarray(x) for x in xs]
        dtype = np.result_type(*xs)
        with np.errstate(all="ignore"):
            wide = function(*(x.astype(np.float64) for x in arrays))
        return np.asarray(wide).astype(dtype)

    return compute


def _operator(name: str, count: int) -> Any:
    kernel = _kernel(name)

    def of_one(x: Operand) -> Answer:
        return broadcast([x]), call(kernel, x)

    def of_two(x: Operand, y: Operand) -> Answer:
        return broadcast([x, y]), call(kernel, x, y)

    return operator((of_one, of_two)[count - 1], name=name, operands=count)


# Those of two operands; all others have one.
_TWO = {name for name in special_numpy.FUNCTIONS if "polynomial" in name} | {"zeta"}

SPECIAL: dict[str, Any] = {
    name: _operator(name, 1 + (name in _TWO)) for name in special_numpy.FUNCTIONS
}
_of = SPECIAL


def _sign(x: Any) -> Any:
    return where_(x < 0, -1.0, 1.0)


def _over(y: Any, x: Any, limit: float) -> Any:
    """Return ``y / x``, and a limit where x is 0."""
    return where_(x == 0, limit, y / where_(x == 0, 1.0, x))


_ROOT = math.sqrt(2 * math.pi)
# The derivative: a function of the result and the operand. PyTorch has none of others.
SLOPES: dict[str, Callable[[Any, Any], Any]] = {
    "entr": lambda _out, x: -log(x) - 1,
    "erfcx": lambda out, x: 2 * x * out - 2 / math.sqrt(math.pi),
    "i0e": lambda out, x: _of["i1e"](x) - _sign(x) * out,
    "i1": lambda out, x: _of["modified_bessel_i0"](x) - _over(out, x, 0.5),
    "i1e": lambda out, x: _of["i0e"](x) - _sign(x) * out - _over(out, x, 0.5),
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


SPECIAL["zeta"].vjp(_unknown, lambda g, _out, x, q: g * -x * SPECIAL["zeta"](x + 1, q))
