"""Products with logarithms, 0 where the first factor is: `xlogy` and `xlog1py`."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.elementwise import broadcast, conjugated
from dtensor.ops._make.halves import wide_call
from dtensor.ops._make.operator import Operand, operator
from dtensor.ops._make.words import Answer
from dtensor.ops.elementwise.piecewise import where_
from dtensor.ops.elementwise.pointwise import log, log1p

__all__ = ["xlog1py", "xlogy"]


def _times(logarithm: np.ufunc) -> Callable[[Any, Any], npt.NDArray[Any]]:
    """Return the kernel: 0 where x is 0, unless y is NaN."""

    def product(x: Any, y: Any) -> npt.NDArray[Any]:
        with np.errstate(all="ignore"):
            found = x * logarithm(y)
        zero = np.equal(x, 0) & ~np.isnan(y)
        return np.asarray(np.where(zero, found.dtype.type(0), found))

    return product


def _operator(name: str, logarithm: np.ufunc, slope: Any, least: int) -> Any:
    """Return the operator; at `least` the logarithm is minus infinity."""
    kernel = _times(logarithm)

    def answer(x: Operand, y: Operand) -> Answer:
        return broadcast([x, y]), wide_call(kernel, x, y)

    def of_first(grad: Any, _out: Any, x: Any, y: Any) -> Any:
        hidden = (x == 0) & (y <= least)
        return grad * conjugated(slope(where_(hidden, least + 1, y)))

    def of_second(grad: Any, _out: Any, x: Any, y: Any) -> Any:
        return grad * conjugated(x / (y - least if least else y))

    return operator(answer, name=name, operands=2).vjp(of_first, of_second)


xlogy = _operator("xlogy", np.log, log, 0)
xlog1py = _operator("xlog1py", np.log1p, log1p, -1)
