"""Padding: elements before and after those of a dim."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dtensor.ops._make.direct import Maybe, in_front
from dtensor.ops._make.operator import Operand
from dtensor.ops.shape.pad import pad as _pad, unpadded

__all__ = ["pad"]

_PAD_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _ends(pad: Sequence[int], ndim: int) -> list[tuple[int, int]]:
    """Return the numbers before and after each dim."""
    ends = [*zip(pad[0::2], pad[1::2], strict=True)][::-1]
    return [(0, 0)] * (ndim - len(ends)) + ends


def _row(input: Any, pad: Any, mode: Any = "constant", value: Any = None) -> Maybe:
    """Return the row of what keeps all elements, and repeats no more than there are."""
    given = isinstance(pad, list | tuple) and all(
        type(n) is int and n >= 0 for n in pad
    )
    if not isinstance(input, Operand) or not given or isinstance(value, Operand):
        return None
    if len(pad) % 2 or len(pad) > 2 * input.ndim or not pad or 0 in input.shape:
        return None
    ends, to = _ends(pad, input.ndim), _PAD_MODES.get(mode)
    if mode == "constant":
        number = 0 if value is None else value
        found = _pad.__wrapped__(input, ends, constant_values=number)
        return found if isinstance(found, tuple) else None
    less = {"reflect": 1, "wrap": 0, "edge": -max(pad, default=0)}.get(to or "")
    if less is None or any(
        max(both) > n - less for both, n in zip(ends, input.shape, strict=True)
    ):
        return None
    found = _pad.__wrapped__(input, ends, to)
    return found if isinstance(found, tuple) else None


def _back(
    grad: Any,
    _out: Any,
    _input: Any,
    pad: Any,
    mode: Any = "constant",
    value: Any = None,
) -> Any:
    ends = _ends(pad, _input.ndim)
    return unpadded(grad, None, _input, ends, _PAD_MODES.get(mode, mode))


@in_front(_row, _pad, _back)
def pad(
    input: Any, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Any:
    """Return the input padded at its ends; negative padding removes elements.

    Parameters
    ----------
    input : tensor
    pad : sequence of int
        The padding before and after the last dim, then the dim before it, and so on.
    mode : ``"constant"``, ``"reflect"``, ``"replicate"`` or ``"circular"``
    value : float, optional
        The value for ``"constant"``; default: 0.

    Raises
    ------
    RuntimeError
        If `pad` has an odd length or is too long, or a dim is too short to be reflected
        or to be wrapped around.
    NotImplementedError
        If there is no such mode.
    """
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            f"Padding length should be less than or equal to two times the input "
            f"dimension but got padding length {len(pad)} and input of dimension "
            f"{input.ndim}"
        )
    ends = _ends(pad, input.ndim)
    lengths = [n + sum(both) for n, both in zip(input.shape, ends, strict=True)]
    if min(lengths, default=0) < 0:
        raise RuntimeError(
            f"narrow(): length must be non-negative: padding {list(pad)} of an input "
            f"of shape {list(input.shape)}"
        )
    if mode not in ("reflect", "replicate"):  # which repeat what is removed, too
        input, ends = _cut(input, ends), [(max(0, a), max(0, b)) for a, b in ends]
    if mode == "constant":
        return np.pad(input, ends, constant_values=0 if value is None else value)
    if mode not in _PAD_MODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    for dim, both in enumerate(ends):
        if mode == "reflect" and max(both) >= max(1, input.shape[dim]):
            raise RuntimeError(
                "Padding size should be less than the corresponding input dimension, "
                f"but got: padding {both} at dimension {dim} of input "
                f"{list(input.shape)}"
            )
        if mode == "circular" and max(both) > input.shape[dim]:
            raise RuntimeError("Padding value causes wrapping around more than once.")
    added = [(max(0, before), max(0, after)) for before, after in ends]
    return _cut(np.pad(input, added, mode=_PAD_MODES[mode]), ends)  # type: ignore[call-overload]


def _cut(input: Any, ends: Sequence[tuple[int, int]]) -> Any:
    """Return the input without the elements that negative padding removes."""
    if all(n >= 0 for both in ends for n in both):
        return input
    pairs = zip(ends, input.shape, strict=True)
    return input[tuple(slice(max(0, -a), n - max(0, -b)) for (a, b), n in pairs)]
