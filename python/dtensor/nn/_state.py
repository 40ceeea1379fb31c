"""The state of a module by name: saving and loading."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from dtensor._C import DTensor, Tensor
from dtensor._core.caller import warn
from dtensor._core.device import is_meta
from dtensor.autograd import no_grad
from dtensor.nn._hooks import RemovableHandle, Table, register
from dtensor.nn.parameter import Parameter

__all__ = ["State"]

_EXTRA = "_extra_state"  # the key of what get_extra_state returns


class _IncompatibleKeys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys!r}, "
            f"unexpected_keys={self.unexpected_keys!r})"
        )


class State:
    """The part of a module that saves and loads its state."""

    _version: int = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_pre_hooks: Table
    _state_dict_hooks: Table
    _load_state_dict_pre_hooks: Table
    _load_state_dict_post_hooks: Table

    def get_extra_state(self) -> Any:
        """Return additional state; a subclass may define it."""
        raise NotImplementedError("a subclass with extra state defines get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Load what `get_extra_state` returned; a subclass may define it."""
        raise NotImplementedError("a subclass with extra state defines set_extra_state")

    def _persistent(self) -> Iterator[tuple[str, Any]]:
        """Yield the names and values of parameters and persistent buffers."""
        yield from self._parameters.items()
        for name, buffer in self._buffers.items():
            if name not in self._non_persistent_buffers_set:
                yield name, buffer

    # --- saving -----------------------------------------------------------------------

    def state_dict(
        self, *, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """Return parameters and persistent buffers of this module and its submodules.

        Not collective: the values are the tensors themselves, not copies, and DTensors
        are not gathered. Under `fully_shard` it frees parameters that are gathered, as
        in PyTorch, and the next forward gathers them again: call it on all ranks.

        Parameters
        ----------
        destination : dict, optional
            The dict to fill; default: a new OrderedDict.
        prefix : str
            A prefix for the names.
        keep_vars : bool, default False
            Whether values keep their history; if not, they are detached.

        Returns
        -------
        OrderedDict
            It has an attribute `_metadata`: the version of each module.
        """
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        metadata = dict(version=self._version)
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination,
                    prefix=f"{prefix}{name}.",
                    keep_vars=keep_vars,
                )
        for hook in self._state_dict_hooks.values():
            answer = hook(self, destination, prefix, metadata)
            if answer is None:
                continue
            if getattr(hook, "_from_public_api", False):
                raise RuntimeError("state_dict post-hook must return None")
            destination = answer
        return destination

    def _save_to_state_dict(
        self, destination: Any, prefix: str, keep_vars: bool
    ) -> None:
        """Put the state of this module alone into `destination`."""
        for name, value in self._persistent():
            if value is not None:
                destination[prefix + name] = value if keep_vars else value.detach()
        if type(self).get_extra_state is not State.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before `state_dict`."""
        return register(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any]
    ) -> RemovableHandle:
        """Call a hook after `state_dict`.

        ``hook(module, state_dict, prefix, metadata)`` returns None, and may change the
        dict.
        """
        hook._from_public_api = True  # type: ignore[attr-defined]
        return register(self._state_dict_hooks, hook)

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Do as `register_state_dict_post_hook`; the hook may return another dict."""
        return register(self._state_dict_hooks, hook)

    # --- loading ----------------------------------------------------------------------

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Load parameters and buffers from what `state_dict` returned.

        Not collective, unless a value is a DTensor in another layout.

        Parameters
        ----------
        state_dict : mapping of str to tensor
        strict : bool, default True
            Whether the names must be exactly those of this module.
        assign : bool, default False
            Whether the tensors of `state_dict` replace those of the module; if not,
            their elements are copied.

        Returns
        -------
        named tuple of missing_keys, unexpected_keys
            Lists of str.

        Raises
        ------
        RuntimeError
            If names are missing or unexpected under `strict`, or shapes differ. The
            message lists all of these. Tensors that match are loaded all the same.
        TypeError
            If `state_dict` is not a mapping.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(
                f"Expected state_dict to be dict-like, got {type(state_dict)}."
            )
        state: OrderedDict[str, Any] = OrderedDict(state_dict)
        metadata = getattr(state_dict, "_metadata", None) or {}
        keys, errors = _IncompatibleKeys([], []), list[str]()
        self._load(state, metadata, "", assign, keys, errors)
        if strict:
            for what, wrong in (
                ("Unexpected", keys.unexpected_keys),
                ("Missing", keys.missing_keys),
            ):
                if wrong:
                    names = ", ".join(f'"{key}"' for key in wrong)
                    errors.insert(0, f"{what} key(s) in state_dict: {names}. ")
        if errors:
            raise RuntimeError(
                f"Error(s) in loading state_dict for {type(self).__name__}:\n\t"
                + "\n\t".join(errors)
            )
        return keys

    def _load(
        self,
        state: Mapping[str, Any],
        metadata: Mapping[str, Any],
        prefix: str,
        assign: bool,
        keys: _IncompatibleKeys,
        errors: list[str],
    ) -> None:
        """Load this module and its submodules, whose names begin with `prefix`."""
        local = dict(metadata.get(prefix[:-1], {}))
        if assign:
            local["assign_to_params_buffers"] = True
        self._load_from_state_dict(state, prefix, local, True, *keys, errors)
        for name, module in self._modules.items():
            if module is not None:
                start = f"{prefix}{name}."
                part = {key: state[key] for key in state if key.startswith(start)}
                module._load(part, metadata, start, assign, keys, errors)
        for hook in self._load_state_dict_post_hooks.values():
            if hook(self, keys) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are "
                    "not expected to return new values, if incompatible_keys need to "
                    "be modified, it should be done inplace."
                )

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load the state of this module alone; problems go into the lists."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(
                state_dict,
                prefix,
                local_metadata,
                strict,
                missing_keys,
                unexpected_keys,
                error_msgs,
            )
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = {name: value for name, value in self._persistent() if value is not None}
        for name, value in own.items():
            key = prefix + name
            if key in state_dict:
                wrong = self._take(name, value, state_dict[key], key, assign)
                if wrong:
                    error_msgs.append(wrong)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA
        if type(self).set_extra_state is not State.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if not key.startswith(prefix) or key == extra:
                    continue
                first, *rest = key[len(prefix) :].split(".", 1)
                if first not in (self._modules if rest else own):
                    unexpected_keys.append(key)

    def _take(self, name: str, value: Any, given: Any, key: str, assign: bool) -> str:
        """Load one tensor; return an error message, or ""."""
        if not isinstance(given, Tensor):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or '
                f"Tensor-like object from checkpoint but received {type(given)}"
            )
        if given.shape == (1,) and value.shape == ():
            given = given[0]  # very old versions of torch saved numbers like this
        if given.shape != value.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {given.shape} "
                f"from checkpoint, the shape in current model is {value.shape}."
            )
        if not assign and is_meta(value) and not is_meta(given):
            warn(
                f"for {key}: copying from a non-meta parameter in the checkpoint to a "
                "meta parameter in the current model, which is a no-op. (Did you mean "
                "to pass `assign=True` to assign items in the state dictionary to "
                "their corresponding key in the module instead of copying them in "
                "place?)"
            )
            return ""
        try:
            with no_grad():
                if assign:
                    if isinstance(value, Parameter) and not isinstance(
                        given, Parameter
                    ):
                        given = Parameter(given, requires_grad=value.requires_grad)
                    setattr(self, name, given)
                else:
                    value.copy_(given)
        except Exception as error:
            help = ""
            if isinstance(value, DTensor) and not isinstance(given, DTensor):
                help = (
                    " A whole state is spread over the ranks by set_model_state_dict("
                    "model, state, options=StateDictOptions(full_state_dict=True)) of "
                    "dtensor.checkpoint.state_dict."
                )
            return (
                f'While copying the parameter named "{key}", whose dimensions in the '
                f"model are {value.shape} and whose dimensions in the checkpoint are "
                f"{given.shape}, an exception occurred : {error.args}.{help}"
            )
        return ""

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any]
    ) -> RemovableHandle:
        """Call a hook before this module loads its state.

        ``hook(module, state_dict, prefix, local_metadata, strict, missing_keys,
        unexpected_keys, error_msgs)`` may change the dict and the lists.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        return register(
            self._load_state_dict_pre_hooks,
            partial(hook, self) if with_module else hook,
        )

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any]
    ) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after this module has loaded.

        It returns None, and may change the two lists.
        """
        return register(self._load_state_dict_post_hooks, hook)
