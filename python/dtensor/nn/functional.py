"""The functions behind the layers: the names of ``torch.nn.functional``.

Most are operators, whose documentation says how they are sharded. With ``inplace=True``
a function writes its result into `input`, and returns `input`.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy.typing as npt

from dtensor import _C
from dtensor._core.caller import warn
from dtensor.autograd import is_grad_enabled
from dtensor.nn import (
    _bags,
    _ctc,
    _fractional,
    _grid,
    _likelihoods,
    _margins,
    _noise,
    _normalized,
    _padding,
    _pixels,
    _pools,
    _resize,
)
from dtensor.nn._bags import *  # noqa: F403
from dtensor.nn._ctc import *  # noqa: F403
from dtensor.nn._fractional import *  # noqa: F403
from dtensor.nn._grid import *  # noqa: F403
from dtensor.nn._likelihoods import *  # noqa: F403
from dtensor.nn._margins import *  # noqa: F403
from dtensor.nn._multi_head import Heads, attend
from dtensor.nn._noise import *  # noqa: F403
from dtensor.nn._normalized import *  # noqa: F403
from dtensor.nn._padding import *  # noqa: F403
from dtensor.nn._pixels import *  # noqa: F403
from dtensor.nn._pools import *  # noqa: F403
from dtensor.nn._resize import *  # noqa: F403
from dtensor.nn._vectors import (
    bilinear,
    cosine_similarity,
    normalize,
    one_hot,
    pairwise_distance,
)
from dtensor.ops._make.direct import Maybe, in_front, passed
from dtensor.ops.elementwise.transcendental import tanh
from dtensor.ops.model import activation
from dtensor.ops.model.activation import (
    gelu,
    glu,
    hardshrink,
    logsigmoid,
    prelu,
    sigmoid,
    softplus,
    softshrink,
    softsign,
    tanhshrink,
)
from dtensor.ops.model.attention import scaled_dot_product_attention
from dtensor.ops.model.batch_norm import batch_norm
from dtensor.ops.model.conv_rows import conv1d, conv2d, conv3d
from dtensor.ops.model.conv_transpose import (
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from dtensor.ops.model.embedding import embedding
from dtensor.ops.model.fold import fold, unfold
from dtensor.ops.model.grouped import grouped_mm
from dtensor.ops.model.linear import linear
from dtensor.ops.model.loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cross_entropy,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    nll_loss,
    smooth_l1_loss,
)
from dtensor.ops.model.norm import group_norm, layer_norm, rms_norm
from dtensor.ops.model.pool import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    avg_pool1d,
    avg_pool2d,
    max_pool1d,
    max_pool2d,
)
from dtensor.ops.model.softmax import log_softmax as _log_softmax, softmax as _softmax
from dtensor.ops.random.dropout import dropout

F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "elu",
    "embedding",
    "fold",
    "gelu",
    "glu",
    "group_norm",
    "grouped_mm",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "log_softmax",
    "logsigmoid",
    "max_pool1d",
    "max_pool2d",
    "mish",
    "mse_loss",
    "multi_head_attention_forward",
    "nll_loss",
    "normalize",
    "one_hot",
    "pairwise_distance",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "unfold",
]
__all__ += _bags.__all__
__all__ += _ctc.__all__
__all__ += _fractional.__all__
__all__ += _grid.__all__
__all__ += _likelihoods.__all__
__all__ += _margins.__all__
__all__ += _noise.__all__
__all__ += _normalized.__all__
__all__ += _padding.__all__
__all__ += _pixels.__all__
__all__ += _pools.__all__
__all__ += _resize.__all__

# --- activations ----------------------------------------------------------------------


def _run(operator: Any, inplace: bool, input: Any, *numbers: float) -> Any:
    if not inplace:
        return operator(input, *numbers)
    if input.requires_grad and is_grad_enabled():
        # The gradient needs the original elements.
        input[...] = operator(_C.old_value(input).clone(), *numbers)
        return input
    return operator(input, *numbers, out=input)


def _directly(operator: Any) -> Callable[[F], F]:
    """Return a decorator: what does not work in place is passed on to an operator."""

    def ask(input: Any, inplace: Any = False) -> Maybe:
        return passed(operator, input) if inplace is False else None

    return in_front(ask)


@_directly(activation.relu)
def relu(input: Any, inplace: bool = False) -> Any:
    """Return ``max(0, input)``."""
    return _run(activation.relu, inplace, input)


def relu6(input: Any, inplace: bool = False) -> Any:
    """Return ``min(max(0, input), 6)``."""
    return hardtanh(input, 0.0, 6.0, inplace)


def hardtanh(
    input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> Any:
    """Return ``min(max(input, min_val), max_val)``."""
    return _run(activation.hardtanh, inplace, input, min_val, max_val)


def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """Return the input where it is positive, else ``negative_slope * input``."""
    return _run(activation.leaky_relu, inplace, input, negative_slope)


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """Return the input where it is greater than `threshold`, else `value`."""
    return _run(activation.threshold, inplace, input, threshold, value)


@_directly(activation.hardsigmoid)
def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """Return ``min(max(input + 3, 0), 6) / 6``."""
    return _run(activation.hardsigmoid, inplace, input)


@_directly(activation.hardswish)
def hardswish(input: Any, inplace: bool = False) -> Any:
    """Return ``input * hardsigmoid(input)``."""
    return _run(activation.hardswish, inplace, input)


@_directly(activation.silu)
def silu(input: Any, inplace: bool = False) -> Any:
    """Return ``input * sigmoid(input)``."""
    return _run(activation.silu, inplace, input)


@_directly(activation.mish)
def mish(input: Any, inplace: bool = False) -> Any:
    """Return ``input * tanh(softplus(input))``."""
    return _run(activation.mish, inplace, input)


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """Return the input where it is positive, else ``alpha * (exp(input) - 1)``."""
    return _run(activation.elu, inplace, input, alpha)


def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """Return the input where it is positive, else ``alpha * expm1(input / alpha)``."""
    return _run(activation.celu, inplace, input, alpha)


@_directly(activation.selu)
def selu(input: Any, inplace: bool = False) -> Any:
    """Return `elu`, scaled such that layers keep mean 0 and variance 1."""
    return _run(activation.selu, inplace, input)


def _dim_of(name: str, dim: int | None, ndim: int) -> int:
    if dim is not None:
        return dim
    warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to "
        "include dim=X as an argument."
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(
    input: Any,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: npt.DTypeLike | None = None,
) -> Any:
    """Return exponentials that add up to 1 along a dim.

    Parameters
    ----------
    input : tensor
    dim : int, optional
        Default: the second one of 2 or 4 dims, else the first one, with a warning.
    _stacklevel : int
        Ignored.
    dtype : dtype_like, optional
        The dtype that the input is first converted to.
    """
    return _softmax(input, _dim_of("softmax", dim, input.ndim), dtype)


def log_softmax(
    input: Any,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: npt.DTypeLike | None = None,
) -> Any:
    """Return the logarithm of `softmax`, which does not underflow."""
    return _log_softmax(input, _dim_of("log_softmax", dim, input.ndim), dtype)


def softmin(
    input: Any,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: npt.DTypeLike | None = None,
) -> Any:
    """Return the `softmax` of ``-input``."""
    return _softmax(-input, _dim_of("softmin", dim, input.ndim), dtype)


# --- attention ------------------------------------------------------------------------


def multi_head_attention_forward(
    query: Any,
    key: Any,
    value: Any,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Any,
    bias_k: Any,
    bias_v: Any,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Any,
    out_proj_bias: Any,
    training: bool = True,
    key_padding_mask: Any = None,
    need_weights: bool = True,
    attn_mask: Any = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    static_k: Any = None,
    static_v: Any = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Any, Any]:
    """Return what ``MultiheadAttention.forward`` returns, for given parameters.

    Tensors are (length, batch, width). `static_k` and `static_v`, of shape (batch *
    num_heads, length, head width), replace the projections.
    """
    weights: tuple[Any, ...] = (in_proj_weight,)
    if use_separate_proj_weight:
        weights = q_proj_weight, k_proj_weight, v_proj_weight
    heads = Heads(
        embed_dim_to_check,
        num_heads,
        weights,
        in_proj_bias,
        bias_k,
        bias_v,
        add_zero_attn,
        dropout_p if training else 0.0,
        out_proj_weight,
        out_proj_bias,
        False,
        static_k,
        static_v,
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
