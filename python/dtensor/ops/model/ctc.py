"""Connectionist temporal classification: the likelihood of labels without times.

Graves et al. 2006. Samples may be cut; times, classes and labels are whole.
"""

from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.kernel import kernel_for
from dtensor.ops._make.operator import Operand, call, operator
from dtensor.ops._make.words import Answer, rule

__all__ = ["ctc", "ctc_input"]

_WORDS = [["T", "n", "C"], ["n", "S"], ["n"], ["n"]]


def _losses(log_probs: Any, *rest: Any) -> Any:
    return _C.kernel("ctc_loss")(np.asarray(log_probs, np.float64), *rest)


def _gradient(grad: Any, log_probs: Any, *rest: Any) -> Any:
    wide = np.asarray(grad, np.float64), np.asarray(log_probs, np.float64)
    return _C.kernel("ctc_loss_backward")(*wide, *rest)


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
    kernel, dtype = kernel_for("ctc_loss", [log_probs.dtype], _losses)
    lengths = input_lengths, target_lengths
    return (
        rule(_WORDS, [["n"]]),
        call(kernel, log_probs, targets, *lengths, blank),
        dtype,
    )


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
    given = grad, log_probs, targets, input_lengths, target_lengths
    dtypes = [grad.dtype, log_probs.dtype]
    kernel, dtype = kernel_for("ctc_loss_backward", dtypes, _gradient)
    ran = call(kernel, *given, blank, zero_infinity)
    return rule([["n"], *_WORDS], [_WORDS[0]]), ran, dtype


ctc.vjp(
    lambda grad, _out, log_probs, *rest: ctc_input(grad, log_probs, *rest),
    None,
    None,
    None,
)
