"""``torch.distributed.algorithms.ddp_comm_hooks``: functions that average gradients."""

from enum import Enum, member
from functools import partial
from typing import Any

from dtensor.torch.distributed.algorithms.ddp_comm_hooks import (
    debugging_hooks as debugging_hooks,
    default_hooks as default_hooks,
    post_localSGD_hook as post_localSGD_hook,
    powerSGD_hook as powerSGD_hook,
    quantization_hooks as quantization_hooks,
)

__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]


class DDPCommHookType(Enum):
    """The hooks that `register_ddp_comm_hook` takes by name."""

    ALLREDUCE = member(partial(default_hooks.allreduce_hook))
    FP16_COMPRESS = member(partial(default_hooks.fp16_compress_hook))
    BF16_COMPRESS = member(partial(default_hooks.bf16_compress_hook))
    QUANTIZE_PER_TENSOR = member(
        partial(quantization_hooks.quantization_pertensor_hook)
    )
    QUANTIZE_PER_CHANNEL = member(
        partial(quantization_hooks.quantization_perchannel_hook)
    )
    POWER_SGD = member(partial(powerSGD_hook.powerSGD_hook))
    POWER_SGD_RANK2 = member(partial(powerSGD_hook.powerSGD_hook))
    BATCHED_POWER_SGD = member(partial(powerSGD_hook.batched_powerSGD_hook))
    BATCHED_POWER_SGD_RANK2 = member(partial(powerSGD_hook.batched_powerSGD_hook))
    NOOP = member(partial(debugging_hooks.noop_hook))


def register_ddp_comm_hook(
    comm_hook_type: DDPCommHookType, model: Any, state: Any = None
) -> None:
    """Register a hook by its name; see `DistributedDataParallel.register_comm_hook`.

    Parameters
    ----------
    comm_hook_type : DDPCommHookType
    model : DistributedDataParallel
    state : process group, optional
        The ranks whose gradients are averaged; default: all.
    """
    if "POWER_SGD" in comm_hook_type.name:
        rank = 2 if comm_hook_type.name.endswith("RANK2") else 1
        state = powerSGD_hook.PowerSGDState(state, rank)
    model.register_comm_hook(state, comm_hook_type.value)
