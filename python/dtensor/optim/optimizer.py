"""The base class of optimizers: groups of parameters, and their state."""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from dtensor._C import Tensor
from dtensor._core.caller import warn
from dtensor.autograd.grad_mode import no_grad
from dtensor.nn._hooks import RemovableHandle, register
from dtensor.nn.parameter import zero_grads
from dtensor.optim._params import (
    STEP_POST,
    STEP_PRE,
    check_param,
    fitted,
    hooked,
    named,
)

__all__ = [
    "Optimizer",
    "register_optimizer_step_post_hook",
    "register_optimizer_step_pre_hook",
    "required",
]

Group = dict[str, Any]
Closure = Callable[[], Any]

_TABLES = (
    "step_pre",
    "step_post",
    "state_dict_pre",
    "state_dict_post",
    "load_state_dict_pre",
    "load_state_dict_post",
)


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` before each step of every optimizer.

    It may return other arguments, as a pair ``(args, kwargs)``.
    """
    return register(STEP_PRE, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call ``hook(optimizer, args, kwargs)`` after each step of every optimizer."""
    return register(STEP_POST, hook)


class _Required:
    """The default of a setting that has none."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _Required()


class Optimizer:
    """The base class of all optimizers.

    Parameters
    ----------
    params : iterable of Tensor, of (str, Tensor), or of dict
        The parameters to optimize. A dict is a group: ``"params"``, and its own
        settings. Parameters may be on several meshes.
    defaults : dict
        The settings that a group does not give itself.

    Attributes
    ----------
    param_groups : list of dict
    state : dict
        The state of each parameter.

    Raises
    ------
    TypeError, ValueError
        If `params` is not a collection of leaf tensors, as in torch.

    Notes
    -----
    A subclass defines ``step``, which is called with a `closure` or None. It is not
    recorded for backward, and hooks are called before and after it. A step that finds
    no gradient warns, once, if `fully_shard`, `parallelize_module` or the like has put
    other parameters in the place of these since: the optimizer must be made after.
    """

    _told = False  # that a module has other parameters since: `hooked`

    def __init__(self, params: Iterable[Any], defaults: Group) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of "
                f"Tensors or dicts, but got {type(params).__name__}"
            )
        self.defaults = defaults
        self._opt_called = False  # whether step was called: schedulers check it
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[Group] = []
        self._hooks: dict[str, OrderedDict[int, Any]] = {
            name: OrderedDict() for name in _TABLES
        }
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = hooked(cls.__dict__["step"])  # type: ignore[method-assign]

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for k, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {k}"] if k else [f"Parameter Group {k}"]
            names = sorted(group.keys() - {"params"})
            lines += [f"    {name}: {group[name]}" for name in names]
        return "\n".join([*lines, ")"])

    # --- groups -----------------------------------------------------------------------

    def add_param_group(self, param_group: Group) -> None:
        """Add a group of parameters.

        Parameters
        ----------
        param_group : dict
            ``"params"``, and settings that differ from the defaults. Changed in place.

        Raises
        ------
        TypeError, ValueError
            If it is not a group of leaf tensors, or has a tensor of another group.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but "
                "the ordering of tensors in sets will change between runs. Please use "
                "a list instead."
            )
        param_group["params"] = named(list(params), param_group)
        for param in param_group["params"]:
            check_param(param)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(
                    "parameter group didn't specify a value of required optimization "
                    f"parameter {name}"
                )
            param_group.setdefault(name, default)
        self._check_alone(param_group["params"])
        self.param_groups.append(param_group)

    def _check_alone(self, params: list[Any]) -> None:
        mine = {id(p) for p in params}
        if len(mine) < len(params):
            warn("optimizer contains a parameter group with duplicate parameters")
        if any(id(p) in mine for group in self.param_groups for p in group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")

    # --- steps ------------------------------------------------------------------------

    def step(self, closure: Closure | None = None) -> Any:
        """Do one step; subclasses define it.

        Parameters
        ----------
        closure : callable, optional
            Computes the gradients again, and returns the loss.

        Returns
        -------
        The loss, or None without `closure`.
        """
        raise NotImplementedError

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients of all parameters.

        Parameters
        ----------
        set_to_none : bool, default True
            Set them to None; False fills them with zeros.
        """
        for group in self.param_groups:
            zero_grads(group["params"], set_to_none)

    # --- state ------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """Return the state and the settings, with a number for each parameter.

        Returns
        -------
        dict
            ``"state"``: the state by parameter number; its tensors are not copied.
            ``"param_groups"``: the settings, and ``"params"``, a list of numbers.
        """
        for hook in self._hooks["state_dict_pre"].values():
            hook(self)
        params = [p for group in self.param_groups for p in group["params"]]
        numbers: dict[int, int] = {}
        for number, param in enumerate(params):
            numbers.setdefault(id(param), number)
        groups = []
        for group in self.param_groups:
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {
            numbers[id(key)] if isinstance(key, Tensor) else key: value
            for key, value in self.state.items()
        }
        found = {"state": state, "param_groups": groups}
        for hook in self._hooks["state_dict_post"].values():
            found = hook(self, found) or found
        return found

    @no_grad()
    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load what `state_dict` of an optimizer of the same parameters returned.

        Parameters
        ----------
        state_dict : dict
            Its tensors are used as they are if they have the dtype and layout of their
            parameter; otherwise they are converted (to another layout: collective).

        Raises
        ------
        ValueError
            If it has other groups than this optimizer.
        """
        state_dict = dict(state_dict)
        for hook in self._hooks["load_state_dict_pre"].values():
            state_dict = hook(self, state_dict) or state_dict
        groups, saved = self.param_groups, state_dict["param_groups"]
        if len(groups) != len(saved):
            raise ValueError(
                "loaded state dict has a different number of parameter groups"
            )
        pairs = list(zip(groups, saved, strict=True))
        if any(len(a["params"]) != len(b["params"]) for a, b in pairs):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the "
                "size of optimizer's group"
            )
        params = {
            number: param
            for mine, theirs in pairs
            for number, param in zip(theirs["params"], mine["params"], strict=True)
        }
        self.state.clear()
        for key, values in state_dict["state"].items():
            if key in params:
                self.state[params[key]] = fitted(params[key], values)
            else:
                self.state[key] = values
        self.param_groups = [
            {**theirs, "params": mine["params"]}
            | {k: mine[k] for k in mine if k == "param_names" and k not in theirs}
            for mine, theirs in pairs
        ]
        for hook in self._hooks["load_state_dict_post"].values():
            hook(self)

    # --- hooks ------------------------------------------------------------------------

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` before each step.

        It may return a pair: the args and kwargs to use instead.
        """
        return register(self._hooks["step_pre"], hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call ``hook(optimizer, args, kwargs)`` after each step."""
        return register(self._hooks["step_post"], hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` before `state_dict`."""
        return register(self._hooks["state_dict_pre"], hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` after `state_dict`.

        It may return another state dict.
        """
        return register(self._hooks["state_dict_post"], hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer, state_dict)`` before `load_state_dict`.

        It may return another state dict.
        """
        return register(self._hooks["load_state_dict_pre"], hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(optimizer)`` after `load_state_dict`."""
        return register(self._hooks["load_state_dict_post"], hook, prepend)
