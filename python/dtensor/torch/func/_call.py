"""Modules as functions of their parameters: `functional_call`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dtensor import ops as _ops
from dtensor.nn import Module

__all__ = [
    "functional_call",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
]

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with other parameters and buffers than its own.

    Parameters
    ----------
    module : Module
        It has its own again afterwards.
    parameter_and_buffer_dicts : dict of str to tensor, or sequence of these
        By the names of `named_parameters` and `named_buffers`. A buffer that the module
        replaces is replaced here, too.
    args : tuple or anything else, optional
        Arguments; what is no tuple is the only one.
    kwargs : dict, optional
    tie_weights : bool, default True
        Whether a parameter that has several names is replaced under all of them.
    strict : bool, default False
        Whether there must be a tensor for each name, and no other ones.

    Raises
    ------
    ValueError
        If a name is in several dicts, or tied weights are to differ.
    RuntimeError
        If `strict` is not fulfilled.
    """
    given = _joined(parameter_and_buffer_dicts)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _replaced(module, given, tie_weights, strict):
        return module(*args, **kwargs or {})


def _joined(dicts: Any) -> dict[str, Any]:
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of "
            f"dicts, but got {type(dicts)}"
        )
    if not all(isinstance(each, dict) for each in dicts):
        raise ValueError(
            "Expected all elements of parameter_and_buffer_dicts to be dictionaries"
        )
    counts = Counter(name for each in dicts for name in each)
    repeated = [name for name, n in counts.items() if n > 1]
    if repeated:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of functional "
            "call is ambiguous"
        )
    return {name: x for each in dicts for name, x in each.items()}


def _places(module: Module) -> dict[str, tuple[dict[str, Any], str]]:
    """Return where each parameter and buffer is kept, by all names."""
    return {
        f"{prefix}.{name}" if prefix else name: (kept, name)
        for prefix, below in module.named_modules(remove_duplicate=False)
        for kept in (below._parameters, below._buffers)
        for name in kept
        if kept[name] is not None
    }


@contextmanager
def _replaced(
    module: Module, given: dict[str, Any], tie: bool, strict: bool
) -> Iterator[None]:
    places = _places(module)
    own = {name: kept[key] for name, (kept, key) in places.items()}
    new = dict(given)
    if tie:
        new = {**_tied(own, given), **new}
    if strict:
        _check_names(type(module).__name__, set(own) - set(new), set(given) - set(own))
    known = [name for name in new if name in places]
    for name in known:
        kept, key = places[name]
        kept[key] = new[name]
    try:
        yield
    finally:
        for name in known:
            kept, key = places[name]
            if name in given and kept[key] is not None:
                given[name] = kept[key]
            kept[key] = own[name]


def _tied(own: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return tensors for other names of what the given names stand for."""
    by_tensor: dict[int, Any] = {}
    for name, x in given.items():
        if name in own and by_tensor.setdefault(id(own[name]), x) is not x:
            names = sorted(n for n in given if own.get(n) is own[name])
            raise ValueError(
                f"functional_call got multiple values for keys {names}, which are "
                "tied. Consider using tie_weights=False"
            )
    return {name: by_tensor[id(x)] for name, x in own.items() if id(x) in by_tensor}


def _check_names(name: str, missing: set[str], unexpected: set[str]) -> None:
    if missing or unexpected:
        told = [
            f"{what} key(s): {', '.join(map(repr, sorted(names)))}."
            for what, names in (("Unexpected", unexpected), ("Missing", missing))
            if names
        ]
        raise RuntimeError(
            f"Error(s) in reparametrizing for {name}:\n\t" + "\n\t".join(told)
        )


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters and the buffers of models of one kind, stacked by name.

    Parameters
    ----------
    models : sequence of Module

    Returns
    -------
    dict of str to tensor, dict of str to tensor
        Each has a first dim more, for the models; the former require a gradient if
        those of the models do.

    Raises
    ------
    RuntimeError
        If there are no models, or they are of different classes.
    """
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError(
            "stack_module_state: Expected all models to be of the same class."
        )
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    stacked = {
        name: ops.stack([each[name].detach() for each in parameters]).requires_grad_(
            parameters[0][name].requires_grad
        )
        for name in parameters[0]
    }
    return stacked, {
        name: ops.stack([each[name] for each in buffers]) for name in buffers[0]
    }


def replace_all_batch_norm_modules_(root: Any) -> Any:
    """Let all batch norms of a module keep no running averages, in place, and return
    it: then `vmap` of a forward writes nothing."""
    for module in root.modules():
        if hasattr(module, "track_running_stats"):
            module.track_running_stats = False
            module.running_mean = module.running_var = None
            module.num_batches_tracked = None
    return root
