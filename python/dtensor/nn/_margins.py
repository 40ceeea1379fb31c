"""Losses with margins: nothing is lost where a score is far enough from another."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor._core.device import is_meta
from dtensor.nn._reduced import like, reduced
from dtensor.nn._vectors import pairwise_distance
from dtensor.ops._make.autocast import in_single
from dtensor.ops.model.activation import logsigmoid
from dtensor.ops.model.loss import nll_loss
from dtensor.ops.model.number_loss import beside, check_reduction, reduction_of

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


def _above(x: Any) -> Any:
    """Return ``max(x, 0)``, whose gradient at 0 is 1."""
    return np.clip(x, 0, None)


# --- of pairs -------------------------------------------------------------------------


@in_single
def margin_ranking_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return ``max(0, -target * (input1 - input2) + margin)``.

    Parameters
    ----------
    input1, input2 : tensor
        Scores.
    target : tensor
        1 where the first score shall be the greater one, -1 where the second one.
    margin : float, default 0
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``

    Raises
    ------
    RuntimeError
        If the tensors have not the same number of dims.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_reduction(reduction)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but "
            f"got sizes: input1: {input1.shape}, input2: {input2.shape}, target: "
            f"{target.shape} "
        )
    loss = _above(-like(target, input1) * (input1 - input2) + margin)
    return reduced(loss, reduction)


@in_single
def hinge_embedding_loss(
    input: Any,
    target: Any,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return the input where the target is 1, ``max(0, margin - input)`` where -1.

    Elsewhere it is the sum of both. Options are those of `margin_ranking_loss`.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_reduction(reduction)
    apart = np.where(target == 1, 0, _above(margin - input))
    return reduced(apart + np.where(target == -1, 0, input), reduction)


@in_single
def cosine_embedding_loss(
    input1: Any,
    input2: Any,
    target: Any,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return ``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where -1.

    Parameters
    ----------
    input1, input2 : tensor, shape (N, D) or (D,)
        Vectors; of the angle between two the cosine is taken.
    target : tensor, shape (N,) or ()
    margin, size_average, reduce, reduction
        As of `margin_ranking_loss`.

    Raises
    ------
    RuntimeError
        For other numbers of dims.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_reduction(reduction)
    if target.ndim > 1:
        raise RuntimeError(
            "0D or 1D target tensor expected, multi-target not supported"
        )
    if input1.ndim != target.ndim + 1 or input2.ndim != target.ndim + 1:
        raise RuntimeError(
            f"{target.ndim}D target tensor expects {target.ndim + 1}D input tensors, "
            f"but found inputs with sizes {list(input1.shape)} and "
            f"{list(input2.shape)}."
        )
    squares = [np.sum(x * x, axis=-1) + 1e-12 for x in (input1, input2)]
    cos = np.sum(input1 * input2, axis=-1) / np.sqrt(squares[0] * squares[1])
    loss = np.where(target == 1, 1 - cos, 0)
    return reduced(loss + np.where(target == -1, _above(cos - margin), 0), reduction)


@in_single
def soft_margin_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return ``log(1 + exp(-target * input))``, for targets 1 and -1.

    Options are those of `margin_ranking_loss`.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_reduction(reduction)
    return reduced(-logsigmoid(like(target, input) * input), reduction)


# --- of classes -----------------------------------------------------------------------


@in_single
def multilabel_soft_margin_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return the mean over classes of the `binary_cross_entropy_with_logits`.

    Parameters
    ----------
    input, target : tensor, shape (..., C)
        Scores, and for each class 1 or 0.
    weight : tensor, shape (C,), optional
        The weight of each class.
    size_average, reduce, reduction
        As of `margin_ranking_loss`; "none" leaves a number for each row.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    target = like(target, input)
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    loss = loss if weight is None else loss * beside(weight, loss)
    return reduced(np.sum(loss, axis=-1) / input.shape[-1], reduction)


def _rows(input: Any, target: Any, ndim: int) -> tuple[Any, Any]:
    """Return scores of shape (N, C) and their targets, of (N,) or (N, C)."""
    if input.ndim not in (1, 2) or 0 in input.shape[-1:]:
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but "
            f"got: {list(input.shape)}"
        )
    shape = tuple(input.shape[: input.ndim + ndim - 2])
    if tuple(target.shape) not in (shape, shape or (1,)):
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: "
            f"{list(input.shape)}"
        )
    if np.dtype(target.dtype) != np.int64:
        found = getattr(target.dtype, "legacy", target.dtype)
        raise RuntimeError(f"expected scalar type Long but found {found}")
    if input.ndim == 1:
        return np.expand_dims(input, 0), np.reshape(target, (1, *shape))
    return input, target


@in_single
def multi_margin_loss(
    input: Any,
    target: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return the mean over classes of how far others come near to the right one.

    ``max(0, margin - input[target] + input[i]) ** p``, which is 0 for the target.

    Parameters
    ----------
    input : tensor, shape (N, C) or (C,)
        Scores.
    target : tensor of int64, shape (N,) or ()
        The right class.
    p : {1, 2}
    margin : float, default 1.0
    weight : tensor, shape (C,), optional
        What the losses of rows with each target are multiplied with.
    size_average, reduce, reduction
        As of `margin_ranking_loss`.

    Raises
    ------
    ValueError
        For another `p`, or a weight of several dims.
    RuntimeError
        If shapes or the target's dtype do not fit, or a target is no class; on every
        rank.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_reduction(reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    one, classes = target.ndim == 0, input.shape[-1] if input.ndim else 1
    input, target = _rows(input, target, 1)
    try:
        right = -nll_loss(input, target, ignore_index=-(2**62), reduction="none")
    except IndexError:
        raise RuntimeError("target out of range") from None
    far = margin - np.expand_dims(right, 1) + input
    others = np.expand_dims(target, 1) != beside(np.arange(classes), target)
    far = np.where(others & (far > 0), far if p == 1 else far * far, 0)
    loss = np.sum(far, axis=1) / classes
    if weight is not None:
        loss = loss * np.take(beside(weight, target), target)
    return reduced(loss[0] if one else loss, reduction)


@in_single
def multilabel_margin_loss(
    input: Any,
    target: Any,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return how far scores of other classes come near to those of the labels.

    The sum of ``max(0, 1 - input[label] + input[i])`` over labels and over classes i
    that are none, divided by the number of classes. Collective: the least and the
    greatest label are read.

    Parameters
    ----------
    input : tensor, shape (N, C) or (C,)
        Scores.
    target : tensor of int64, of the same shape
        The labels of each row, up to the first -1.
    size_average, reduce, reduction
        As of `margin_ranking_loss`.

    Raises
    ------
    RuntimeError
        If shapes or the target's dtype do not fit, or a number is no class; on every
        rank.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_reduction(reduction)
    one, classes = input.ndim == 1, input.shape[-1] if input.ndim else 1
    input, target = _rows(input, target, 2)
    if target.size and not is_meta(target):
        if int(np.min(target)) < -1 or int(np.max(target)) >= classes:
            raise RuntimeError("argument #2 'target' is out of range")
    valid = np.cumsum(target < 0, axis=1) == 0
    named = np.where(valid, target, 0)
    right = np.expand_dims(np.take_along_axis(input, named, 1), 2)
    every = beside(np.arange(classes), target)
    is_label = (np.expand_dims(target, 2) == every) & np.expand_dims(valid, 2)
    others = np.logical_not(np.any(is_label, axis=1, keepdims=True))
    far = _above(1 - right + np.expand_dims(input, 1))
    far = np.where(np.expand_dims(valid, 2) & others, far, 0)
    loss = np.sum(far, axis=(1, 2)) / classes
    return reduced(loss[0] if one else loss, reduction)


# --- of triplets ----------------------------------------------------------------------


@in_single
def triplet_margin_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return `triplet_margin_with_distance_loss` of the `pairwise_distance`.

    Parameters
    ----------
    anchor, positive, negative : tensor, shape (..., D)
    margin : float, default 1.0
    p, eps : float
        Of `pairwise_distance`.
    swap, reduction
        As of `triplet_margin_with_distance_loss`.
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    """
    return triplet_margin_with_distance_loss(
        anchor,
        positive,
        negative,
        distance_function=lambda x, y: pairwise_distance(x, y, p, eps),
        margin=margin,
        swap=swap,
        reduction=reduction_of(size_average, reduce, reduction),
    )


@in_single
def triplet_margin_with_distance_loss(
    anchor: Any,
    positive: Any,
    negative: Any,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """Return ``max(0, margin + d(anchor, positive) - d(anchor, negative))``.

    Parameters
    ----------
    anchor, positive, negative : tensor, shape (..., D)
    distance_function : function of two tensors, optional
        d; default: `pairwise_distance`.
    margin : float, default 1.0
    swap : bool, default False
        Whether ``d(positive, negative)`` is taken where it is less than
        ``d(anchor, negative)``.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``

    Raises
    ------
    ValueError
        If the margin is not positive.
    RuntimeError
        If the tensors have not the same number of dims.
    """
    check_reduction(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same "
            f"number of dimensions, but got: anchor {anchor.ndim}D, positive "
            f"{positive.ndim}D, and negative {negative.ndim}D inputs"
        )
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = np.minimum(far, distance(positive, negative))
    return reduced(_above(margin + near - far), reduction)
