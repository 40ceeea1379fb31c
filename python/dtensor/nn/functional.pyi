"""Made by `./run exec python tests/stubs.py`."""

# ruff: noqa: F403, F405
from collections.abc import Callable, Sequence
from typing import Any, Literal, overload

import numpy.typing as npt

from dtensor import _C
from dtensor._C import _T, DTensor, _ArrayLike, _Axis, _Out, _Plain, _Shape
from dtensor.random import Generator

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "grouped_mm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "linear",
    "linear_cross_entropy",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "rrelu",
    "scaled_dot_product_attention",
    "selu",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

@overload
def adaptive_avg_pool1d(input: _T, output_size: _Shape) -> _T: ...
@overload
def adaptive_avg_pool1d(input: _Plain, output_size: _Shape) -> _C.Tensor: ...
@overload
def adaptive_avg_pool2d(input: _T, output_size: _Shape) -> _T: ...
@overload
def adaptive_avg_pool2d(input: _Plain, output_size: _Shape) -> _C.Tensor: ...
@overload
def adaptive_avg_pool3d(input: _T, output_size: _Shape) -> _T: ...
@overload
def adaptive_avg_pool3d(input: _Plain, output_size: _Shape) -> _C.Tensor: ...
@overload
def adaptive_max_pool1d(
    input: _T, output_size: _Shape, return_indices: bool = False
) -> _T: ...
@overload
def adaptive_max_pool1d(
    input: _Plain, output_size: _Shape, return_indices: bool = False
) -> _C.Tensor: ...
@overload
def adaptive_max_pool1d_with_indices(
    input: _T, output_size: _Shape, return_indices: bool = True
) -> _T: ...
@overload
def adaptive_max_pool1d_with_indices(
    input: _Plain, output_size: _Shape, return_indices: bool = True
) -> _C.Tensor: ...
@overload
def adaptive_max_pool2d(
    input: _T, output_size: _Shape, return_indices: bool = False
) -> _T: ...
@overload
def adaptive_max_pool2d(
    input: _Plain, output_size: _Shape, return_indices: bool = False
) -> _C.Tensor: ...
@overload
def adaptive_max_pool2d_with_indices(
    input: _T, output_size: _Shape, return_indices: bool = True
) -> _T: ...
@overload
def adaptive_max_pool2d_with_indices(
    input: _Plain, output_size: _Shape, return_indices: bool = True
) -> _C.Tensor: ...
@overload
def adaptive_max_pool3d(
    input: _T, output_size: _Shape, return_indices: bool = False
) -> _T: ...
@overload
def adaptive_max_pool3d(
    input: _Plain, output_size: _Shape, return_indices: bool = False
) -> _C.Tensor: ...
@overload
def adaptive_max_pool3d_with_indices(
    input: _T, output_size: _Shape, return_indices: bool = True
) -> _T: ...
@overload
def adaptive_max_pool3d_with_indices(
    input: _Plain, output_size: _Shape, return_indices: bool = True
) -> _C.Tensor: ...
def affine_grid(
    theta: Any, size: Sequence[int], align_corners: bool | None = None
) -> DTensor: ...
@overload
def alpha_dropout(
    input: _T, p: float = 0.5, training: bool = False, inplace: bool = False
) -> _T: ...
@overload
def alpha_dropout(
    input: _Plain, p: float = 0.5, training: bool = False, inplace: bool = False
) -> _C.Tensor: ...
@overload
def avg_pool1d(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> _T: ...
@overload
def avg_pool1d(
    input: _Plain,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> _C.Tensor: ...
@overload
def avg_pool2d(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> _T: ...
@overload
def avg_pool2d(
    input: _Plain,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> _C.Tensor: ...
@overload
def avg_pool3d(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> _T: ...
@overload
def avg_pool3d(
    input: _Plain,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> _C.Tensor: ...
@overload
def batch_norm(
    input: _T,
    running_mean: _ArrayLike,
    running_var: _ArrayLike,
    weight: _ArrayLike | None = None,
    bias: _ArrayLike | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> _T: ...
@overload
def batch_norm(
    input: _Plain,
    running_mean: _ArrayLike,
    running_var: _ArrayLike,
    weight: _ArrayLike | None = None,
    bias: _ArrayLike | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> _C.Tensor: ...
@overload
def bilinear(
    input1: _T, input2: _ArrayLike, weight: _ArrayLike, bias: _ArrayLike | None = None
) -> _T: ...
@overload
def bilinear(
    input1: _Plain,
    input2: _ArrayLike,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def binary_cross_entropy(
    input: _T,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _T: ...
@overload
def binary_cross_entropy(
    input: _Plain,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _C.Tensor: ...
@overload
def binary_cross_entropy_with_logits(
    input: _T,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: _ArrayLike | None = None,
) -> _T: ...
@overload
def binary_cross_entropy_with_logits(
    input: _Plain,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def celu(input: _T, alpha: float = 1.0, inplace: bool = False) -> _T: ...
@overload
def celu(input: _Plain, alpha: float = 1.0, inplace: bool = False) -> _C.Tensor: ...
@overload
def channel_shuffle(input: _T, groups: int) -> _T: ...
@overload
def channel_shuffle(input: _Plain, groups: int) -> _C.Tensor: ...
@overload
def conv1d(
    input: _T,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape | str = 0,
    dilation: _Shape = 1,
    groups: int = 1,
) -> _T: ...
@overload
def conv1d(
    input: _Plain,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape | str = 0,
    dilation: _Shape = 1,
    groups: int = 1,
) -> _C.Tensor: ...
@overload
def conv2d(
    input: _T,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape | str = 0,
    dilation: _Shape = 1,
    groups: int = 1,
) -> _T: ...
@overload
def conv2d(
    input: _Plain,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape | str = 0,
    dilation: _Shape = 1,
    groups: int = 1,
) -> _C.Tensor: ...
@overload
def conv3d(
    input: _T,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape | str = 0,
    dilation: _Shape = 1,
    groups: int = 1,
) -> _T: ...
@overload
def conv3d(
    input: _Plain,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape | str = 0,
    dilation: _Shape = 1,
    groups: int = 1,
) -> _C.Tensor: ...
@overload
def conv_transpose1d(
    input: _T,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape = 0,
    output_padding: _Shape = 0,
    groups: int = 1,
    dilation: _Shape = 1,
) -> _T: ...
@overload
def conv_transpose1d(
    input: _Plain,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape = 0,
    output_padding: _Shape = 0,
    groups: int = 1,
    dilation: _Shape = 1,
) -> _C.Tensor: ...
@overload
def conv_transpose2d(
    input: _T,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape = 0,
    output_padding: _Shape = 0,
    groups: int = 1,
    dilation: _Shape = 1,
) -> _T: ...
@overload
def conv_transpose2d(
    input: _Plain,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape = 0,
    output_padding: _Shape = 0,
    groups: int = 1,
    dilation: _Shape = 1,
) -> _C.Tensor: ...
@overload
def conv_transpose3d(
    input: _T,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape = 0,
    output_padding: _Shape = 0,
    groups: int = 1,
    dilation: _Shape = 1,
) -> _T: ...
@overload
def conv_transpose3d(
    input: _Plain,
    weight: _ArrayLike,
    bias: _ArrayLike | None = None,
    stride: _Shape = 1,
    padding: _Shape = 0,
    output_padding: _Shape = 0,
    groups: int = 1,
    dilation: _Shape = 1,
) -> _C.Tensor: ...
@overload
def cosine_embedding_loss(
    input1: _T,
    input2: _ArrayLike,
    target: _ArrayLike,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _T: ...
@overload
def cosine_embedding_loss(
    input1: _Plain,
    input2: _ArrayLike,
    target: _ArrayLike,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _C.Tensor: ...
@overload
def cosine_similarity(
    x1: _T, x2: _ArrayLike, dim: int = 1, eps: float = 1e-08
) -> _T: ...
@overload
def cosine_similarity(x1: _Plain, x2: _T, dim: int = 1, eps: float = 1e-08) -> _T: ...
@overload
def cosine_similarity(
    x1: _Plain, x2: _Plain, dim: int = 1, eps: float = 1e-08
) -> _C.Tensor: ...
@overload
def cross_entropy(
    input: _T,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> _T: ...
@overload
def cross_entropy(
    input: _Plain,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> _C.Tensor: ...
def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> DTensor: ...
@overload
def dropout(
    input: _T,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> _T: ...
@overload
def dropout(
    input: _Plain,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    generator: Generator | None = None,
) -> _C.Tensor: ...
@overload
def dropout1d(
    input: _T, p: float = 0.5, training: bool = True, inplace: bool = False
) -> _T: ...
@overload
def dropout1d(
    input: _Plain, p: float = 0.5, training: bool = True, inplace: bool = False
) -> _C.Tensor: ...
@overload
def dropout2d(
    input: _T, p: float = 0.5, training: bool = True, inplace: bool = False
) -> _T: ...
@overload
def dropout2d(
    input: _Plain, p: float = 0.5, training: bool = True, inplace: bool = False
) -> _C.Tensor: ...
@overload
def dropout3d(
    input: _T, p: float = 0.5, training: bool = True, inplace: bool = False
) -> _T: ...
@overload
def dropout3d(
    input: _Plain, p: float = 0.5, training: bool = True, inplace: bool = False
) -> _C.Tensor: ...
@overload
def elu(input: _T, alpha: float = 1.0, inplace: bool = False) -> _T: ...
@overload
def elu(input: _Plain, alpha: float = 1.0, inplace: bool = False) -> _C.Tensor: ...
@overload
def embedding(
    input: _T,
    weight: _ArrayLike,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> _T: ...
@overload
def embedding(
    input: _Plain,
    weight: _ArrayLike,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> _C.Tensor: ...
@overload
def embedding_bag(
    input: _T,
    weight: _ArrayLike,
    offsets: _ArrayLike | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: _ArrayLike | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> _T: ...
@overload
def embedding_bag(
    input: _Plain,
    weight: _ArrayLike,
    offsets: _ArrayLike | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: _ArrayLike | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> _C.Tensor: ...
@overload
def feature_alpha_dropout(
    input: _T, p: float = 0.5, training: bool = False, inplace: bool = False
) -> _T: ...
@overload
def feature_alpha_dropout(
    input: _Plain, p: float = 0.5, training: bool = False, inplace: bool = False
) -> _C.Tensor: ...
@overload
def fold(
    input: _T,
    output_size: _Shape,
    kernel_size: _Shape,
    dilation: _Shape = 1,
    padding: _Shape = 0,
    stride: _Shape = 1,
) -> _T: ...
@overload
def fold(
    input: _Plain,
    output_size: _Shape,
    kernel_size: _Shape,
    dilation: _Shape = 1,
    padding: _Shape = 0,
    stride: _Shape = 1,
) -> _C.Tensor: ...
@overload
def fractional_max_pool2d(
    input: _T,
    kernel_size: _Shape,
    output_size: _Axis | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> _T: ...
@overload
def fractional_max_pool2d(
    input: _Plain,
    kernel_size: _Shape,
    output_size: _Axis | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> _C.Tensor: ...
@overload
def fractional_max_pool2d_with_indices(
    input: _T,
    kernel_size: _Shape,
    output_size: _Axis | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> _T: ...
@overload
def fractional_max_pool2d_with_indices(
    input: _Plain,
    kernel_size: _Shape,
    output_size: _Axis | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> _C.Tensor: ...
@overload
def fractional_max_pool3d(
    input: _T,
    kernel_size: _Shape,
    output_size: _Axis | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> _T: ...
@overload
def fractional_max_pool3d(
    input: _Plain,
    kernel_size: _Shape,
    output_size: _Axis | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> _C.Tensor: ...
@overload
def fractional_max_pool3d_with_indices(
    input: _T,
    kernel_size: _Shape,
    output_size: _Axis | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> _T: ...
@overload
def fractional_max_pool3d_with_indices(
    input: _Plain,
    kernel_size: _Shape,
    output_size: _Axis | None = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> _C.Tensor: ...
@overload
def gaussian_nll_loss(
    input: _T,
    target: _ArrayLike,
    var: _ArrayLike,
    full: bool = False,
    eps: float = 1e-06,
    reduction: str = "mean",
) -> _T: ...
@overload
def gaussian_nll_loss(
    input: _Plain,
    target: _ArrayLike,
    var: _ArrayLike,
    full: bool = False,
    eps: float = 1e-06,
    reduction: str = "mean",
) -> _C.Tensor: ...
@overload
def gelu(x: _T, approximate: str = "none") -> _T: ...
@overload
def gelu(x: _Plain, approximate: str = "none") -> _C.Tensor: ...
@overload
def glu(x: _T, dim: int = -1) -> _T: ...
@overload
def glu(x: _Plain, dim: int = -1) -> _C.Tensor: ...
@overload
def grid_sample(
    input: _T,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> _T: ...
@overload
def grid_sample(
    input: _Plain,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> _C.Tensor: ...
@overload
def group_norm(
    input: _T,
    num_groups: int,
    weight: _ArrayLike | None = None,
    bias: _ArrayLike | None = None,
    eps: float = 1e-05,
) -> _T: ...
@overload
def group_norm(
    input: _Plain,
    num_groups: int,
    weight: _ArrayLike | None = None,
    bias: _ArrayLike | None = None,
    eps: float = 1e-05,
) -> _C.Tensor: ...
def grouped_mm(
    mat_a: Any,
    mat_b: Any,
    *,
    offs: Any = None,
    bias: _ArrayLike | None = None,
    out_dtype: Any = None,
) -> DTensor: ...
@overload
def gumbel_softmax(
    logits: _T, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> _T: ...
@overload
def gumbel_softmax(
    logits: _Plain,
    tau: float = 1,
    hard: bool = False,
    eps: float = 1e-10,
    dim: int = -1,
) -> _C.Tensor: ...
@overload
def hardshrink(x: _T, lambd: float = 0.5) -> _T: ...
@overload
def hardshrink(x: _Plain, lambd: float = 0.5) -> _C.Tensor: ...
@overload
def hardsigmoid(input: _T, inplace: bool = False) -> _T: ...
@overload
def hardsigmoid(input: _Plain, inplace: bool = False) -> _C.Tensor: ...
@overload
def hardswish(input: _T, inplace: bool = False) -> _T: ...
@overload
def hardswish(input: _Plain, inplace: bool = False) -> _C.Tensor: ...
@overload
def hardtanh(
    input: _T, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> _T: ...
@overload
def hardtanh(
    input: _Plain, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False
) -> _C.Tensor: ...
@overload
def hinge_embedding_loss(
    input: _T,
    target: _ArrayLike,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _T: ...
@overload
def hinge_embedding_loss(
    input: _Plain,
    target: _ArrayLike,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _C.Tensor: ...
@overload
def huber_loss(
    input: _T,
    target: _ArrayLike,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: _ArrayLike | None = None,
) -> _T: ...
@overload
def huber_loss(
    input: _Plain,
    target: _ArrayLike,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def instance_norm(
    input: _T,
    running_mean: _ArrayLike | None = None,
    running_var: _ArrayLike | None = None,
    weight: _ArrayLike | None = None,
    bias: _ArrayLike | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> _T: ...
@overload
def instance_norm(
    input: _Plain,
    running_mean: _ArrayLike | None = None,
    running_var: _ArrayLike | None = None,
    weight: _ArrayLike | None = None,
    bias: _ArrayLike | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-05,
) -> _C.Tensor: ...
@overload
def interpolate(
    input: _T,
    size: _Axis | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> _T: ...
@overload
def interpolate(
    input: _Plain,
    size: _Axis | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> _C.Tensor: ...
@overload
def kl_div(
    input: _T,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> _T: ...
@overload
def kl_div(
    input: _Plain,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> _C.Tensor: ...
@overload
def l1_loss(
    input: _T,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: _ArrayLike | None = None,
) -> _T: ...
@overload
def l1_loss(
    input: _Plain,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def layer_norm(
    input: _T,
    normalized_shape: _Shape,
    weight: _ArrayLike | None = None,
    bias: _ArrayLike | None = None,
    eps: float = 1e-05,
) -> _T: ...
@overload
def layer_norm(
    input: _Plain,
    normalized_shape: _Shape,
    weight: _ArrayLike | None = None,
    bias: _ArrayLike | None = None,
    eps: float = 1e-05,
) -> _C.Tensor: ...
@overload
def leaky_relu(
    input: _T, negative_slope: float = 0.01, inplace: bool = False
) -> _T: ...
@overload
def leaky_relu(
    input: _Plain, negative_slope: float = 0.01, inplace: bool = False
) -> _C.Tensor: ...
@overload
def linear(input: _T, weight: _ArrayLike, bias: _ArrayLike | None = None) -> _T: ...
@overload
def linear(
    input: _Plain, weight: _ArrayLike, bias: _ArrayLike | None = None
) -> _C.Tensor: ...
@overload
def linear_cross_entropy(
    input: _T,
    linear_weight: Any,
    target: _ArrayLike,
    *,
    linear_bias: Any = None,
    weight: _ArrayLike | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> _T: ...
@overload
def linear_cross_entropy(
    input: _Plain,
    linear_weight: Any,
    target: _ArrayLike,
    *,
    linear_bias: Any = None,
    weight: _ArrayLike | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> _C.Tensor: ...
@overload
def local_response_norm(
    input: _T, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0
) -> _T: ...
@overload
def local_response_norm(
    input: _Plain, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0
) -> _C.Tensor: ...
@overload
def log_softmax(
    input: _T,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: npt.DTypeLike | None = None,
) -> _T: ...
@overload
def log_softmax(
    input: _Plain,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: npt.DTypeLike | None = None,
) -> _C.Tensor: ...
@overload
def logsigmoid(x: _T) -> _T: ...
@overload
def logsigmoid(x: _Plain) -> _C.Tensor: ...
@overload
def lp_pool1d(
    input: _T,
    norm_type: float,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    ceil_mode: bool = False,
) -> _T: ...
@overload
def lp_pool1d(
    input: _Plain,
    norm_type: float,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    ceil_mode: bool = False,
) -> _C.Tensor: ...
@overload
def lp_pool2d(
    input: _T,
    norm_type: float,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    ceil_mode: bool = False,
) -> _T: ...
@overload
def lp_pool2d(
    input: _Plain,
    norm_type: float,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    ceil_mode: bool = False,
) -> _C.Tensor: ...
@overload
def lp_pool3d(
    input: _T,
    norm_type: float,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    ceil_mode: bool = False,
) -> _T: ...
@overload
def lp_pool3d(
    input: _Plain,
    norm_type: float,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    ceil_mode: bool = False,
) -> _C.Tensor: ...
@overload
def margin_ranking_loss(
    input1: _T,
    input2: _ArrayLike,
    target: _ArrayLike,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _T: ...
@overload
def margin_ranking_loss(
    input1: _Plain,
    input2: _ArrayLike,
    target: _ArrayLike,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _C.Tensor: ...
@overload
def max_pool1d(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> _T: ...
@overload
def max_pool1d(
    input: _Plain,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> _C.Tensor: ...
@overload
def max_pool1d(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[_T, _T]: ...
@overload
def max_pool1d(
    input: _Plain,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[_C.Tensor, _C.Tensor]: ...
@overload
def max_pool1d_with_indices(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: bool = False,
    return_indices: bool = True,
) -> _T: ...
@overload
def max_pool1d_with_indices(
    input: _Plain,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: bool = False,
    return_indices: bool = True,
) -> _C.Tensor: ...
@overload
def max_pool2d(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> _T: ...
@overload
def max_pool2d(
    input: _Plain,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: bool = False,
    return_indices: Literal[False] = False,
) -> _C.Tensor: ...
@overload
def max_pool2d(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[_T, _T]: ...
@overload
def max_pool2d(
    input: _Plain,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: bool = False,
    *,
    return_indices: Literal[True],
) -> tuple[_C.Tensor, _C.Tensor]: ...
@overload
def max_pool2d_with_indices(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: bool = False,
    return_indices: bool = True,
) -> _T: ...
@overload
def max_pool2d_with_indices(
    input: _Plain,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: bool = False,
    return_indices: bool = True,
) -> _C.Tensor: ...
@overload
def max_pool3d(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> _T: ...
@overload
def max_pool3d(
    input: _Plain,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> _C.Tensor: ...
@overload
def max_pool3d_with_indices(
    input: _T,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: bool = False,
    return_indices: bool = True,
) -> _T: ...
@overload
def max_pool3d_with_indices(
    input: _Plain,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    dilation: _Shape = 1,
    ceil_mode: bool = False,
    return_indices: bool = True,
) -> _C.Tensor: ...
@overload
def max_unpool1d(
    input: _T,
    indices: _ArrayLike,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    output_size: Sequence[int] | None = None,
) -> _T: ...
@overload
def max_unpool1d(
    input: _Plain,
    indices: _ArrayLike,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    output_size: Sequence[int] | None = None,
) -> _C.Tensor: ...
@overload
def max_unpool2d(
    input: _T,
    indices: _ArrayLike,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    output_size: Sequence[int] | None = None,
) -> _T: ...
@overload
def max_unpool2d(
    input: _Plain,
    indices: _ArrayLike,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    output_size: Sequence[int] | None = None,
) -> _C.Tensor: ...
@overload
def max_unpool3d(
    input: _T,
    indices: _ArrayLike,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    output_size: Sequence[int] | None = None,
) -> _T: ...
@overload
def max_unpool3d(
    input: _Plain,
    indices: _ArrayLike,
    kernel_size: _Shape,
    stride: _Axis | None = None,
    padding: _Shape = 0,
    output_size: Sequence[int] | None = None,
) -> _C.Tensor: ...
@overload
def mish(input: _T, inplace: bool = False) -> _T: ...
@overload
def mish(input: _Plain, inplace: bool = False) -> _C.Tensor: ...
@overload
def mse_loss(
    input: _T,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: _ArrayLike | None = None,
) -> _T: ...
@overload
def mse_loss(
    input: _Plain,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: _ArrayLike | None = None,
) -> _C.Tensor: ...
@overload
def multi_head_attention_forward(
    query: _T,
    key: _ArrayLike,
    value: _ArrayLike,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: _ArrayLike,
    in_proj_bias: _ArrayLike,
    bias_k: _ArrayLike,
    bias_v: _ArrayLike,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: _ArrayLike,
    out_proj_bias: _ArrayLike,
    training: bool = True,
    key_padding_mask: _ArrayLike | None = None,
    need_weights: bool = True,
    attn_mask: _ArrayLike | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: _ArrayLike | None = None,
    k_proj_weight: _ArrayLike | None = None,
    v_proj_weight: _ArrayLike | None = None,
    static_k: _ArrayLike | None = None,
    static_v: _ArrayLike | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[_T, _T | None]: ...
@overload
def multi_head_attention_forward(
    query: _Plain,
    key: _ArrayLike,
    value: _ArrayLike,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: _ArrayLike,
    in_proj_bias: _ArrayLike,
    bias_k: _ArrayLike,
    bias_v: _ArrayLike,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: _ArrayLike,
    out_proj_bias: _ArrayLike,
    training: bool = True,
    key_padding_mask: _ArrayLike | None = None,
    need_weights: bool = True,
    attn_mask: _ArrayLike | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: _ArrayLike | None = None,
    k_proj_weight: _ArrayLike | None = None,
    v_proj_weight: _ArrayLike | None = None,
    static_k: _ArrayLike | None = None,
    static_v: _ArrayLike | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[_C.Tensor, _C.Tensor | None]: ...
@overload
def multi_margin_loss(
    input: _T,
    target: _ArrayLike,
    p: int = 1,
    margin: float = 1.0,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _T: ...
@overload
def multi_margin_loss(
    input: _Plain,
    target: _ArrayLike,
    p: int = 1,
    margin: float = 1.0,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _C.Tensor: ...
@overload
def multilabel_margin_loss(
    input: _T,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _T: ...
@overload
def multilabel_margin_loss(
    input: _Plain,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _C.Tensor: ...
@overload
def multilabel_soft_margin_loss(
    input: _T,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _T: ...
@overload
def multilabel_soft_margin_loss(
    input: _Plain,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _C.Tensor: ...
@overload
def nll_loss(
    input: _T,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _T: ...
@overload
def nll_loss(
    input: _Plain,
    target: _ArrayLike,
    weight: _ArrayLike | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _C.Tensor: ...
@overload
def normalize(
    input: _T, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: _Out = None
) -> _T: ...
@overload
def normalize(
    input: _Plain, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: _Out = None
) -> _C.Tensor: ...
@overload
def one_hot(tensor: _T, num_classes: int = -1) -> _T: ...
@overload
def one_hot(tensor: _Plain, num_classes: int = -1) -> _C.Tensor: ...
@overload
def pad(
    input: _T,
    pad: Sequence[int],
    mode: str | Callable[..., Any] = "constant",
    value: float | None = None,
) -> _T: ...
@overload
def pad(
    input: _Plain,
    pad: Sequence[int],
    mode: str | Callable[..., Any] = "constant",
    value: float | None = None,
) -> _C.Tensor: ...
@overload
def pairwise_distance(
    x1: _T, x2: _ArrayLike, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False
) -> _T: ...
@overload
def pairwise_distance(
    x1: _Plain, x2: _T, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False
) -> _T: ...
@overload
def pairwise_distance(
    x1: _Plain, x2: _Plain, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False
) -> _C.Tensor: ...
@overload
def pixel_shuffle(input: _T, upscale_factor: int) -> _T: ...
@overload
def pixel_shuffle(input: _Plain, upscale_factor: int) -> _C.Tensor: ...
@overload
def pixel_unshuffle(input: _T, downscale_factor: int) -> _T: ...
@overload
def pixel_unshuffle(input: _Plain, downscale_factor: int) -> _C.Tensor: ...
@overload
def poisson_nll_loss(
    input: _T,
    target: _ArrayLike,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-08,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _T: ...
@overload
def poisson_nll_loss(
    input: _Plain,
    target: _ArrayLike,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-08,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _C.Tensor: ...
@overload
def prelu(x: _T, weight: _ArrayLike) -> _T: ...
@overload
def prelu(x: _Plain, weight: _ArrayLike) -> _C.Tensor: ...
@overload
def relu(input: _T, inplace: bool = False) -> _T: ...
@overload
def relu(input: _Plain, inplace: bool = False) -> _C.Tensor: ...
@overload
def relu6(input: _T, inplace: bool = False) -> _T: ...
@overload
def relu6(input: _Plain, inplace: bool = False) -> _C.Tensor: ...
@overload
def rms_norm(
    input: _T,
    normalized_shape: _Shape,
    weight: _ArrayLike | None = None,
    eps: float | None = None,
) -> _T: ...
@overload
def rms_norm(
    input: _Plain,
    normalized_shape: _Shape,
    weight: _ArrayLike | None = None,
    eps: float | None = None,
) -> _C.Tensor: ...
@overload
def rrelu(
    input: _T,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
    inplace: bool = False,
) -> _T: ...
@overload
def rrelu(
    input: _Plain,
    lower: float = 0.125,
    upper: float = 0.3333333333333333,
    training: bool = False,
    inplace: bool = False,
) -> _C.Tensor: ...
@overload
def scaled_dot_product_attention(
    query: _T,
    key: _ArrayLike,
    value: _ArrayLike,
    attn_mask: _ArrayLike | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> _T: ...
@overload
def scaled_dot_product_attention(
    query: _Plain,
    key: _ArrayLike,
    value: _ArrayLike,
    attn_mask: _ArrayLike | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> _C.Tensor: ...
@overload
def selu(input: _T, inplace: bool = False) -> _T: ...
@overload
def selu(input: _Plain, inplace: bool = False) -> _C.Tensor: ...
@overload
def sigmoid(x: _T) -> _T: ...
@overload
def sigmoid(x: _Plain) -> _C.Tensor: ...
@overload
def silu(input: _T, inplace: bool = False) -> _T: ...
@overload
def silu(input: _Plain, inplace: bool = False) -> _C.Tensor: ...
@overload
def smooth_l1_loss(
    input: _T,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> _T: ...
@overload
def smooth_l1_loss(
    input: _Plain,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> _C.Tensor: ...
@overload
def soft_margin_loss(
    input: _T,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _T: ...
@overload
def soft_margin_loss(
    input: _Plain,
    target: _ArrayLike,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> _C.Tensor: ...
@overload
def softmax(
    input: _T,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: npt.DTypeLike | None = None,
) -> _T: ...
@overload
def softmax(
    input: _Plain,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: npt.DTypeLike | None = None,
) -> _C.Tensor: ...
@overload
def softmin(
    input: _T,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: npt.DTypeLike | None = None,
) -> _T: ...
@overload
def softmin(
    input: _Plain,
    dim: int | None = None,
    _stacklevel: int = 3,
    dtype: npt.DTypeLike | None = None,
) -> _C.Tensor: ...
@overload
def softplus(x: _T, beta: float = 1.0, threshold: float = 20.0) -> _T: ...
@overload
def softplus(x: _Plain, beta: float = 1.0, threshold: float = 20.0) -> _C.Tensor: ...
@overload
def softshrink(x: _T, lambd: float = 0.5) -> _T: ...
@overload
def softshrink(x: _Plain, lambd: float = 0.5) -> _C.Tensor: ...
@overload
def softsign(x: _T) -> _T: ...
@overload
def softsign(x: _Plain) -> _C.Tensor: ...
@overload
def tanh(
    x: _T,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _T: ...
@overload
def tanh(
    x: _Plain,
    /,
    out: _Out = None,
    *,
    where: _ArrayLike = True,
    casting: str = "same_kind",
    order: str = "K",
    dtype: npt.DTypeLike | None = None,
    subok: bool = True,
    signature: object | None = None,
) -> _C.Tensor: ...
@overload
def tanhshrink(x: _T) -> _T: ...
@overload
def tanhshrink(x: _Plain) -> _C.Tensor: ...
@overload
def threshold(
    input: _T, threshold: float, value: float, inplace: bool = False
) -> _T: ...
@overload
def threshold(
    input: _Plain, threshold: float, value: float, inplace: bool = False
) -> _C.Tensor: ...
def triplet_margin_loss(
    anchor: _ArrayLike,
    positive: _ArrayLike,
    negative: _ArrayLike,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-06,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> DTensor: ...
def triplet_margin_with_distance_loss(
    anchor: _ArrayLike,
    positive: _ArrayLike,
    negative: _ArrayLike,
    *,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> DTensor: ...
@overload
def unfold(
    input: _T,
    kernel_size: _Shape,
    dilation: _Shape = 1,
    padding: _Shape = 0,
    stride: _Shape = 1,
) -> _T: ...
@overload
def unfold(
    input: _Plain,
    kernel_size: _Shape,
    dilation: _Shape = 1,
    padding: _Shape = 0,
    stride: _Shape = 1,
) -> _C.Tensor: ...
@overload
def upsample(
    input: _T,
    size: _Axis | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> _T: ...
@overload
def upsample(
    input: _Plain,
    size: _Axis | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> _C.Tensor: ...
@overload
def upsample_bilinear(
    input: _T,
    size: _Axis | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> _T: ...
@overload
def upsample_bilinear(
    input: _Plain,
    size: _Axis | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> _C.Tensor: ...
@overload
def upsample_nearest(
    input: _T,
    size: _Axis | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> _T: ...
@overload
def upsample_nearest(
    input: _Plain,
    size: _Axis | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> _C.Tensor: ...
