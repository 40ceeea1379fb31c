"""Batches in PyTorch's dialect, whatever samples are made of."""

import functools
from typing import Any

from dtensor import _C
from dtensor._core.nested import mapped
from dtensor.utils import data
from dtensor.utils.data import collate

__all__ = ["DataLoader", "default_collate", "default_convert"]


@functools.wraps(data.default_collate)
def default_collate(batch: Any) -> Any:  # noqa: D103
    return mapped(data.default_collate(batch), _C.Tensor, _C.Tensor.as_torch)


@functools.wraps(collate.default_convert)
def default_convert(data: Any) -> Any:  # noqa: D103
    return mapped(collate.default_convert(data), _C.Tensor, _C.Tensor.as_torch)


for _function in (default_collate, default_convert):
    _function.__module__ = __name__  # where a worker's pickle finds it


class DataLoader(data.DataLoader):
    """Batches, whose tensors are in PyTorch's dialect: see `dtensor.utils.data`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.collate_fn is data.default_collate:
            self.collate_fn = default_collate
