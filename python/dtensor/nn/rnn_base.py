"""What recurrent layers have in common: parameters, checks, and layer after layer."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.caller import warn
from dtensor.nn import functional as F, init
from dtensor.nn.module import Module
from dtensor.nn.utils.rnn import PackedSequence, numbers, padded, valid_steps
from dtensor.ops.model.recurrent import recurrent
from dtensor.ops.model.recurrent_steps import GATES

__all__ = ["RNNBase"]

_SIDES = ("", "_reverse")
_MODES = {"LSTM": "lstm", "GRU": "gru", "RNN_TANH": "tanh", "RNN_RELU": "relu"}


def _check_arguments(layer: Any, dropout: Any) -> None:
    """Raise what torch raises."""
    if not isinstance(dropout, int | float) or isinstance(dropout, bool):
        raise ValueError(_DROPOUT)
    if not 0 <= dropout <= 1:
        raise ValueError(_DROPOUT)
    if dropout > 0 and layer.num_layers == 1:
        warn(
            "dropout option adds dropout after all but last recurrent layer, so "
            "non-zero dropout expects num_layers greater than 1, but got "
            f"dropout={dropout} and num_layers={layer.num_layers}"
        )
    for name, kind in (
        ("bias", bool),
        ("batch_first", bool),
        ("input_size", int),
        ("hidden_size", int),
    ):
        value = getattr(layer, name)
        if not isinstance(value, kind):
            raise TypeError(
                f"{name} should be of type {kind.__name__}, got: {type(value).__name__}"
            )
    for name in ("input_size", "hidden_size", "num_layers"):
        if getattr(layer, name) <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if layer.proj_size < 0:
        raise ValueError(
            "proj_size should be a positive integer or zero to disable projections"
        )
    if layer.proj_size >= layer.hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


_DROPOUT = (
    "dropout should be a number in range [0, 1] representing the probability of an "
    "element being zeroed"
)


class RNNBase(Module):
    """What `RNN`, `LSTM` and `GRU` have in common.

    Parameters
    ----------
    mode : ``"RNN_TANH"``, ``"RNN_RELU"``, ``"LSTM"`` or ``"GRU"``
    others
        Those of `LSTM`.
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size, self.hidden_size = input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional = dropout, bidirectional
        self.proj_size = proj_size
        _check_arguments(self, dropout)
        if mode not in _MODES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.dropout = float(dropout)
        for layer in range(num_layers):
            for side in self._sides():
                shapes = self._shapes(layer)
                names = {f"{k}_l{layer}{side}": v for k, v in shapes.items()}
                self._add_parameters(names, device, dtype)
        self.reset_parameters()

    def _sides(self) -> tuple[str, ...]:
        return _SIDES if self.bidirectional else _SIDES[:1]

    def _shapes(self, layer: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the parameters of a layer in one direction."""
        rows = GATES[_MODES[self.mode]] * self.hidden_size
        width = self.proj_size or self.hidden_size
        inner = self.input_size if layer == 0 else width * len(self._sides())
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (rows, inner),
            "weight_hh": (rows, width),
        }
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (width, self.hidden_size)
        return shapes

    def reset_parameters(self) -> None:
        """Draw the parameters from U(-k, k) with k = 1 / sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size)
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def flatten_parameters(self) -> None:
        """Do nothing: parameters need not lie in one piece of memory."""

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        return [
            [getattr(self, f"{name}_l{layer}{side}") for name in self._shapes(layer)]
            for layer in range(self.num_layers)
            for side in self._sides()
        ]

    # --- what it is called with -------------------------------------------------------

    def _check_dims(self, input: Any, states: tuple[Any, ...]) -> None:
        name = "RNN" if self.mode.startswith("RNN") else self.mode
        if input.ndim not in (2, 3):
            tensor = " tensor" if name == "RNN" else ""
            raise ValueError(
                f"{name}: Expected input to be 2D or 3D, got {input.ndim}D{tensor} "
                "instead"
            )
        kind = "batched 3-D" if input.ndim == 3 else "unbatched 2-D"
        if any(x.ndim != input.ndim for x in states):
            dims = ", ".join(f"{x.ndim}-D" for x in states)
            what, got = "hx", f"{dims} tensor"
            if name == "LSTM":
                what, got = "hx and cx", f"({dims}) tensors"
            raise RuntimeError(
                f"For {kind} input, {what} should also be {input.ndim}-D but got {got}"
            )

    def _check(
        self, input: Any, states: tuple[Any, ...], ndim: int, batch: int
    ) -> None:
        """Raise what torch raises."""
        dtype = self.weight_ih_l0.dtype
        if input.dtype != dtype and not _C.is_autocast():
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype})"
                f". Convert input: input.to({dtype}), or convert model: "
                f"model.to({input.dtype})"
            )
        if input.ndim != ndim:
            raise RuntimeError(f"input must have {ndim} dimensions, got {input.ndim}")
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {input.shape[-1]}"
            )
        count = self.num_layers * len(self._sides())
        widths = (self.proj_size or self.hidden_size, self.hidden_size)
        for k, (x, width) in enumerate(zip(states, widths, strict=False)):
            if tuple(x.shape) != (count, batch, width):
                which = f"[{k}]" if self.mode == "LSTM" else ""
                raise RuntimeError(
                    f"Expected hidden{which} size {(count, batch, width)}, got "
                    f"{list(x.shape)}"
                )

    def _run(
        self, x: Any, states: tuple[Any, ...], valid: Any
    ) -> tuple[Any, list[Any]]:
        """Return the output and last states, of (time, batch, ...) and such states."""
        ends: list[list[Any]] = []
        for layer in range(self.num_layers):
            if layer:
                x = F.dropout(x, self.dropout, self.training and self.dropout > 0)
            found = []
            for side in self._sides():
                first = [s[len(ends)] for s in states]
                out, *last = self._layer(x, first, valid, layer, side)
                found.append(out)
                ends.append(last)
            x = found[0] if len(found) == 1 else np.concatenate(found, axis=-1)
        return x, [np.stack(each) for each in zip(*ends, strict=True)]

    def _layer(
        self, x: Any, first: list[Any], valid: Any, layer: int, side: str
    ) -> tuple[Any, ...]:
        def of(name: str) -> Any:
            return getattr(self, f"{name}_l{layer}{side}", None)

        hx, cx = (first + [None, None])[:2]
        found: tuple[Any, ...] = recurrent(
            F.linear(x, of("weight_ih"), of("bias_ih")),
            of("weight_hh"),
            of("bias_hh"),
            hx,
            cx,
            of("weight_hr"),
            valid,
            _MODES[self.mode],
            side == "_reverse",
        )
        return found

    def _packed(
        self, sequence: PackedSequence, states: tuple[Any, ...]
    ) -> tuple[Any, list[Any]]:
        sizes = numbers(sequence.batch_sizes)
        if sequence.sorted_indices is not None:
            order = numbers(sequence.sorted_indices)
            states = tuple(s[:, order] for s in states)
        self._check(sequence.data, states, 2, int(sizes[0]))
        valid = valid_steps(sizes)
        out, last = self._run(padded(sequence), states, valid)
        if sequence.unsorted_indices is not None:
            order = numbers(sequence.unsorted_indices)
            last = [s[:, order] for s in last]
        return sequence._replace(data=out[np.nonzero(valid)]), last

    def _call(self, input: Any, states: tuple[Any, ...]) -> tuple[Any, list[Any]]:
        """Return the output and last states for an input in any form."""
        if isinstance(input, PackedSequence):
            return self._packed(input, states)
        self._check_dims(input, states)
        alone = input.ndim == 2
        if alone:
            input = input[:, None]
            states = tuple(s[:, None] for s in states)
        swapped = self.batch_first and not alone
        batch = input.shape[0] if swapped else input.shape[1]
        self._check(input, states, 3, batch)
        if swapped:
            input = np.swapaxes(input, 0, 1)
        if not input.shape[0]:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        out, last = self._run(input, states, None)
        if alone:
            return out[:, 0], [s[:, 0] for s in last]
        return np.swapaxes(out, 0, 1) if swapped else out, last

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        for name, usual in (
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        ):
            value = getattr(self, name)
            text += f", {name}={value}" if value != usual else ""
        return text
