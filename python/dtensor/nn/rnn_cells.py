"""One step of recurrent layers."""

import math
from typing import Any

import numpy.typing as npt

from dtensor.nn import functional as F, init
from dtensor.nn.module import Module
from dtensor.ops.model.recurrent import recurrent
from dtensor.ops.model.recurrent_steps import GATES

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """What the cells have in common: parameters, checks and the step."""

    _kind: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        device: str | None,
        dtype: npt.DTypeLike | None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = GATES[self._kind] * hidden_size
        of_bias = (rows,) if bias else None
        shapes: dict[str, tuple[int, ...] | None] = {
            "weight_ih": (rows, input_size),
            "weight_hh": (rows, hidden_size),
            "bias_ih": of_bias,
            "bias_hh": of_bias,
        }
        self._add_parameters(shapes, device, dtype)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters from U(-k, k) with k = 1 / sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for parameter in self.parameters():
            init.uniform_(parameter, -bound, bound)

    def _check(self, input: Any, states: tuple[Any, ...]) -> None:
        """Raise what torch raises."""
        name = type(self).__name__
        if input.ndim not in (1, 2):
            raise ValueError(
                f"{name}: Expected input to be 1D or 2D, got {input.ndim}D instead"
            )
        for k, x in enumerate(states):
            if x.ndim not in (1, 2):
                what = f"hx[{k}]" if self._kind == "lstm" else "hidden"
                raise ValueError(
                    f"{name}: Expected {what} to be 1D or 2D, got {x.ndim}D instead"
                )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                "input has inconsistent input_size: got "
                f"{input.shape[-1]} expected {self.input_size}"
            )
        alone = input.ndim == 1
        batch = 1 if alone else input.shape[0]
        for k, x in enumerate(states):
            shape = (1, *x.shape) if alone else tuple(x.shape)
            if shape[0] != batch:
                raise RuntimeError(
                    f"Input batch size {batch} doesn't match hidden{k} batch size "
                    f"{shape[0]}"
                )
            if shape[1:] != (self.hidden_size,):
                raise RuntimeError(
                    f"hidden{k} has inconsistent hidden_size: got "
                    f"{', '.join(map(str, shape[1:]))}, expected {self.hidden_size}"
                )

    def _step(
        self, input: Any, states: tuple[Any, ...], kind: str = ""
    ) -> tuple[Any, ...]:
        """Return the next states."""
        self._check(input, states)
        alone = input.ndim == 1
        x = input[None] if alone else input
        hx, cx = ([s[None] if alone else s for s in states] + [None, None])[:2]
        drive = F.linear(x, self.weight_ih, self.bias_ih)[None]
        kind = kind or self._kind
        found = recurrent(
            drive, self.weight_hh, self.bias_hh, hx, cx, None, None, kind, False
        )
        return tuple(s[0] if alone else s for s in found[1:])

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        return text if self.bias else f"{text}, bias=False"


_PARAMETERS = """

    Parameters
    ----------
    input_size, hidden_size : int
        Lengths of the last dims of the input and of the state.
    bias : bool, default True
        Whether there are biases.{more}
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.

    Attributes
    ----------
    weight_ih, weight_hh : Parameter
        Of shape (gates * hidden_size, input_size) and (gates * hidden_size,
        hidden_size), drawn from U(-k, k) with k = 1 / sqrt(hidden_size).
    bias_ih, bias_hh : Parameter, shape (gates * hidden_size,), or None
        Drawn from the same distribution.
    """


class RNNCell(RNNCellBase):
    __doc__ = (
        "One step of `RNN`: ``act(W_ih x + b_ih + W_hh h + b_hh)``."
        + _PARAMETERS.format(
            more="""
    nonlinearity : ``"tanh"`` or ``"relu"``, default "tanh"
        The function `act`."""
        )
    )

    _kind = "tanh"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Return the next state.

        Parameters
        ----------
        input : tensor, shape (N, input_size) or (input_size,)
        hx : tensor, shape (N, hidden_size) or (hidden_size,), optional
            The state; default: zeros.
        """
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(input, () if hx is None else (hx,), self.nonlinearity)[0]

    def extra_repr(self) -> str:
        text = super().extra_repr()
        told = self.nonlinearity != "tanh"
        return f"{text}, nonlinearity={self.nonlinearity}" if told else text


class LSTMCell(RNNCellBase):
    __doc__ = "One step of `LSTM`." + _PARAMETERS.format(more="")
    _kind = "lstm"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """Return the next state and cell.

        Parameters
        ----------
        input : tensor, shape (N, input_size) or (input_size,)
        hx : pair of tensors, shape (N, hidden_size) or (hidden_size,), optional
            The state and the cell; default: zeros.
        """
        h, c = self._step(input, () if hx is None else tuple(hx))
        return h, c


class GRUCell(RNNCellBase):
    __doc__ = "One step of `GRU`." + _PARAMETERS.format(more="")
    _kind = "gru"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Return the next state.

        Parameters
        ----------
        input : tensor, shape (N, input_size) or (input_size,)
        hx : tensor, shape (N, hidden_size) or (hidden_size,), optional
            The state; default: zeros.
        """
        return self._step(input, () if hx is None else (hx,))[0]
