"""The older wrapper, `FullyShardedDataParallel`, built on `fully_shard`."""

import contextlib
import enum
import functools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from dtensor import DeviceMesh, no_grad
from dtensor.fsdp._fully_shard import fully_shard, replicate
from dtensor.fsdp._state import state_of
from dtensor.fsdp.policies import MixedPrecisionPolicy
from dtensor.nn import Module
from dtensor.nn.utils import clip_grad_norm_

__all__ = [
    "BackwardPrefetch",
    "CPUOffload",
    "FullyShardedDataParallel",
    "MixedPrecision",
    "ModuleWrapPolicy",
    "ShardingStrategy",
    "size_based_auto_wrap_policy",
    "transformer_auto_wrap_policy",
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


class ModuleWrapPolicy:
    """A policy that wraps the modules of some classes, each on its own.

    Parameters
    ----------
    module_classes : iterable of type
    """

    def __init__(self, module_classes: Iterable[type]) -> None:
        self._classes = tuple(module_classes)

    def __call__(self, module: Module, recurse: bool, nonwrapped_numel: int) -> bool:
        """Return whether to wrap `module`; always look below it."""
        return recurse or isinstance(module, self._classes)


def transformer_auto_wrap_policy(
    module: Module,
    recurse: bool,
    nonwrapped_numel: int,
    transformer_layer_cls: Iterable[type] = (),
) -> bool:
    """Return whether a module is a layer of these classes; always look below it."""
    return recurse or isinstance(module, tuple(transformer_layer_cls))


def size_based_auto_wrap_policy(
    module: Module,
    recurse: bool,
    nonwrapped_numel: int,
    min_num_params: int = 100_000_000,
) -> bool:
    """Return whether a module has that many elements in parameters not yet wrapped."""
    return nonwrapped_numel >= min_num_params


class FullyShardedDataParallel(Module):
    """A module whose parameters are sharded over the ranks of data parallelism.

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
        gathered on their own.
    mixed_precision : MixedPrecision, optional
    ignored_modules : iterable of Module, optional
        Modules whose parameters are left unchanged.
    param_init_fn : callable, optional
        Called with each module before it is sharded.
    ignored_states : iterable of Parameter, optional
    device_mesh : DeviceMesh, optional
    cpu_offload, backward_prefetch, device_id, sync_module_states, forward_prefetch, \
limit_all_gathers, use_orig_params
        Ignored: parameters are in host memory, are DTensors, and must have the same
        values on all ranks.

    Raises
    ------
    ValueError
        As `fully_shard`.
    """

    def __init__(
        self,
        module: Module,
        process_group: Any = None,
        sharding_strategy: ShardingStrategy | None = None,
        cpu_offload: CPUOffload | None = None,
        auto_wrap_policy: Callable[..., bool] | None = None,
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
        ignored = [
            parameter
            for each in ignored_modules or ()
            for parameter in each.parameters()
        ]
        mesh = _mesh_of(process_group, device_mesh)
        shard = _sharder(mesh, sharding_strategy, mixed_precision)
        shard = functools.partial(
            shard, ignored_params=[*ignored, *(ignored_states or ())]
        )
        if auto_wrap_policy is not None:
            _wrap_below(module, auto_wrap_policy, shard)
        shard(module)
        self._fsdp_wrapped_module = module
        self.register_state_dict_post_hook(_strip)
        self.register_load_state_dict_pre_hook(_add_prefix)

    @property
    def module(self) -> Module:
        """The wrapped module."""
        return self._fsdp_wrapped_module

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_fsdp_wrapped_module"), name)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the wrapped module."""
        return self._fsdp_wrapped_module(*args, **kwargs)

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

        Collective.
        """
        return clip_grad_norm_(self.parameters(), max_norm, norm_type)

    @staticmethod
    @contextlib.contextmanager
    def summon_full_params(
        module: Module, recurse: bool = True, writeback: bool = True, **ignored: Any
    ) -> Iterator[None]:
        """Gather the parameters within the block; what is written to them is kept.

        Collective. `rank0_only`, `offload_to_cpu` and `with_grads` are ignored.
        """
        modules = list(module.modules()) if recurse else [module]
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


def _wrap_below(
    module: Module, policy: Callable[..., bool], shard: Callable[..., Any]
) -> int:
    """Shard submodules, the innermost first; return how many elements are wrapped."""
    wrapped = 0
    for child in module.children():
        total = sum(int(p.size) for p in child.parameters())
        if state_of(child) is not None:
            wrapped += total
            continue
        inside = 0
        if policy(module=child, recurse=True, nonwrapped_numel=total):
            inside = _wrap_below(child, policy, shard)
        if policy(module=child, recurse=False, nonwrapped_numel=total - inside):
            shard(child)
            inside = total
        wrapped += inside
    return wrapped


_PREFIX = "_fsdp_wrapped_module."


def _strip(module: Module, state: dict[str, Any], prefix: str, *ignored: Any) -> None:
    """Remove the wrapper's prefix from the names of parameters."""
    for name in list(state):
        if name.startswith(prefix + _PREFIX):
            state[prefix + name[len(prefix + _PREFIX) :]] = state.pop(name)


def _add_prefix(
    module: Module, state: dict[str, Any], prefix: str, *ignored: Any
) -> None:
    for name in list(state):
        if name.startswith(prefix) and not name.startswith(prefix + _PREFIX):
            state[prefix + _PREFIX + name[len(prefix) :]] = state.pop(name)
