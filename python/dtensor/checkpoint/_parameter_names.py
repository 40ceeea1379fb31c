"""Names of parameters without what wrappers put into them."""

from collections.abc import Callable

from dtensor.fsdp.data_parallel import DistributedDataParallel
from dtensor.nn import Module

__all__ = ["cleaner"]


def cleaner(model: Module) -> Callable[[str], str]:
    """Return a function that takes from a name what belongs to wrappers.

    These are FullyShardedDataParallel and DistributedDataParallel, the model itself or
    modules in it. A submodule that the user has called ``module`` keeps its name.
    """
    inner = "module."
    wrapped = [
        f"{name}." if name else ""
        for name, module in model.named_modules(remove_duplicate=False)
        if isinstance(module, DistributedDataParallel)
    ]

    def clean(name: str) -> str:
        for prefix in reversed(wrapped):  # those inside first: then prefixes still fit
            if name.startswith(prefix + inner):
                name = prefix + name[len(prefix + inner) :]
        return name.replace("_fsdp_wrapped_module.", "")

    return clean
