"""What happens around the forward of a module under `fully_shard`."""

from collections.abc import Sequence
from typing import Any

from dtensor import _C, Tensor, is_grad_enabled
from dtensor._core.device import is_meta
from dtensor._core.dtype import dtype_of
from dtensor._core.nested import leaves, mapped
from dtensor.fsdp._group import Group
from dtensor.nn import Module

__all__ = ["State", "state_of"]


class State:
    """The state of one `fully_shard` call: modules, group, and the hooks on both."""

    def __init__(
        self, modules: Sequence[Module], group: Group, reshard: bool | int | None
    ) -> None:
        self.modules = list(modules)
        self.group = group
        self.reshard = reshard
        self.is_root: bool | None = None
        self._left: set[int] = set()
        self._inside = False
        for module in modules:
            vars(module)["_fsdp_state"] = self
            module.register_forward_pre_hook(
                self.before_forward, prepend=True, with_kwargs=True
            )
            # also after an exception: the next forward gathers again
            module.register_forward_hook(self.after_forward, always_call=True)
            module.register_state_dict_pre_hook(self._to_sharded)
            module.register_load_state_dict_pre_hook(self._to_sharded)

    def _to_sharded(self, *ignored: Any) -> None:
        self.group.reshard()

    def find_root(self) -> None:
        """Make the first module whose forward is called the root of those below it.

        Backward begins with the root, which therefore stays gathered by default.
        """
        if self.is_root is not None:
            return
        self.is_root = True
        self.group.reshard_after_forward = (
            False if self.reshard is None else self.reshard
        )
        for module in self.modules:
            for below in module.modules():
                state = state_of(below)
                if state is not None and state is not self:
                    state.is_root = False
                    state.group.overlap = self.group.overlap
                    if state.group not in self.group.below:
                        self.group.below.append(state.group)
                    state.group.reshard_after_forward = (
                        True if state.reshard is None else state.reshard
                    )

    def before_forward(
        self, module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Gather the parameters and cast the inputs."""
        if self.is_root is None:
            _check_data(module, (args, kwargs))
        self.find_root()
        if id(module) not in self._left:
            self._left = {id(m) for m in self.modules}
            if self.is_root and _C.backward_depth() == 0:
                self.group.overlap.begin()
        self.group.before_forward()
        args, kwargs = self.group.watched((args, kwargs))
        policy = self.group.policy
        if policy.cast_forward_inputs and policy.param_dtype is not None:
            args, kwargs = _cast((args, kwargs), policy.param_dtype)
        return args, kwargs

    def after_forward(self, module: Module, args: Any, output: Any) -> Any:
        """Free the parameters, and get called when backward arrives here."""
        self._left.discard(id(module))
        if not self._left:
            self.group.after_forward()
            if self.is_root and _C.backward_depth() == 0:
                self.group.overlap.end()
        if self.group.policy.output_dtype is not None:
            output = _cast(output, self.group.policy.output_dtype)
        if is_grad_enabled():
            mapped(output, Tensor, self._watch)
        return output

    def _watch(self, output: Tensor) -> Tensor:
        if output.requires_grad:
            output.register_hook(lambda grad: self.group.before_backward())
        return output


def _check_data(root: Module, inputs: Any) -> None:
    """Raise PyTorch's error if parameters in its dialect have no data but inputs have.

    In NumPy's dialect such a forward is a dry run, as it is with inputs without data.
    """
    if any(isinstance(x, Tensor) and is_meta(x) for x in leaves(inputs)):
        return
    names = {id(module): name for name, module in root.named_modules()}
    for module in root.modules():
        state = state_of(module)
        hollow = [
            f"{names[id(owner)]}.{name}".lstrip(".")
            for p in (state.group.parameters if state is not None else ())
            for owner, name in p.owners[:1]
            for own in [owner._parameters[name]]
            if is_meta(own) and _C.is_torch(own)
        ]
        if hollow:
            raise RuntimeError(
                "FSDP parameters should be materialized from meta device before "
                "training, but the following were still on meta device: "
                f"{hollow}\nFor example, call module.to_empty(device) to materialize "
                "to device and call module.reset_parameters() on each module to "
                "initialize values."
            )


def state_of(module: Module) -> State | None:
    """Return the state of a module that `fully_shard` was applied to."""
    state: State | None = vars(module).get("_fsdp_state")
    return state


def _cast(values: Any, dtype: Any) -> Any:
    """Return values with their floating-point tensors in a dtype."""
    wanted = dtype_of(dtype)

    def cast(x: Any) -> Any:
        return x.astype(wanted) if x.dtype.kind == "f" and x.dtype != wanted else x

    return mapped(values, Tensor, cast)
