"""Functions of parameters: the names of ``torch.nn.utils``."""

from dtensor.nn.utils import (
    parametrizations as parametrizations,
    parametrize as parametrize,
    rnn as rnn,
)
from dtensor.nn.utils.clip_grad import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from dtensor.nn.utils.convert_parameters import (
    parameters_to_vector,
    vector_to_parameters,
)
from dtensor.nn.utils.fusion import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)
from dtensor.nn.utils.init import skip_init
from dtensor.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from dtensor.nn.utils.weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "get_total_norm",
    "parameters_to_vector",
    "remove_spectral_norm",
    "remove_weight_norm",
    "skip_init",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]
