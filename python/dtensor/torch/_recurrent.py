"""Recurrent layers and their steps as functions: ``torch.lstm``, ``torch.gru_cell``.

Layers take ``(input, hx, params, has_biases, num_layers, dropout, train, bidirectional,
batch_first)``, or packed sequences as ``(data, batch_sizes, hx, params, ...)``, without
the last argument.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dtensor.nn import functional as F
from dtensor.nn.utils.rnn import PackedSequence, numbers, padded, valid_steps
from dtensor.ops.model.recurrent import recurrent

__all__ = [
    "gru",
    "gru_cell",
    "lstm",
    "lstm_cell",
    "rnn_relu",
    "rnn_relu_cell",
    "rnn_tanh",
    "rnn_tanh_cell",
]


def _run(
    kind: str,
    x: Any,
    states: Sequence[Any],
    valid: Any,
    params: Sequence[Any],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> tuple[Any, list[Any]]:
    """Return the output and last states, of (time, batch, ...) and first states."""
    sides = 2 if bidirectional else 1
    each = len(params) // (num_layers * sides)
    ends: list[list[Any]] = []
    for layer in range(num_layers):
        if layer:
            x = F.dropout(x, dropout, train and dropout > 0)
        found = []
        for side in range(sides):
            given = params[len(ends) * each : (len(ends) + 1) * each]
            w_ih, w_hh, *rest = given
            b_ih, b_hh = rest[:2] if has_biases else (None, None)
            w_hr = rest[-1] if each % 2 else None
            hx, cx = ([s[len(ends)] for s in states] + [None])[:2]
            drive = F.linear(x, w_ih, b_ih)
            out, *last = recurrent(
                drive, w_hh, b_hh, hx, cx, w_hr, valid, kind, side == 1
            )
            found.append(out)
            ends.append(last)
        x = found[0] if sides == 1 else np.concatenate(found, axis=-1)
    return x, [np.stack(each) for each in zip(*ends, strict=True)]


def _whole(
    kind: str,
    states_of: Callable[[Any], list[Any]],
    input: Any,
    hx: Any,
    params: Any,
    batch_first: bool,
    **how: Any,
) -> tuple[Any, ...]:
    x = np.swapaxes(input, 0, 1) if batch_first else input
    out, last = _run(kind, x, states_of(hx), None, params, **how)
    return (np.swapaxes(out, 0, 1) if batch_first else out, *last)


def _packed(
    kind: str,
    states_of: Callable[[Any], list[Any]],
    data: Any,
    batch_sizes: Any,
    hx: Any,
    params: Any,
    *how: Any,
) -> tuple[Any, ...]:
    valid = valid_steps(numbers(batch_sizes))
    x = padded(PackedSequence(data, batch_sizes))
    out, last = _run(kind, x, states_of(hx), valid, params, *how)
    return (out[np.nonzero(valid)], *last)


def _layer(name: str, kind: str) -> Callable[..., Any]:
    states_of: Any = list if kind == "lstm" else lambda hx: [hx]

    def layers(input: Any, *args: Any, **options: Any) -> tuple[Any, ...]:
        packed = "batch_sizes" in options or any(
            isinstance(x, list | tuple) for x in args[2:3]
        )
        names = _PACKED if packed else _NAMES
        given = dict(zip(names, args, strict=False)) | options
        if packed:
            return _packed(kind, states_of, input, *(given[name] for name in names))
        return _whole(kind, states_of, input, **given)

    layers.__name__ = layers.__qualname__ = name
    layers.__doc__ = (
        "Return the output of recurrent layers, and their last states: see this module."
    )
    return layers


_HOW = ["has_biases", "num_layers", "dropout", "train", "bidirectional"]
_NAMES = ["hx", "params", *_HOW, "batch_first"]
_PACKED = ["batch_sizes", "hx", "params", *_HOW]

lstm = _layer("lstm", "lstm")
gru = _layer("gru", "gru")
rnn_tanh = _layer("rnn_tanh", "tanh")
rnn_relu = _layer("rnn_relu", "relu")


def _cell(name: str, kind: str) -> Callable[..., Any]:
    def cell(
        input: Any,
        hx: Any,
        w_ih: Any,
        w_hh: Any,
        b_ih: Any = None,
        b_hh: Any = None,
    ) -> Any:
        drive = F.linear(input, w_ih, b_ih)[None]
        first = list(hx) if kind == "lstm" else [hx, None]
        found = recurrent(drive, w_hh, b_hh, *first, None, None, kind, False)
        return found[1:] if kind == "lstm" else found[1]

    cell.__name__ = cell.__qualname__ = name
    cell.__doc__ = "Return the next state, of (batch, input) and (batch, hidden)."
    return cell


lstm_cell = _cell("lstm_cell", "lstm")
gru_cell = _cell("gru_cell", "gru")
rnn_tanh_cell = _cell("rnn_tanh_cell", "tanh")
rnn_relu_cell = _cell("rnn_relu_cell", "relu")
