"""How samples become a batch."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dtensor import _C

__all__ = ["default_collate", "default_convert"]


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


def default_convert(data: Any) -> Any:
    """Return data with a Tensor for each array of numbers, in the same containers.

    Numbers and strings, and what is no container, stay as they are.
    """
    if isinstance(data, np.ndarray | np.generic) and data.dtype.kind in "biufc":
        return _C.as_tensor(data)
    if isinstance(data, Mapping):
        values = {key: default_convert(each) for key, each in data.items()}
        return values if type(data) is dict else type(data)(values)  # type: ignore
    if isinstance(data, tuple):
        parts = [default_convert(each) for each in data]
        return type(data)(*parts) if hasattr(data, "_fields") else parts
    if isinstance(data, Sequence) and not isinstance(data, str | bytes):
        return [default_convert(each) for each in data]
    return data
