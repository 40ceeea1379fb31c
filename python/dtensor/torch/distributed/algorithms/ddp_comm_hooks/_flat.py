"""The gradients of a bucket as one array, and sums of arrays over ranks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import Tensor
from dtensor.fsdp._bucket import GradBucket
from dtensor.torch.distributed._collectives import all_reduce
from dtensor.torch.distributed._groups import Group
from dtensor.torch.futures import Future

__all__ = ["done", "summed", "values_of"]

Array = npt.NDArray[Any]


def values_of(bucket: GradBucket) -> Array:
    """Return a copy of all gradients, those of 16 bits as float32."""
    found = np.array(np.asarray(bucket.buffer()))
    return found.astype("f") if found.dtype.itemsize == 2 else found


def summed(group: Group, arrays: Sequence[Array]) -> None:
    """Replace arrays by their sums over ranks: one all_reduce, of none none."""
    if not arrays:
        return
    joined = np.concatenate([x.ravel() for x in arrays])
    all_reduce(Tensor(joined), group=group)
    start = 0
    for x in arrays:
        x[...] = joined[start : start + x.size].reshape(x.shape)
        start += x.size


def done(bucket: GradBucket, flat: Array) -> Future[Any]:
    """Put averages into the bucket's buffer; return a future that has it."""
    buffer = bucket.buffer()
    buffer[...] = flat.astype(np.dtype(buffer.dtype))
    future: Future[Any] = Future()
    future.set_result(buffer)
    return future
