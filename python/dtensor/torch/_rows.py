"""The order of new tensors in memory, where kernels do not make PyTorch's."""

from typing import Any

from dtensor import _C
from dtensor.ops._make.operator import METHODS
from dtensor.torch._dtypes import contiguous_format

__all__ = ["in_rows", "order_of"]


def order_of(x: Any, memory_format: Any = None) -> str:
    """Return NumPy's word for the order in memory of what is made like a tensor.

    Of one that is expanded, and in the contiguous format, it is that of rows."""
    spread = isinstance(x, _C.Tensor) and 0 in x.stride()
    return "C" if spread or memory_format is contiguous_format else "K"


def in_rows(x: Any) -> Any:
    """Return a new result with each rank's part in C order: itself, if it is."""
    if not isinstance(x, _C.DTensor) and x.is_contiguous():
        return x
    return METHODS["contiguous"](x)
