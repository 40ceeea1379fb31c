"""Layers of transformers, as in "Attention is all you need" (Vaswani et al., 2017)."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor.nn import functional as F, init
from dtensor.nn._multi_head import additive
from dtensor.nn.attention import MultiheadAttention
from dtensor.nn.containers import ModuleList
from dtensor.nn.dropout import Dropout
from dtensor.nn.linear import Linear
from dtensor.nn.module import Module
from dtensor.nn.norm import LayerNorm

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Activation = str | Callable[[Any], Any]

_ACTIVATIONS: dict[str, Callable[[Any], Any]] = {"relu": F.relu, "gelu": F.gelu}


def _activation(given: Activation) -> Callable[[Any], Any]:
    if not isinstance(given, str):
        return given
    if given not in _ACTIVATIONS:
        raise RuntimeError(f"activation should be relu/gelu, not {given}")
    return _ACTIVATIONS[given]


def _copies(layer: Module, count: int) -> ModuleList:
    return ModuleList(copy.deepcopy(layer) for _ in range(count))


def _is_causal(mask: Any, hint: bool | None) -> bool:
    """Return whether a mask masks exactly the keys after each query."""
    if hint is not None or mask is None:
        return bool(hint)
    if mask.ndim != 2 or mask.shape[0] != mask.shape[1]:
        return False
    if isinstance(mask, _C.DTensor) or getattr(mask, "device", "cpu") == "meta":
        return False  # reading it would be collective, or is not possible
    hides = np.triu(np.ones(mask.shape, bool), 1)
    values = np.asarray(additive(np.asarray(mask), np.float32, "mask"))
    return bool(np.array_equal(values, np.where(hides, -np.inf, 0)))


class _Layer(Module):
    """Attention blocks and a feed-forward block, each with a norm and a residual.

    Parameters
    ----------
    d_model : int
        The width of input and output.
    nhead : int
        The number of heads.
    dim_feedforward : int, default 2048
        The width inside the feed-forward block.
    dropout : float, default 0.1
    activation : ``"relu"``, ``"gelu"`` or callable
        The activation inside the feed-forward block.
    layer_norm_eps : float, default 1e-5
    batch_first : bool, default False
        Whether tensors are (batch, length, width); else (length, batch, width).
    norm_first : bool, default False
        Whether the norm comes before each block instead of after it.
    bias : bool, default True
        Whether linear maps and norms have biases.
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.
    """

    _blocks: int  # attention and feed-forward

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        super().__init__()
        where: Any = {"device": device, "dtype": dtype}
        for name in ("self_attn", "multihead_attn")[: self._blocks - 1]:
            block = MultiheadAttention(
                d_model, nhead, dropout, bias, batch_first=batch_first, **where
            )
            self.add_module(name, block)
        self.linear1 = Linear(d_model, dim_feedforward, bias, **where)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **where)
        self.norm_first = norm_first
        for k in range(self._blocks):
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, **where)
            self.add_module(f"norm{k + 1}", norm)
        for k in range(self._blocks):
            self.add_module(f"dropout{k + 1}", Dropout(dropout))
        self.activation = _activation(activation)

    def _around(self, number: int, x: Any, block: Callable[[Any], Any]) -> Any:
        """Return the input plus the block's output after dropout, normalized."""
        norm = self._modules[f"norm{number}"]
        dropped = self._modules[f"dropout{number}"]
        if self.norm_first:
            return x + dropped(block(norm(x)))
        return norm(x + dropped(block(x)))

    def _feed_forward(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


def _attention(
    layer: Module, mask: Any, padding: Any, causal: bool, memory: Any = None
) -> Callable[[Any], Any]:
    """Return a block: self-attention, or attention to another tensor."""

    def block(x: Any) -> Any:
        keys = x if memory is None else memory
        return layer(
            x,
            keys,
            keys,
            attn_mask=mask,
            key_padding_mask=padding,
            is_causal=causal,
            need_weights=False,
        )[0]

    return block


class TransformerEncoderLayer(_Layer):
    __doc__ = (_Layer.__doc__ or "").replace("Attention blocks", "An attention block")
    _blocks = 2

    def forward(
        self,
        src: Any,
        src_mask: Any = None,
        src_key_padding_mask: Any = None,
        is_causal: bool = False,
    ) -> Any:
        """Return the output, like `src`; masks are as in `MultiheadAttention`."""
        attention = _attention(
            self.self_attn, src_mask, src_key_padding_mask, is_causal
        )
        x = self._around(1, src, attention)
        return self._around(2, x, self._feed_forward)


class TransformerDecoderLayer(_Layer):
    __doc__ = (_Layer.__doc__ or "").replace("Attention blocks", "Two attention blocks")
    _blocks = 3

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Any:
        """Return the output, in the shape of `tgt`; it also attends to `memory`."""
        inner = _attention(
            self.self_attn, tgt_mask, tgt_key_padding_mask, tgt_is_causal
        )
        outer = _attention(
            self.multihead_attn,
            memory_mask,
            memory_key_padding_mask,
            memory_is_causal,
            memory,
        )
        x = self._around(1, tgt, inner)
        x = self._around(2, x, outer)
        return self._around(3, x, self._feed_forward)


class TransformerEncoder(Module):
    """Copies of an encoder layer, one after the other.

    Parameters
    ----------
    encoder_layer : TransformerEncoderLayer
    num_layers : int
    norm : Module, optional
        A norm after the last layer.
    enable_nested_tensor, mask_check : bool
        Ignored.
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers, self.num_layers = _copies(encoder_layer, num_layers), num_layers
        self.norm = norm

    def forward(
        self,
        src: Any,
        mask: Any = None,
        src_key_padding_mask: Any = None,
        is_causal: bool | None = None,
    ) -> Any:
        """Return the output, of the shape of `src`."""
        causal = _is_causal(mask, is_causal)
        for layer in self.layers:
            src = layer(src, mask, src_key_padding_mask, causal)
        return src if self.norm is None else self.norm(src)


class TransformerDecoder(Module):
    """Copies of a decoder layer, one after the other.

    Parameters
    ----------
    decoder_layer : TransformerDecoderLayer
    num_layers : int
    norm : Module, optional
        A norm after the last layer.
    """

    def __init__(
        self, decoder_layer: Module, num_layers: int, norm: Module | None = None
    ) -> None:
        super().__init__()
        self.layers, self.num_layers = _copies(decoder_layer, num_layers), num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Any,
        memory: Any,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        """Return the output, of the shape of `tgt`."""
        causal = _is_causal(tgt_mask, tgt_is_causal)
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask,
                memory_mask,
                tgt_key_padding_mask,
                memory_key_padding_mask,
                causal,
                memory_is_causal,
            )
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder, and a decoder that attends to the encoder's output.

    Parameters
    ----------
    d_model : int, default 512
    nhead : int, default 8
    num_encoder_layers, num_decoder_layers : int, default 6
    dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias
        As for `TransformerEncoderLayer`.
    custom_encoder, custom_decoder : Module, optional
        Modules that replace the encoder or the decoder.
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        super().__init__()
        where: Any = {"device": device, "dtype": dtype}

        def stack(layer: Any, stack: Any, count: int) -> Any:
            one = layer(
                d_model,
                nhead,
                dim_feedforward,
                dropout,
                activation,
                layer_norm_eps,
                batch_first,
                norm_first,
                bias,
                **where,
            )
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, **where)
            return stack(one, count, norm)

        self.encoder = custom_encoder or stack(
            TransformerEncoderLayer, TransformerEncoder, num_encoder_layers
        )
        self.decoder = custom_decoder or stack(
            TransformerDecoderLayer, TransformerDecoder, num_decoder_layers
        )
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Any,
        tgt: Any,
        src_mask: Any = None,
        tgt_mask: Any = None,
        memory_mask: Any = None,
        src_key_padding_mask: Any = None,
        tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Any:
        """Return the output, of the shape of `tgt`.

        Raises
        ------
        RuntimeError
            If the batch sizes of `src` and `tgt` differ, or a width is not `d_model`.
        """
        batch = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch] != tgt.shape[batch]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be d_model")
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask,
            memory_mask,
            tgt_key_padding_mask,
            memory_key_padding_mask,
            tgt_is_causal,
            memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: str | None = None, dtype: npt.DTypeLike | None = None
    ) -> Any:
        """Return a causal mask: -inf for the keys after each query, else 0."""
        dtype = _C.get_default_dtype() if dtype is None else dtype
        return _C.as_tensor(np.triu(np.full((sz, sz), -np.inf, dtype), 1))
