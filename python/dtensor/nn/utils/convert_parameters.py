"""Parameters as one vector, and back."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.autograd import no_grad
from dtensor.ops.shape.join import concatenate

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Any]) -> Any:
    """Return the elements of all parameters in one dim.

    Collective for DTensors that are sharded along other dims than the first.

    Parameters
    ----------
    parameters : iterable of tensors

    Returns
    -------
    Tensor or DTensor
    """
    return concatenate([np.reshape(parameter, -1) for parameter in parameters])


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Set the elements of all parameters from one vector.

    Parameters
    ----------
    vec : Tensor or DTensor
    parameters : iterable of tensors
        They are changed in place.

    Raises
    ------
    TypeError
        If `vec` is not a tensor.
    """
    if not isinstance(vec, _C.Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec)}")
    start = 0
    with no_grad():
        for parameter in parameters:
            end = start + parameter.numel()
            part = np.reshape(vec.detach()[start:end], parameter.shape)
            parameter.copy_(part)
            start = end
