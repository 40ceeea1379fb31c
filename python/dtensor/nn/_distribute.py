"""distribute_module: the parameters of a module become DTensors."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from dtensor._C import DTensor, distribute_tensor
from dtensor._core import world
from dtensor._core.caller import warn
from dtensor._core.given import given_mesh
from dtensor._core.keywords import suggesting
from dtensor.device_mesh import DeviceMesh
from dtensor.nn import Module, Parameter
from dtensor.placement_types import Placement, Replicate

__all__ = ["distribute_module"]

M = TypeVar("M", bound=Module)
PartitionFn = Callable[[str, Module, DeviceMesh], None]
BorderFn = Callable[..., Any]


@suggesting
def distribute_module(
    module: M,
    device_mesh: DeviceMesh | None = None,
    partition_fn: PartitionFn | None = None,
    input_fn: BorderFn | None = None,
    output_fn: BorderFn | None = None,
) -> M:
    """Make every parameter and buffer of a module a DTensor, in place.

    Collective over the mesh: one `distribute_tensor` for each parameter and buffer that
    is no DTensor yet, from the first rank along every mesh dimension. Their names are
    compared first.

    Parameters
    ----------
    module : Module
        The module, with all its submodules.
    device_mesh : DeviceMesh, optional
        Default: the one of the ``with mesh:`` block.
    partition_fn : callable, optional
        ``partition_fn(name, submodule, device_mesh)`` is called for the module (name
        "") and each submodule, and may replace parameters by DTensors. What it leaves
        is replicated.
    input_fn : callable, optional
        ``input_fn(module, inputs, device_mesh)``, a forward pre-hook of the module:
        what it returns, unless None, is what `forward` gets in place of the tuple
        `inputs`.
    output_fn : callable, optional
        ``output_fn(module, outputs, device_mesh)``, a forward hook of the module: what
        it returns, unless None, is what the module returns in place of `outputs`.

    Returns
    -------
    Module
        `module` itself.

    Raises
    ------
    TypeError
        If `device_mesh` is no DeviceMesh. On every rank.
    RuntimeError
        If the module was distributed before, or there is no mesh, or ranks pass modules
        with other parameters. On every rank.
    ValueError
        If `input_fn` or `output_fn` does not take three arguments. On every rank,
        before any communication.

    Warns
    -----
    FutureWarning
        If `input_fn` or `output_fn` takes two arguments: such a function is called
        without the module.

    See Also
    --------
    dtensor.parallel.parallelize_module : The same with styles that are ready-made.

    Examples
    --------
    >>> from dtensor import distribute_module, init_device_mesh, nn
    >>> module = distribute_module(nn.Linear(4, 2), init_device_mesh("cpu", (1,)))
    >>> module.weight.placements
    (Replicate(),)
    """
    check_not_distributed(module)
    olds = list(module.parameters())
    mesh = given_mesh("distribute_module", device_mesh)
    before = _border(input_fn, "input_fn", "inputs")
    after = _border(output_fn, "output_fn", "outputs")
    compare_modules("distribute_module", module, mesh)
    for name, part in module.named_modules():
        if partition_fn is not None:
            partition_fn(name, part, mesh)
        _replicate(part, mesh)
    if before is not None:
        module.register_forward_pre_hook(
            lambda called, inputs: before(called, inputs, mesh)
        )
    if after is not None:
        module.register_forward_hook(
            lambda called, _inputs, outputs: after(called, outputs, mesh)
        )
    module._distribute_module_applied = True
    mark_replaced("distribute_module", olds, module)
    return module


def compare_modules(what: str, module: Module, mesh: DeviceMesh) -> None:
    """Raise, on all ranks of a mesh, if parameters and buffers have other names.

    Of each one the first rank's elements count. So parameters of one module would pass
    for those of another one that have their shapes.
    """
    if mesh.get_coordinate() is None:
        return
    names = [name for name, _ in (*module.named_parameters(), *module.named_buffers())]
    said = f"{what}({', '.join(names)})"  # `distribute_tensor` compares what they are
    world.current().agree(said.encode(), said, None, mesh, False)


def mark_replaced(by: str, parameters: Iterable[Any], module: Module) -> None:
    """Mark those parameters that a module no longer has, for optimizers' steps."""
    kept = {id(parameter) for parameter in module.parameters()}
    for parameter in parameters:
        if id(parameter) not in kept:
            parameter._replaced_by = by


def check_not_distributed(module: Module) -> None:
    """Raise if `distribute_module` was called on this module before."""
    if getattr(module, "_distribute_module_applied", False):
        raise RuntimeError(
            "distribute_module should only be called once on a module, but it has "
            "already been called on this module!"
        )


def _border(fn: BorderFn | None, name: str, what: str) -> BorderFn | None:
    """`fn` as a function of three arguments."""
    if fn is None:
        return None
    count = len(inspect.signature(fn).parameters)
    if count == 2:
        warn(
            f"Deprecating {name} that takes two arguments ({what}, device_mesh), "
            f"please use {name} that takes in (module, {what}, device_mesh) instead!",
            FutureWarning,
        )
        return lambda _module, values, mesh: fn(values, mesh)
    if count != 3:
        raise ValueError(
            f"{name} should take in 3 arguments, but got {count} arguments!"
        )
    return fn


def _replicate(module: Module, mesh: DeviceMesh) -> None:
    """Replicate the module's own parameters and buffers that are no DTensors."""
    whole = [Replicate()] * mesh.ndim
    for name, parameter in list(module._parameters.items()):
        if parameter is not None and not isinstance(parameter, DTensor):
            distribute_parameter(module, name, mesh, whole)
    for name, buffer in list(module._buffers.items()):
        if buffer is not None and not isinstance(buffer, DTensor):
            module._buffers[name] = distribute_tensor(buffer, mesh, whole)


def distribute_parameter(
    module: Module,
    name: str,
    mesh: DeviceMesh,
    placements: Sequence[Placement],
    src_data_rank: int | None = 0,
) -> None:
    """Replace one of the module's own parameters, if it has it, by a DTensor.

    A DTensor that lies so already stays the same object: what shares it goes on sharing
    it.
    """
    old = module._parameters.get(name)
    if old is None:
        return
    new = distribute_tensor(old, mesh, placements, src_data_rank=src_data_rank)
    if new is not old:
        module.register_parameter(name, Parameter(new, requires_grad=old.requires_grad))
