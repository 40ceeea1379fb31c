"""Recurrent layers."""

from typing import Any

from dtensor.nn.rnn_base import RNNBase

__all__ = ["GRU", "LSTM", "RNN"]

_PARAMETERS = """

    A DTensor input that is cut along the batch stays so; with replicated parameters
    nothing is sent, and the parameters' gradients are summed once, as those of
    `Linear`. Parameters that are cut are gathered once for a layer and direction.

    Parameters
    ----------
    input_size, hidden_size : int
        Lengths of the last dims of the input and of the state.
    num_layers : int, default 1
        Each layer's input is the output of the one before it.{first}
    bias : bool, default True
        Whether there are biases.
    batch_first : bool, default False
        Whether input and output are (batch, time, ...) or (time, batch, ...).
    dropout : float, default 0.0
        The probability of `dropout` between layers.
    bidirectional : bool, default False
        Whether each layer also runs backwards over time.{last}
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.

    Attributes
    ----------
    weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0 : Parameter
        Those of layer 0, with rows for each gate, drawn from U(-k, k) with
        k = 1 / sqrt(hidden_size). The backward direction has ``weight_ih_l0_reverse``
        and so on.

    Raises
    ------
    TypeError, ValueError
        For arguments that torch refuses.
    """


class RNN(RNNBase):
    __doc__ = (
        "A recurrent layer: ``h = act(W_ih x + b_ih + W_hh h + b_hh)`` at each time."
        + _PARAMETERS.format(
            first="""
    nonlinearity : ``"tanh"`` or ``"relu"``, default "tanh"
        The function `act`.""",
            last="",
        )
    )

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        *args: Any,
        **kwargs: Any,
    ) -> None:
        if "proj_size" in kwargs:
            raise ValueError(_NO_PROJECTION)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(mode, input_size, hidden_size, num_layers, *args, **kwargs)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """Return the states of the last layer at each time, and the last of each layer.

        Parameters
        ----------
        input : tensor or PackedSequence
            (time, batch, input_size), or (time, input_size).
        hx : tensor, optional
            The first states: (num_layers * directions, batch, hidden_size), or without
            a batch. Default: zeros.
        """
        out, last = self._call(input, () if hx is None else (hx,))
        return out, last[0]


_NO_PROJECTION = "proj_size argument is only supported for LSTM, not RNN or GRU"


class LSTM(RNNBase):
    __doc__ = """A layer of units with input, forget and output gates, and a cell.

    ``i, f, o`` are the sigmoid and ``g`` the tanh of ``W_ih x + b_ih + W_hh h + b_hh``,
    a quarter of the rows each, in the order i, f, g, o; then ``c = f * c + i * g`` and
    ``h = o * tanh(c)``.""" + _PARAMETERS.format(
        first="",
        last="""
    proj_size : int, default 0
        If positive, states are ``weight_hr_l0 @ h``, of this length.""",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, tuple[Any, Any]]:
        """Return the states of the last layer at each time, and the last states and
        cells of each layer.

        Parameters
        ----------
        input : tensor or PackedSequence
            (time, batch, input_size), or (time, input_size).
        hx : pair of tensors, optional
            The first states and cells: (num_layers * directions, batch, width), or
            without a batch. Default: zeros.
        """
        out, (h, c) = self._call(input, () if hx is None else tuple(hx))
        return out, (h, c)


class GRU(RNNBase):
    __doc__ = """A layer of units with a reset and an update gate.

    With ``x' = W_ih x + b_ih`` and ``h' = W_hh h + b_hh``, a third of the rows for each
    of r, z and n: ``r = sigmoid(x'_r + h'_r)``, ``z = sigmoid(x'_z + h'_z)``,
    ``n = tanh(x'_n + r * h'_n)``; then ``h = (1 - z) * n + z * h``."""
    __doc__ += _PARAMETERS.format(first="", last="")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError(_NO_PROJECTION)
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """Return the states of the last layer at each time, and the last of each layer.

        The parameters are those of ``RNN.forward``.
        """
        out, last = self._call(input, () if hx is None else (hx,))
        return out, last[0]
