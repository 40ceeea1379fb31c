"""Attention by heads: shapes, masks, and parameters that are sharded by heads."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor._C import Layout
from dtensor.autograd import no_grad
from dtensor.device_mesh import DeviceMesh
from dtensor.nn import Module, MultiheadAttention, Parameter
from dtensor.nn._distribute import distribute_parameter
from dtensor.placement_types import Shard

__all__ = [
    "by_heads",
    "input_projections",
    "interleaved",
    "joined",
    "merged_mask",
    "one_more",
    "shard_by_heads",
]


# --- shapes and masks -----------------------------------------------------------------


def _axes(ndim: int, batch_first: bool) -> tuple[int, ...]:
    """The permutation that puts heads before the sequence."""
    if ndim == 3:  # no batch
        return 1, 0, 2
    return (0, 2, 1, 3) if batch_first else (1, 2, 0, 3)


def by_heads(x: Any, heads: int, batch_first: bool) -> Any:
    """Split the last dimension into heads, and move these before the sequence."""
    x = x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads)
    return x.permute(*_axes(x.ndim, batch_first))


def joined(x: Any, batch_first: bool) -> Any:
    """Undo `by_heads`."""
    x = x.permute(*np.argsort(_axes(x.ndim, batch_first)).tolist())
    return x.reshape(*x.shape[:-2], x.shape[-2] * x.shape[-1])


def one_more(x: Any, last: Any) -> Any:
    """Add a key, or value, at the end of the sequence: the same for the whole batch."""
    *lead, _, width = x.shape
    last = np.broadcast_to(last.reshape(lead[-1], 1, width), (*lead, 1, width))
    return np.concatenate([x, last], axis=-2)


def merged_mask(
    attn_mask: Any, key_padding_mask: Any, heads: int, dtype: npt.DTypeLike
) -> Any:
    """Merge two masks into one: numbers of `dtype` to add to the scores, or None."""
    masks = []
    if attn_mask is not None:
        mask = np.asarray(attn_mask)
        if mask.ndim == 3 and mask.shape[0] != heads:
            mask = mask.reshape(-1, heads, *mask.shape[1:])
        masks.append(mask)
    if key_padding_mask is not None:
        masks.append(np.asarray(key_padding_mask)[..., None, None, :])
    if not masks:
        return None
    return sum(_additive(mask, dtype) for mask in masks)


def _additive(mask: npt.NDArray[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """The mask as numbers to add: -inf where a bool one is True."""
    if mask.dtype == np.bool_:
        mask = np.where(mask, -np.inf, 0.0)
    return mask.astype(dtype)


# --- parameters -----------------------------------------------------------------------


def input_projections(that: MultiheadAttention, name: str) -> list[Any] | None:
    """The weights, or biases, for query, key and value, as new parameters.

    None if there are no biases.
    """
    packed = that._parameters[f"in_proj_{name}"]
    if packed is not None:
        with no_grad():
            parts = packed.detach().chunk(3)
        return [Parameter(part, packed.requires_grad) for part in parts]
    if name == "bias":
        return None
    return [that.q_proj_weight, that.k_proj_weight, that.v_proj_weight]


def interleaved(parts: list[Any], heads: int) -> Any:
    """One parameter of all rows: for each head, its rows of the three in turn."""
    rows, *others = parts[0].shape
    with no_grad():
        whole = np.concatenate(
            [part.detach().reshape(heads, rows // heads, *others) for part in parts],
            axis=1,
        ).reshape(3 * rows, *others)
    return Parameter(whole, parts[0].requires_grad)


def shard_by_heads(
    module: Module, name: str, dim: int, heads: int, mesh: DeviceMesh, src: int | None
) -> None:
    """Shard a parameter along a dimension between heads, not through them.

    Where the number of ranks divides the number of heads, torch.chunk does that;
    otherwise the parameter gets cut points.
    """
    distribute_parameter(module, name, mesh, [Shard(dim)], src)
    old, ranks = module._parameters.get(name), mesh.size()
    if old is None or heads % ranks == 0:
        return
    each, most = old.shape[dim] // heads, -(-heads // ranks)
    cuts = {dim: [each * min(i * most, heads) for i in range(ranks + 1)]}
    layout = Layout(mesh, [Shard(dim)], old.shape, old.dtype, cuts=cuts)
    new = old.detach().redistribute(placements=layout)
    module.register_parameter(name, Parameter(new, old.requires_grad))
