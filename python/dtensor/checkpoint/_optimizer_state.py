"""Optimizer state under the names of parameters, nested or flat."""

from collections.abc import Mapping
from typing import Any

from dtensor.autograd import no_grad
from dtensor.checkpoint._names import is_tensor
from dtensor.optim import Optimizer

__all__ = [
    "flat",
    "group_settings",
    "initialised",
    "is_flat",
    "named_state",
    "numbered_state",
    "unflat",
]

State = dict[str, Any]


def initialised(optimizer: Optimizer) -> bool:
    """Create an optimizer's state by a step with gradients and learning rate 0.

    An optimizer whose parameters have gradients is left as it is, without state.

    Returns
    -------
    bool
        Whether the state was created here.
    """
    params = [p for group in optimizer.param_groups for p in group["params"]]
    if optimizer.state or any(p.grad is not None for p in params):
        return False
    with no_grad():
        for param in params:
            if param.requires_grad:
                param.grad = param.detach() * 0
    rates = [group.get("lr") for group in optimizer.param_groups]
    for group in optimizer.param_groups:
        if "lr" in group:
            group["lr"] = group["lr"] * 0
    optimizer.step()
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        if "lr" in group:
            group["lr"] = rate
    optimizer.zero_grad(set_to_none=True)
    return True


def named_state(
    optimizer: Optimizer, names: Mapping[int, str], state: State | None = None
) -> State:
    """Return ``optimizer.state_dict()`` with parameter names instead of numbers.

    Parameters
    ----------
    optimizer : Optimizer
    names : mapping of int to str
        The names of parameters, by their identity.
    state : dict, optional
        What is used instead of ``optimizer.state_dict()``.

    Raises
    ------
    KeyError
        If a parameter has no name.
    """
    state = optimizer.state_dict() if state is None else state
    of = dict[int, str]()
    for group, packed in zip(
        optimizer.param_groups, state["param_groups"], strict=True
    ):
        for param, number in zip(group["params"], packed["params"], strict=True):
            if id(param) not in names:
                raise KeyError(
                    f"parameter {number} of the optimizer is not in the model"
                )
            of[number] = names[id(param)]
    return {
        "state": {of.get(key, key): values for key, values in state["state"].items()},
        "param_groups": [
            {**group, "params": [of[n] for n in group["params"]]}
            for group in state["param_groups"]
        ],
    }


def group_settings(state: Mapping[str, Any]) -> dict[str, State]:
    """Return the settings of each parameter's group."""
    return {
        name: {key: value for key, value in group.items() if key != "params"}
        for group in state.get("param_groups", [])
        for name in group["params"]
    }


def numbered_state(
    given: Mapping[str, Any],
    own: Mapping[str, Any],
    settings: Mapping[str, State],
    strict: bool,
    is_new: bool = False,
) -> State:
    """Return given state in the form that an optimizer's ``load_state_dict`` takes.

    Parameters
    ----------
    given : mapping
        State by name; it may include parameters of other optimizers.
    own : mapping
        The optimizer's own state, by name.
    settings : mapping
        The given settings, by name.
    strict : bool
        Whether a missing parameter, or one whose state is missing, is an error; if not,
        it keeps its state.
    is_new : bool, default False
        Whether the own state was created to be replaced: then there is none to keep.

    Raises
    ------
    KeyError, RuntimeError
        If a parameter, or its state, is missing and `strict` is True.
    """
    state, groups, number = dict[int, Any](), [], 0
    for group in own["param_groups"]:
        taken = dict(group)
        numbers = []
        for name in group["params"]:
            if name not in settings and strict:
                raise KeyError(f"the state has no entry for parameter {name!r}")
            taken |= settings.get(name, {})
            values = given.get("state", {}).get(name)
            if values is None and name in own["state"]:
                if strict:
                    raise RuntimeError(
                        f"Missing optimizer state for parameter {name!r}: there is "
                        "none, as of a parameter that had no gradient before; to load "
                        "the others, use StateDictOptions(strict=False)"
                    )
                values = None if is_new else own["state"][name]
            if values is not None:
                state[number] = values
            numbers.append(number)
            number += 1
        groups.append({**taken, "params": numbers})
    return {"state": state, "param_groups": groups}


# --- flat -----------------------------------------------------------------------------

_STATE, _GROUPS = "state.", "param_groups."


def is_flat(state: Mapping[str, Any]) -> bool:
    """Whether state has the form that `flat` returns."""
    return all(name.startswith((_STATE, _GROUPS)) for name in state)


def flat(state: Mapping[str, Any]) -> State:
    """Return named state as one dict: ``state.NAME.KEY``, ``param_groups.NAME.KEY``.

    Raises
    ------
    NotImplementedError
        If the state of a parameter contains anything but tensors and numbers.
    """
    result: State = {}

    def visit(value: Any, prefix: str) -> None:
        if isinstance(value, Mapping):
            for key, item in value.items():
                visit(item, f"{prefix}.{key}")
        elif is_tensor(value) or isinstance(value, int | float):
            result[prefix] = value
        else:
            raise NotImplementedError(
                "Flattening optimizer state_dict only supports tensor, int, float, "
                f"dict states now. Type is {type(value)}."
            )

    for name, values in state["state"].items():
        visit(values, f"state.{name}")
    for name, values in group_settings(state).items():
        result |= {f"param_groups.{name}.{key}": v for key, v in values.items()}
    return result


def unflat(rows: Mapping[str, Any], own: Mapping[str, Any]) -> State:
    """Return flat state in nested form, for the parameters of an optimizer.

    Parameters
    ----------
    rows : mapping
        What `flat` returned, for this optimizer and maybe others.
    own : mapping
        The optimizer's own state, by name: names may contain dots.
    """

    def below(template: Any, prefix: str) -> Any:
        if isinstance(template, Mapping):
            return {
                key: value
                for key, item in template.items()
                if (value := below(item, f"{prefix}.{key}")) is not None
            }
        return rows.get(prefix)

    state = {
        name: below(values, f"state.{name}") for name, values in own["state"].items()
    }
    settings: dict[str, State] = {}  # also those that `own` lacks: `initial_lr`
    for row, value in rows.items():
        name, _, key = row.removeprefix(_GROUPS).rpartition(".")
        if row.startswith(_GROUPS):
            settings.setdefault(name, {})[key] = value
    groups = [
        {"params": [name]} | settings[name]
        for group in own["param_groups"]
        for name in group["params"]
        if name in settings
    ]
    return {"state": {n: v for n, v in state.items() if v}, "param_groups": groups}
