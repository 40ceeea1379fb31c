"""What methods of pruning have in common, and several of one parameter."""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import dtensor.torch as _torch

torch: Any = _torch

__all__ = [
    "BasePruningMethod",
    "PruningContainer",
    "check_amount",
    "count_of",
    "method_of",
    "slices",
    "structured",
    "without",
]


class BasePruningMethod(ABC):
    """What all methods have in common; subclasses define `compute_mask`.

    Attributes
    ----------
    PRUNING_TYPE : ``"unstructured"``, ``"structured"`` or ``"global"``
        Whether elements, slices of a dim, or elements of the whole are masked.
    """

    PRUNING_TYPE = "unstructured"
    _tensor_name: str

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return the mask of a tensor that has one already."""

    def apply_mask(self, module: Any) -> Any:
        """Return the product of the parameter and its mask."""
        name = self._tensor_name
        mask, orig = getattr(module, f"{name}_mask"), getattr(module, f"{name}_orig")
        return mask.to(orig.dtype) * orig

    @classmethod
    def apply(
        cls,
        module: Any,
        name: str,
        *args: Any,
        importance_scores: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Prune a parameter of a module by this method, made of `args`."""
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        old = method_of(module, name)
        if old is not None:
            key, before = old
            del module._forward_pre_hooks[key]
            container: Any = before
            if not isinstance(before, PruningContainer):
                container = PruningContainer(before)
            container.add_pruning_method(method)
            method = container
        orig = getattr(module, name)
        scores = orig if importance_scores is None else importance_scores
        if tuple(scores.shape) != tuple(orig.shape):
            raise AssertionError(
                "importance_scores should have the same shape as parameter "
                f"{name} of {module}"
            )
        if old is None:
            del module._parameters[name]
            module.register_parameter(f"{name}_orig", orig)
            default = torch.ones_like(orig.detach())
        else:
            default = getattr(module, f"{name}_mask").detach().clone()
        mask = method.compute_mask(scores.detach(), default)
        module.register_buffer(f"{name}_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(
        self, t: Any, default_mask: Any = None, importance_scores: Any = None
    ) -> Any:
        """Return a tensor with zeros where it is masked."""
        scores = t if importance_scores is None else importance_scores
        default = torch.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=default)

    def remove(self, module: Any) -> None:
        """Make the product the parameter, and drop the mask."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if name in module.__dict__:
            del module.__dict__[name]
        orig = module._parameters.pop(f"{name}_orig")
        orig.data = weight.detach()
        del module._buffers[f"{name}_mask"]
        setattr(module, name, orig)


def method_of(module: Any, name: str) -> tuple[Any, BasePruningMethod] | None:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return key, hook
    return None


class PruningContainer(BasePruningMethod):
    """Several methods, one after the other, of one parameter."""

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        given = list(args[0]) if len(args) == 1 and _is_row(args[0]) else list(args)
        if given:
            self._tensor_name = given[0]._tensor_name
        for method in given:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add a method of the same parameter."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found "
                f"'{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Any:
        return iter(self._pruning_methods)

    def __getitem__(self, index: Any) -> Any:
        return self._pruning_methods[index]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return the mask of the last method, of what the others have left."""
        method, mask = self._pruning_methods[-1], default_mask.to(t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            kept = mask == 1
            part = method.compute_mask(t[kept], default_mask=mask[kept])
            new = mask.clone()
            new[kept] = part.to(new.dtype)
            return new
        if method.PRUNING_TYPE == "structured":
            dim = method.dim % t.ndim
            rest = tuple(d for d in range(t.ndim) if d != dim)
            kept = mask.sum(dim=rest) != 0
            index = torch.nonzero(kept).flatten()
            part = method.compute_mask(
                t.index_select(dim, index), default_mask=mask.index_select(dim, index)
            )
            return mask.index_copy(dim, index, part.to(mask.dtype))
        return method.compute_mask(t, default_mask=mask)


def _is_row(x: Any) -> bool:
    return isinstance(x, Iterable) and not isinstance(x, BasePruningMethod)


# --- how much -------------------------------------------------------------------------


def check_amount(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    whole, number = isinstance(amount, numbers.Integral), float(amount)
    if (whole and number < 0) or (not whole and not 0.0 <= number <= 1.0):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a "
            "non-negative integer"
        )


def count_of(amount: Any, size: int) -> int:
    """Return how many of so many are to be pruned."""
    if not isinstance(amount, numbers.Integral):
        share: int = round(amount * size)
        return share
    if int(amount) > size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune="
            f"{size}"
        )
    return int(amount)


def without(mask: Any, index: Any) -> Any:
    """Return a mask with zeros at flat indices."""
    flat = mask.clone().reshape(-1)
    flat[index] = 0
    return flat.reshape(mask.shape)


def slices(t: Any, keep: Any, dim: int) -> Any:
    """Return a mask of the slices of a dim."""
    shape = [1] * t.ndim
    shape[dim] = t.shape[dim]
    return torch.zeros_like(t) + keep.reshape(shape).to(t.dtype)


def structured(t: Any, dim: int) -> None:
    if t.ndim <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found "
            f"tensor of shape {t.shape} with {t.ndim} dims"
        )
    if dim >= t.ndim:
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")
