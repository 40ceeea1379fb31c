"""`fully_shard` and `replicate`: data parallelism over the ranks of a mesh."""

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dtensor import DeviceMesh, Placement, Replicate, Shard
from dtensor._core import world
from dtensor._core.given import given_mesh
from dtensor._core.keywords import suggesting
from dtensor.device_mesh import init_device_mesh
from dtensor.fsdp._group import Group
from dtensor.fsdp._module import FSDPModule, become
from dtensor.fsdp._parameter import Owners, Sharded, Spread, check_new, compare
from dtensor.fsdp._state import State, state_of
from dtensor.fsdp.policies import (
    MixedPrecisionPolicy,
    OffloadPolicy,
    ShardPlacementResult,
)
from dtensor.functional_collectives._moves import together
from dtensor.nn import Module, ModuleDict, ModuleList

__all__ = [
    "ReplicateModule",
    "fully_shard",
    "mesh_of_all",
    "register_fsdp_forward_method",
    "replicate",
]

Placed = tuple[Owners, Any, Spread]
PlacementFn = Callable[[Any], Placement | ShardPlacementResult | None]
DEFAULT = MixedPrecisionPolicy()


class ReplicateModule(FSDPModule):
    """A module under `replicate`."""


@suggesting
def fully_shard(
    module: Any,
    *,
    mesh: DeviceMesh | None = None,
    reshard_after_forward: bool | int | None = None,
    shard_placement_fn: PlacementFn | None = None,
    mp_policy: MixedPrecisionPolicy = DEFAULT,
    offload_policy: OffloadPolicy | None = None,
    ignored_params: Iterable[Any] | None = None,
) -> Any:
    """Shard the parameters of a module over ranks that train on different data.

    Parameters become DTensors. Forward gathers them with one all_gather, and frees the
    gathered copies at its end. Backward does the same, and leaves the average of the
    ranks' gradients in `grad`, with one reduce_scatter. The parameters of the module
    and of its submodules that are not under a `fully_shard` of their own move together:
    apply it to inner modules first. Make optimizers afterwards.

    The call is not collective; forward and backward are, over the mesh. With parameters
    that are DTensors of tensor parallelism all three are collective over their mesh,
    too: the ranks agree that what is taken over is made of the same.

    Parameters
    ----------
    module : Module or list of Module
        Changed in place. All ranks must have the same values.
    mesh : DeviceMesh, optional
        A mesh of one dim; or of two: sharded over the second, and replicated over the
        first (HSDP). Default: the mesh of a ``with`` block, else all ranks.
    reshard_after_forward : bool or int, optional
        Whether to free the gathered parameters after forward. An int keeps them sharded
        over groups of so many ranks. Default: True, but False for the outermost module.
    shard_placement_fn : callable, optional
        ``fn(parameter)`` returns the Shard to use, or None for ``Shard(0)``.
    mp_policy : MixedPrecisionPolicy, optional
    offload_policy : OffloadPolicy, optional
        Ignored: parameters are always in host memory.
    ignored_params : iterable of Parameter, optional
        Parameters to leave unchanged.

    Returns
    -------
    FSDPModule or list of these
        The module itself, now also an `FSDPModule`.

    Raises
    ------
    TypeError
        If `module` or `mesh` is something else. On every rank.
    ValueError
        If an outer module was sharded first, the mesh has more than two dims, a
        container without a forward is given, `reshard_after_forward` does not divide
        the number of ranks, or a parameter is on a mesh that does not belong to this
        one. On every rank.
    AssertionError
        If `fully_shard` was already applied to the module.
    """
    mesh = mesh_of_all("fully_shard", mesh)
    if mesh.ndim not in (1, 2):
        raise ValueError(f"fully_shard expects a 1D or 2D DeviceMesh but got {mesh}")
    reshard = _checked_reshard(reshard_after_forward, mesh.shape[-1])

    def place(parameter: Any) -> Spread:
        given = None if shard_placement_fn is None else shard_placement_fn(parameter)
        if isinstance(given, ShardPlacementResult):
            return Spread(given.mesh, given.placement)
        return Spread(mesh, _checked_shard(given, parameter))

    modules = _listed("fully_shard", module)
    own = together("fully_shard", mesh, lambda: _placed(modules, place, ignored_params))
    for parameter in _apply(modules, own, mp_policy, reshard, FSDPModule, "FSDP"):
        parameter._replaced_by = "fully_shard"
    return module


# Of PyTorch's older `replicate`, which is made of DistributedDataParallel.
_OLDER = """
    broadcast_buffers bucket_cap_mb check_reduction delay_all_reduce_named_params
    device_ids dim find_unused_parameters gradient_as_bucket_view mixed_precision
    output_device param_to_hook_all_reduce process_group skip_all_reduce_unused_params
    static_graph
"""


@functools.partial(suggesting, also=_OLDER)
def replicate(
    module: Any,
    *,
    mesh: DeviceMesh | None = None,
    mp_policy: MixedPrecisionPolicy = DEFAULT,
    offload_policy: OffloadPolicy | None = None,
    ignored_params: Iterable[Any] | None = None,
    **ignored: Any,
) -> Any:
    """Train a module that every rank holds whole, each rank on different data.

    As `fully_shard`, except that parameters become replicated DTensors: nothing is
    gathered, and one all_reduce averages the gradients of the module and of all below.

    Parameters
    ----------
    module : Module or list of Module
    mesh : DeviceMesh, optional
        A mesh of one dim; default: as in `fully_shard`.
    mp_policy, offload_policy, ignored_params
        As in `fully_shard`.
    **ignored
        Options of torch's older ``replicate``, such as `bucket_cap_mb`; ignored.

    Returns
    -------
    ReplicateModule or list of these
        The module itself.

    Raises
    ------
    TypeError, ValueError, AssertionError
        As `fully_shard`.
    """
    mesh = mesh_of_all("replicate", mesh)
    if mesh.ndim != 1:
        raise ValueError(f"replicate expects a 1D DeviceMesh but got {mesh}")
    spread = Spread(mesh, Replicate())
    modules = _listed("replicate", module)
    own = together(
        "replicate", mesh, lambda: _placed(modules, lambda _: spread, ignored_params)
    )
    for parameter in _apply(
        modules, own, mp_policy, False, ReplicateModule, "Replicate"
    ):
        parameter._replaced_by = "replicate"
    return module


def register_fsdp_forward_method(module: Module, method_name: str) -> None:
    """Make another method of a module gather and free parameters as `forward` does.

    It has no effect on a module that `fully_shard` was not applied to.
    """
    state = state_of(module)
    if state is None:
        return
    if not hasattr(module, method_name):
        raise ValueError(f"{type(module)} does not have a method {method_name}")
    method = getattr(module, method_name)

    def gathered(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = state.before_forward(module, args, kwargs)
        return state.after_forward(module, args, method(*args, **kwargs))

    vars(module)[method_name] = gathered


# --- how it is done -------------------------------------------------------------------


def mesh_of_all(what: str, given: DeviceMesh | None = None) -> DeviceMesh:
    """Return the mesh to use: by default that of a ``with`` block, else all ranks."""
    try:
        mesh: DeviceMesh = given_mesh(what, given, "mesh")
    except RuntimeError:
        mesh = init_device_mesh("cpu", (world.current().size,))
    return mesh


def _checked_reshard(reshard: bool | int | None, ranks: int) -> bool | int | None:
    if reshard is None or isinstance(reshard, bool):
        return reshard
    if reshard < 1 or ranks % reshard:
        raise ValueError(
            "reshard_after_forward as an int must be a factor of the number of ranks "
            f"that the parameters are sharded over: {reshard} does not divide {ranks}"
        )
    return {1: False, ranks: True}.get(reshard, reshard)


def _checked_shard(given: Placement | None, parameter: Any) -> Placement:
    placement = Shard(0) if given is None else given
    if not isinstance(placement, Shard):
        raise ValueError(
            f"shard_placement_fn must return a Shard or None, not {placement!r}"
        )
    if parameter.ndim == 0:
        return Replicate()
    dim = placement.dim + parameter.ndim if placement.dim < 0 else placement.dim
    return Shard(dim)


def _placed(
    modules: Sequence[Module],
    place: Callable[[Any], Spread],
    ignored: Iterable[Any] | None,
) -> list[Placed]:
    """Return the parameters that a call handles; every error comes before a change."""
    for each in modules:
        if isinstance(each, ModuleList | ModuleDict):
            raise ValueError(
                "fully_shard does not support containers that do not implement "
                f"forward: {each}"
            )
        if state_of(each) is not None:
            raise AssertionError(
                "Each distinct composable distributed API can only be applied to a "
                f"module once: fully_shard already has this {type(each).__name__}"
            )
    left_out = {id(parameter) for parameter in ignored or ()}
    found = _parameters(_managed(modules), left_out)
    for parameter, owners in found:
        check_new(parameter, owners)
    placed = [(owners, parameter, place(parameter)) for parameter, owners in found]
    for _, parameter, spread in placed:
        spread.layout(parameter)
    return placed


def _apply(
    modules: Sequence[Module],
    placed: list[Placed],
    policy: MixedPrecisionPolicy,
    reshard: bool | int | None,
    base: type,
    prefix: str,
) -> list[Any]:
    """Do it; return the parameters that are no longer the modules' own."""
    compare("parameters", (parameter for _, parameter, _ in placed))
    parameters = [Sharded(*each, policy.param_dtype) for each in placed]
    State(modules, Group(parameters, policy), reshard)
    for each in modules:
        become(each, base, prefix)
    pairs = zip(placed, parameters, strict=True)
    return [whole for (_, whole, _), now in pairs if now.sharded is not whole]


def _listed(what: str, module: Any) -> list[Module]:
    """Return the modules that a call is given."""
    found = list(module) if isinstance(module, Iterable) else [module]
    found = [module] if isinstance(module, Module) else found
    for each in found:
        if not isinstance(each, Module):
            raise TypeError(
                f"{what}: expected a Module or a list of Modules, got "
                f"{type(each).__name__} in {type(module).__name__}: pass the model "
                f"itself, {what}(model, mesh=mesh)"
            )
    return found


def _managed(modules: Sequence[Module]) -> list[Module]:
    """Return these modules and those below that are under no other `fully_shard`."""
    found: list[Module] = []
    seen: set[int] = set()

    def visit(module: Module) -> None:
        if id(module) in seen or state_of(module) is not None:
            return
        seen.add(id(module))
        found.append(module)
        for child in module.children():
            visit(child)

    for module in modules:
        visit(module)
    return found


def _parameters(
    modules: Sequence[Module], left_out: set[int]
) -> list[tuple[Any, Owners]]:
    """Return each parameter once, with all modules and names that hold it."""
    owners: dict[int, tuple[Any, Owners]] = {}
    for module in modules:
        for name, parameter in module._parameters.items():
            if parameter is None or id(parameter) in left_out:
                continue
            owners.setdefault(id(parameter), (parameter, []))[1].append((module, name))
    return list(owners.values())


fully_shard.state = state_of  # type: ignore[attr-defined]
