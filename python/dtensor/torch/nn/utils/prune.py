"""``torch.nn.utils.prune``: parameters with masks of zeros and ones.

A pruned parameter `name` is ``name_orig``, its mask the buffer ``name_mask``, and their
product the attribute `name`, computed before each forward. What is at random depends on
`manual_seed`, alike on all ranks; norms of DTensors are taken of the whole.
"""

from collections.abc import Sequence
from typing import Any

import dtensor.torch as _torch
from dtensor.nn import Module
from dtensor.torch.nn.utils._pruning import (
    BasePruningMethod,
    PruningContainer,
    check_amount,
    count_of,
    method_of,
    slices,
    structured,
    without,
)

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


# --- methods --------------------------------------------------------------------------


class Identity(BasePruningMethod):
    """Prunes nothing: only adds the mask."""

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        return default_mask


class RandomUnstructured(BasePruningMethod):
    """Prunes elements at random: so many, or a share of all."""

    def __init__(self, amount: float) -> None:
        check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        count = count_of(self.amount, t.numel())
        if not count:
            return default_mask.clone()
        order = torch.topk(torch.rand(t.numel()), count).indices
        return without(default_mask, order)


class L1Unstructured(BasePruningMethod):
    """Prunes the elements of the least absolute values: so many, or a share of all."""

    def __init__(self, amount: float) -> None:
        check_amount(amount)
        self.amount = amount

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        count = count_of(self.amount, t.numel())
        if not count:
            return default_mask.clone()
        order = torch.topk(torch.abs(t).reshape(-1), count, largest=False).indices
        return without(default_mask, order)


class RandomStructured(BasePruningMethod):
    """Prunes slices of a dim at random."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        check_amount(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        structured(t, self.dim)
        size = t.shape[self.dim]
        count = count_of(self.amount, size)
        if not count:
            return default_mask
        keep = torch.ones(size)
        keep[torch.topk(torch.rand(size), count).indices] = 0
        return default_mask * slices(t, keep, self.dim)


class LnStructured(BasePruningMethod):
    """Prunes the slices of a dim that have the least norms."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, n: Any, dim: int = -1) -> None:
        check_amount(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        structured(t, self.dim)
        size = t.shape[self.dim]
        count = count_of(self.amount, size)
        if not count:
            return default_mask
        rest = tuple(d for d in range(t.ndim) if d != self.dim % t.ndim)
        norm = torch.norm(t, p=self.n, dim=rest)
        keep = torch.zeros(size)
        keep[torch.topk(norm, size - count).indices] = 1
        return default_mask * slices(t, keep, self.dim)


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
    found = method_of(module, name)
    if found is None:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before pruning "
            "can be removed"
        )
    key, method = found
    method.remove(module)
    del module._forward_pre_hooks[key]
    return module
