"""Weights with given norms, before each call: ``torch.nn.utils.weight_norm``."""

from typing import Any

from dtensor._core.caller import warn
from dtensor.nn.module import Module
from dtensor.nn.parameter import Parameter
from dtensor.nn.utils._norms import key_of, norm_except, with_norm

__all__ = ["remove_weight_norm", "weight_norm"]


class WeightNorm:
    """Computes a weight of its norms and directions before a module is called."""

    def __init__(self, name: str, dim: int) -> None:
        self.name, self.dim = name, dim

    def compute_weight(self, module: Module) -> Any:
        """Return the weight."""
        g, v = (getattr(module, f"{self.name}_{part}") for part in "gv")
        return with_norm(g, v, self.dim)

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Train the norms and the directions of a weight instead of the weight.

    PyTorch calls it deprecated: `dtensor.nn.utils.parametrizations.weight_norm`.

    Parameters
    ----------
    module : Module
        It gets the parameters ``weight_g`` and ``weight_v``.
    name : str, default "weight"
    dim : int or None, default 0
        The dim for each index of which there is a norm; None: one norm.

    Returns
    -------
    Module
        `module`.

    Raises
    ------
    RuntimeError
        If the weight has been given norms already.
    """
    warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of "
        "`torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
    )
    if key_of(module, WeightNorm, name) is not None:
        raise RuntimeError(
            f"Cannot register two weight_norm hooks on the same parameter {name}"
        )
    hook = WeightNorm(name, -1 if dim is None else dim)
    weight = getattr(module, name)
    del module._parameters[name]
    norms = norm_except(weight.detach(), hook.dim)
    module.register_parameter(f"{name}_g", Parameter(norms))
    module.register_parameter(f"{name}_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Make the weight a parameter again.

    Parameters
    ----------
    module : Module
    name : str, default "weight"

    Returns
    -------
    Module
        `module`.

    Raises
    ------
    ValueError
        If its weight has no norms.
    """
    key = key_of(module, WeightNorm, name)
    if key is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    hook = module._forward_pre_hooks.pop(key)
    weight = hook.compute_weight(module).detach()
    for attribute in (name, f"{name}_g", f"{name}_v"):
        delattr(module, attribute)
    setattr(module, name, Parameter(weight))
    return module
