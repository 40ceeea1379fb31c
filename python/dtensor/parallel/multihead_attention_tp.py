"""Multi-head attention whose heads are spread over the ranks."""

import math
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dtensor.nn import Linear, Module, MultiheadAttention, functional, init
from dtensor.parallel._heads import (
    by_heads,
    input_projections,
    interleaved,
    joined,
    merged_mask,
    one_more,
)

__all__ = ["TensorParallelMultiheadAttention"]


class TensorParallelMultiheadAttention(Module):
    """Multi-head attention as layers that can be sharded by heads.

    `PairwiseParallel` shards ``qkv`` by columns and ``proj`` by rows; in between each
    rank computes its own heads, without communication. Without sharding it computes the
    same on one rank.

    Parameters
    ----------
    embed_dim : int
        Length of the embedding vectors.
    num_heads : int
        Number of heads, which divides `embed_dim`.
    dropout : float, default 0.0
        Probability that an attention weight is set to 0 in training.
    bias : bool, default True
        Whether ``proj`` has a bias.
    add_bias_kv : bool, default False
        Whether ``qkv`` has a bias, as in PyTorch 2.0.
    add_zero_attn : bool
        Ignored.
    kdim, vdim : int, optional
        Lengths of the vectors of keys and values, if `self_attention` is False; default
        `embed_dim`.
    batch_first : bool
        Ignored: inputs are (batch, sequence, embed_dim).
    device : str, optional
        ``"cpu"`` or ``"meta"``.
    dtype : dtype_like, optional
        Dtype of the parameters.
    tp_size : int, default 1
        Kept as an attribute; the result does not depend on it.
    self_attention : bool, default True
        Whether query, key and value are one tensor, which goes through one Linear,
        ``qkv``; otherwise there are three: ``query``, ``key`` and ``value``.

    Raises
    ------
    ValueError
        If `num_heads` does not divide `embed_dim`.

    Notes
    -----
    The rows of ``qkv`` are ordered by heads: query, key and value of the first head,
    then of the second, and so on, so that a rank's rows are whole heads. Like PyTorch
    2.0's module, it returns only the output.
    """

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
        tp_size: int = 1,
        self_attention: bool = True,
    ) -> None:
        super().__init__()
        if num_heads < 1 or embed_dim % num_heads:
            raise ValueError(
                f"embed_dim must be divisible by num_heads, but {embed_dim} is not by "
                f"{num_heads}"
            )
        self.num_heads = num_heads
        self.hidden_size = embed_dim
        self.hidden_size_per_attention_head = embed_dim // num_heads
        self.scale = self.hidden_size_per_attention_head**-0.5
        self.norm_factor = math.sqrt(self.hidden_size_per_attention_head)
        self.dropout = dropout
        self.tp_size = tp_size
        self.self_attention = self_attention

        def layer(inputs: int, outputs: int, with_bias: bool) -> Linear:
            return Linear(inputs, outputs, bias=with_bias, device=device, dtype=dtype)

        if self_attention:
            self.qkv = layer(embed_dim, 3 * embed_dim, add_bias_kv)
        else:
            kdim = embed_dim if kdim is None else kdim
            vdim = embed_dim if vdim is None else vdim
            self.query = layer(embed_dim, embed_dim, add_bias_kv)
            self.key = layer(kdim, embed_dim, add_bias_kv)
            self.value = layer(vdim, embed_dim, add_bias_kv)
        self.proj = layer(embed_dim, embed_dim, bias)
        self.reset_parameters()

    def projections(self) -> list[Linear]:
        """Return the layers that the inputs go through."""
        return [self.qkv] if self.self_attention else [self.query, self.key, self.value]

    def reset_parameters(self) -> None:
        """Draw new weights: Xavier uniform, Kaiming for ``proj``; biases are 0."""
        for linear in self.projections():
            init.xavier_uniform_(linear.weight)
        init.kaiming_uniform_(self.proj.weight, a=math.sqrt(5))
        for linear in (*self.projections(), self.proj):
            if linear.bias is not None:
                init.zeros_(linear.bias)

    def forward(
        self,
        query: Any,
        key: Any,
        value: Any,
        key_padding_mask: Any = None,
        need_weights: bool = True,
        attn_mask: Any = None,
        average_attn_weights: bool = True,
    ) -> Any:
        """Attend, and return the output.

        Parameters
        ----------
        query, key, value : Tensor or DTensor, shape (batch, sequence, embed_dim)
            With `self_attention` the same tensor, or equal ones.
        key_padding_mask : array_like, shape (batch, sequence), optional
            True: this key is left out. Or numbers that are added to the scores.
        need_weights, average_attn_weights : bool
            Ignored: the weights are not returned.
        attn_mask : array_like, shape (sequence, sequence) or (batch * heads, ...)
            True: this pair is left out. Or numbers that are added to the scores.

        Returns
        -------
        Tensor or DTensor, shape (batch, sequence, embed_dim)

        Raises
        ------
        AssertionError
            If the three differ and `self_attention` is True.
        """
        if self.self_attention and not (_same(query, key) and _same(query, value)):
            raise AssertionError("inputs are different for self-attention.")
        heads = self._heads(query, key, value, batch_first=True)
        mask = self._mask(attn_mask, key_padding_mask, query.dtype)
        p = self.dropout if self.training else 0.0
        out = functional.scaled_dot_product_attention(
            *heads, attn_mask=mask, dropout_p=p
        )
        return self.proj(joined(out, batch_first=True))

    def _heads(
        self, query: Any, key: Any, value: Any, batch_first: bool
    ) -> tuple[Any, Any, Any]:
        """Query, key and value of every head: (batch, heads, sequence, head)."""
        if self.self_attention:
            return self._mixed(query, batch_first)
        q, k, v = (
            by_heads(linear(x), self.num_heads, batch_first)
            for linear, x in zip(self.projections(), (query, key, value), strict=True)
        )
        return q, k, v

    def _mixed(self, x: Any, batch_first: bool) -> tuple[Any, Any, Any]:
        mixed = by_heads(self.qkv(x), self.num_heads, batch_first)
        q, k, v = mixed.split(self.hidden_size_per_attention_head, dim=-1)
        return q, k, v

    def _mask(self, attn_mask: Any, key_padding_mask: Any, dtype: Any) -> Any:
        return merged_mask(attn_mask, key_padding_mask, self.num_heads, dtype)

    def copy(self, that: MultiheadAttention) -> None:
        """Take the parameters of a MultiheadAttention so that both compute the same.

        Parameters
        ----------
        that : MultiheadAttention
            Its output projection is shared; its input projection is copied, with the
            rows in the order of heads.

        Raises
        ------
        AssertionError
            If `embed_dim` or `num_heads` of the two differ.
        """
        if (self.hidden_size, self.num_heads) != (that.embed_dim, that.num_heads):
            raise AssertionError(
                "embed_dim must be equal in TensorParallelMultiheadAttention.copy()!"
            )
        for name in ("weight", "bias"):
            parts = input_projections(that, name)
            if parts is None:
                continue
            if self.self_attention:
                parts = [interleaved(parts, self.num_heads)]
            for linear, part in zip(self.projections(), parts, strict=True):
                linear.register_parameter(name, part)
        self.proj.register_parameter("weight", that.out_proj.weight)
        self.proj.register_parameter("bias", that.out_proj.bias)


class ReplacedAttention(TensorParallelMultiheadAttention):
    """The replacement of a MultiheadAttention, with its arguments and its result."""

    batch_first: bool
    add_zero_attn: bool
    bias_k: Any
    bias_v: Any

    @classmethod
    def of(cls, that: MultiheadAttention, tp_size: int) -> Self:
        """Return the module that replaces `that`."""
        weight = that.out_proj.weight
        self = cls(
            that.embed_dim,
            that.num_heads,
            dropout=that.dropout,
            kdim=that.kdim,
            vdim=that.vdim,
            device=weight.device,
            dtype=weight.dtype,
            tp_size=tp_size,
            self_attention=that.in_proj_weight is not None,
        )
        self.batch_first, self.add_zero_attn = that.batch_first, that.add_zero_attn
        self.register_parameter("bias_k", that.bias_k)
        self.register_parameter("bias_v", that.bias_v)
        self.copy(that)
        return self.train(that.training)

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
    ) -> Any:
        """Attend like MultiheadAttention; the weights, if asked for, are a DTensor."""
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        q, k, v = self._heads(query, key, value, self.batch_first)
        mask = self._mask(attn_mask, key_padding_mask, query.dtype)
        if self.bias_k is not None:
            k, v = one_more(k, self.bias_k), one_more(v, self.bias_v)
        if self.add_zero_attn:
            k, v = (one_more(x, np.zeros(self.hidden_size, x.dtype)) for x in (k, v))
        if mask is not None:  # the added positions are never masked
            more = k.shape[-2] - mask.shape[-1]
            mask = np.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, more)])
        p = self.dropout if self.training else 0.0
        weights = None
        if need_weights:
            out, weights = _attend(q, k, v, mask, p)
            if average_attn_weights:
                weights = weights.mean(axis=-3)
        else:
            out = functional.scaled_dot_product_attention(
                q, k, v, attn_mask=mask, dropout_p=p
            )
        return self.proj(joined(out, self.batch_first)), weights

    def _heads(
        self, query: Any, key: Any, value: Any, batch_first: bool
    ) -> tuple[Any, Any, Any]:
        if not self.self_attention or query is key is value:
            return super()._heads(query, key, value, batch_first)
        q, _, _ = self._mixed(query, batch_first)
        _, k, v = self._mixed(key, batch_first)
        if key is not value:
            _, _, v = self._mixed(value, batch_first)
        return q, k, v


def _same(a: Any, b: Any) -> bool:
    return a is b or (a.shape == b.shape and bool(np.array_equal(a, b)))


def _attend(q: Any, k: Any, v: Any, mask: Any, p: float) -> tuple[Any, Any]:
    """The output of all heads, and the weights."""
    scores = (q * q.shape[-1] ** -0.5) @ k.swapaxes(-1, -2)
    weights = functional.softmax(scores if mask is None else scores + mask, dim=-1)
    if p > 0:
        weights = functional.dropout(weights, p)
    return weights @ v, weights
