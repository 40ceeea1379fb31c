"""Functions of layers that are at ``torch`` itself, too, and the forms in place.

Some have other arguments there than in ``torch.nn.functional``: reductions are numbers,
and by default there is none.
"""

from collections.abc import Callable
from typing import Any

from dtensor.nn import functional as F
from dtensor.torch import _edges
from dtensor.torch._alike import full_like

__all__: list[str] = []

# Those with the arguments of torch.nn.functional.
SAME = """
    adaptive_avg_pool1d adaptive_max_pool1d avg_pool1d bilinear celu channel_shuffle
    conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
    cosine_similarity group_norm hardshrink max_pool1d max_pool1d_with_indices
    max_pool2d max_pool3d pairwise_distance pixel_shuffle pixel_unshuffle prelu rms_norm
    rrelu selu threshold
""".split()
for _name in SAME:
    globals()[_name] = getattr(F, _name)

# Losses: the names of their arguments here, the last of which is a number.
LOSSES = {
    "binary_cross_entropy_with_logits": "input target weight pos_weight",
    "cosine_embedding_loss": "input1 input2 target margin",
    "hinge_embedding_loss": "input target margin",
    "margin_ranking_loss": "input1 input2 target margin",
    "poisson_nll_loss": "input target log_input full eps",
    "triplet_margin_loss": "anchor positive negative margin p eps swap",
}
_REDUCTIONS = ("none", "mean", "sum")


def _loss(name: str, words: str) -> Callable[..., Any]:
    function, names = getattr(F, name), [*words.split(), "reduction"]

    def loss(*args: Any, **options: Any) -> Any:
        given = dict(zip(names, args, strict=False)) | options
        reduction = given.get("reduction", 0)
        if not isinstance(reduction, str):
            given["reduction"] = _REDUCTIONS[reduction]
        return function(**given)

    loss.__name__ = loss.__qualname__ = name
    loss.__doc__ = f"As in ``torch.nn.functional``: arguments {', '.join(names)}."
    return loss


for _name, _words in LOSSES.items():
    globals()[_name] = _loss(_name, _words)


def kl_div(
    input: Any, target: Any, reduction: int = 0, *, log_target: bool = False
) -> Any:
    """Return the Kullback-Leibler divergence; `reduction` is a number."""
    return F.kl_div(
        input, target, reduction=_REDUCTIONS[reduction], log_target=log_target
    )


def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: int = 0,
    zero_infinity: bool = False,
) -> Any:
    """Return the loss of labels without times; `reduction` is a number."""
    lengths = input_lengths, target_lengths
    how = _REDUCTIONS[reduction]
    return F.ctc_loss(log_probs, targets, *lengths, blank, how, zero_infinity)


def layer_norm(
    input: Any,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Any:
    """Normalize over the last dims; `cudnn_enable` is ignored."""
    return F.layer_norm(input, normalized_shape, weight, bias, eps)


def batch_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Any:
    """Normalize each channel; the arguments are in another order than in `F`."""
    averages = running_mean, running_var
    return F.batch_norm(input, *averages, weight, bias, training, momentum, eps)


def instance_norm(
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool = True,
) -> Any:
    """Normalize each channel of each sample; arguments in another order than in `F`."""
    averages = running_mean, running_var
    which: Any = (use_input_stats, momentum, eps)
    return F.instance_norm(input, *averages, weight, bias, *which)


def embedding(
    weight: Any,
    indices: Any,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """Return rows of `weight`, which comes first here."""
    padding = None if padding_idx < 0 else padding_idx
    options: dict[str, Any] = {"scale_grad_by_freq": True} if scale_grad_by_freq else {}
    return F.embedding(indices, weight, padding, **options)


def constant_pad_nd(input: Any, pad: Any, value: float = 0) -> Any:
    """Pad with a number: the last dim first."""
    return F.pad(input, list(pad), "constant", value)


def _dropout(name: str, here: str) -> Callable[..., Any]:
    function = getattr(F, name)

    def drop(input: Any, p: float, train: bool) -> Any:
        return function(input, p, train)

    drop.__name__ = drop.__qualname__ = here
    drop.__doc__ = f"As `{name}` in ``torch.nn.functional``; all arguments are needed."
    return drop


_DROPOUTS = {
    "alpha_dropout": "alpha_dropout",
    "dropout": "dropout",
    "feature_alpha_dropout": "feature_alpha_dropout",
    "feature_dropout": "dropout2d",
}
for _name, _here in _DROPOUTS.items():
    globals()[_name] = _dropout(_here, _name)

# --- in place -------------------------------------------------------------------------

# Methods that are functions, too: torch.abs_(x).
METHODS = """
    abs_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_
    asinh_ atan_ atanh_ ceil_ clamp_ clamp_max_ clamp_min_ clip_ conj_physical_ cos_
    cosh_ deg2rad_ detach detach_ erf_ erfc_ exp2_ exp_ expm1_ fill_ fix_ floor_ frac_
    gcd_ i0_ index_put_ lcm_ ldexp_ log10_ log1p_ log2_ log_ logit_ nan_to_num_ neg_
    negative_ rad2deg_ reciprocal_ relu_ resize_as_ round_ rsqrt_ sigmoid_ sin_ sinc_
    sinh_ sqrt_ square_ tan_ tanh_ trunc_ xlogy_ zero_ dsplit hsplit vsplit is_same_size
    is_signed is_conj is_neg is_inference is_distributed get_device as_strided
    as_strided_ as_strided_scatter split_with_sizes
""".split()


def _method(name: str) -> Callable[..., Any]:
    def call(input: Any, *args: Any, **options: Any) -> Any:
        return getattr(input, name)(*args, **options)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Call the method `{name}` of a tensor."
    return call


for _name in METHODS:
    globals()[_name] = _method(_name)


def _written(name: str) -> Callable[..., Any]:
    function = getattr(F, name)
    if name in _edges.UNCHANGED:
        function = _edges.unchanged(function)

    def write(input: Any, *args: Any, **options: Any) -> Any:
        return function(input, *args, **options, inplace=True)

    write.__name__ = write.__qualname__ = f"{name}_"
    write.__doc__ = f"As `{name}` of ``torch.nn.functional``, in place."
    return write


WRITTEN = "celu elu hardtanh leaky_relu relu rrelu selu threshold".split()
for _name in WRITTEN:
    globals()[f"{_name}_"] = _written(_name)


def _dropped(name: str) -> Callable[..., Any]:
    function = globals()[name]

    def write(input: Any, p: float, train: bool) -> Any:
        return input.copy_(function(input, p, train))

    write.__name__ = write.__qualname__ = f"{name}_"
    write.__doc__ = f"As `{name}`, in place."
    return write


for _name in _DROPOUTS:
    globals()[f"{_name}_"] = _dropped(_name)


def fill(input: Any, value: Any) -> Any:
    """Return a tensor like another one, with all elements one number."""
    return full_like(input, value)


def affine_grid_generator(theta: Any, size: Any, align_corners: bool) -> Any:
    """Return the grid of an affine map: see ``torch.nn.functional.affine_grid``."""
    return F.affine_grid(theta, size, align_corners)


__all__ += [  # noqa: PLE0604
    *SAME,
    *LOSSES,
    *_DROPOUTS,
    *[f"{name}_" for name in _DROPOUTS],
    *METHODS,
    *(f"{name}_" for name in "celu rrelu selu threshold".split()),
    "affine_grid_generator",
    "batch_norm",
    "constant_pad_nd",
    "ctc_loss",
    "embedding",
    "fill",
    "instance_norm",
    "kl_div",
    "layer_norm",
]
