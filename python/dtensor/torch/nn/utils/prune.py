"""``torch.nn.utils.prune``: parameters with masks of zeros and ones.

A pruned parameter `name` is ``name_orig``, its mask the buffer ``name_mask``, and their
product the attribute `name`, computed before each forward. What is at random depends on
`manual_seed`, alike on all ranks; norms of DTensors are taken of the whole.
"""

import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import dtensor.torch as _torch
from dtensor.nn import Module

torch: Any = _torch

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


class BasePruningMethod:
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

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """Return the mask of a tensor that has one already."""
        raise NotImplementedError

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
        old = _method_of(module, name)
        if old is not None:
            key, before = old
            del module._forward_pre_hooks[key]
            container = before
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


def _method_of(module: Any, name: str) -> tuple[Any, BasePruningMethod] | None:
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


def _check_amount(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    whole = isinstance(amount, numbers.Integral)
    if (whole and amount < 0) or (not whole and not 0.0 <= float(amount) <= 1.0):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a "
            "non-negative integer"
        )


def _count(amount: Any, size: int) -> int:
    """Return how many of so many are to be pruned."""
    if not isinstance(amount, numbers.Integral):
        return round(amount * size)
    if amount > size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune="
            f"{size}"
        )
    return int(amount)


def _without(mask: Any, index: Any) -> Any:
    """Return a mask with zeros at flat indices."""
    flat = mask.clone().reshape(-1)
    flat[index] = 0
    return flat.reshape(mask.shape)


def _slices(t: Any, keep: Any, dim: int) -> Any:
    """Return a mask of the slices of a dim."""
    shape = [1] * t.ndim
    shape[dim] = t.shape[dim]
    return torch.zeros_like(t) + keep.reshape(shape).to(t.dtype)


def _structured(t: Any, dim: int) -> None:
    if t.ndim <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found "
            f"tensor of shape {t.shape} with {t.ndim} dims"
        )
    if dim >= t.ndim:
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


# --- methods --------------------------------------------------------------------------


class Identity(BasePruningMethod):
    """Prunes nothing: only adds the mask."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        return default_mask


class RandomUnstructured(BasePruningMethod):
    """Prunes elements at random: so many, or a share of all."""

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        count = _count(self.amount, t.numel())
        if not count:
            return default_mask.clone()
        order = torch.topk(torch.rand(t.numel()), count).indices
        return _without(default_mask, order)


class L1Unstructured(BasePruningMethod):
    """Prunes the elements of the least absolute values: so many, or a share of all."""

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        count = _count(self.amount, t.numel())
        if not count:
            return default_mask.clone()
        order = torch.topk(torch.abs(t).reshape(-1), count, largest=False).indices
        return _without(default_mask, order)


class RandomStructured(BasePruningMethod):
    """Prunes slices of a dim at random."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        _structured(t, self.dim)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if not count:
            return default_mask
        keep = torch.ones(size)
        keep[torch.topk(torch.rand(size), count).indices] = 0
        return default_mask * _slices(t, keep, self.dim)


class LnStructured(BasePruningMethod):
    """Prunes the slices of a dim that have the least norms."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        _structured(t, self.dim)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if not count:
            return default_mask
        rest = tuple(d for d in range(t.ndim) if d != self.dim % t.ndim)
        norm = torch.norm(t, p=self.n, dim=rest)
        keep = torch.zeros(size)
        keep[torch.topk(norm, size - count).indices] = 1
        return default_mask * _slices(t, keep, self.dim)


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        return default_mask * self.mask.to(dtype=default_mask.dtype)


# --- functions ------------------------------------------------------------------------


def identity(module: Module, name: str) -> Module:
    """Add a mask of ones to a parameter, and return the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune elements at random: an int is a number of them, a float a share."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: float, importance_scores: Any = None
) -> Module:
    """Prune the elements of the least absolute values, or the least scores."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune slices of a dim at random."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module,
    name: str,
    amount: float,
    n: Any,
    dim: int,
    importance_scores: Any = None,
) -> Module:
    """Prune the slices of a dim that have the least norms of order `n`."""
    LnStructured.apply(
        module, name, amount, n, dim, importance_scores=importance_scores
    )
    return module


def custom_from_mask(module: Module, name: str, mask: Any) -> Module:
    """Prune by a mask of zeros and ones."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Sequence[tuple[Any, str]],
    pruning_method: Any,
    importance_scores: Any = None,
    **kwargs: Any,
) -> None:
    """Prune elements of several parameters as if they were one.

    Parameters
    ----------
    parameters : sequence of (module, name)
    pruning_method : subclass of BasePruningMethod, unstructured
    importance_scores : dict, optional
        Scores instead of the elements, by (module, name).
    **kwargs
        What the method is made of, such as ``amount=0.2``.

    Raises
    ------
    TypeError
        If the method is not unstructured.
    """
    scores = importance_scores or {}
    pairs = [tuple(each) for each in parameters]
    values = [scores.get(pair, getattr(*pair)).detach() for pair in pairs]
    masks = [
        getattr(module, f"{name}_mask", torch.ones_like(value))
        for (module, name), value in zip(pairs, values, strict=True)
    ]
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
            f"Found method {pruning_method} of type {method.PRUNING_TYPE}"
        )
    flat = torch.cat([value.reshape(-1) for value in values])
    default = torch.cat([mask.reshape(-1) for mask in masks])
    final, start = container.compute_mask(flat, default), 0
    for (module, name), value in zip(pairs, values, strict=True):
        stop = start + value.numel()
        custom_from_mask(module, name, final[start:stop].reshape(value.shape))
        start = stop


def is_pruned(module: Module) -> bool:
    """Return whether a parameter of a module, or of one inside, is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for _, inner in module.named_modules()
        for hook in inner._forward_pre_hooks.values()
    )


def remove(module: Module, name: str) -> Module:
    """Make what is left of a pruned parameter the parameter again.

    Raises
    ------
    ValueError
        If it is not pruned.
    """
    found = _method_of(module, name)
    if found is None:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before pruning "
            "can be removed"
        )
    key, method = found
    method.remove(module)
    del module._forward_pre_hooks[key]
    return module
