"""Writes into views that show elements of their memory more than once."""

import numpy as np

from dtensor._C import DTensor, Tensor
from dtensor.torch._words.table import Call, says

__all__: list[str] = []

SHARED = (
    "unsupported operation: more than one element of the written-to tensor refers to a "
    "single memory location. Please clone() the tensor before performing the operation."
)


@says(r"(?:assignment destination|output array) is read-only")
def _closed(call: Call) -> str | None:
    given = (*call.args, *call.options.values())
    tensors = [x for x in given if isinstance(x, Tensor) and not _has_own_places(x)]
    return SHARED if tensors else None


def _has_own_places(tensor: Tensor) -> bool:
    """Return whether no two elements are in one place of memory."""
    if isinstance(tensor, DTensor):
        return True
    array = np.asarray(tensor.detach())
    dims = zip(array.strides, array.shape, strict=True)
    span = array.itemsize
    for stride, length in sorted((abs(s), n) for s, n in dims if n > 1):
        if stride < span:
            return False
        span += stride * (length - 1)
    return True
