"""``torch.distributed.fsdp.wrap``: which submodules are wrapped on their own."""

from dtensor.fsdp import (
    ModuleWrapPolicy as ModuleWrapPolicy,
    size_based_auto_wrap_policy as size_based_auto_wrap_policy,
    transformer_auto_wrap_policy as transformer_auto_wrap_policy,
)
