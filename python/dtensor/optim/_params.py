"""What optimizers do with parameters, gradients, settings and steps."""

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._C import DTensor, Tensor
from dtensor._core.caller import warn
from dtensor._core.device import empty_like, is_meta
from dtensor.autograd.grad_mode import enable_grad, no_grad
from dtensor.ops.create.like import zeros_like

__all__ = [
    "STEP_POST",
    "STEP_PRE",
    "check_flags",
    "check_param",
    "check_settings",
    "evaluate",
    "fitted",
    "hooked",
    "named",
    "number_beside",
    "settings_of",
    "with_gradients",
    "zeros_beside",
]

Group = dict[str, Any]
NUMBERS = ("step", "mu_product", "eta", "mu")  # state that is not like the parameter


def named(params: list[Any], group: Group) -> list[Any]:
    """Return the tensors of (name, tensor) pairs; the names go into the group."""
    pairs = [isinstance(p, tuple) and len(p) == 2 for p in params]
    if any(pairs):
        if not all(pairs):
            raise ValueError(
                "all optimizer params should be with/without names. Some param names "
                "are missing"
            )
        group["param_names"] = [name for name, _ in params]
        return [param for _, param in params]
    return params


def settings_of(group: Group) -> Group:
    """Return what a group says of its steps: all but the parameters and their names."""
    return {k: v for k, v in group.items() if k not in ("params", "param_names")}


def check_param(param: Any) -> None:
    if not isinstance(param, Tensor):
        raise TypeError(
            "optimizer can only optimize Tensors, but one of the params is "
            f"{type(param).__name__}"
        )
    if not param.is_leaf and not param.retains_grad:
        raise ValueError("can't optimize a non-leaf Tensor")


def zeros_beside(param: Any) -> Any:
    """Return zeros in the layout of a parameter; without data if it has none."""
    return (empty_like if is_meta(param) else zeros_like)(param)


def number_beside(x: Any, value: float) -> Any:
    """Return a number of the state as a tensor without dims, in the dialect of `x`."""
    made = _C.tensor(np.float32(value))
    return _C.into_torch(made) if _C.is_torch(x) else made


def fitted(param: Any, values: Any) -> Any:
    """Return loaded state in the dtype and layout that a parameter needs."""
    if not isinstance(values, dict):
        return values
    return {
        key: _as_param(param, value)
        if key not in NUMBERS and isinstance(value, Tensor)
        else value
        for key, value in values.items()
    }


def _as_param(param: Any, value: Any) -> Any:
    if value.dtype != param.dtype and param.dtype.kind in "fcV":
        value = value.astype(param.dtype)
    if isinstance(value, DTensor) and value.shape == param.shape:
        (value,) = in_layouts([value], [param])
    return value


def in_layouts(tensors: list[Any], params: list[Any]) -> list[Any]:
    """Return tensors in the layouts of parameters, moved together where they differ."""
    result = list(tensors)
    moves, to = [], []
    for k, (x, param) in enumerate(zip(tensors, params, strict=True)):
        if isinstance(param, DTensor) and x.layout != param.layout:
            wanted = param.layout.with_dtype(x.dtype)
            if x.layout != wanted:
                moves.append(k)
                to.append(wanted)
    if moves:
        moved = _C.redistribute([result[k] for k in moves], placements=to)
        for k, x in zip(moves, moved, strict=True):
            result[k] = x
    return result


def with_gradients(group: Group) -> tuple[list[Any], list[Any]]:
    """Return the parameters of a group that have gradients, and the gradients.

    A gradient in another layout than its parameter is redistributed first: collective.
    """
    params = [param for param in group["params"] if param.grad is not None]
    return params, in_layouts([param.grad for param in params], params)


def check_settings(**settings: float) -> None:
    """Raise ValueError for a setting that is negative."""
    names = {
        "lr": "learning rate",
        "momentum": "momentum value",
        "eps": "epsilon value",
    }
    for name, value in settings.items():
        if value < 0:
            raise ValueError(f"Invalid {names.get(name, name + ' value')}: {value}")


def check_flags(foreach: bool | None, fused: bool | None, differentiable: bool) -> None:
    """Raise for flags that contradict each other or are not supported."""
    if foreach and fused:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    if differentiable:
        raise NotImplementedError(
            "differentiable=True is not supported: steps are not recorded"
        )


# The hooks of all optimizers: called before an optimizer's own, and after these.
STEP_PRE: OrderedDict[int, Callable[..., Any]] = OrderedDict()
STEP_POST: OrderedDict[int, Callable[..., Any]] = OrderedDict()


def hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return a step that calls the hooks before and after it, and is not recorded.

    The first of the arguments that hooks get is the optimizer, as in PyTorch. If a step
    raises on one rank alone, the other ranks are told.
    """
    if getattr(step, "_is_hooked", False):
        return step

    @functools.wraps(step)
    def answer(self: Any, *args: Any, **kwargs: Any) -> Any:
        name = f"{type(self).__qualname__}.step"
        return _C.carried(name, run, (self, (self, *args), kwargs), {}, True)

    def run(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for hook in [*STEP_PRE.values(), *self._hooks["step_pre"].values()]:
            found = hook(self, args, kwargs)
            if found is None:
                continue
            if not isinstance(found, tuple) or len(found) != 2:
                raise RuntimeError(
                    f"{step} must return None or a tuple of (new_args, new_kwargs), "
                    f"but got {found}."
                )
            args, kwargs = found
        self._opt_called = True
        with no_grad():
            result = step(*args, **kwargs)
        if not self._told:
            _tell_of_replaced(self)
        for hook in [*self._hooks["step_post"].values(), *STEP_POST.values()]:
            hook(self, args, kwargs)
        return result

    answer._is_hooked = True  # type: ignore[attr-defined]
    return answer


def _tell_of_replaced(optimizer: Any) -> None:
    """Warn, once, if what trains is other tensors than those of an optimizer."""
    params = [p for group in optimizer.param_groups for p in group["params"]]
    if any(param.grad is not None for param in params):
        return
    by = next(filter(None, (getattr(p, "_replaced_by", None) for p in params)), None)
    if by is not None:
        optimizer._told = True
        name = type(optimizer).__name__
        warn(
            f"{name}.step: no parameter has a gradient, and {by} has replaced some by "
            f"others, which are not trained: create the optimizer after {by}, as "
            f"{name}(model.parameters())"
        )


def evaluate(closure: Callable[[], Any] | None) -> Any:
    """Return the loss of a closure, run with recording on; None without a closure."""
    if closure is None:
        return None
    with enable_grad():
        return closure()
