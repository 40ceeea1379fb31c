"""Activation checkpointing of modules: backward recomputes their forward."""

import enum
import functools
from collections.abc import Callable
from typing import Any, TypeVar

from dtensor.nn import Module
from dtensor.utils.checkpoint import checkpoint

__all__ = ["CheckpointImpl", "apply_activation_checkpointing", "checkpoint_wrapper"]

M = TypeVar("M", bound=Module)


class CheckpointImpl(enum.Enum):
    """The variant of `dtensor.utils.checkpoint.checkpoint` to use."""

    REENTRANT = enum.auto()
    NO_REENTRANT = enum.auto()


def checkpoint_wrapper(
    module: M,
    checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
    checkpoint_fn: Callable[..., Any] | None = None,
    **options: Any,
) -> M:
    """Checkpoint the forward of a module, in place.

    The module keeps its class and the names of its parameters; PyTorch wraps it.

    Parameters
    ----------
    module : Module
    checkpoint_impl : CheckpointImpl
    checkpoint_fn : callable, optional
        Default: `dtensor.utils.checkpoint.checkpoint`.
    **options
        Its arguments.

    Returns
    -------
    Module
        `module` itself.
    """
    if checkpoint_fn is None:
        checkpoint_fn = checkpoint
        options["use_reentrant"] = checkpoint_impl is CheckpointImpl.REENTRANT
    module.forward = functools.partial(checkpoint_fn, module.forward, **options)
    return module


def apply_activation_checkpointing(
    model: Module,
    checkpoint_wrapper_fn: Callable[[Module], Module] = checkpoint_wrapper,
    check_fn: Callable[[Module], bool] = lambda _: True,
    auto_wrap_policy: Callable[..., bool] | None = None,
) -> None:
    """Checkpoint the modules for which `check_fn` is true, in place.

    Parameters
    ----------
    model : Module
        The model, whose submodules are considered, but not the model itself.
    checkpoint_wrapper_fn : callable
        Called with each selected module; it must change the module in place.
    check_fn : callable
    auto_wrap_policy : callable, optional
        ``policy(module=, recurse=False, nonwrapped_numel=0)``, instead of `check_fn`.
    """
    for module in [*model.modules()][1:]:
        if auto_wrap_policy is None:
            chosen = check_fn(module)
        else:
            chosen = auto_wrap_policy(module=module, recurse=False, nonwrapped_numel=0)
        if chosen:
            checkpoint_wrapper_fn(module)
