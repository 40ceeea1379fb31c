"""MultiheadAttention."""

from typing import Any

import numpy.typing as npt

from dtensor.nn import init
from dtensor.nn._multi_head import Heads, attend
from dtensor.nn.linear import Linear
from dtensor.nn.module import Module

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Multi-head attention, of each query to all keys and their values.

    Parameters
    ----------
    embed_dim : int
        The length of the last dim of queries and outputs, a multiple of `num_heads`.
    num_heads : int
    dropout : float, default 0.0
        The probability that a weight is set to 0 in training.
    bias : bool, default True
        Whether the projections have biases.
    add_bias_kv : bool, default False
        Whether to append one trainable key and value.
    add_zero_attn : bool, default False
        Whether to append one key and value of zeros.
    kdim, vdim : int, optional
        Lengths of the last dims of keys and values; default: `embed_dim`.
    batch_first : bool, default False
        Whether tensors are (batch, length, width); else (length, batch, width).
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Default: `get_default_dtype`.

    Attributes
    ----------
    in_proj_weight : Parameter, shape (3 * embed_dim, embed_dim), or None
        The projection of queries, keys and values, if they have the same width.
    q_proj_weight, k_proj_weight, v_proj_weight : Parameter, or None
        The three projections, if they do not.
    in_proj_bias : Parameter, shape (3 * embed_dim,), or None
    out_proj : Linear
    bias_k, bias_v : Parameter, shape (1, 1, embed_dim), or None

    Raises
    ------
    ValueError
        If `embed_dim` or `num_heads` is not positive.
    AssertionError
        If `num_heads` does not divide `embed_dim`.
    """

    in_proj_weight: Any
    in_proj_bias: Any
    q_proj_weight: Any
    k_proj_weight: Any
    v_proj_weight: Any
    bias_k: Any
    bias_v: Any

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: str | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.batch_first, self.add_zero_attn = batch_first, add_zero_attn
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        one, same = (1, 1, embed_dim), self._qkv_same_embed_dim
        shapes: dict[str, tuple[int, ...] | None] = {
            "q_proj_weight": None if same else (embed_dim, embed_dim),
            "k_proj_weight": None if same else (embed_dim, self.kdim),
            "v_proj_weight": None if same else (embed_dim, self.vdim),
            "in_proj_weight": (3 * embed_dim, embed_dim) if same else None,
            "in_proj_bias": (3 * embed_dim,) if bias else None,
        }
        extra = dict.fromkeys(("bias_k", "bias_v"), one if add_bias_kv else None)
        self._add_parameters(shapes, device, dtype)
        self.out_proj = Linear(embed_dim, embed_dim, bias, device, dtype)
        self._add_parameters(extra, device, dtype)
        self._reset_parameters()

    def _weights(self) -> tuple[Any, ...]:
        if self._qkv_same_embed_dim:
            return (self.in_proj_weight,)
        return self.q_proj_weight, self.k_proj_weight, self.v_proj_weight

    def _reset_parameters(self) -> None:
        for weight in self._weights():
            init.xavier_uniform_(weight)
        for bias in (self.in_proj_bias, self.out_proj.bias):
            if bias is not None and self.in_proj_bias is not None:
                init.constant_(bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def reset_parameters(self) -> None:
        """Initialize the parameters, including those of `out_proj`."""
        self.out_proj.reset_parameters()
        self._reset_parameters()

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Any, Any]:
        """Return the output, and the weights or None.

        Parameters
        ----------
        query : tensor, shape (L, N, embed_dim), or (L, embed_dim)
        key : tensor, shape (S, N, kdim), or (S, kdim)
        value : tensor, shape (S, N, vdim), or (S, vdim)
            With `batch_first` N comes first.
        key_padding_mask : tensor of bool or float, shape (N, S) or (S,), optional
            True masks a key; floats are added to the scores.
        need_weights : bool, default True
            Whether to return the weights; without them it is faster.
        attn_mask : tensor of bool or float, optional
            Shape (L, S) or (N * num_heads, L, S). True masks a key for a query; floats
            are added to the scores.
        average_attn_weights : bool, default True
            Whether the weights are averaged over the heads.
        is_causal : bool, default False
            A hint that `attn_mask` masks the keys after each query.

        Returns
        -------
        tensor
            The output, in the shape of `query`.
        tensor, shape (N, L, S) or (N, num_heads, L, S), or None
            The weights.

        Raises
        ------
        AssertionError, RuntimeError
            If shapes do not match, as in torch. On every rank.
        """
        heads = Heads(
            self.embed_dim,
            self.num_heads,
            self._weights(),
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout if self.training else 0.0,
            self.out_proj.weight,
            self.out_proj.bias,
            self.batch_first and query.ndim == 3,
        )
        return attend(
            heads,
            query,
            key,
            value,
            key_padding_mask,
            need_weights,
            attn_mask,
            average_attn_weights,
            is_causal,
        )
