"""``torch.autograd.variable``."""

from typing import Any

from dtensor import _C

__all__ = ["Variable"]


class _Kind(type):
    def __call__(
        cls, data: Any = None, requires_grad: bool = False, volatile: Any = None
    ) -> Any:
        if not isinstance(data, _C.Tensor):
            raise TypeError(
                f"Variable data has to be a tensor, but got {type(data).__name__}"
            )
        made = _C.into_torch(data.detach())
        return made.requires_grad_() if requires_grad else made

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _C.Tensor)


class Variable(metaclass=_Kind):
    """PyTorch's older name: returns a tensor; all tensors are instances."""
