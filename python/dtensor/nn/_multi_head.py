"""What multi-head attention computes: projections, heads, masks."""

import math
from typing import Any, NamedTuple

import numpy as np

from dtensor.nn._dtype import is_floating
from dtensor.ops.elementwise.functions import where
from dtensor.ops.model.attention import scaled_dot_product_attention
from dtensor.ops.model.linear import linear
from dtensor.ops.model.softmax import softmax
from dtensor.ops.random.dropout import dropout
from dtensor.ops.shape.join import concatenate

__all__ = ["Heads", "attend"]


class Heads(NamedTuple):
    """Parameters and options of an attention layer: see `MultiheadAttention`."""

    embed_dim: int
    num_heads: int
    weights: tuple[Any, ...]  # one for query, key and value together, or three
    in_bias: Any
    bias_k: Any
    bias_v: Any
    add_zero_attn: bool
    dropout_p: float
    out_weight: Any
    out_bias: Any
    batch_first: bool = False
    static_k: Any = None
    static_v: Any = None


# --- checks of the arguments ----------------------------------------------------------


def _check_ndims(query: Any, key: Any, value: Any, padding: Any, mask: Any) -> None:
    ndim = query.ndim
    if ndim not in (2, 3):
        raise AssertionError(
            "query should be unbatched 2D or batched 3D tensor but received "
            f"{ndim}-D query tensor"
        )
    kind = "batched" if ndim == 3 else "unbatched"
    start = f"For {kind} ({ndim}-D) `query`, expected "
    if not key.ndim == value.ndim == ndim:
        raise AssertionError(
            f"{start}`key` and `value` to be {ndim}-D but found {key.ndim}-D and "
            f"{value.ndim}-D tensors respectively"
        )
    if padding is not None and padding.ndim != ndim - 1:
        raise AssertionError(
            f"{start}`key_padding_mask` to be `None` or {ndim - 1}-D but found "
            f"{padding.ndim}-D tensor instead"
        )
    if mask is not None and mask.ndim not in (2, 3):
        raise AssertionError(
            f"{start}`attn_mask` to be `None`, 2-D or 3-D but found {mask.ndim}-D "
            "tensor instead"
        )


def _check_lengths(query: Any, key: Any, value: Any, heads: Heads) -> None:
    if query.shape[-1] != heads.embed_dim:
        raise AssertionError(
            f"was expecting embedding dimension of {heads.embed_dim}, but got "
            f"{query.shape[-1]}"
        )
    if heads.embed_dim % heads.num_heads:
        raise AssertionError(
            f"embed_dim {heads.embed_dim} not divisible by num_heads {heads.num_heads}"
        )
    if len(heads.weights) == 1 and key.shape != value.shape:
        raise AssertionError(
            f"key shape {key.shape} does not match value shape {value.shape}"
        )
    if key.shape[:-1] != value.shape[:-1]:
        raise AssertionError(
            f"key's sequence and batch dims {key.shape[:-1]} do not match value's "
            f"{value.shape[:-1]}"
        )


def additive(mask: Any, dtype: Any, name: str) -> Any:
    """Return a mask to add to scores: True, which masks, becomes -inf."""
    if mask is None or is_floating(mask.dtype):
        return mask
    if mask.dtype != bool:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return where(mask, np.asarray(-math.inf, dtype), np.asarray(0, dtype))


# --- the parts ------------------------------------------------------------------------


def _split_bias(bias: Any, sizes: int) -> Any:
    return (None,) * sizes if bias is None else np.split(bias, sizes)


def _project(query: Any, key: Any, value: Any, heads: Heads) -> list[Any]:
    """Return the three linear maps, with as few multiplications as possible."""
    width = heads.embed_dim
    if len(heads.weights) == 3:
        biases = _split_bias(heads.in_bias, 3)
        inputs = zip((query, key, value), heads.weights, biases, strict=True)
        return [linear(x, weight, bias) for x, weight, bias in inputs]
    (weight,), bias = heads.weights, heads.in_bias
    if query is key and key is value:
        return list(np.split(linear(query, weight, bias), 3, axis=-1))
    of_query, of_rest = np.split(weight, [width])
    bias_query, bias_rest = (None, None) if bias is None else np.split(bias, [width])
    q = linear(query, of_query, bias_query)
    if key is value:
        return [q, *np.split(linear(key, of_rest, bias_rest), 2, axis=-1)]
    of_key, of_value = np.split(of_rest, 2)
    bias_key, bias_value = _split_bias(bias_rest, 2)
    return [q, linear(key, of_key, bias_key), linear(value, of_value, bias_value)]


def _with_one_more(x: Any, last: Any, batch_first: bool) -> Any:
    """Return keys or values with one more, the same for the whole batch."""
    batch = x.shape[0 if batch_first else 1]
    shape = (batch, 1, x.shape[-1]) if batch_first else (1, batch, x.shape[-1])
    last = np.broadcast_to(last, shape)
    return concatenate([x, last], axis=1 if batch_first else 0)


def _widened(mask: Any) -> Any:
    """Return a mask for one more key, which is never masked."""
    if mask is None:
        return None
    return np.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, 1)])


def _into_heads(x: Any, heads: Heads) -> Any:
    """Return an input of the layer in the shape (batch, heads, length, width)."""
    first, second, width = x.shape
    x = x.reshape((first, second, heads.num_heads, width // heads.num_heads))
    return x.permute((0, 2, 1, 3) if heads.batch_first else (1, 2, 0, 3))


def _from_heads(x: Any, heads: Heads) -> Any:
    x = x.permute((0, 2, 1, 3) if heads.batch_first else (2, 0, 1, 3))
    return x.reshape((*x.shape[:2], heads.embed_dim))


def _with_zero(x: Any) -> Any:
    """Return keys or values in heads with a 0 at the end."""
    zeros = np.zeros((*x.shape[:2], 1, x.shape[-1]), x.dtype)
    return concatenate([x, zeros], axis=2)


def _joined(mask: Any, padding: Any, q: Any, k: Any) -> Any:
    """Return the sum of both masks, which broadcasts to the scores."""
    batch, number, queries = q.shape[:3]
    keys = k.shape[2]
    if mask is not None and mask.ndim == 3:
        mask = mask.reshape((batch, number, queries, keys))
    if padding is None:
        return mask
    if padding.shape[0] != batch:
        raise AssertionError(
            f"Expected key_padded_mask.shape[0] to be {batch}, but got "
            f"{padding.shape[0]}"
        )
    if padding.shape[1] != keys:
        raise AssertionError(
            f"Expected key_padded_mask.shape[1] to be {keys}, but got "
            f"{padding.shape[1]}"
        )
    padding = padding.reshape((batch, 1, 1, keys))
    return padding if mask is None else mask + padding


def _check_mask(mask: Any, queries: int, keys: int, pairs: int) -> None:
    if mask is None:
        return
    wanted = (queries, keys) if mask.ndim == 2 else (pairs, queries, keys)
    if mask.shape != wanted:
        raise RuntimeError(
            f"The shape of the {mask.ndim}D attn_mask is {mask.shape}, but should be "
            f"{wanted}."
        )


def _scores(q: Any, k: Any, mask: Any) -> Any:
    """Return the probabilities: (batch, heads, queries, keys)."""
    scale = q.dtype.type(1 / math.sqrt(q.shape[-1]))  # keeps the dtype
    scores = (q * scale) @ k.swapaxes(-1, -2)
    return softmax(scores if mask is None else scores + mask, -1)


def attend(
    heads: Heads,
    query: Any,
    key: Any,
    value: Any,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any]:
    """Return the output and the weights: see `MultiheadAttention.forward`."""
    _check_ndims(query, key, value, key_padding_mask, attn_mask)
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the "
            "Transformer module method `generate_square_subsequent_mask` to create "
            "this mask."
        )
    # The hint replaces the mask if nothing else needs one.
    causal = is_causal and key_padding_mask is None and not need_weights
    mask = None if causal else additive(attn_mask, query.dtype, "attn_mask")
    padding = additive(key_padding_mask, query.dtype, "key_padding_mask")
    batched = query.ndim == 3
    if not batched:
        dim = 0 if heads.batch_first else 1
        same = key is value, query is key
        query, key, value = (np.expand_dims(x, dim) for x in (query, key, value))
        value = key if same[0] else value
        query = key if same[1] else query
        padding = None if padding is None else np.expand_dims(padding, 0)
    _check_lengths(query, key, value, heads)
    batch, length = (0, 1) if heads.batch_first else (1, 0)
    pairs = query.shape[batch] * heads.num_heads
    keys = key if heads.static_k is None else heads.static_k
    keys = keys.shape[length if heads.static_k is None else 1]
    _check_mask(mask, query.shape[length], keys, pairs)
    q, k, v = _project(query, key, value, heads)
    if heads.bias_k is not None:
        k = _with_one_more(k, heads.bias_k, heads.batch_first)
        v = _with_one_more(v, heads.bias_v, heads.batch_first)
        mask, padding = _widened(mask), _widened(padding)
    q = _into_heads(q, heads)
    lead = q.shape[:2]
    k, v = (
        _into_heads(x, heads)
        if given is None
        else given.reshape((*lead, *given.shape[1:]))
        for x, given in ((k, heads.static_k), (v, heads.static_v))
    )
    if heads.add_zero_attn:
        k, v = _with_zero(k), _with_zero(v)
        mask, padding = _widened(mask), _widened(padding)
    mask, weights = _joined(mask, padding, q, k), None
    if need_weights:
        weights = _scores(q, k, mask)
        if heads.dropout_p > 0:
            weights = dropout(weights, heads.dropout_p)
        out = weights @ v
        weights = weights.mean(axis=1) if average_attn_weights else weights
    else:
        out = scaled_dot_product_attention(q, k, v, mask, heads.dropout_p, causal)
    out = linear(_from_heads(out, heads), heads.out_weight, heads.out_bias)
    if not batched:
        out = out.squeeze(0 if heads.batch_first else 1)
        weights = None if weights is None else weights.squeeze(0)
    return out, weights
