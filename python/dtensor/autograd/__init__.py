"""Reverse-mode gradients, recorded operator by operator: ``torch.autograd``.

The dispatcher records operators on tensors that require a gradient; `backward` walks
back through the record. Gradients are computed by operators themselves, so they are
sharded and counted like any other computation.
"""

from dtensor.autograd import function, grad_mode, graph
from dtensor.autograd._backward import backward, grad
from dtensor.autograd.function import Function
from dtensor.autograd.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)

__all__ = [
    "Function",
    "backward",
    "enable_grad",
    "function",
    "grad",
    "grad_mode",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]
