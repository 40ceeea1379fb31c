"""Losses of classes: `cross_entropy` and `nll_loss`, as in torch.nn.functional.

For each row a loss needs the sum of its exponentials and the element of the right
class. So rows may be cut, by batch or by class. If classes are cut, two numbers for
each row are all-reduced, rows never move, and the rest is a sum over all parts."""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.autocast import in_single
from dtensor.ops._make.composite import settled
from dtensor.ops._make.kernel import inexact, kernel_for
from dtensor.ops._make.operator import Operand, Part, call, letters, operator
from dtensor.ops._make.parts import move, spans
from dtensor.ops._make.words import Answer, Words, rule
from dtensor.ops.model import loss_numpy
from dtensor.ops.model.loss_parallel import (
    as_replicated,
    is_loss_parallel,
    mesh_dim_of,
    whole_on,
)
from dtensor.ops.model.number_loss import beside, check_reduction, reduced, reduction_of
from dtensor.ops.model.softmax import (
    cut_logsumexp,
    is_cut,
    log_softmax,
    row_dot,
    row_logsumexp,
    softmax_backward,
    softmax_given,
)

__all__ = ["cross_entropy", "nll_loss"]

Layouts = tuple[_C.Layout, ...]

# --- operators ------------------------------------------------------------------------


def _first(index: int, dim: int) -> Part:
    """Return which class is the first one of this rank."""

    def first(operands: Layouts, results: Layouts) -> int:
        held = spans(operands[index], dim) if operands else []
        return held[0][0] if held else 0

    return Part(first)


def _words(x: Operand, dim: int) -> tuple[Words, Words]:
    """Return the words of `x` and of its rows; strided classes are made whole."""
    strided = x.layout is not None and x.layout.is_strided(dim)
    names = letters(x.ndim, whole=(dim,) if strided else ())
    return names, names[:dim] + names[dim + 1 :]


def _dim(x: Any) -> int:
    return 0 if x.ndim == 1 else 1


def _terms(rows: Words, weight: Any, lse: Any, total: Any) -> list[Words]:
    """Return the words of the operands after the targets, as far as they are there."""
    classes: Words = [] if weight is None else [str(weight.size)]
    given: list[tuple[Any, Words]] = [(weight, classes), (lse, rows), (total, [])]
    return [words for operand, words in given if operand is not None]


@operator(agrees=IndexError)
def class_loss(
    x: Operand,
    target: Operand,
    weight: Operand | None,
    lse: Operand | None,
    total: Operand | None,
    ignore_index: int,
    smoothing: float,
    reduction: str,
) -> Answer:
    """Return the losses of rows: see csrc/kernels/cross_entropy.h.

    Collective: the ranks agree that all targets are classes.

    Parameters
    ----------
    x : array_like
        Classes are dim 1, or dim 0 of a single row.
    target : array_like of int
        The class of each row.
    weight : array_like, optional
        Of each class.
    lse : array_like, optional
        The logarithm of the sum of exponentials of each row.
    total : array_like, optional
        A number that the sum is divided by.
    ignore_index : int
        The target of rows that do not count.
    smoothing : float
    reduction : {"none", "sum"}

    Raises
    ------
    IndexError
        If a target is no class; on every rank.
    """
    dim = _dim(x)
    names, rows = _words(x, dim)
    dtypes = [y.dtype for y in (x, weight, lse, total) if y is not None]
    name = "classes_loss" if reduction == "none" else "classes_loss_sum"
    kernel, dtype = kernel_for(name, dtypes, getattr(loss_numpy, name))
    arguments = (x, target, weight, lse, _first(0, dim), x.shape[dim])
    options: tuple[Any, ...] = (int(ignore_index), float(smoothing), dim)
    if reduction != "none":
        options += (total,)
    text = rule(
        [names, rows, *_terms(rows, weight, lse, total)],
        [rows if reduction == "none" else []],
        "0" if lse is None else None,
    )
    return text, call(kernel, *arguments, *options), dtype


@operator
def class_loss_backward(
    grad: Operand,
    x: Operand,
    target: Operand,
    weight: Operand | None,
    lse: Operand | None,
    total: Operand | None,
    ignore_index: int,
    smoothing: float,
    reduction: str,
) -> Answer:
    """Return the gradient of `x` in `class_loss`, where `lse` is a function of x."""
    dim = _dim(x)
    names, rows = _words(x, dim)
    dtypes = [y.dtype for y in (grad, x, weight, lse, total) if y is not None]
    kernel, dtype = kernel_for(
        "classes_loss_backward", dtypes, loss_numpy.classes_backward
    )
    single = reduction != "none"
    text = rule(
        [[] if single else rows, names, rows, *_terms(rows, weight, lse, total)],
        [names],
        "0",
    )
    arguments = (grad, x, target, weight, lse, _first(1, dim), x.shape[dim])
    options = (int(ignore_index), float(smoothing), dim, total, single)
    return text, call(kernel, *arguments, *options), dtype


def _refuse_weight(needed: tuple[bool, ...]) -> None:
    if needed == (True,):
        raise NotImplementedError("the derivative for 'weight' is not implemented")


@class_loss.vjp_all
def _(
    needs: tuple[bool, ...],
    grad: Any,
    _out: Any,
    x: Any,
    target: Any,
    weight: Any,
    lse: Any,
    total: Any,
    ignore_index: int,
    smoothing: float,
    reduction: str,
) -> tuple[Any, ...]:
    _refuse_weight(needs[2:3] if weight is not None else ())
    by_x = class_loss_backward(
        grad, x, target, weight, lse, total, ignore_index, smoothing, reduction
    )
    return (by_x, *(None for _ in needs[1:]))


@class_loss_backward.vjp_all
def _(
    needs: tuple[bool, ...],
    grad: Any,
    _out: Any,
    first: Any,
    x: Any,
    target: Any,
    weight: Any,
    lse: Any,
    total: Any,
    *options: Any,
) -> tuple[Any, ...]:
    dim, by_first, by_x = _dim(x), None, None
    _refuse_weight(needs[3:4] if weight is not None else ())

    def slope(of: Any, sums: Any) -> Any:
        return class_loss_backward(of, x, target, weight, sums, total, *options)

    if needs[0]:
        losses = grad * slope(np.ones(first.shape, first.dtype), lse)
        by_first = np.sum(losses, dim) if first.ndim == x.ndim - 1 else np.sum(losses)
    if needs[1] and lse is not None:  # x is in e^(x - lse) only, and in lse
        share = grad * np.sum(-slope(first, None), dim, keepdims=True)
        likely = softmax_given(x, lse, np.ones_like(lse), dim)  # knows that lse is of x
        by_x = softmax_backward(share, likely, dim)
    return (by_first, by_x, *(None for _ in needs[2:]))


@operator
def class_total(
    target: Operand,
    weight: Operand | None,
    classes: int,
    ignore_index: int,
    dtype: np.dtype[Any],
) -> Answer:
    """Return the sum of the weights of all rows that count, or their number."""
    kernel, kind = kernel_for("classes_total", [dtype], loss_numpy.classes_total)
    rows = letters(target.ndim)
    text = rule([rows, *_terms(rows, weight, None, None)], [[]])
    like = np.zeros((), kind)
    return text, call(kernel, like, target, weight, classes, int(ignore_index)), kind


# --- the functions --------------------------------------------------------------------


def _check(name: str, x: Any, target: Any, weight: Any, dim: int) -> None:
    """Raise what torch raises."""
    expected = (*x.shape[:dim], *x.shape[dim + 1 :])
    if target.shape != expected:
        if x.ndim <= 2 and target.ndim <= 1:
            have = [v.shape[0] if v.ndim else 1 for v in (x, target)]
            raise ValueError(
                f"Expected input batch_size ({have[0]}) to match target batch_size "
                f"({have[1]})."
            )
        raise RuntimeError(
            f"Expected target size {list(expected)}, got {list(target.shape)}"
        )
    kind = getattr(target.dtype, "legacy", None)  # in PyTorch's dialect
    if kind not in (None, "Long", "Byte"):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {kind}")
    if target.dtype.kind not in "iu":
        raise RuntimeError(f"{name}: expected integer targets, but got {target.dtype}")
    if weight is not None and weight.shape != (x.shape[dim],):
        raise RuntimeError(
            f"weight tensor should be defined either for all {x.shape[dim]} classes or "
            f"no classes but got weight tensor of shape: {list(weight.shape)}"
        )


def _of_classes(
    name: str,
    x: Any,
    target: Any,
    weight: Any,
    ignore_index: int,
    reduction: str,
    smoothing: float,
    lse_of: Callable[[Any, int], Any] | None,
) -> Any:
    """Return a loss; `lse_of` makes the sums of exponentials, if there are any."""
    dim = _dim(x)
    parallel = is_loss_parallel() and isinstance(x, _C.DTensor)
    if parallel:
        mesh_dim = mesh_dim_of(x, dim)
        target = as_replicated(x, dim, target, lacks=True)
        weight = as_replicated(x, dim, weight, lacks=False)
    _check(name, x, target, weight, dim)
    lse = total = None
    if lse_of is not None:
        x = x if parallel else _where_it_goes(name, x, dim)
        lse = lse_of(x.detach() if isinstance(x, _C.Tensor) else x, dim)
    if reduction == "mean":
        dtype = inexact(x.dtype)
        total = class_total(target, weight, x.shape[dim], ignore_index, dtype)
        total = settled(name, total)
    kind = "none" if reduction == "none" else "sum"
    loss = class_loss(x, target, weight, lse, total, ignore_index, smoothing, kind)
    return whole_on(mesh_dim, loss) if parallel else loss


def _where_it_goes(name: str, x: Any, dim: int) -> Any:
    """Return rows in the layout in which they are summed, so that they move once."""
    if not isinstance(x, _C.DTensor):
        return x
    if is_cut(x, dim):
        return settled(name, x)
    _, (to,), _ = row_logsumexp.abstract(x.layout, dim)
    return move(name, x, to)


def _of_probabilities(
    x: Any, target: Any, weight: Any, reduction: str, smoothing: float
) -> Any:
    dim = _dim(x)
    logs = log_softmax(x, dim)
    if smoothing:
        target = target * (1 - smoothing) + smoothing / x.shape[dim]
    if weight is not None:
        logs = logs * np.reshape(weight, (-1,) + (1,) * (x.ndim - dim - 1))
    return reduced(-row_dot(logs, target, dim), reduction)


@in_single
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """Return minus the logarithm of the probability that softmax gives to the target.

    Collective. Nothing of `input` moves where it is cut by batch or by class: of a
    class dim that is cut, and not short, two numbers for each row are all-reduced.

    Parameters
    ----------
    input : array_like, shape (C,), (N, C) or (N, C, d1, ...)
        Any numbers; softmax turns them into probabilities.
    target : array_like
        Classes, integers of the shape of `input` without C; or probabilities, of the
        shape of `input`.
    weight : array_like, shape (C,), optional
        Of each class. A mean is divided by the sum of the weights of all targets.
    size_average, reduce : bool, optional
        What PyTorch had before `reduction`; with a warning.
    ignore_index : int, default -100
        A target that does not count.
    reduction : {"mean", "sum", "none"}
    label_smoothing : float, default 0.0
        How much of a target goes to all classes alike.

    Returns
    -------
    DTensor
        Partial(sum) where rows, or classes, are cut: the mean too, each rank's sum
        being divided by the total of all ranks.

    Raises
    ------
    ValueError, RuntimeError
        If shapes do not fit or an argument is no choice; on every rank.
    IndexError
        If a target is no class; on every rank.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_reduction(reduction)
    input = beside(input, target, weight)
    if not 0 <= label_smoothing <= 1:
        raise RuntimeError(
            f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}"
        )
    if input.shape == target.shape and target.dtype.kind not in "iu":
        if ignore_index >= 0:
            raise RuntimeError(
                "ignore_index is not supported for floating point target"
            )
        return _of_probabilities(input, target, weight, reduction, label_smoothing)
    sums = cut_logsumexp if is_loss_parallel() else row_logsumexp
    return _of_classes(
        "cross_entropy",
        input,
        target,
        weight,
        ignore_index,
        reduction,
        label_smoothing,
        sums,
    )


@in_single
def nll_loss(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return minus the logarithm of a probability that is given for the target.

    `input` has logarithms of probabilities, as `log_softmax` gives them; parameters,
    layouts and errors are those of `cross_entropy`.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_reduction(reduction)
    input = beside(input, target, weight)
    return _of_classes(
        "nll_loss", input, target, weight, ignore_index, reduction, 0.0, None
    )
