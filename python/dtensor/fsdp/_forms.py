"""The forms of state dicts: whole tensors, DTensors, or what a rank holds of them."""

from collections.abc import Callable, Iterable
from typing import Any

from dtensor import _C
from dtensor._C import DTensor, Tensor
from dtensor._core import world
from dtensor.checkpoint._spread import laid_out
from dtensor.fsdp._state import state_of
from dtensor.fsdp.state_dict_types import StateDictType
from dtensor.nn import Module

__all__ = ["first_rank", "given_form", "show_parts", "taken_form"]


def first_rank(tensors: Iterable[Any], otherwise: int) -> int:
    """Return the first rank of those that hold DTensors, as a number among all."""
    held = (x.device_mesh.ranks.ravel() for x in tensors if isinstance(x, DTensor))
    return next((int(ranks[0]) for ranks in held), otherwise)


def show_parts(module: Module) -> None:
    """Make modules under `fully_shard` show their sharded parameters; not collective.

    As in ``state_dict`` of such a module.
    """
    for each in module.modules():
        state = state_of(each)
        if state is not None:
            state.group.reshard()


# --- what is given --------------------------------------------------------------------


def _whole(value: Any, first: int | None) -> Any:
    """Return a DTensor gathered; on one rank alone unless that is None. Collective."""
    if not isinstance(value, DTensor):
        return value
    ranks = value.device_mesh.ranks.ravel().tolist()
    root = ranks.index(first) if first in ranks else None
    return value.detach().full_tensor(root=root)


def _as_is(value: Any, first: int | None) -> Any:
    return value


def _own(value: Any, first: int | None) -> Any:
    """Return what this rank holds."""
    return value.detach().to_local() if isinstance(value, DTensor) else value


_GIVEN: dict[StateDictType, Callable[[Any, int | None], Any]] = {
    StateDictType.FULL_STATE_DICT: _whole,
    StateDictType.SHARDED_STATE_DICT: _as_is,
    StateDictType.LOCAL_STATE_DICT: _own,
}


def given_form(kind: StateDictType, config: Any, state: Any, first: int) -> Any:
    """Return state, which may be nested dicts and lists, in a form.

    Collective for whole tensors.

    Parameters
    ----------
    kind : StateDictType
    config : StateDictConfig or OptimStateDictConfig
        With a true `rank0_only` other ranks than `first` get an empty dict.
    state : dict
    first : int
    """
    form = _GIVEN[kind]
    alone = getattr(config, "rank0_only", False)

    def visit(value: Any) -> Any:
        if type(value) is dict:
            return {key: visit(item) for key, item in value.items()}
        if type(value) in (list, tuple):
            return type(value)(visit(item) for item in value)
        return form(value, first if alone else None)

    found = visit(state)
    return {} if alone and world.current().rank != first else found


# --- what is taken --------------------------------------------------------------------


def _cut(value: Any, own: DTensor) -> Any:
    """Return a whole tensor in the layout of `own`; nothing is sent."""
    return laid_out(value, own, None)


def _made_of_part(value: Any, own: DTensor) -> Any:
    """Return the DTensor of which this rank holds `value`."""
    if tuple(value.shape) != tuple(own.to_local().shape):
        return value  # load_state_dict reports what is wrong
    return _C.of_part(value.detach(), own.layout.with_dtype(value.dtype))


_TAKEN: dict[StateDictType, Callable[[Any, DTensor], Any]] = {
    StateDictType.FULL_STATE_DICT: _cut,
    StateDictType.SHARDED_STATE_DICT: _cut,
    StateDictType.LOCAL_STATE_DICT: _made_of_part,
}


def taken_form(kind: StateDictType, value: Any, own: Any) -> Any:
    """Return a given tensor as a DTensor in the layout of `own`; nothing is sent."""
    if not isinstance(own, DTensor) or isinstance(value, DTensor):
        return value
    return _TAKEN[kind](value, own) if isinstance(value, Tensor) else value
