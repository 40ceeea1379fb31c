"""``torch.utils.tensorboard``: `SummaryWriter`, by the package tensorboardX.

Tensors are given as arrays, DTensors whole: on each rank, since they are gathered.
"""

import functools
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.nested import mapped
from dtensor._core.require import require

__all__ = ["SummaryWriter"]


def _array(x: Any) -> Any:
    whole = x.detach().full_tensor() if isinstance(x, _C.DTensor) else x.detach()
    return np.asarray(whole)


class SummaryWriter:
    """Writes files of events for TensorBoard.

    Has the methods of ``tensorboardX.SummaryWriter``, which is made with the same
    arguments: `add_scalar`, `add_scalars`, `add_histogram`, `add_image`, `add_text` and
    others. What they are given may hold tensors. A DTensor is gathered, so that the
    call is collective over its mesh; else nothing is sent.

    Raises
    ------
    ModuleNotFoundError
        If tensorboardX is not installed. On this rank only.
    """

    def __init__(self, log_dir: Any = None, *args: Any, **options: Any) -> None:
        package = require("tensorboardX")
        self._writer = package.SummaryWriter(log_dir, *args, **options)

    def __getattr__(self, name: str) -> Any:
        if name == "_writer":
            raise AttributeError(name)
        method = getattr(self._writer, name)
        if not callable(method):
            return method

        @functools.wraps(method)
        def call(*args: Any, **options: Any) -> Any:
            plain = mapped((args, options), _C.Tensor, _array)
            return method(*plain[0], **plain[1])

        return call

    def __enter__(self) -> "SummaryWriter":
        return self

    def __exit__(self, *exception: object) -> None:
        self._writer.close()
