"""How `fully_shard` treats dtypes and memory: torch's policies."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy.typing as npt

from dtensor import DeviceMesh, Placement

__all__ = [
    "CPUOffloadPolicy",
    "MixedPrecisionPolicy",
    "OffloadPolicy",
    "ShardPlacementResult",
]


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The dtypes in which a module computes and communicates.

    Attributes
    ----------
    param_dtype : dtype_like, optional
        The dtype of the gathered parameters; default: their own.
    reduce_dtype : dtype_like, optional
        The dtype in which gradients are reduced; default: that in which they are
        computed.
    output_dtype : dtype_like, optional
        What the floating-point outputs of the module's forward are cast to.
    cast_forward_inputs : bool
        Whether floating-point inputs are cast to `param_dtype`.
    """

    param_dtype: npt.DTypeLike | None = None
    reduce_dtype: npt.DTypeLike | None = None
    output_dtype: npt.DTypeLike | None = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """No offloading: parameters stay where they are."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Parameters stay in the memory of the host, where they are anyway.

    Attributes
    ----------
    pin_memory : bool
        Ignored: there is no accelerator.
    """

    pin_memory: bool = True


class ShardPlacementResult(NamedTuple):
    """What a `shard_placement_fn` may return: a placement, on a mesh of its own."""

    placement: Placement
    mesh: DeviceMesh
