"""``torch.distributed.algorithms.ddp_comm_hooks.quantization_hooks``: gradients are
sent as bytes, with the step and the zero of each of their scales.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import Tensor
from dtensor.fsdp._bucket import GradBucket
from dtensor.torch.distributed._collectives import all_gather
from dtensor.torch.distributed._groups import Group, mesh_of
from dtensor.torch.distributed.algorithms.ddp_comm_hooks._flat import done, values_of
from dtensor.torch.futures import Future

__all__ = ["quantization_perchannel_hook", "quantization_pertensor_hook"]

Array = npt.NDArray[Any]


def quantization_pertensor_hook(
    process_group: Group, bucket: GradBucket
) -> Future[Any]:
    """Average the gradients of the ranks of a group, sent as bytes on one scale.

    Collective: an all_gather of two numbers and one of a byte for each element.
    """
    flat = values_of(bucket)
    return done(bucket, _averaged(process_group, flat[None])[0])


def quantization_perchannel_hook(
    process_group: Group, bucket: GradBucket, bucket_size: int = 512
) -> Future[Any]:
    """Average the gradients, sent as bytes on a scale for each `bucket_size` of them.

    Collective: an all_gather of two numbers for each scale and one of a byte for each
    element.
    """
    flat = values_of(bucket)
    rows = np.zeros((-(-flat.size // bucket_size), bucket_size), flat.dtype)
    rows.ravel()[: flat.size] = flat
    return done(bucket, _averaged(process_group, rows).ravel()[: flat.size])


def _averaged(group: Group, rows: Array) -> Array:
    """Return the average of the rows of all ranks, rounded to 256 steps of each row."""
    if rows.dtype.kind == "c":
        raise TypeError("complex gradients have no scale: they cannot be quantized")
    low = np.minimum(rows.min(axis=1), 0)
    high = np.maximum(rows.max(axis=1), 0)
    step = np.maximum((high - low) / 255, np.finfo("f").eps).astype("f")
    zero = np.clip(-np.rint(low / step), 0, 255).astype("f")
    code = np.rint(rows / step[:, None]) + zero[:, None]
    scales = _gathered(group, np.stack([step, zero]))
    codes = _gathered(group, np.clip(code, 0, 255).astype(np.uint8))
    whole = np.zeros(rows.shape, "f")
    for (step, zero), code in zip(scales, codes, strict=True):
        whole += (code.astype("f") - zero[:, None]) * step[:, None]
    return whole / np.float32(len(codes))


def _gathered(group: Group, array: Array) -> list[Array]:
    """Return the arrays of all ranks."""
    found = [np.empty_like(array) for _ in range(mesh_of(group).size())]
    all_gather(found, Tensor(array), group=group)
    return found
