"""Rows of what models are made of: linear, attention, embedding, convolution.

References are the formulas in NumPy. What gradients are made of has rows, too.
"""

import numpy as np
from rows import SUM, Sample, each

from dtensor.ops.model import attention, conv, embedding, linear

# --- linear ---------------------------------------------------------------------------


def affine(x, w, b=None):
    return x @ w.T if b is None else x @ w.T + b


def outer(g, x):
    return np.tensordot(g, x, (range(g.ndim - 1), range(x.ndim - 1)))


LINEAR = [
    *each(
        "linear",
        linear.linear,
        "d3,5,4 d6,4 | d5,4 d6,4 | d4 d6,4 | f3,5,4 f6,4 | d2,3,2,4 d5,4 | d0,4 d6,4"
        " | d5,0 d3,0 | d5,4 d4 | l3,4 l5,4 | D3,4 D5,4",
        mode=SUM,
        reference=affine,
    ),
    *each(
        "linear",
        linear.linear,
        "d3,5,4 d6,4 d6 | d5,4 d6,4 d6 | d4 d6,4 d6 | f3,5,4 f6,4 f6 | d5,4 d6,4 d1"
        " | d5,4 d6,4 d5,6 | d2,5,4 d6,4 d5,6 | d5,4 d4 d | l3,4 l5,4 l5"
        " | d5,0 d3,0 d3",
        mode=SUM,
        reference=affine,
    ),
    *each("linear", linear.linear, "d5,4 d6,3 | d5,4 f6,4 | d d6,4 | d5,4 d6,4 d3"),
    *each(
        "linear_input",
        linear._linear_input,
        "d3,5,6 d6,4 | d5,6 d6,4 | d6 d6,4",
        mode=SUM,
        reference=np.matmul,
    ),
    *each(
        "linear_weight",
        linear._linear_weight,
        "d3,5,6 d3,5,4 | d5,6 d5,4 | d6 d4 | d0,6 d0,4",
        mode=SUM,
        reference=outer,
    ),
]

# --- attention ------------------------------------------------------------------------


def heads(q, x, gqa):
    return np.repeat(x, q.shape[-3] // x.shape[-3], axis=-3) if gqa else x


def probabilities(q, k, mask=None, causal=False, scale=None):
    """Probabilities, and the logarithms of their sums."""
    scale = 1 / np.sqrt(q.shape[-1]) if scale is None else scale
    scores = q @ k.swapaxes(-1, -2) * scale
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
    if mask is not None and mask.dtype == bool:
        scores = np.where(mask, scores, -np.inf)
    elif mask is not None:
        scores = scores + mask
    top = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    powers = np.exp(scores - np.where(np.isneginf(top), 0, top))
    total = powers.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        sums = (top + np.log(total))[..., 0]
    return powers / np.where(total == 0, 1, total), sums


def attended(q, k, v, mask=None, is_causal=False, scale=None, enable_gqa=False):
    k, v = heads(q, k, enable_gqa), heads(q, v, enable_gqa)
    return (probabilities(q, k, mask, is_causal, scale)[0] @ v).astype(q.dtype)


def attention_and_sums(q, k, v, mask=None, is_causal=False, scale=None, gqa=False):
    """The result, and the logarithms that the gradient needs.

    The public function hides these: a rule that gives wrong ones looks right in it.
    """
    options = {"is_causal": is_causal, "scale": scale, "enable_gqa": gqa}
    out = attention.scaled_dot_product_attention(q, k, v, mask, **options)
    return out, attention._attention(q, k, v, mask, is_causal, scale, gqa)[1]


def attended_and_sums(q, k, v, mask=None, is_causal=False, scale=None, gqa=False):
    p, sums = probabilities(q, heads(q, k, gqa), mask, is_causal, scale)
    return (p @ heads(q, v, gqa)).astype(q.dtype), sums.astype(q.dtype)


def reduced(grad, shape):
    """A gradient summed to the shape of what was broadcast, or used by a group."""
    grad = grad.sum(axis=tuple(range(grad.ndim - len(shape))))
    for dim, n in enumerate(shape):
        grad = grad.reshape(*grad.shape[:dim], n, -1, *grad.shape[dim + 1 :])
        grad = grad.sum(axis=dim + 1)
    return grad


def attention_gradients(g, q, k, v, mask=None, causal=False, gqa=False):
    """Gradients of q, k, v and the mask, where that of the sums is half of them."""
    full_k, full_v = heads(q, k, gqa), heads(q, v, gqa)
    p, sums = probabilities(q, full_k, mask, causal)
    dp = g @ full_v.swapaxes(-1, -2)
    ds = p * (dp - (p * dp).sum(axis=-1, keepdims=True) + sums[..., None] / 2)
    scale = 1 / np.sqrt(q.shape[-1])
    dk, dv = ds.swapaxes(-1, -2) @ q * scale, p.swapaxes(-1, -2) @ g
    found = ds @ full_k * scale, reduced(dk, k.shape), reduced(dv, v.shape)
    return found if mask is None else (*found, reduced(ds, mask.shape))


def attention_backward(g, q, k, v, mask=None, causal=False, gqa=False):
    """The same of the operators, on what its forward pass gives."""
    out = attention._attention(q, k, v, mask, causal, None, gqa)
    given = (g, out[1] / 2, q, k, v, mask, *out)
    return attention._attention_backward(*given, causal, None, gqa, mask is not None)


CAUSAL = [{}, {"is_causal": True, "scale": 0.25}]
GROUPED = [{"gqa": True}]
ATTENTION = [
    *each(
        "scaled_dot_product_attention",
        attention_and_sums,
        "d2,4,5,3 d2,4,6,3 d2,4,6,2 | d3,7,4 d3,5,4 d3,5,4 | f2,3,5,8 f2,3,5,8 f2,3,5,8"
        " | d5,3 d4,3 d4,3 | d4,3 d5,3 d5,2 | d2,4,5,3 d1,4,6,3 d4,6,2"
        " | d1,5,3 d4,6,3 d4,6,3 | d2,0,3 d2,4,3 d2,4,3 | d2,3,3 d2,0,3 d2,0,2",
        CAUSAL,
        SUM,
        attended_and_sums,
    ),
    *each(
        "scaled_dot_product_attention",
        attention_and_sums,
        "d2,4,5,3 d2,4,6,3 d2,4,6,2 d5,6 | d2,4,5,3 d2,4,6,3 d2,4,6,2 d2,1,1,6"
        " | d2,4,5,3 d2,4,6,3 d2,4,6,2 ?4,5,6 | d4,5,3 d4,6,3 d4,6,2 ?4,5,1"
        " | d4,5,3 d4,6,3 d4,6,2 d6",
        CAUSAL,
        SUM,
        attended_and_sums,
    ),
    *each(
        "scaled_dot_product_attention",
        attention_and_sums,
        "d2,4,5,3 d2,2,6,3 d2,2,6,2 | d6,5,3 d2,6,3 d2,6,2 | d2,4,5,3 d2,2,6,3 d2,4,6,2"
        " | d2,4,5,3 d2,1,6,3 d2,1,6,2",
        GROUPED,
        SUM,
        attended_and_sums,
    ),
    *each(
        "scaled_dot_product_attention",
        attention.scaled_dot_product_attention,
        "d4,5,3 d4,6,2 d4,6,3 | l4,5,3 l4,6,3 l4,6,3 | d3 d3 d3 | d4,5,3 f4,6,3 f4,6,3"
        " | d4,5,3 d3,6,3 d3,6,3 | d4,5,3 d4,6,3 d4,6,3 d5,5"
        " | d4,5,3 d4,6,3 d4,6,3 l5,6",
    ),
    *each(
        "attention_backward",
        attention_backward,
        "d2,4,5,2 d2,4,5,3 d2,4,6,3 d2,4,6,2 | d4,5,3 d4,5,3 d4,6,3 d4,6,3"
        " | d2,5,2 d2,5,3 d2,2,3 d2,2,2",
        [{}, {"causal": True}],
        SUM,
        attention_gradients,
    ),
    *each(
        "attention_backward",
        attention_backward,
        "d2,4,5,2 d2,4,5,3 d2,2,6,3 d2,2,6,2",
        [{"gqa": True}],
        SUM,
        attention_gradients,
    ),
    *each(
        "attention_backward",
        attention_backward,
        "d2,4,5,2 d2,4,5,3 d2,4,6,3 d2,4,6,2 d4,5,6"
        " | d2,4,5,2 d2,4,5,3 d2,4,6,3 d2,4,6,2 d2,1,1,6",
        [{}],
        SUM,
        attention_gradients,
    ),
]

# --- embedding ------------------------------------------------------------------------


def rows(index, table, **_):
    if ((index < 0) | (index >= len(table))).any():
        raise IndexError("index out of range in self")
    return table[index]


def rows_added(g, index, table, skip=-1):
    found = np.zeros_like(table)
    kept = index != skip
    np.add.at(found, index[kept], g[kept])
    return found


EMBEDDING = [
    *each(
        "embedding",
        embedding.embedding,
        "l3,4:0..7 d7,5 | l6:0..7 f7,4 | l:0..7 d7,5 | i3,4:0..7 l7,5 | l0 d7,5"
        " | l3:0..2 d2,0 | l2,3,2:0..9 D9,2 | l5:0..7 ?7,3",
        [{}, {"padding_idx": 1}],
        SUM,
        rows,
    ),
    *each("embedding", embedding.embedding, "l9,4:0..9 d7,5 | l9:-3..7 d7,5"),
    *each("embedding", embedding.embedding, "d3 d7,5 | l3:0..7 d7 | l3:0..2 d2,2,2"),
    *each(
        "embedding_backward",
        embedding._embedding_backward,
        "d3,4,5 l3,4:0..7 d7,5 | f6,4 l6:0..7 f7,4 | l3,2 l3:0..5 l5,2 | d0,3 l0 d5,3",
        [(-1,), (2,)],
        SUM,
        rows_added,
    ),
]

# --- convolution ----------------------------------------------------------------------


def convolved(x, w, b=None, stride=1, padding=0, dilation=1, groups=1):
    """One place, filter and sample after the other."""
    dims = w.ndim - 2
    if x.ndim == dims + 1:
        return convolved(x[None], w, b, stride, padding, dilation, groups)[0]
    stride, dilation = np.broadcast_to(stride, dims), np.broadcast_to(dilation, dims)
    reach = dilation * (np.array(w.shape[2:]) - 1)
    low = reach // 2 if padding == "same" else np.broadcast_to(padding, dims)
    high = reach - low if padding == "same" else low
    x = np.pad(x, [(0, 0), (0, 0), *zip(low, high, strict=True)])
    places = (np.array(x.shape[2:]) - reach - 1) // stride + 1
    out = np.zeros((len(x), len(w), *places), x.dtype)
    channels, filters = w.shape[1], len(w) // groups
    for n, f, *at in np.ndindex(*out.shape):
        first = f // filters * channels
        under = tuple(
            slice(i * s, i * s + r + 1, d)
            for i, s, r, d in zip(at, stride, reach, dilation, strict=True)
        )
        out[(n, f, *at)] = (x[(n, slice(first, first + channels), *under)] * w[f]).sum()
    return out if b is None else out + b.reshape(-1, *(1,) * dims)


STEPS = ((2, 1), (1, 0), (0, 1), (1, 2))  # stride, padding before and after, dilation


def gradient_of_input(g, w, shape):
    """The gradient of what is linear, element by element."""
    found = np.zeros(shape, g.dtype)
    for at in np.ndindex(*shape):
        unit = np.zeros(shape, g.dtype)
        unit[at] = 1
        found[at] = (plain_convolution(unit, w) * g).sum()
    return found


def gradient_of_weight(g, x, shape):
    found = np.zeros(shape, g.dtype)
    for at in np.ndindex(*shape):
        unit = np.zeros(shape, g.dtype)
        unit[at] = 1
        found[at] = (plain_convolution(x, unit) * g).sum()
    return found


def plain_convolution(x, w):
    stride, low, high, dilation = STEPS
    x = np.pad(x, [(0, 0), (0, 0), *zip(low, high, strict=True)])
    return convolved(x, w, None, stride, 0, dilation, x.shape[1] // w.shape[1])


CONVOLUTION = [
    *each(
        "conv2d",
        conv.conv2d,
        "d2,4,5,6 d6,4,3,2 | d2,4,5,6 d6,4,3,2 d6 | d4,5,6 d3,4,2,2",
        [{}, {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 2)}],
        SUM,
        convolved,
    ),
    *each(
        "conv2d",
        conv.conv2d,
        "d2,4,5,6 d6,2,3,2 d6",
        [{"groups": 2, "padding": "same"}],
        SUM,
        convolved,
    ),
    *each(
        "conv2d",
        conv.conv2d,
        "d2,4,3,4 d8,1,2,2 | d2,8,3,4 d8,2,2,2",
        [{"groups": 4}],
        SUM,
        convolved,
    ),
    *each(
        "conv2d",
        conv.conv2d,
        "d0,4,3,4 d2,4,2,2 | d2,4,3,4 d6,4,2,2",
        [{}],
        SUM,
        convolved,
    ),
    *each(
        "conv2d", conv.conv2d, "d2,3,5,6 d6,4,3,2 | d5,6 d1,1,1,1 | d2,4,5,6 f6,4,3,2"
    ),
    *each("conv2d", conv.conv2d, "d2,4,5,6 d6,4,7,2 | d2,4,5,6 d6,4,3,2 d5"),
    *each(
        "conv1d",
        conv.conv1d,
        "d3,4,7 d5,4,3 d5 | f3,4,7 f5,4,3 | d4,7 d5,4,3",
        [{}, {"stride": 2, "padding": 2}],
        SUM,
        convolved,
    ),
    *each(
        "convolution_input",
        lambda g, w, shape: conv.convolution_input(g, w, shape, STEPS),
        "d2,6,2,4 d6,4,3,3",
        [((2, 4, 4, 7),)],
        SUM,
        gradient_of_input,
    ),
    *each(
        "convolution_weight",
        lambda g, x, shape: conv.convolution_weight(g, x, shape, STEPS),
        "d2,6,2,4 d2,4,4,7",
        [((6, 2, 3, 3),), ((6, 4, 3, 3),)],
        SUM,
        gradient_of_weight,
    ),
]

ROWS: list[Sample] = [*LINEAR, *ATTENTION, *EMBEDDING, *CONVOLUTION]
