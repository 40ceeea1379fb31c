"""Losses of distributions: how unlikely targets are."""

import math
from typing import Any

import numpy as np

from dtensor._core.device import is_meta
from dtensor.nn._reduced import like, reduced
from dtensor.ops._make.autocast import in_single
from dtensor.ops.model.number_loss import check_reduction, reduction_of

__all__ = ["gaussian_nll_loss", "poisson_nll_loss"]


@in_single
def poisson_nll_loss(
    input: Any,
    target: Any,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """Return how unlikely numbers are in Poisson distributions, but for constants.

    Parameters
    ----------
    input : tensor
        The logarithms of the means, ``exp(input) - target * input``; or without
        `log_input` the means, ``input - target * log(input + eps)``.
    target : tensor
    log_input : bool, default True
    full : bool, default False
        Whether Stirling's approximation of the constant is added, for targets above 1.
    size_average, reduce : bool, optional
        Older arguments of torch; use `reduction`.
    eps : float, default 1e-8
    reduction : ``"mean"``, ``"sum"`` or ``"none"``
    """
    reduction = reduction_of(size_average, reduce, reduction)
    check_reduction(reduction)
    target = like(target, input)
    if log_input:
        loss = np.exp(input) - target * input
    else:
        loss = input - target * np.log(input + eps)
    if full:
        t = np.where(target > 1, target, 1)
        term = t * np.log(t) - t + 0.5 * np.log(2 * math.pi * t)
        loss = loss + np.where(target > 1, term, 0)
    return reduced(loss, reduction)


def _variance(input: Any, var: Any) -> Any:
    """Return a variance that is broadcast against the input."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        return var
    if not is_meta(var) and bool(np.any(var < 0)):
        raise ValueError("var has negative entry/entries")
    if var.shape == input.shape:
        return var
    if tuple(input.shape[:-1]) == tuple(var.shape):
        return np.expand_dims(var, -1)
    pairs = list(zip(input.shape, var.shape, strict=False))
    if input.ndim == var.ndim and sum(n for m, n in pairs if m != n) == 1:
        return var
    raise ValueError("var is of incorrect size")


@in_single
def gaussian_nll_loss(
    input: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """Return how unlikely numbers are in normal distributions.

    ``(log(var) + (input - target)^2 / var) / 2``. Collective: whether a variance is
    negative is asked of all.

    Parameters
    ----------
    input : tensor
        The means.
    target : tensor
    var : tensor or float
        The variances: one for each mean, for each row of the last dim, or for all.
    full : bool, default False
        Whether the constant is added.
    eps : float, default 1e-6
        What variances are at least; their gradient does not see it.
    reduction : ``"mean"``, ``"sum"`` or ``"none"``

    Raises
    ------
    ValueError
        If a variance is negative, on every rank, or their shape does not fit.
    """
    var = _variance(input, var)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not valid")
    if isinstance(var, float):
        var = max(var, eps)
    else:
        fixed = var.detach()
        var = np.where(fixed < eps, var - fixed + eps, var)
    off = input - target
    loss = 0.5 * (np.log(var) + off * off / var)
    return reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)
