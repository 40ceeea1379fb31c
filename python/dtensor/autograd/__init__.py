"""Gradients by reverse mode, recorded operator by operator: ``torch.autograd``.

What requires a gradient is recorded by the dispatcher; `backward` goes back through it.
Gradients are made of operators, so they are sharded and counted as any computation.
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
