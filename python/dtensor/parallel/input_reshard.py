"""input_reshard: activations that backward needs are kept sharded."""

from typing import Any

from dtensor._C import DTensor
from dtensor.autograd import graph, no_grad
from dtensor.device_mesh import DeviceMesh
from dtensor.nn import Module, Parameter
from dtensor.placement_types import Replicate, Shard

__all__ = ["input_reshard"]


def input_reshard(
    module: Module, tp_device_mesh: DeviceMesh, input_reshard_dim: int | None = None
) -> Module:
    """Keep the replicated activations of a module as shards until backward.

    Between forward and backward each rank keeps only its part of a replicated DTensor,
    such as the input of a `ColwiseParallel` layer. Backward gathers it again, with one
    all_gather for each. The call itself is not collective.

    Parameters
    ----------
    module : Module
        The module, which gets hooks and is changed in place.
    tp_device_mesh : DeviceMesh
        The mesh of one dimension that the module was parallelized on.
    input_reshard_dim : int, optional
        The dimension along which activations are sharded. None: nothing is done.

    Returns
    -------
    Module
        `module`.

    Notes
    -----
    Only DTensors that are Replicate on `tp_device_mesh` and have the dimension are
    sharded. Parameters are not: they stay in memory anyway. PyTorch also shards plain
    tensors, assuming that they are equal on all ranks; the hidden activations between
    two layers are not.
    """
    if input_reshard_dim is None:
        return module
    dim = input_reshard_dim
    hooks: list[Any] = []  # one for each active call of the module

    def pack(x: Any) -> Any:
        if not _is_replica(x, tp_device_mesh, dim):
            return x
        with no_grad():
            return _Kept(x.detach().redistribute(placements=[Shard(dim)]))

    def unpack(kept: Any) -> Any:
        if not isinstance(kept, _Kept):
            return kept
        with no_grad():
            return kept.part.redistribute(placements=[Replicate()])

    def begin(_module: Module, _inputs: Any) -> None:
        hooks.append(graph.saved_tensors_hooks(pack, unpack))
        hooks[-1].__enter__()

    def end(_module: Module, _inputs: Any, _outputs: Any) -> None:
        hooks.pop().__exit__(None, None, None)

    module.register_forward_pre_hook(begin)
    module.register_forward_hook(end, always_call=True)
    return module


class _Kept:
    """What is kept in place of a replicated DTensor until backward."""

    def __init__(self, part: DTensor) -> None:
        self.part = part


def _is_replica(x: Any, mesh: DeviceMesh, dim: int) -> bool:
    return (
        isinstance(x, DTensor)
        and not isinstance(x, Parameter)
        and x.device_mesh == mesh
        and x.layout.is_replicated
        and -x.ndim <= dim < x.ndim
    )
