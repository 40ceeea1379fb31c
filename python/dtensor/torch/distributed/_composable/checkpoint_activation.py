"""``torch.distributed._composable.checkpoint_activation``: checkpoints in place."""

from typing import Any, TypeVar

from dtensor.nn import Module
from dtensor.torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    checkpoint_wrapper,
)

__all__ = ["checkpoint"]

M = TypeVar("M", bound=Module)


def checkpoint(module: M, *, use_reentrant: bool = False, **options: Any) -> M:
    """Let backward recompute the forward of a module; return the module.

    Parameters
    ----------
    module : Module
    use_reentrant : bool
        Must be False.
    **options
        Of `dtensor.utils.checkpoint.checkpoint`.

    Raises
    ------
    NotImplementedError
        If `use_reentrant` is True.
    """
    if use_reentrant:
        raise NotImplementedError(
            "use_reentrant=True is not supported in composable checkpoint. Please use "
            "torch.utils.checkpoint.checkpoint instead."
        )
    return checkpoint_wrapper(module, **options)
