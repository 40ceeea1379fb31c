"""In which form a `FullyShardedDataParallel` gives its state, and takes it."""

import contextlib
import enum
from collections.abc import Iterator
from dataclasses import dataclass, field

from dtensor.nn import Module

__all__ = [
    "FullOptimStateDictConfig",
    "FullStateDictConfig",
    "HasStateDictType",
    "LocalOptimStateDictConfig",
    "LocalStateDictConfig",
    "OptimStateDictConfig",
    "OptimStateKeyType",
    "ShardedOptimStateDictConfig",
    "ShardedStateDictConfig",
    "StateDictConfig",
    "StateDictSettings",
    "StateDictType",
]


class StateDictType(enum.Enum):
    """What the tensors of a state dict are.

    FULL_STATE_DICT, the default, has whole tensors: ``state_dict`` gathers them.
    SHARDED_STATE_DICT has the DTensors themselves. LOCAL_STATE_DICT has what this rank
    holds of them, as plain tensors.
    """

    FULL_STATE_DICT = enum.auto()
    LOCAL_STATE_DICT = enum.auto()
    SHARDED_STATE_DICT = enum.auto()


class OptimStateKeyType(enum.Enum):
    """Whether the state of an optimizer has names of parameters, or numbers."""

    PARAM_NAME = enum.auto()
    PARAM_ID = enum.auto()


@dataclass
class StateDictConfig:
    """The base class of the settings of a model's state dict.

    Attributes
    ----------
    offload_to_cpu : bool
        Without effect: tensors are in the memory of the host.
    """

    offload_to_cpu: bool = False


@dataclass
class FullStateDictConfig(StateDictConfig):
    """The settings of FULL_STATE_DICT.

    Attributes
    ----------
    rank0_only : bool
        Whether only the first rank gets the state, and the others an empty dict.
    """

    rank0_only: bool = False


@dataclass
class ShardedStateDictConfig(StateDictConfig):
    """The settings of SHARDED_STATE_DICT, whose values are DTensors in any case."""

    _use_dtensor: bool = False


@dataclass
class LocalStateDictConfig(StateDictConfig):
    """The settings of LOCAL_STATE_DICT."""


@dataclass
class OptimStateDictConfig:
    """The base class of the settings of an optimizer's state dict.

    Attributes
    ----------
    offload_to_cpu : bool
        Without effect: tensors are in the memory of the host.
    """

    offload_to_cpu: bool = True


@dataclass
class FullOptimStateDictConfig(OptimStateDictConfig):
    """The settings of an optimizer's FULL_STATE_DICT.

    Attributes
    ----------
    rank0_only : bool
        Whether only the first rank gets the state, and the others an empty dict; what
        the first rank has is then loaded on all.
    """

    rank0_only: bool = False


@dataclass
class ShardedOptimStateDictConfig(OptimStateDictConfig):
    """The settings of an optimizer's SHARDED_STATE_DICT, whose values are DTensors."""

    _use_dtensor: bool = False


@dataclass
class LocalOptimStateDictConfig(OptimStateDictConfig):
    """The settings of an optimizer's LOCAL_STATE_DICT."""

    offload_to_cpu: bool = False


@dataclass
class StateDictSettings:
    """What `FullyShardedDataParallel.set_state_dict_type` sets."""

    state_dict_type: StateDictType = StateDictType.FULL_STATE_DICT
    state_dict_config: StateDictConfig = field(default_factory=FullStateDictConfig)
    optim_state_dict_config: OptimStateDictConfig = field(
        default_factory=FullOptimStateDictConfig
    )


_CONFIGS: dict[
    StateDictType, tuple[type[StateDictConfig], type[OptimStateDictConfig]]
] = {
    StateDictType.FULL_STATE_DICT: (FullStateDictConfig, FullOptimStateDictConfig),
    StateDictType.LOCAL_STATE_DICT: (LocalStateDictConfig, LocalOptimStateDictConfig),
    StateDictType.SHARDED_STATE_DICT: (
        ShardedStateDictConfig,
        ShardedOptimStateDictConfig,
    ),
}


class HasStateDictType:
    """The methods of `FullyShardedDataParallel` that say in which form state is."""

    _state_dict_settings: StateDictSettings

    @staticmethod
    def set_state_dict_type(
        module: Module,
        state_dict_type: StateDictType,
        state_dict_config: StateDictConfig | None = None,
        optim_state_dict_config: OptimStateDictConfig | None = None,
    ) -> StateDictSettings:
        """Set the form of the state of all FullyShardedDataParallel in a module.

        Not collective; the form is to be the same on all ranks.

        Parameters
        ----------
        module : Module
            May be such a module itself.
        state_dict_type : StateDictType
        state_dict_config, optim_state_dict_config : optional
            Of the classes that belong to the type, such as `FullStateDictConfig`.

        Returns
        -------
        StateDictSettings
            The settings before.

        Raises
        ------
        RuntimeError
            If a config belongs to another type.
        AssertionError
            If the modules had different settings.
        """
        kinds = _CONFIGS[StateDictType(state_dict_type)]
        config, optim_config = (
            kind() if given is None else given
            for kind, given in zip(
                kinds, (state_dict_config, optim_state_dict_config), strict=True
            )
        )
        for name, kind, given in (
            ("state_dict_config", kinds[0], config),
            ("optim_state_dict_config", kinds[1], optim_config),
        ):
            if type(given) is not kind:
                raise RuntimeError(
                    f"Expected {name} of type {kind} but got {type(given)}"
                )
        before = settings_of(module)
        for each in _all_in(module):
            each._state_dict_settings = StateDictSettings(
                state_dict_type,
                config,  # type: ignore[arg-type]
                optim_config,  # type: ignore[arg-type]
            )
        return before

    @staticmethod
    def get_state_dict_type(module: Module) -> StateDictSettings:
        """Return the form of the state of all FullyShardedDataParallel in a module.

        Not collective.

        Raises
        ------
        AssertionError
            If they have different settings.
        """
        return settings_of(module)

    @staticmethod
    @contextlib.contextmanager
    def state_dict_type(
        module: Module,
        state_dict_type: StateDictType,
        state_dict_config: StateDictConfig | None = None,
        optim_state_dict_config: OptimStateDictConfig | None = None,
    ) -> Iterator[None]:
        """Set the form of the state within the block: see `set_state_dict_type`."""
        before = HasStateDictType.set_state_dict_type(
            module, state_dict_type, state_dict_config, optim_state_dict_config
        )
        try:
            yield
        finally:
            for each in _all_in(module):
                each._state_dict_settings = before


def _all_in(module: Module) -> list[HasStateDictType]:
    return [each for each in module.modules() if isinstance(each, HasStateDictType)]


def settings_of(module: Module) -> StateDictSettings:
    """Return the settings that all modules have; without such modules the defaults."""
    found = [each._state_dict_settings for each in _all_in(module)]
    for other in found:
        if other != found[0]:
            raise AssertionError(
                "All FSDP modules must have the same state dict settings. "
                f"Got {other} and {found[0]}."
            )
    return found[0] if found else StateDictSettings()
