"""Connectionist temporal classification: the likelihood of labels without times.

Graves et al. 2006. Samples may be cut; times, classes and labels are whole.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.ops._make.operator import Operand, call, operator
from dtensor.ops._make.words import Answer, rule

__all__ = ["ctc", "ctc_input"]

Array = npt.NDArray[Any]
_WORDS = [["T", "n", "C"], ["n", "S"], ["n"], ["n"]]


def _labels(targets: Array, blank: int) -> tuple[Array, Array]:
    """Return labels with blanks around them, and which may follow the one before the
    last: others than that one, and than a blank."""
    count, most = targets.shape
    labels = np.full((count, 2 * most + 1), blank, np.int64)
    labels[:, 1::2] = targets
    skips = np.zeros(labels.shape, bool)
    skips[:, 3::2] = labels[:, 3::2] != labels[:, 1:-2:2]
    return labels, skips


def _shifted(x: Array, by: int) -> Array:
    out = np.full_like(x, -np.inf)
    out[:, by:] = x[:, : x.shape[1] - by]
    return out


def _forward(given: Array, skips: Array, times: Array, first: Array) -> Array:
    """Return the log-likelihood of each beginning that ends in a label, by time."""
    found = np.full(given.shape, -np.inf)
    for t in range(given.shape[0]):
        before = first if t == 0 else found[t - 1]
        total = before
        if t:
            total = np.logaddexp(before, _shifted(before, 1))
            jump = np.where(skips, _shifted(before, 2), -np.inf)
            total = np.logaddexp(total, jump)
        found[t] = np.where((t < times)[:, None], total + given[t], before)
    return found


def _starts(labels: Array) -> Array:
    first = np.full(labels.shape, -np.inf)
    first[:, :2] = 0
    return first


def _all(
    log_probs: Array, targets: Array, times: Array, lengths: Array, blank: int
) -> tuple[Array, Array, Array, Array]:
    """Return labels, their log-probabilities, `_forward` of these, and the losses."""
    labels, skips = _labels(targets, blank)
    wide = log_probs.astype(np.float64)
    given = np.take_along_axis(
        wide, np.broadcast_to(labels, (len(wide), *labels.shape)), 2
    )
    inside = np.arange(labels.shape[1]) <= 2 * lengths[:, None]
    given = np.where(inside, given, -np.inf)
    found = _forward(given, skips, times, _starts(labels))
    last = found[-1] if len(found) else np.where(_starts(labels) == 0, 0, -np.inf)
    rows, end = np.arange(len(labels)), 2 * lengths
    total = last[rows, end]
    total = np.where(
        lengths > 0, np.logaddexp(total, last[rows, np.maximum(end - 1, 0)]), total
    )
    total = np.where(times > 0, total, np.where(lengths > 0, -np.inf, 0))
    return labels, given, found, -total


@np.errstate(invalid="ignore")
def _losses(log_probs: Array, *rest: Any) -> Array:
    losses: Array = _all(log_probs, *rest)[3].astype(log_probs.dtype)
    return losses


@np.errstate(invalid="ignore")
def _gradient(
    grad: Array,
    log_probs: Array,
    targets: Array,
    times: Array,
    lengths: Array,
    blank: int,
    zero_infinity: bool,
) -> Array:
    """Return the gradient for log-probabilities that come from a softmax: that of what
    they are made from."""
    labels, given, alpha, losses = _all(log_probs, targets, times, lengths, blank)
    out = np.exp(log_probs.astype(np.float64))
    for n in range(len(labels)):  # backwards, as forwards of what is turned round
        time, count = int(times[n]), 2 * int(lengths[n]) + 1
        part = given[:time, n : n + 1, :count][::-1, :, ::-1]
        turned = np.ascontiguousarray(labels[n : n + 1, :count][:, ::-1][:, 1::2])
        around, skips = _labels(turned, blank)
        beta = _forward(part, skips, times[n : n + 1], _starts(around))[::-1, 0, ::-1]
        both = alpha[:time, n, :count] + beta
        total = np.full((time, out.shape[2]), -np.inf)
        for s, label in enumerate(labels[n, :count]):
            total[:, label] = np.logaddexp(total[:, label], both[:, s])
        out[:time, n] -= np.exp(total + losses[n] - log_probs[:time, n])
        out[time:, n] = 0
        out[:, n] *= grad[n]
        if zero_infinity and losses[n] == np.inf:
            out[:, n] = 0
    return out.astype(log_probs.dtype)


@operator(operands=4, name="ctc_loss")
def ctc(
    log_probs: Operand,
    targets: Operand,
    input_lengths: Operand,
    target_lengths: Operand,
    blank: int,
    zero_infinity: bool,
) -> Answer:
    """Return the loss of each sample; `zero_infinity` concerns the gradient alone."""
    kernel = call(_losses, log_probs, targets, input_lengths, target_lengths, blank)
    return rule(_WORDS, [["n"]]), kernel, log_probs.dtype


@operator(operands=5, name="ctc_loss_backward")
def ctc_input(
    grad: Operand,
    log_probs: Operand,
    targets: Operand,
    input_lengths: Operand,
    target_lengths: Operand,
    blank: int,
    zero_infinity: bool,
) -> Answer:
    """Return the gradient of the log-probabilities."""
    kernel = call(
        _gradient,
        grad,
        log_probs,
        targets,
        input_lengths,
        target_lengths,
        blank,
        zero_infinity,
    )
    return rule([["n"], *_WORDS], [_WORDS[0]]), kernel, log_probs.dtype


ctc.vjp(
    lambda grad, _out, log_probs, *rest: ctc_input(grad, log_probs, *rest),
    None,
    None,
    None,
)
