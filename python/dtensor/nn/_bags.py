"""Sums, means and maxima of bags of rows."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._C import DTensor
from dtensor._core.caller import warn
from dtensor._core.device import is_meta
from dtensor.ops.model.embedding import embedding
from dtensor.ops.model.number_loss import beside

__all__ = ["embedding_bag"]

Array = npt.NDArray[Any]


def _numbers(x: Any) -> Array:
    """Return what a tensor of integers has, on every rank."""
    return np.asarray(x.full_tensor() if isinstance(x, DTensor) else x)


def _starts(offsets: Any, count: int, include_last_offset: bool) -> Array:
    """Return where bags begin, and where the last one ends."""
    if is_meta(offsets):
        return np.zeros(len(offsets) + (not include_last_offset), np.int64)
    starts = _numbers(offsets).astype(np.int64)
    if len(starts) and starts[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to "
            f"start from position 0. However, got {starts[0]}"
        )
    if len(starts) and starts[-1] > count:
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {count} but got "
            f"offsets[-1] of {starts[-1]}"
        )
    if include_last_offset:
        if not len(starts):
            raise RuntimeError(
                "include_last_offset: number of offset should be at least 1"
            )
        return starts
    return np.append(starts, count)


def _in_bags(starts: Array, count: int) -> tuple[Array, Array]:
    """Return the places of the numbers of each bag, and which there are."""
    lengths = np.diff(starts)
    most = max(1, int(np.max(lengths, initial=0))) if count else 0
    there = np.arange(most) < lengths[:, None]
    return np.where(there, starts[:-1, None] + np.arange(most), 0), there


def _check(
    input: Any, weight: Any, offsets: Any, mode: str, freq: bool, sparse: bool, per: Any
) -> None:
    if per is not None and tuple(per.shape) != tuple(input.shape):
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per.shape}) is not None, then it "
            f"must have the same shape as the input ({input.shape})"
        )
    if weight.ndim != 2:
        raise ValueError(
            f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}"
        )
    if input.ndim not in (1, 2):
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}"
        )
    if input.ndim == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a "
            "mini-batch of fixed length sequences. However, found offsets of type "
            f"{type(offsets)}"
        )
    if input.ndim == 1 and (offsets is None or offsets.ndim != 1):
        got = " but got None" if offsets is None else ""
        raise ValueError(f"offsets has to be a 1D Tensor{got}")
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and freq:
        raise ValueError(
            "max mode does not support scaling the gradient by the frequency"
        )
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is "
            f"only supported for mode='sum' (got mode='{mode}')."
        )


def embedding_bag(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """Return a sum, mean or maximum of rows of a table for each bag of indices.

    With `offsets` the rows of all bags are held, each bag as long as the longest; the
    offsets are gathered.

    Parameters
    ----------
    input : tensor of int64 or int32, shape (bags, length) or (numbers,)
        Numbers of rows.
    weight : tensor, shape (rows, columns)
    offsets : tensor of int, shape (bags,), optional
        Where in `input` of one dim each bag begins.
    max_norm, norm_type, scale_grad_by_freq, sparse
        As of `embedding`.
    mode : ``"sum"``, ``"mean"`` or ``"max"``, default "mean"
    per_sample_weights : tensor, shape of `input`, optional
        What the rows are multiplied with, for sums.
    include_last_offset : bool, default False
        Whether the last offset is the end of the last bag.
    padding_idx : int, optional
        A row that does not count.

    Returns
    -------
    tensor, shape (bags, columns)
        0 for an empty bag.

    Raises
    ------
    ValueError, NotImplementedError
        If arguments do not fit together.
    RuntimeError
        If offsets are out of range, or a row; the same on every rank.
    """
    if np.dtype(weight.dtype) == np.int64 and np.dtype(input.dtype).kind == "f":
        warn(
            "Argument order of nn.functional.embedding_bag was changed. Usage "
            "`embedding_bag(weight, input, ...)` is deprecated, and should now be "
            "`embedding_bag(input, weight, ...)`."
        )
        weight, input = input, weight
    per = per_sample_weights
    _check(input, weight, offsets, mode, scale_grad_by_freq, sparse, per)
    places, there = None, None
    if input.ndim == 1:
        starts = _starts(offsets, int(input.shape[0]), include_last_offset)
        places, there = _in_bags(starts, int(input.shape[0]))
    options = max_norm, norm_type, scale_grad_by_freq, sparse
    try:
        rows = embedding(input, weight, padding_idx, *options)
    except IndexError:
        raise RuntimeError(
            "input takes a value which is not in the valid range "
            f"[0, {weight.shape[0]})"
        ) from None
    if per is not None:
        rows = rows * np.expand_dims(per, -1)
    real = None
    if padding_idx is not None:
        real = input != padding_idx % max(1, weight.shape[0])
    if places is not None:
        rows = np.take(rows, places, axis=0)
        real = there if real is None else np.take(real, places) & there
    return _reduced(rows, real, mode)


def _reduced(rows: Any, there: Any, mode: str) -> Any:
    """Return the sum, mean or maximum over dim 1 of the rows that are there."""
    length = rows.shape[1]
    if there is not None:
        there = beside(there, rows)
        mask = np.expand_dims(there, -1)
    if mode == "max" and length:
        low: Any = rows if there is None else np.where(mask, rows, -np.inf)
        best = np.expand_dims(np.argmax(low.detach(), axis=1), 1)
        found = np.take_along_axis(rows, best, 1)[:, 0]
        if there is None:
            return found
        return np.where(np.any(mask, axis=1), found, 0)
    total = np.sum(rows if there is None else np.where(mask, rows, 0), axis=1)
    if mode != "mean" or not length:
        return total
    if there is None:
        return total / length
    return total / np.maximum(np.sum(mask, axis=1), 1).astype(rows.dtype)
