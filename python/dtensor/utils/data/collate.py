"""How samples become a batch."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dtensor import _C

__all__ = ["default_collate"]


def default_collate(batch: Any) -> Any:
    """Return the batch of a list of samples.

    Parameters
    ----------
    batch : sequence
        Tensors, arrays and numbers are stacked into a Tensor; Python's floats become
        float64. Lists, tuples and dicts become the same containers of batches. Strings
        stay a list.

    Raises
    ------
    TypeError
        If a sample is something else.
    RuntimeError
        If samples that are lists or tuples differ in length.
    """
    first = batch[0]
    if isinstance(first, _C.Tensor):
        return np.stack(batch)
    if isinstance(first, np.ndarray | np.generic) and first.dtype.kind in "biufc":
        return _C.as_tensor(np.stack(batch))
    if isinstance(first, float):
        return _C.tensor(np.array(batch, np.float64))
    if isinstance(first, int):
        return _C.tensor(np.array(batch))
    if isinstance(first, str | bytes):
        return batch
    if isinstance(first, Mapping):
        values = {key: default_collate([one[key] for one in batch]) for key in first}
        return values if type(first) is dict else type(first)(values)  # type: ignore
    if isinstance(first, Sequence):
        if any(len(one) != len(first) for one in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [default_collate(column) for column in zip(*batch, strict=True)]
        if hasattr(first, "_fields"):
            return type(first)(*columns)
        return columns
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or "
        f"lists; found {type(first)}"
    )
