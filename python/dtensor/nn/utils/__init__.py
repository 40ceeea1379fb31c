"""Functions of all parameters at once: the names of ``torch.nn.utils``."""

from dtensor.nn.utils import rnn as rnn
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

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "vector_to_parameters",
]
