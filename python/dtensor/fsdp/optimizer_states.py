"""State of optimizers by the names of parameters, in the forms of state dicts."""

from collections.abc import Iterable, Mapping
from typing import Any

from dtensor._core.told import told
from dtensor.checkpoint._optimizer_state import (
    flat,
    group_settings,
    named_state,
    numbered_state,
)
from dtensor.checkpoint._parameter_names import cleaner
from dtensor.checkpoint._spread import spread
from dtensor.fsdp._forms import first_rank, given_form, show_parts, taken_form
from dtensor.fsdp.state_dict_types import (
    FullOptimStateDictConfig,
    OptimStateKeyType,
    ShardedOptimStateDictConfig,
    StateDictType,
    settings_of,
)
from dtensor.nn import Module
from dtensor.optim import Optimizer
from dtensor.optim._params import NUMBERS

__all__ = ["OptimizerStates"]

State = dict[str, Any]
Input = Iterable[Any] | None


class OptimizerStates:
    """The methods of `FullyShardedDataParallel` for the state of optimizers.

    Names are those of the model without its wrappers, as in its own state dict.
    """

    @staticmethod
    def optim_state_dict(
        model: Module,
        optim: Optimizer,
        optim_state_dict: State | None = None,
        group: Any = None,
    ) -> State:
        """Return the state of an optimizer by the names of the model's parameters.

        It is in the form that `set_state_dict_type` has set. Collective for whole
        tensors, which are gathered one after another.

        Parameters
        ----------
        model : Module
        optim : Optimizer
            Of the model's parameters.
        optim_state_dict : dict, optional
            What is used instead of ``optim.state_dict()``.
        group : optional
            Without effect: DTensors know their ranks.

        Returns
        -------
        dict
            ``"state"``: the state by parameter name. ``"param_groups"``: a list of
            settings, with names in ``"params"``. On other ranks than the first it is
            empty with `rank0_only`.

        Raises
        ------
        KeyError
            If the optimizer has a parameter that the model does not have.
        """
        settings = settings_of(model)
        return _given(
            settings.state_dict_type,
            settings.optim_state_dict_config,
            (model, optim, optim_state_dict),
        )

    @staticmethod
    def full_optim_state_dict(
        model: Module,
        optim: Optimizer,
        optim_input: Input = None,
        rank0_only: bool = True,
        group: Any = None,
    ) -> State:
        """Return the whole state of an optimizer, on the first rank or on all.

        Collective. See `optim_state_dict`; `optim_input` has no effect.
        """
        config = FullOptimStateDictConfig(rank0_only=rank0_only)
        return _given(StateDictType.FULL_STATE_DICT, config, (model, optim, None))

    @staticmethod
    def sharded_optim_state_dict(
        model: Module, optim: Optimizer, group: Any = None
    ) -> State:
        """Return the state of an optimizer as DTensors: see `optim_state_dict`.

        Not collective: they are the optimizer's own.
        """
        config = ShardedOptimStateDictConfig()
        return _given(StateDictType.SHARDED_STATE_DICT, config, (model, optim, None))

    @staticmethod
    def optim_state_dict_to_load(
        model: Module,
        optim: Optimizer,
        optim_state_dict: Mapping[str, Any],
        is_named_optimizer: bool = False,
        load_directly: bool = False,
        group: Any = None,
    ) -> State:
        """Return what ``optim.load_state_dict`` takes, of what `optim_state_dict` gave.

        Nothing is sent, except with `rank0_only` and whole tensors: the first rank
        sends its state, and what other ranks give is ignored.

        Parameters
        ----------
        model : Module
        optim : Optimizer
        optim_state_dict : mapping
            In the form that `set_state_dict_type` has set; DTensors may be in any
            layout.
        is_named_optimizer, group : optional
            Without effect.
        load_directly : bool, default False
            Whether to load it, too.

        Returns
        -------
        dict
            With numbers of parameters, and DTensors in the layouts of these.

        Raises
        ------
        KeyError
            If a parameter of the optimizer is missing in the state.
        CheckpointException
            If the first rank's state cannot be sent; on all ranks.
        """
        settings = settings_of(model)
        full = settings.state_dict_type is StateDictType.FULL_STATE_DICT
        from_first = full and getattr(
            settings.optim_state_dict_config, "rank0_only", False
        )
        state = _loadable(
            settings.state_dict_type,
            model,
            optim.param_groups,
            optim_state_dict,
            from_first,
        )
        if load_directly:
            optim.load_state_dict(state)
        return state

    @staticmethod
    def shard_full_optim_state_dict(
        full_optim_state_dict: Mapping[str, Any],
        model: Module,
        optim_input: Input = None,
        optim: Optimizer | None = None,
    ) -> State:
        """Return what ``optim.load_state_dict`` takes, of a whole state on every rank.

        Nothing is sent. See `optim_state_dict_to_load`.
        """
        groups = _groups(model, optim_input, optim)
        kind = StateDictType.FULL_STATE_DICT
        return _loadable(kind, model, groups, full_optim_state_dict, False)

    @staticmethod
    def scatter_full_optim_state_dict(
        full_optim_state_dict: Mapping[str, Any] | None,
        model: Module,
        optim_input: Input = None,
        optim: Optimizer | None = None,
        group: Any = None,
    ) -> State:
        """Return what ``optim.load_state_dict`` takes, of the first rank's whole state.

        Collective over all ranks: the first one sends it. See
        `optim_state_dict_to_load`.
        """
        groups = _groups(model, optim_input, optim)
        kind = StateDictType.FULL_STATE_DICT
        return _loadable(kind, model, groups, full_optim_state_dict or {}, True)

    @staticmethod
    def flatten_sharded_optim_state_dict(
        sharded_optim_state_dict: Mapping[str, Any], model: Module, optim: Optimizer
    ) -> State:
        """Return what ``optim.load_state_dict`` takes, of a state of DTensors.

        Nothing is sent. See `optim_state_dict_to_load`.
        """
        kind = StateDictType.SHARDED_STATE_DICT
        return _loadable(
            kind, model, optim.param_groups, sharded_optim_state_dict, False
        )

    @staticmethod
    def rekey_optim_state_dict(
        optim_state_dict: Mapping[str, Any],
        optim_state_key_type: OptimStateKeyType,
        model: Module,
        optim_input: Input = None,
        optim: Optimizer | None = None,
    ) -> State:
        """Return a state with names instead of numbers of parameters, or the reverse.

        Not collective.

        Parameters
        ----------
        optim_state_dict : mapping
        optim_state_key_type : OptimStateKeyType
        model : Module
        optim_input : list of dict or iterable of Parameter, optional
            What the optimizer was made of; default: ``model.parameters()``.
        optim : Optimizer, optional
            The optimizer itself.

        Raises
        ------
        ValueError
            If there are both names and numbers.
        """
        kinds = {type(key) for key in optim_state_dict["state"]}
        if kinds > {str} or kinds > {int}:
            raise ValueError(
                f"Invalid parameter keys: {optim_state_dict['state'].keys()}"
            )
        wanted = _KEYS[OptimStateKeyType(optim_state_key_type)]
        if kinds <= {wanted}:
            return dict(optim_state_dict)
        names = _names(model)
        order = [
            names[id(p)]
            for g in _groups(model, optim_input, optim)
            for p in g["params"]
        ]
        of: Mapping[Any, Any] = dict(enumerate(order))
        if wanted is int:
            of = {name: number for number, name in of.items()}
        return {
            "state": {of[key]: v for key, v in optim_state_dict["state"].items()},
            "param_groups": [
                {**group, "params": sorted(of[key] for key in group["params"])}
                for group in optim_state_dict["param_groups"]
            ],
        }


_KEYS = {OptimStateKeyType.PARAM_NAME: str, OptimStateKeyType.PARAM_ID: int}


def _names(model: Module) -> dict[int, str]:
    """Return the name of each parameter, by its identity."""
    show_parts(model)
    clean = cleaner(model)
    return {id(p): clean(name) for name, p in model.named_parameters()}


def _groups(model: Module, optim_input: Input, optim: Optimizer | None) -> list[State]:
    """Return the groups of parameters of an optimizer, as it was described."""
    show_parts(model)
    if optim is not None:
        return optim.param_groups
    given = list(model.parameters() if optim_input is None else optim_input)
    whole = [{"params": given}]
    groups = given if given and isinstance(given[0], dict) else whole
    return [{**group, "params": list(group["params"])} for group in groups]


# --- giving ---------------------------------------------------------------------------


def _own_state(model: Module, optim: Optimizer, state: State | None) -> State:
    return named_state(optim, _names(model), state)


_named = told(_own_state, "FullyShardedDataParallel.optim_state_dict")


def _given(
    kind: StateDictType, config: Any, of: tuple[Module, Optimizer, State | None]
) -> State:
    """Return the named state in a form."""
    first = first_rank(of[0].parameters(), 0)
    found: State = given_form(kind, config, _named(*of), first)
    return found


# --- loading --------------------------------------------------------------------------


class _Layouts(dict[str, Any]):
    """The parameter of a row such as ``state.NAME.exp_avg``, by the row's name."""

    def get(self, row: str, default: Any = None) -> Any:
        kind, _, rest = row.partition(".")
        name, _, key = rest.rpartition(".")
        return default if kind != "state" or key in NUMBERS else super().get(name)


def _loadable(
    kind: StateDictType,
    model: Module,
    groups: list[State],
    given: Mapping[str, Any],
    from_first: bool,
) -> State:
    """Return given state, by name, in the form that an optimizer loads."""
    names = _names(model)
    own = _Layouts({names[id(p)]: p for g in groups for p in g["params"]})
    if from_first:
        given = _nested(spread(lambda: flat(given), own, True), own)
    return _numbered(kind, names, groups, given, own)


def _nested(rows: Mapping[str, Any], own: Mapping[str, Any]) -> State:
    """Return the rows that `flat` made, nested again."""
    state: dict[str, State] = {}
    settings: dict[str, State] = {}
    for row, value in rows.items():
        kind, _, rest = row.partition(".")
        name, _, key = rest.rpartition(".")
        into = state if kind == "state" else settings
        into.setdefault(name, {})[key] = value
    groups = [{"params": [name], **found} for name, found in settings.items()]
    return {"state": state, "param_groups": groups}


def _packed(
    kind: StateDictType,
    names: Mapping[int, str],
    groups: list[State],
    given: Mapping[str, Any],
    own: Mapping[str, Any],
) -> State:
    settings = group_settings(given)
    state = {
        name: {
            key: value if key in NUMBERS else taken_form(kind, value, own[name])
            for key, value in values.items()
        }
        for name, values in given["state"].items()
        if name in own
    }
    packed = [{**g, "params": [names[id(p)] for p in g["params"]]} for g in groups]
    return numbered_state(
        {"state": state}, {"state": {}, "param_groups": packed}, settings, True
    )


_numbered = told(_packed, "FullyShardedDataParallel.optim_state_dict_to_load")
