"""Whole tensors are put into the layouts of a model's or an optimizer's tensors."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._C import DTensor, Tensor, distribute_tensor
from dtensor._core import world
from dtensor._core.device import empty_like, is_meta
from dtensor.autograd import no_grad
from dtensor.checkpoint._names import as_json, from_json, is_tensor
from dtensor.checkpoint._ranks import WorldRanks, together
from dtensor.device_mesh import DeviceMesh
from dtensor.nn import Module
from dtensor.placement_types import Replicate

__all__ = ["give_memory", "laid_out", "spread"]


def spread(
    given: Callable[[], Mapping[str, Any]], own: Mapping[str, Any], from_first: bool
) -> dict[str, Any]:
    """Return given state, as DTensors in the layouts that `own` has under these names.

    Parameters
    ----------
    given : callable
        Returns a flat mapping of whole tensors and plain values.
    own : mapping
        The state that they replace.
    from_first : bool
        Whether only rank 0 has them: it sends them, and what other ranks give is
        ignored. Then collective over all ranks.

    Raises
    ------
    CheckpointException
        On all ranks, if rank 0 has something that cannot be sent: also a TypeError for
        an object, or a ValueError for a DTensor.
    """
    if not from_first:
        return {
            name: laid_out(value, own.get(name), None)
            for name, value in given().items()
        }
    ranks = WorldRanks(None, "broadcast_from_rank0")
    first: dict[str, Any] = {}

    def describe() -> bytes:
        if ranks.rank == 0:
            first.update(given())
        return _described(first)

    told = together(ranks, "broadcast_from_rank0", describe)[0]
    result: dict[str, Any] = {}
    for name, value in json.loads(told).items():
        if isinstance(value, str):
            result[name] = from_json(value)
        else:
            result[name] = _sent(first.get(name), own.get(name), *value)
    return result


def _described(given: Mapping[str, Any]) -> bytes:
    """Return shapes and dtypes of tensors, and other values themselves."""
    for name, value in given.items():
        if isinstance(value, DTensor):
            raise ValueError(
                f"{name!r} is a DTensor, but rank 0 must have whole tensors to send"
            )
    return json.dumps(
        {
            name: [value.shape, value.dtype.name]
            if is_tensor(value)
            else as_json(value)
            for name, value in given.items()
        }
    ).encode()


def _sent(value: Any, own: Any, shape: list[int], dtype: str) -> Any:
    """Return a tensor of rank 0 on all ranks."""
    size = world.current().size
    if isinstance(own, DTensor) and own.shape == tuple(shape):
        ranks = own.device_mesh.ranks.ravel()
        if ranks[0] == 0 and len(ranks) == size:
            return laid_out(value, own, 0)
    # `own` is on a mesh of some ranks only, so a mesh of all ranks is used.
    mesh = DeviceMesh("cpu", list(range(size)), _init_backend=False)
    sent = distribute_tensor(value, mesh, [Replicate()], src_data_rank=0)
    whole = Tensor(np.array(sent.to_local().numpy(), dtype=sent.dtype))
    return laid_out(whole, own, None)


def laid_out(value: Any, own: Any, source: int | None) -> Any:
    """Return a whole tensor in the layout of `own`; other values as they are."""
    if not isinstance(own, DTensor) or isinstance(value, DTensor):
        return value
    if value is not None and tuple(value.shape) != own.shape:
        return value  # load_state_dict reports what is wrong
    if source is None:
        everywhere = own.layout.with_placements([Replicate()] * own.device_mesh.ndim)
        array = value.detach() if isinstance(value, Tensor) else value
        whole = _C.of_part(array, everywhere.with_dtype(value.dtype))
        _C.made_of(whole, f"a state dict's array of {own.shape}", np.asarray(array))
        return whole.redistribute(placements=own.layout.with_dtype(whole.dtype))
    sent = distribute_tensor(
        value, own.device_mesh, own.placements, src_data_rank=source
    )
    return sent.redistribute(placements=own.layout.with_dtype(sent.dtype))


def give_memory(
    model: Module, given: Mapping[str, Any], clean: Callable[[str], str]
) -> None:
    """Give tensors on the meta device memory, if there is something to fill it with.

    Parameters stay the same objects, so that optimizers still have them.
    """
    for prefix, module in model.named_modules(remove_duplicate=False):
        start = clean(f"{prefix}.") if prefix else ""
        for name, tensor in [*module._parameters.items(), *module._buffers.items()]:
            value = given.get(start + name)
            if tensor is None or not isinstance(value, Tensor) or not is_meta(tensor):
                continue
            if is_meta(value) or tuple(value.shape) != tuple(tensor.shape):
                continue  # load_state_dict reports what is wrong
            with no_grad():
                memory = empty_like(tensor.detach(), device="cpu")
                if name in module._buffers:
                    module._buffers[name] = memory
                else:
                    tensor.data = memory
