"""Names of parameters without what wrappers put into them."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from dtensor.nn import Module

__all__ = ["cleaner", "in_parts", "parts"]


def cleaner(model: Module) -> Callable[[str], str]:
    """Return a function that takes from a name what belongs to wrappers.

    These are FullyShardedDataParallel and DistributedDataParallel, the model itself or
    modules in it. A submodule that the user has called ``module`` keeps its name.
    """
    inner = "module."
    wrapped = [
        f"{name}." if name else ""
        for name, module in model.named_modules(remove_duplicate=False)
        if getattr(type(module), "_inner_prefix", None) == inner
    ]

    def clean(name: str) -> str:
        for prefix in reversed(wrapped):  # those inside first: then prefixes still fit
            if name.startswith(prefix + inner):
                name = prefix + name[len(prefix + inner) :]
        return name.replace("_fsdp_wrapped_module.", "")

    return clean


@contextlib.contextmanager
def in_parts(model: Module) -> Iterator[None]:
    """Within the block, ``state_dict`` of a model has the DTensors themselves.

    Otherwise a FullyShardedDataParallel in it returns what its settings say.
    """
    own = [m for m in model.modules() if hasattr(type(m), "_gives_parts")]
    for module in own:
        vars(module)["_gives_parts"] = True
    try:
        yield
    finally:
        for module in own:
            vars(module)["_gives_parts"] = False


def parts(model: Module) -> dict[str, Any]:
    """Return the state dict of a model, with the DTensors themselves."""
    with in_parts(model):
        state: dict[str, Any] = model.state_dict()
    return state
