"""Losses of numbers: names and arguments as in torch.nn.functional.

A sum or mean is one pass over the elements; where they are cut it is Partial, a mean
too: each rank divides its sum by the number of all elements."""

from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.caller import warn
from dtensor.ops._make.autocast import in_single
from dtensor.ops.model.activation import logsigmoid
from dtensor.ops.model.cross_entropy import cross_entropy, nll_loss
from dtensor.ops.model.number_loss import (
    beside,
    check_reduction,
    number_loss,
    reduced,
    reduction_of,
)

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "nll_loss",
    "smooth_l1_loss",
]

# --- the functions --------------------------------------------------------------------


def _of_one_shape(x: Any, target: Any) -> tuple[Any, Any]:
    if x.shape == target.shape:
        return x, target
    warn(
        f"Using a target size ({target.shape}) that is different to the input size "
        f"({x.shape}). This will likely lead to incorrect results due to broadcasting. "
        "Please ensure they have the same size."
    )
    shape = np.broadcast_shapes(x.shape, target.shape)
    return np.broadcast_to(x, shape), np.broadcast_to(target, shape)


def _loss(
    name: str,
    x: Any,
    target: Any,
    reduction: str,
    weight: Any = None,
    p: float = 0.0,
    by_weight: bool = True,
) -> Any:
    """Return a loss; a weighted mean is divided by the sum of weights, or not."""
    check_reduction(reduction)
    shape = x.shape
    x, target = _of_one_shape(x, target)
    if weight is None:
        return number_loss(x, target, name, p, reduction)
    if weight.shape != shape:
        raise ValueError("Weights and input must have the same size.")
    losses = number_loss(x, target, name, p, "none") * weight
    if reduction == "mean" and by_weight:
        return np.sum(losses) / np.sum(weight)
    return reduced(losses, reduction)


@in_single
def mse_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """Return the squares of ``input - target``, their sum or their mean.

    Parameters
    ----------
    input, target : array_like
        They are broadcast, with a warning.
    size_average, reduce : bool, optional
        What PyTorch had before `reduction`; with a warning.
    reduction : {"mean", "sum", "none"}
    weight : array_like, shape of `input`, optional
        The mean is then divided by its sum.

    Returns
    -------
    DTensor
        Partial where the elements are cut, unless `reduction` is "none".

    Raises
    ------
    ValueError
        If `reduction` is something else, or `weight` has another shape.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    return _loss("mse", input, target, reduction, weight)


@in_single
def l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """Return the absolute values of ``input - target``: see `mse_loss`."""
    reduction = reduction_of(size_average, reduce, reduction)
    return _loss("l1", input, target, reduction, weight)


@in_single
def smooth_l1_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """Return ``|d| - beta/2`` of ``d = input - target``, or ``d**2 / (2 * beta)`` where
    ``|d|`` is below `beta`: see `mse_loss`."""
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    reduction = reduction_of(size_average, reduce, reduction)
    return _loss("smooth_l1" if beta else "l1", input, target, reduction, p=beta)


@in_single
def huber_loss(
    input: Any,
    target: Any,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Any = None,
) -> Any:
    """Return ``delta * (|d| - delta/2)`` of ``d = input - target``, or ``d**2 / 2``
    where ``|d|`` is not above `delta`: see `mse_loss`. A mean is not divided by the
    sum of weights."""
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    return _loss("huber", input, target, reduction, weight, delta, by_weight=False)


@in_single
def kl_div(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """Return the Kullback-Leibler divergence, ``target * (log(target) - input)``.

    Parameters
    ----------
    input : array_like
        Logarithms of probabilities.
    target : array_like
        Probabilities; with `log_target` their logarithms.
    size_average, reduce : bool, optional
        What PyTorch had before `reduction`; with a warning.
    reduction : {"mean", "batchmean", "sum", "none"}
        "batchmean": the sum divided by the length of dim 0, which is the divergence;
        "mean" warns that it is not.
    log_target : bool, default False
    """
    if size_average is None and reduce is None and reduction == "mean":
        warn(
            "reduction: 'mean' divides the total loss by both the batch size and the "
            "support size. 'batchmean' divides only by the batch size, and aligns with "
            "the KL div math definition."
        )
    reduction = reduction_of(size_average, reduce, reduction)
    batchmean = reduction == "batchmean"
    reduction = reduction.replace("batchmean", "sum")
    check_reduction(reduction)
    if input.shape != target.shape:
        shape = np.broadcast_shapes(input.shape, target.shape)
        input, target = np.broadcast_to(input, shape), np.broadcast_to(target, shape)
    name = "kl_div_log" if log_target else "kl_div"
    found = number_loss(input, target, name, 0.0, reduction)
    return found * (1 / input.shape[0]) if batchmean and input.ndim else found


@in_single
def binary_cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return ``-target * log(input) - (1 - target) * log(1 - input)``.

    Parameters
    ----------
    input : array_like
        Probabilities. No logarithm counts as less than -100; what is not between 0 and
        1 gives NaN, in PyTorch's dialect an error.
    target : array_like, shape of `input`
    weight : array_like, optional
        What the losses are multiplied with, broadcast.
    size_average, reduce, reduction
        As of `mse_loss`.

    Raises
    ------
    ValueError
        If the shapes differ.
    RuntimeError
        In PyTorch's dialect, if elements of `input` are not between 0 and 1: on the
        rank that has them at once, on others when ranks next agree.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_reduction(reduction)
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}) is deprecated. Please ensure they have the same size."
        )
    strict = float(_C.is_torch(input))
    if weight is None:
        return number_loss(input, target, "bce", strict, reduction)
    losses = number_loss(input, target, "bce", strict, "none")
    return reduced(losses * weight, reduction)


@in_single
def binary_cross_entropy_with_logits(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:
    """Return `binary_cross_entropy` of the sigmoid of `input`, without its overflow.

    Parameters
    ----------
    input, target, weight, size_average, reduce, reduction
        As of `binary_cross_entropy`.
    pos_weight : array_like, optional
        What ``target`` is multiplied with in its first place, broadcast.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_reduction(reduction)
    if target.shape != input.shape:
        raise ValueError(
            f"Target size ({target.shape}) must be the same as input size "
            f"({input.shape})"
        )
    input = beside(input, target, weight, pos_weight)
    if weight is None and pos_weight is None:
        return number_loss(input, target, "bce_logits", 0.0, reduction)
    if pos_weight is None:
        losses = number_loss(input, target, "bce_logits", 0.0, "none")
    else:
        scale = (pos_weight - 1) * target + 1
        losses = (1 - target) * input - scale * logsigmoid(input)
    return reduced(losses if weight is None else losses * weight, reduction)
