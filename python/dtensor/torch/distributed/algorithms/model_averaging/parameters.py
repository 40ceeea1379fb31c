"""``torch.distributed.algorithms.model_averaging.utils``: averages of parameters."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from dtensor.torch.distributed._groups import Group, mesh_of
from dtensor.torch.distributed.algorithms.ddp_comm_hooks._flat import summed

__all__ = [
    "average_parameters",
    "average_parameters_or_parameter_groups",
    "get_params_to_average",
]


def average_parameters(params: Iterator[Any], process_group: Group) -> None:
    """Replace parameters by their averages over the ranks of a group.

    Collective: one all_reduce for each dtype. Ranks outside the group return at once.
    """
    mesh = mesh_of(process_group)
    if mesh.get_coordinate() is None:
        return
    kinds: dict[Any, list[Any]] = {}
    for p in params:
        kinds.setdefault(np.dtype(p.dtype), []).append(p)
    for each in kinds.values():
        arrays = [np.array(np.asarray(p.detach())) for p in each]
        summed(process_group, arrays)
        for p, array in zip(each, arrays, strict=True):
            p.detach()[...] = array / mesh.size()


def get_params_to_average(params: Iterable[Any]) -> list[Any]:
    """Return the parameters that have a gradient, also those of groups of them."""
    found = []
    for p in params:
        each = p["params"] if isinstance(p, dict) else [p]
        found += [x for x in each if x.grad is not None]
    return found


def average_parameters_or_parameter_groups(
    params: Iterable[Any], process_group: Group
) -> None:
    """Average parameters, or those of an optimizer's groups: `average_parameters`."""
    average_parameters(iter(get_params_to_average(params)), process_group)
