"""Whole tensors become what a model or an optimizer has in their place."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from dtensor import _world
from dtensor._C import DTensor, Tensor, distribute_tensor
from dtensor.checkpoint._names import as_json, from_json
from dtensor.device_mesh import DeviceMesh
from dtensor.placement_types import Replicate

__all__ = ["spread"]


def spread(
    given: Mapping[str, Any], own: Mapping[str, Any], from_first: bool
) -> dict[str, Any]:
    """Return given state, with DTensors in the layouts that `own` has by these names.

    Parameters
    ----------
    given : mapping
        Flat: whole tensors and plain values.
    own : mapping
        What they are to take the place of.
    from_first : bool
        Whether only rank 0 has them: they are sent. Collective over all ranks then.
    """
    if not from_first:
        return {
            name: _laid_out(value, own.get(name), None) for name, value in given.items()
        }
    world = _world.current()
    first = world.rank == 0
    kinds = world.share(_described(given) if first else b"")[0]
    result: dict[str, Any] = {}
    for name, value in json.loads(kinds).items():
        if isinstance(value, str):
            result[name] = from_json(value)
        else:
            result[name] = _sent(given.get(name), own.get(name), *value)
    return result


def _described(given: Mapping[str, Any]) -> bytes:
    """Return shapes and dtypes of tensors, and what is no tensor itself."""
    return json.dumps(
        {
            name: [value.shape, value.dtype.name]
            if isinstance(value, Tensor)
            else as_json(value)
            for name, value in given.items()
        }
    ).encode()


def _sent(value: Any, own: Any, shape: list[int], dtype: str) -> Any:
    """Return a tensor of rank 0 on all ranks."""
    if isinstance(own, DTensor) and own.shape == tuple(shape):
        return _laid_out(value, own, 0)
    mesh = DeviceMesh("cpu", list(range(_world.current().size)), _init_backend=False)
    whole = distribute_tensor(value, mesh, [Replicate()], src_data_rank=0)
    return Tensor(np.array(whole.to_local().numpy(), dtype=whole.dtype))


def _laid_out(value: Any, own: Any, source: int | None) -> Any:
    """Return a whole tensor in the layout of what is there; others as they are."""
    if not isinstance(own, DTensor) or isinstance(value, DTensor):
        return value
    if value is not None and tuple(value.shape) != own.shape:
        return value  # whoever loads it says what is wrong
    if source is None:
        whole = DTensor(
            value.detach() if isinstance(value, Tensor) else value,
            own.layout.with_placements([Replicate()] * own.device_mesh.ndim).with_dtype(
                value.dtype
            ),
            requires_grad=False,
        )
        return whole.redistribute(placements=own.layout.with_dtype(whole.dtype))
    sent = distribute_tensor(
        value, own.device_mesh, own.placements, src_data_rank=source
    )
    return sent.redistribute(placements=own.layout.with_dtype(sent.dtype))
