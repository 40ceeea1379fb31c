"""The older wrapper, `FullyShardedDataParallel`, built on `fully_shard`."""

import contextlib
import enum
import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from dtensor import DeviceMesh, DTensor, is_grad_enabled, no_grad
from dtensor.fsdp._first import broadcast, check_memory
from dtensor.fsdp._forms import first_rank, given_form, show_parts, taken_form
from dtensor.fsdp._fully_shard import fully_shard, mesh_of_all, replicate
from dtensor.fsdp._state import state_of
from dtensor.fsdp.optimizer_states import OptimizerStates
from dtensor.fsdp.policies import MixedPrecisionPolicy
from dtensor.fsdp.state_dict_types import (
    HasStateDictType,
    StateDictSettings,
    StateDictType,
)
from dtensor.fsdp.wrap import wrap_below
from dtensor.functional_collectives._moves import together
from dtensor.nn import Module
from dtensor.nn.utils import clip_grad_norm_

__all__ = [
    "BackwardPrefetch",
    "CPUOffload",
    "FullyShardedDataParallel",
    "MixedPrecision",
    "ShardingStrategy",
]


class ShardingStrategy(enum.Enum):
    """What is sharded over the ranks, and when it is gathered."""

    FULL_SHARD = enum.auto()
    SHARD_GRAD_OP = enum.auto()
    NO_SHARD = enum.auto()
    HYBRID_SHARD = enum.auto()
    _HYBRID_SHARD_ZERO2 = enum.auto()


class BackwardPrefetch(enum.Enum):
    """When backward gathers the next parameters; ignored here."""

    BACKWARD_PRE = enum.auto()
    BACKWARD_POST = enum.auto()


@dataclass(frozen=True)
class MixedPrecision:
    """Dtypes, as in `dtensor.fsdp.MixedPrecisionPolicy`.

    `buffer_dtype` and torch's other flags are ignored.
    """

    param_dtype: npt.DTypeLike | None = None
    reduce_dtype: npt.DTypeLike | None = None
    buffer_dtype: npt.DTypeLike | None = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True


@dataclass
class CPUOffload:
    """Accepted and ignored: parameters are always in host memory."""

    offload_params: bool = False


class FullyShardedDataParallel(HasStateDictType, OptimizerStates, Module):
    """A module whose parameters are sharded over the ranks of data parallelism.

    Its state dict has whole tensors, which are gathered, or what `set_state_dict_type`
    has set, under the names of the module without its wrappers. The same is loaded.

    Parameters
    ----------
    module : Module
        The module to wrap; `fully_shard` changes it in place.
    process_group : mpi4py.MPI.Comm or DeviceMesh, optional
        The ranks; default: all, or those of `device_mesh`.
    sharding_strategy : ShardingStrategy, optional
        Default: FULL_SHARD.
    auto_wrap_policy : callable, optional
        ``policy(module=, recurse=, nonwrapped_numel=)`` selects the submodules that are
        gathered on their own: each is put into a wrapper with the same arguments.
    mixed_precision : MixedPrecision, optional
    ignored_modules : iterable of Module, optional
        Modules whose parameters are left unchanged.
    param_init_fn : callable, optional
        Called with each module before it is sharded.
    sync_module_states : bool, default False
        Whether all ranks take the parameters and buffers of the first one: one
        broadcast for each dtype. Otherwise these are the same on all ranks already.
    ignored_states : iterable of Parameter, optional
    device_mesh : DeviceMesh, optional
    cpu_offload, backward_prefetch, device_id, forward_prefetch, limit_all_gathers, \
use_orig_params
        Ignored: parameters are in host memory, and are DTensors.

    Raises
    ------
    ValueError
        As `fully_shard`; with `sync_module_states` for a parameter without data. On
        all ranks.
    """

    _gives_parts = False  # `checkpoint.state_dict` asks for the DTensors themselves

    def __init__(
        self,
        module: Module,
        process_group: Any = None,
        sharding_strategy: ShardingStrategy | None = None,
        cpu_offload: CPUOffload | None = None,
        auto_wrap_policy: Callable[..., Any] | None = None,
        backward_prefetch: BackwardPrefetch | None = BackwardPrefetch.BACKWARD_PRE,
        mixed_precision: MixedPrecision | None = None,
        ignored_modules: Iterable[Module] | None = None,
        param_init_fn: Callable[[Module], None] | None = None,
        device_id: Any = None,
        sync_module_states: bool = False,
        forward_prefetch: bool = False,
        limit_all_gathers: bool = True,
        use_orig_params: bool = False,
        ignored_states: Iterable[Any] | None = None,
        device_mesh: DeviceMesh | None = None,
    ) -> None:
        super().__init__()
        if param_init_fn is not None:
            module.apply(param_init_fn)
        passed = list(ignored_modules or ())
        ignored = [p for each in passed for p in each.parameters()]
        ignored += ignored_states or ()
        mesh = _mesh_of(process_group, device_mesh)
        if sync_module_states:
            _take_first(module, mesh_of_all("FullyShardedDataParallel", mesh), ignored)
        if auto_wrap_policy is not None:
            below = functools.partial(
                FullyShardedDataParallel,
                process_group=mesh,
                sharding_strategy=sharding_strategy,
                mixed_precision=mixed_precision,
                ignored_states=ignored,
            )
            wrap_below(module, auto_wrap_policy, below, passed, ignored)
        shard = _sharder(mesh, sharding_strategy, mixed_precision)
        shard(module, ignored_params=ignored)
        self._state_dict_settings = StateDictSettings()
        self._fsdp_wrapped_module = module
        self.register_state_dict_post_hook(_give)
        self.register_load_state_dict_pre_hook(_take)

    @property
    def module(self) -> Module:
        """The wrapped module."""
        return self._fsdp_wrapped_module

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_fsdp_wrapped_module"), name)

    def __getitem__(self, key: Any) -> Any:
        module: Any = self.module
        return module[key]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the wrapped module; without gradients its parameters are cut again."""
        result = self.module(*args, **kwargs)
        if not is_grad_enabled() and self.check_is_root():
            for wrapper in self.fsdp_modules(self):
                module: Any = wrapper.module
                module.reshard()
        return result

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within the block, keep the gradients of backward unreduced on every rank."""
        module: Any = self.module
        module.set_requires_gradient_sync(False)
        try:
            yield
        finally:
            module.set_requires_gradient_sync(True)

    def clip_grad_norm_(self, max_norm: float, norm_type: float = 2.0) -> Any:
        """Scale the gradients to a norm of at most `max_norm`; return the norm before.

        Collective. The norm is a whole tensor.
        """
        norm: Any = clip_grad_norm_(self.parameters(), max_norm, norm_type)
        return norm.full_tensor() if isinstance(norm, DTensor) else norm

    def check_is_root(self) -> bool:
        """Return whether no other wrapper contains this one, as far as is known.

        Not collective. The first forward of a model finds out.
        """
        state = state_of(self.module)
        return state is None or state.is_root is not False

    @staticmethod
    def fsdp_modules(
        module: Module, root_only: bool = False
    ) -> list["FullyShardedDataParallel"]:
        """Return all modules of this class in a module, which may be one itself.

        Not collective.

        Parameters
        ----------
        module : Module
        root_only : bool, default False
            Leave out those that are in others.
        """
        found = [m for m in module.modules() if isinstance(m, FullyShardedDataParallel)]
        if not root_only:
            return found
        inner = {id(below) for m in found for below in m.module.modules()}
        return [m for m in found if id(m) not in inner and m.check_is_root()]

    @staticmethod
    @contextlib.contextmanager
    def summon_full_params(
        module: Module, recurse: bool = True, writeback: bool = True, **ignored: Any
    ) -> Iterator[None]:
        """Gather the parameters within the block; what is written to them is kept.

        Collective. `rank0_only`, `offload_to_cpu` and `with_grads` are ignored.
        """
        one = getattr(module, "_fsdp_wrapped_module", module)
        modules = list(module.modules()) if recurse else [one]
        groups = [s.group for m in modules if (s := state_of(m)) is not None]
        for group in groups:
            group.unshard()
            group.wait()
        try:
            yield
        finally:
            with no_grad():
                for group in groups:
                    group.reshard(writeback)


def _take_first(module: Module, mesh: DeviceMesh, ignored: list[Any]) -> None:
    """Give all ranks the parameters and buffers of the first one. Collective."""
    left_out = {id(p) for p in ignored}
    named = [*module.named_parameters(), *module.named_buffers()]
    named = [(name, x) for name, x in named if id(x) not in left_out]
    together("FullyShardedDataParallel", mesh, lambda: check_memory(named))
    broadcast((x for _, x in named), mesh)


def _mesh_of(group: Any, device_mesh: DeviceMesh | None) -> DeviceMesh | None:
    if group is None or isinstance(group, DeviceMesh):
        return device_mesh if group is None else group
    return DeviceMesh.from_group(group, "cpu")


def _sharder(
    mesh: DeviceMesh | None,
    strategy: ShardingStrategy | None,
    mixed: MixedPrecision | None,
) -> Callable[..., Any]:
    policy = MixedPrecisionPolicy()
    if mixed is not None:
        policy = MixedPrecisionPolicy(
            mixed.param_dtype,
            mixed.reduce_dtype,
            cast_forward_inputs=mixed.cast_forward_inputs
            or mixed.cast_root_forward_inputs,
        )
    if strategy is ShardingStrategy.NO_SHARD:
        return functools.partial(replicate, mesh=mesh, mp_policy=policy)
    keeps = strategy in (
        ShardingStrategy.SHARD_GRAD_OP,
        ShardingStrategy._HYBRID_SHARD_ZERO2,
    )
    return functools.partial(
        fully_shard,
        mesh=mesh,
        mp_policy=policy,
        reshard_after_forward=False if keeps else None,
    )


# --- state dicts ----------------------------------------------------------------------

_PREFIX = "_fsdp_wrapped_module."


def _form(module: FullyShardedDataParallel) -> tuple[StateDictType, Any]:
    """Return in which form a module gives and takes its state."""
    settings = module._state_dict_settings
    if module._gives_parts:
        return StateDictType.SHARDED_STATE_DICT, None
    return settings.state_dict_type, settings.state_dict_config


def _give(module: Any, state: dict[str, Any], prefix: str, *ignored: Any) -> None:
    """Remove the wrapper's prefix from names, and bring tensors into their form."""
    own = [name for name in state if name.startswith(prefix + _PREFIX)]
    taken = {prefix + name[len(prefix + _PREFIX) :]: state.pop(name) for name in own}
    first = first_rank(module.parameters(), 0)
    state.update(given_form(*_form(module), taken, first))
    versions = getattr(state, "_metadata", {})
    if prefix + _PREFIX[:-1] in versions:
        versions[prefix[:-1]] = versions[prefix + _PREFIX[:-1]]


def _take(module: Any, state: dict[str, Any], prefix: str, *ignored: Any) -> None:
    """Put the wrapper's prefix into names, and make DTensors of what is given."""
    kind, _ = _form(module)
    show_parts(module)
    inside = module.module
    own = dict(inside.named_buffers(remove_duplicate=False))
    own.update(inside.named_parameters(remove_duplicate=False))
    for name in list(state):
        if name.startswith(prefix) and not name.startswith(prefix + _PREFIX):
            inner = name[len(prefix) :]
            value = taken_form(kind, state.pop(name), own.get(inner))
            state[prefix + _PREFIX + inner] = value
