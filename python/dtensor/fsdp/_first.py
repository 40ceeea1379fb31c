"""What the first rank has, on all ranks."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from dtensor import DeviceMesh, DTensor, Replicate, distribute_tensor, no_grad
from dtensor._core.device import is_meta

__all__ = ["alike", "broadcast", "check_memory", "own"]


def own(x: Any) -> Any:
    """Return what this rank has of a tensor."""
    return x.to_local() if isinstance(x, DTensor) else x


def alike(tensors: Iterable[Any]) -> list[list[Any]]:
    """Return tensors in lists of one dtype each."""
    lists: dict[np.dtype[Any], list[Any]] = {}
    for x in tensors:
        lists.setdefault(np.dtype(x.dtype), []).append(x)
    return list(lists.values())


def check_memory(tensors: Iterable[tuple[str, Any]]) -> None:
    """Raise ValueError for a tensor without data, which cannot be sent or filled."""
    for name, x in tensors:
        if is_meta(x):
            raise ValueError(
                f"sync_module_states: {name!r} has no data on this rank: give it "
                "memory first, as by param_init_fn=lambda module: "
                'module.to_empty(device="cpu", recurse=False)'
            )


@no_grad()
def broadcast(tensors: Iterable[Any], mesh: DeviceMesh, root: int = 0) -> None:
    """Copy the tensors of one rank of a mesh to all, those of one dtype together.

    Collective over the mesh: one broadcast for each dtype.

    Parameters
    ----------
    tensors : iterable of Tensor
        Written to, except on the root.
    mesh : DeviceMesh
    root : int
        The number of a rank in a mesh of one dim; 0 is the first rank of any mesh.
    """
    coordinate = mesh.get_coordinate()
    if mesh.size() == 1 or coordinate is None:
        return
    here = int(np.ravel_multi_index(tuple(coordinate), mesh.shape))
    replicated = [Replicate()] * mesh.ndim
    for each in alike(map(own, tensors)):
        arrays = [x.detach().numpy() for x in each]
        flat = np.concatenate([x.ravel() for x in arrays])
        sent = distribute_tensor(flat, mesh, replicated, src_data_rank=root)
        found = sent.to_local().numpy()
        parts = np.split(found, np.cumsum([x.size for x in arrays])[:-1])
        for x, part in zip(arrays if here != root else (), parts, strict=False):
            x[...] = part.reshape(x.shape)
