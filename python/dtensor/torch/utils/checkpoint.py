"""``torch.utils.checkpoint``: `dtensor.utils.checkpoint`, and selective checkpoints."""

import enum
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from dtensor import _C
from dtensor._core.caller import warn
from dtensor.torch.ops import OpOverload, overload_of
from dtensor.utils._selective import Selecting
from dtensor.utils.checkpoint import *  # noqa: F403
from dtensor.utils.checkpoint import __all__ as _shared

__all__ = [
    *_shared,
    "CheckpointPolicy",
    "DefaultDeviceType",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "set_device_states",
]


class CheckpointPolicy(enum.Enum):
    """What a policy says of an operator's result.

    Save and offload to the CPU are the same: it is kept until backward. MUST and PREFER
    are the same, too.
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_KEPT = (
    CheckpointPolicy.MUST_SAVE,
    CheckpointPolicy.PREFER_SAVE,
    CheckpointPolicy.MUST_CPU_OFFLOAD,
    CheckpointPolicy.PREFER_CPU_OFFLOAD,
)


class SelectiveCheckpointContext(NamedTuple):
    """What a policy gets first: the operator's result; `is_recompute` is False."""

    is_recompute: bool = False
    op_output: Any = None


Policy = Callable[..., CheckpointPolicy]


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Policy | list[Any], allow_cache_entry_mutation: bool = False
) -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """Return the contexts of a checkpoint that keeps what some operators give.

    For `context_fn` of `checkpoint`, by `functools.partial`. Not collective.

    What a chosen operator gives is kept, if backward needs it, and backward takes it
    from there. It computes the rest by calling the whole function again, up to the last
    tensor that was not kept; operators whose results are kept run again there, where
    PyTorch leaves them out. If all is kept that backward needs, nothing runs again.
    What backward does not need is not kept, whatever the policy says.

    Parameters
    ----------
    policy_fn_or_list : callable or list of OpOverload
        ``policy(ctx, op, *args, **kwargs)`` returns a `CheckpointPolicy`; it is called
        in the first call, once for each outermost operator. `op` equals the names in
        ``torch.ops.aten`` of this operator; matrix products and linear layers are one.
        A list: the operators to keep.
    allow_cache_entry_mutation : bool, default False
        Whether what is kept may be written to before backward uses it.

    Returns
    -------
    context manager, context manager

    Raises
    ------
    TypeError
        If the first argument is neither.
    ValueError
        If the list contains anything else.
    """
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, OpOverload):
                raise ValueError(
                    f"Expected op in `op_list` to be an OpOverload but got: {op} of "
                    f"type {type(op)}. "
                )
        policy = _of_list(policy_fn_or_list)
    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")

    def choose(
        op: _C.Operator, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
    ) -> bool:
        context = SelectiveCheckpointContext(op_output=result)
        found: Any = policy(context, overload_of(op), *args, **kwargs)
        return found if isinstance(found, bool) else found in _KEPT

    return Selecting(choose, not allow_cache_entry_mutation), nullcontext()


def _of_list(kept: list[Any]) -> Policy:
    def policy(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
        save = op in kept
        return CheckpointPolicy.MUST_SAVE if save else CheckpointPolicy.PREFER_RECOMPUTE

    return policy


# --- older helpers --------------------------------------------------------------------


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return inputs with detached tensors that require gradients as before.

    Not collective. RuntimeError if `inputs` is no tuple.
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: "
            f"{type(inputs).__name__}"
        )
    return tuple(
        x.detach().requires_grad_(x.requires_grad) if isinstance(x, _C.Tensor) else x
        for x in inputs
    )


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no tensor of these requires a gradient. Not collective."""
    if not any(isinstance(x, _C.Tensor) and x.requires_grad for x in inputs):
        warn("None of the inputs have requires_grad=True. Gradients will be None")


class DefaultDeviceType:
    """The device whose random state checkpoints would keep besides the CPU's."""

    _kind = "cuda"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Accept a kind of device: it has no effect."""
        DefaultDeviceType._kind = device

    @staticmethod
    def get_device_type() -> str:
        """Return the kind that was set."""
        return DefaultDeviceType._kind


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """Return the devices of tensors and their random states: none but the CPU."""
    return [], []


def set_device_states(
    devices: list[int], states: list[Any], *, device_type: str | None = None
) -> None:
    """Set random states of devices: there are none but the CPU.

    Raises
    ------
    RuntimeError
        If devices are given; `dtensor.random.set_rng_state` is for the CPU.
    """
    if devices or states:
        raise RuntimeError(
            f"set_device_states: there are no devices {devices}; the random state of "
            "the CPU is set by random.set_rng_state"
        )
