"""The loss of connectionist temporal classification."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor._C import Tensor
from dtensor.ops.model.ctc import ctc

__all__ = ["ctc_loss"]


def _numbers(name: str, given: Any, count: int, most: int) -> Any:
    if not isinstance(given, Tensor):
        given = np.asarray(given, np.int64).reshape(-1)
    if given.dtype.kind not in "iu":
        raise RuntimeError(f"{name} must be integral")
    if tuple(given.shape) != (count,):
        raise RuntimeError(
            f"Expected {name} to have value for every batch element, but got shape "
            f"{tuple(given.shape)} for {count}"
        )
    whole = np.asarray(_whole(given)).astype(np.int64)
    if whole.size and (whole.min() < 0 or whole.max() > most):
        raise RuntimeError(
            f"Expected {name} to have value at most {most} and at least 0, but got "
            f"values from {whole.min()} to {whole.max()}"
        )
    return whole


def _whole(x: Any) -> Any:
    """Return all elements, as an array that counts as replicated. Collective."""
    if not isinstance(x, Tensor):
        return x
    full = x.full_tensor() if hasattr(x, "full_tensor") else x
    return full.detach().numpy()


def _rows(targets: Any, lengths: Any) -> Any:
    """Return targets that come one after the other as rows, with zeros behind."""
    most = int(np.max(lengths, initial=0))
    out = np.zeros((len(lengths), most), np.int64)
    ends = np.cumsum(lengths)
    for row, end, length in zip(out, ends, lengths, strict=True):
        row[:length] = targets[end - length : end]
    return out


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """Return the negative log-likelihood of labels whose times are unknown.

    Nothing is sent where the samples of `log_probs` are cut. Targets and lengths are
    gathered.

    Parameters
    ----------
    log_probs : tensor, shape (times, samples, classes) or (times, classes)
        Logarithms of probabilities, from `log_softmax`. Their gradient is that of what
        the softmax is taken of, as in PyTorch.
    targets : tensor of int, shape (samples, length), or one after the other
        The labels, none of them `blank`.
    input_lengths, target_lengths : sequence or tensor of int
        How many times and labels of each sample count.
    blank : int, default 0
        The class between labels.
    reduction : ``"none"``, ``"mean"`` or ``"sum"``
        A mean is of losses that are divided by the numbers of labels.
    zero_infinity : bool, default False
        Whether impossible labels have the loss 0 and no gradient, not an infinite one.

    Raises
    ------
    RuntimeError, ValueError
        For shapes, lengths and numbers that do not go together. On every rank.

    Notes
    -----
    Graves et al. 2006, "Connectionist temporal classification".
    """
    if log_probs.ndim == 2:
        found = ctc_loss(
            log_probs[:, None],
            targets[None] if np.ndim(targets) == 1 else targets,
            _one(input_lengths),
            _one(target_lengths),
            blank,
            "none",
            zero_infinity,
        )
        return _reduced(found, _one(target_lengths), reduction, found[0])
    time, count, classes = log_probs.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    times = _numbers("input_lengths", input_lengths, count, time)
    labels = np.asarray(_whole(targets)).astype(np.int64)
    most = labels.shape[-1]
    lengths = _numbers("target_lengths", target_lengths, count, most)
    if labels.ndim == 1:
        labels = _rows(labels, lengths)
    known = labels[np.arange(labels.shape[1]) < lengths[:, None]]
    if known.size and (known.min() < 0 or known.max() >= classes):
        raise RuntimeError(
            f"ctc_loss: targets must be from 0 to {classes - 1}, got "
            f"{known.min()} to {known.max()}"
        )
    found = ctc(log_probs, labels, times, lengths, blank, zero_infinity)
    if zero_infinity:
        found = np.where(found == np.inf, found.dtype.type(0), found)
    return _reduced(found, lengths, reduction, found)


def _one(lengths: Any) -> Any:
    return np.asarray(_whole(lengths)).reshape(1)


def _reduced(found: Any, lengths: Sequence[int], reduction: str, plain: Any) -> Any:
    if reduction == "none":
        return plain
    if reduction == "sum":
        return np.sum(found)
    if reduction != "mean":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    divisors = np.maximum(np.asarray(lengths), 1).astype(np.dtype(found.dtype))
    return np.mean(found / divisors)
