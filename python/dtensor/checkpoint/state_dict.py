"""State of models and optimizers by parameter name:
``torch.distributed.checkpoint.state_dict``."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dtensor._C import DTensor, Tensor
from dtensor.checkpoint._optimizer_state import (
    flat,
    group_settings,
    initialised,
    is_flat,
    named_state,
    numbered_state,
    unflat,
)
from dtensor.checkpoint._parameter_names import cleaner, in_parts, parts
from dtensor.checkpoint._ranks import world_rank
from dtensor.checkpoint._spread import give_memory, spread
from dtensor.nn import Module
from dtensor.optim import Optimizer

__all__ = [
    "StateDictOptions",
    "get_model_state_dict",
    "get_optimizer_state_dict",
    "get_state_dict",
    "set_model_state_dict",
    "set_optimizer_state_dict",
    "set_state_dict",
]

State = dict[str, Any]
Optimizers = Optimizer | Iterable[Optimizer]


@dataclass
class StateDictOptions:
    """How state is returned and loaded.

    Attributes
    ----------
    full_state_dict : bool
        Whether tensors are whole instead of DTensors: they are gathered when state is
        returned, and distributed when it is loaded.
    cpu_offload : bool
        With `full_state_dict`: only rank 0 gets the state, other ranks an empty dict.
        Otherwise ignored: tensors are always in CPU memory.
    ignore_frozen_params : bool
        Whether parameters that require no gradient are left out.
    keep_submodule_prefixes : bool
        Whether names of `submodules` are relative to the model, not to the submodule.
    strict : bool
        As in ``Module.load_state_dict``.
    broadcast_from_rank0 : bool
        With `full_state_dict`: the state of rank 0 is loaded, and what other ranks give
        is ignored.
    flatten_optimizer_state_dict : bool
        Whether the optimizers' state is one flat dict: ``state.NAME.exp_avg``,
        ``param_groups.NAME.lr``.
    dsd_fqn_modifiers : str
        Ignored.
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"

    def check(self) -> None:
        """Raise ValueError for options that contradict each other."""
        if self.broadcast_from_rank0 and not self.full_state_dict:
            raise ValueError(
                "full_state_dict must be True when broadcast_from_rank0 is True."
            )


def get_model_state_dict(
    model: Module,
    *,
    submodules: set[Module] | None = None,
    options: StateDictOptions | None = None,
) -> State:
    """Return the parameters and persistent buffers of a model by name.

    Names are those of the model without its wrappers: the ``module.`` of a
    DistributedDataParallel is left out, so that the state fits the model without it.

    Collective with ``full_state_dict``. Without it the call is not collective, and the
    tensors are the model's own.

    Parameters
    ----------
    model : Module
    submodules : set of Module, optional
        Return only the state of these.
    options : StateDictOptions, optional

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        If options contradict each other. On this rank only.
    """
    options = _checked(options)
    prefixes = _prefixes(model, submodules, options)
    frozen = _frozen(model) if options.ignore_frozen_params else set()
    clean = cleaner(model)
    found = {}
    for key, value in parts(model).items():
        name = clean(key)
        inside = [prefix for prefix in prefixes if name.startswith(prefix)]
        if inside and name not in frozen:
            found[name[len(inside[0]) :] if prefixes[inside[0]] else name] = value
    return _given(found, options)


def get_optimizer_state_dict(
    model: Module,
    optimizers: Optimizers,
    *,
    submodules: set[Module] | None = None,
    options: StateDictOptions | None = None,
) -> State:
    """Return the state of optimizers by the names of the model's parameters.

    An optimizer without state first gets it from a step that changes nothing else.
    Collective with ``full_state_dict``, and if that step is.

    Parameters
    ----------
    model : Module
    optimizers : Optimizer or iterable of Optimizer
    submodules : set of Module, optional
        Return only the state of these modules' parameters.
    options : StateDictOptions, optional

    Returns
    -------
    dict
        ``"state"``: the state by parameter name. ``"param_groups"``: a list of
        settings, with names in ``"params"``. Or one flat dict: see `StateDictOptions`.

    Raises
    ------
    ValueError
        If options contradict each other. On this rank only.
    KeyError
        If an optimizer has a parameter that the model does not have. On this rank only.
    """
    options = _checked(options)
    names = _names(model)
    prefixes = _prefixes(model, submodules, options)
    frozen = _frozen(model) if options.ignore_frozen_params else set()
    state: State = {"state": {}, "param_groups": []}
    for optimizer in _list(optimizers):
        initialised(optimizer)
        for key, values in named_state(optimizer, names).items():
            state[key] = state[key] | values if key == "state" else state[key] + values

    def kept(name: str) -> bool:
        return name not in frozen and any(map(name.startswith, prefixes))

    state["state"] = {name: v for name, v in state["state"].items() if kept(name)}
    for group in state["param_groups"]:
        group["params"] = [name for name in group["params"] if kept(name)]
    state["param_groups"] = [g for g in state["param_groups"] if g["params"]]
    if options.flatten_optimizer_state_dict:
        state = flat(state)
    return _given(state, options)


def get_state_dict(
    model: Module,
    optimizers: Optimizers,
    *,
    submodules: set[Module] | None = None,
    options: StateDictOptions | None = None,
) -> tuple[State, State]:
    """Return `get_model_state_dict` and `get_optimizer_state_dict`.

    Parameters
    ----------
    model, optimizers, submodules, options
        As in these two functions.

    Returns
    -------
    tuple of dict and dict
    """
    return (
        get_model_state_dict(model, submodules=submodules, options=options),
        get_optimizer_state_dict(
            model, optimizers, submodules=submodules, options=options
        ),
    )


def set_model_state_dict(
    model: Module,
    model_state_dict: Mapping[str, Any],
    *,
    options: StateDictOptions | None = None,
) -> Any:
    """Load what `get_model_state_dict` returned.

    Collective with ``broadcast_from_rank0``, and if a DTensor has another layout. With
    ``full_state_dict`` tensors of the model on the meta device get memory for this
    rank's parts, and are filled.

    Parameters
    ----------
    model : Module
    model_state_dict : mapping of str to tensor
    options : StateDictOptions, optional

    Returns
    -------
    named tuple of missing_keys, unexpected_keys

    Raises
    ------
    RuntimeError
        As in ``Module.load_state_dict``. On this rank only.
    ValueError
        If options contradict each other. On this rank only.
    CheckpointException
        With ``broadcast_from_rank0``, on all ranks. It is also a TypeError for an
        object that cannot be sent, or a ValueError for a DTensor.
    """
    options = _checked(options)
    clean, own = cleaner(model), parts(model)
    names = {clean(name): name for name in own}
    given = dict(model_state_dict)
    if options.full_state_dict:
        mine = {name: own[key] for name, key in names.items()}
        given = spread(lambda: model_state_dict, mine, options.broadcast_from_rank0)
        give_memory(model, given, clean)
    given = {names.get(name, name): value for name, value in given.items()}
    strict = options.strict and not options.ignore_frozen_params
    with in_parts(model):
        return model.load_state_dict(given, strict=strict)


def set_optimizer_state_dict(
    model: Module,
    optimizers: Optimizers,
    optim_state_dict: Mapping[str, Any],
    *,
    options: StateDictOptions | None = None,
) -> None:
    """Load what `get_optimizer_state_dict` returned.

    Collective with ``broadcast_from_rank0``, and if a DTensor has another layout.

    Parameters
    ----------
    model : Module
    optimizers : Optimizer or iterable of Optimizer
    optim_state_dict : mapping
        Nested or flat, whatever the options say.
    options : StateDictOptions, optional

    Raises
    ------
    KeyError
        If ``strict`` is set and a parameter of an optimizer is missing. On this rank
        only.
    RuntimeError
        If ``strict`` is set and a parameter has no state: else it starts anew.
    ValueError
        If options contradict each other. On this rank only.
    CheckpointException
        With ``broadcast_from_rank0``, on all ranks. It is also a NotImplementedError
        for state that is neither a tensor nor a number, a TypeError for other objects
        that cannot be sent, or a ValueError for a DTensor.
    """
    options = _checked(options)
    names = _names(model)
    flattened = options.flatten_optimizer_state_dict or is_flat(optim_state_dict)

    def rows() -> Mapping[str, Any]:
        return optim_state_dict if flattened else flat(optim_state_dict)

    for optimizer in _list(optimizers):
        is_new = initialised(optimizer)
        own = named_state(optimizer, names)
        given: Mapping[str, Any] = optim_state_dict
        if options.full_state_dict:
            flat_own = flat(own)
            given = unflat(spread(rows, flat_own, options.broadcast_from_rank0), own)
        elif flattened:
            given = unflat(given, own)
        strict = options.strict and not options.ignore_frozen_params
        optimizer.load_state_dict(
            numbered_state(given, own, group_settings(given), strict, is_new)
        )


def set_state_dict(
    model: Module,
    optimizers: Optimizers,
    *,
    model_state_dict: Mapping[str, Any],
    optim_state_dict: Mapping[str, Any],
    options: StateDictOptions | None = None,
) -> Any:
    """Load what `get_state_dict` returned.

    Parameters
    ----------
    model, optimizers, model_state_dict, optim_state_dict, options
        As in `set_model_state_dict` and `set_optimizer_state_dict`.

    Returns
    -------
    named tuple of missing_keys, unexpected_keys
        Those of the model.
    """
    keys = set_model_state_dict(model, model_state_dict, options=options)
    set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return keys


# --- names ----------------------------------------------------------------------------


def _checked(options: StateDictOptions | None) -> StateDictOptions:
    options = options or StateDictOptions()
    options.check()
    return options


def _list(optimizers: Optimizers) -> list[Optimizer]:
    return [optimizers] if isinstance(optimizers, Optimizer) else list(optimizers)


def _names(model: Module) -> dict[int, str]:
    """Return the name of each parameter, by its identity."""
    parts(model)  # makes fully_shard show its sharded parameters
    clean = cleaner(model)
    return {id(p): clean(name) for name, p in model.named_parameters()}


def _frozen(model: Module) -> set[str]:
    clean = cleaner(model)
    return {
        clean(name)
        for name, parameter in model.named_parameters(remove_duplicate=False)
        if not parameter.requires_grad
    }


def _prefixes(
    model: Module, submodules: set[Module] | None, options: StateDictOptions
) -> dict[str, bool]:
    """Return the prefixes of the names to return, and whether to strip them."""
    if not submodules:
        return {"": False}
    clean = cleaner(model)
    chosen = {id(module) for module in submodules}
    return {
        clean(f"{name}.") if name else "": not options.keep_submodule_prefixes
        for name, module in model.named_modules()
        if id(module) in chosen
    }


# --- whole tensors --------------------------------------------------------------------


def _given(state: State, options: StateDictOptions) -> State:
    """Return state in the form that was asked for; collective if that is full."""
    if not options.full_state_dict:
        return state
    state = _whole(state, options.cpu_offload)
    return {} if options.cpu_offload and world_rank() > 0 else state


def _whole(value: Any, on_first: bool) -> Any:
    """Return nested state with every DTensor gathered, or gathered on rank 0 only."""
    if isinstance(value, DTensor):
        ranks = value.device_mesh.ranks.ravel().tolist()
        root = ranks.index(0) if on_first and 0 in ranks else None
        return value.detach().full_tensor(root=root)
    if isinstance(value, Tensor):
        return value
    if isinstance(value, dict):
        return {key: _whole(item, on_first) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_whole(item, on_first) for item in value)
    return value
