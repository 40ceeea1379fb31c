"""Recurrent units over time, as one operator for a layer and a direction.

The batch may be cut: nothing is sent then, and the gradients of the weights are
Partial. Time, gates and units are whole while it computes.
"""

from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.autocast import narrowed
from dtensor.ops._make.halves import is_bfloat16, wide_call
from dtensor.ops._make.operator import Operand, operator
from dtensor.ops._make.words import Answer, Words, rule
from dtensor.ops.model.recurrent_steps import GATES, backward, forward

__all__ = ["recurrent"]

# The words of the operands: time, batch, gates, width of the state, units.
_DRIVE, _STATE, _CELL = ["T", "n", "G"], ["n", "P"], ["n", "H"]
_OUT = ["T", "n", "P"]
_OTHERS = [["G", "P"], ["G"], _STATE, _CELL, ["P", "H"], ["T", "n"]]


def _given(operands: list[Operand | None]) -> list[Words]:
    """Return the words of those operands that there are."""
    terms = [_DRIVE, *_OTHERS]
    return [w for w, x in zip(terms, operands, strict=True) if x is not None]


def _units(drive: Operand, kind: str) -> dict[str, int]:
    """Return how many units an LSTM has; the rules of others do not need it."""
    return {"H": drive.shape[2] // GATES[kind]} if kind == "lstm" else {}


def _check(operands: list[Operand | None]) -> None:
    dtypes = {x.dtype for x in operands if x is not None and x.dtype != np.bool_}
    if len(dtypes) > 1:
        names = " != ".join(sorted(map(str, dtypes)))
        raise RuntimeError(
            f"input, state and parameters of a recurrent layer must have the same "
            f"dtype, but got: {names}"
        )
    dtype = operands[0].dtype if operands[0] is not None else None
    if dtype is None or not (dtype.kind == "f" or is_bfloat16(dtype)):
        raise TypeError(f"recurrent layers are not defined for {dtype}")


@narrowed
@operator
def recurrent(
    drive: Operand,
    weight: Operand,
    bias: Operand | None,
    hx: Operand | None,
    cx: Operand | None,
    project: Operand | None,
    valid: Operand | None,
    kind: str,
    reverse: bool,
) -> Answer:
    """Run a recurrent layer in one direction, given the input's share of its gates.

    The parameters are those of `dtensor.ops.model.recurrent_steps.forward`.

    Returns
    -------
    tuple of DTensor
        All states, the last one, and of an LSTM the last cell: cut as the batch is.

    Raises
    ------
    RuntimeError, TypeError
        For dtypes that differ, or are not floating-point.
    """
    operands = [drive, weight, bias, hx, cx, project, valid]
    _check(operands)
    ends = [_STATE, _CELL] if kind == "lstm" else [_STATE]
    run = wide_call(forward, *operands, kind, reverse)
    dtypes = (drive.dtype,) * (1 + len(ends))
    return (
        rule(_given(operands), [_OUT, *ends], lengths=_units(drive, kind)),
        run,
        dtypes,
    )


@operator(name="recurrent_backward")
def _backward(
    grad: Operand,
    grad_h: Operand,
    grad_c: Operand | None,
    drive: Operand,
    weight: Operand,
    bias: Operand | None,
    hx: Operand | None,
    cx: Operand | None,
    project: Operand | None,
    valid: Operand | None,
    out: Operand,
    kind: str,
    reverse: bool,
) -> Answer:
    """Return the gradients of those operands of `recurrent` that there are."""
    operands = [drive, weight, bias, hx, cx, project, valid]
    ends = [_STATE] if grad_c is None else [_STATE, _CELL]
    terms = [_OUT, *ends, *_given(operands), _OUT]
    results = _given([*operands[:-1], None])
    given = (grad, grad_h, grad_c, *operands, out, kind, reverse)
    dtypes = (drive.dtype,) * len(results)
    run = wide_call(backward, *given)
    return rule(terms, results, lengths=_units(drive, kind)), run, dtypes


@recurrent.vjp_all
def _recurrent_vjp(
    needs: tuple[bool, ...], grad: Any, out: Any, *given: Any
) -> tuple[Any, ...]:
    *operands, kind, reverse = given
    grads = (*grad, None)[:3]
    # With create_graph it is made of operators, which have gradients.
    back: Any = backward if _C.is_grad_enabled() else _backward
    found = back(*grads, *operands, out[0], kind, reverse)
    return (*found, None)[: len(needs)]
