"""The class that `fully_shard` gives a module, and its methods."""

from collections.abc import Callable, Sequence
from typing import Any

from dtensor._core.told import told
from dtensor.fsdp._group import Group
from dtensor.fsdp._state import State, state_of
from dtensor.nn import Module

__all__ = ["FSDPModule", "UnshardHandle", "become"]


class UnshardHandle:
    """What `FSDPModule.unshard` returns with ``async_op=True``."""

    def __init__(self, group: Group) -> None:
        self._group = group

    @told
    def wait(self) -> None:
        """Wait until the parameters are gathered, and make the module use them."""
        self._group.wait()


class FSDPModule:
    """A module under `fully_shard`; its class derives from this one and from its own.

    A ``set_`` method with the argument `recurse`, True by default, also applies to all
    modules below.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make an instance of the original class, as slices of a Sequential need."""
        plain: Any = cls.__mro__[2]
        made = plain.__new__(plain)
        made.__init__(*args, **kwargs)
        return made

    def _state(self) -> State:
        state = state_of(self)  # type: ignore[arg-type]
        if state is None:
            raise RuntimeError(f"No FSDP state found on {type(self).__name__}")
        return state

    def _below(self, recurse: bool) -> list[Module]:
        module: Any = self
        return list(module.modules()) if recurse else [module]

    def _groups(self, recurse: bool) -> list[Group]:
        states = [state_of(module) for module in self._below(recurse)]
        return [state.group for state in states if state is not None]

    @told
    def reshard(self) -> None:
        """Free the gathered parameters; not collective."""
        self._state().group.reshard()

    @told
    def unshard(self, async_op: bool = False) -> UnshardHandle | None:
        """Gather the parameters. Collective over the mesh.

        Parameters
        ----------
        async_op : bool, default False
            Only start, and return a handle that waits for the end; without a call of
            its ``wait`` the next forward waits.
        """
        group = self._state().group
        group.unshard(async_op)
        if async_op:
            return UnshardHandle(group)
        group.wait()
        return None

    def set_is_last_backward(self, is_last_backward: bool) -> None:
        """Set whether the next backward is the last before the optimizer's step."""
        for group in self._groups(True):
            group.switches.last_backward = is_last_backward

    def set_requires_gradient_sync(
        self, requires_gradient_sync: bool, *, recurse: bool = True
    ) -> None:
        """Set whether backward reduces gradients, or keeps them whole for the next."""
        for group in self._groups(recurse):
            group.switches.gradient_sync = requires_gradient_sync

    def set_requires_all_reduce(
        self, requires_all_reduce: bool, *, recurse: bool = True
    ) -> None:
        """Set whether a mesh of two dims reduces over the replicas too, or later."""
        for group in self._groups(recurse):
            group.switches.all_reduce = requires_all_reduce

    def set_reshard_after_forward(
        self, reshard_after_forward: bool, recurse: bool = True
    ) -> None:
        """Set whether parameters are freed after forward or kept until backward."""
        for module in self._below(recurse):
            state = state_of(module)
            if state is not None:
                state.reshard = reshard_after_forward
                state.group.reshard_after_forward = reshard_after_forward

    def set_reshard_after_backward(
        self, reshard_after_backward: bool, *, recurse: bool = True
    ) -> None:
        """Set whether parameters are freed after backward, or kept for forward."""
        for group in self._groups(recurse):
            group.switches.reshard_after_backward = reshard_after_backward

    def set_modules_to_forward_prefetch(self, modules: Sequence["FSDPModule"]) -> None:
        """Start to gather these modules too when forward reaches this one."""
        self._state().group.prefetch[0][:] = _groups_of(modules)

    def set_modules_to_backward_prefetch(self, modules: Sequence["FSDPModule"]) -> None:
        """Start to gather these modules too when backward reaches this one."""
        self._state().group.prefetch[1][:] = _groups_of(modules)

    def set_all_reduce_hook(self, hook: Callable[[Any], None]) -> None:
        """Call ``hook(gradient)`` on this rank's part of each reduced gradient."""
        self._state().group.switches.all_reduce_hook = hook

    def set_gradient_divide_factor(self, factor: float) -> None:
        """Divide the sum of gradients by `factor` instead of the number of ranks."""
        self._state().group.switches.divide_factor = factor

    def set_reduce_scatter_divide_factor(self, factor: float) -> None:
        """Do the same as `set_gradient_divide_factor`, its newer name."""
        self.set_gradient_divide_factor(factor)

    def set_force_sum_reduction_for_comms(self, enable: bool) -> None:
        """Reduce with sums, and divide afterwards."""
        for group in self._groups(True):
            group.switches.force_sum = enable

    def set_unshard_in_backward(self, unshard_in_backward: bool) -> None:
        """Set whether backward gathers, which gradients may not need."""
        self._state().group.switches.unshard_in_backward = unshard_in_backward

    def set_post_optim_event(self, event: object) -> None:
        """Do nothing: there are no streams to wait for."""

    def set_allocate_memory_from_process_group_for_comm(self, enable: bool) -> None:
        """Do nothing: all memory is the library's own."""

    def reset_iter_state(self) -> None:
        """Start afresh after an exception in forward or backward."""
        for group in self._groups(True):
            group.forget_run()


def _groups_of(modules: Sequence[FSDPModule]) -> list[Group]:
    for module in modules:
        if not isinstance(module, FSDPModule):
            raise ValueError(f"Expects FSDPModule but got {type(module)}:\n{module}")
    return [module._state().group for module in modules]


def _refuse_copy(self: Module, memo: object) -> Any:
    raise AssertionError(
        "FSDP does not support deepcopy. Please use state dict for serialization."
    )


_classes: dict[tuple[type, type], type] = {}


def become(module: Module, base: type, prefix: str) -> None:
    """Change the class of a module to one that also has the methods of `base`."""
    cls = type(module)
    key = (cls, base)
    if key not in _classes:
        _classes[key] = type(
            f"{prefix}{cls.__name__}", (base, cls), {"__deepcopy__": _refuse_copy}
        )
    module.__class__ = _classes[key]
