"""Sharding rules written by the user."""

from collections.abc import Callable, Sequence
from typing import Any

from dtensor import _C
from dtensor.experimental._shardings import Sharding, rule_of
from dtensor.ops import FUNCTIONS
from dtensor.ops._make.operator import Rule

__all__ = ["register_sharding"]

Function = Callable[..., Sequence[Sharding]]


def register_sharding(op: Any) -> Callable[[Function], Function]:
    """Replace the rule of an operator by a list of acceptable shardings.

    Parameters
    ----------
    op : operator, NumPy function, or list of these
        For example ``dtensor.softmax`` or ``np.sort``.

    Returns
    -------
    callable
        A decorator for a function of the operator's arguments, in which each tensor is
        an object with ``shape``, ``ndim`` and ``dtype``. The function returns pairs
        (placements of the results, placements of the arguments) for ONE mesh dim, with
        None for an argument that is not a tensor. All replicated is always accepted.

    Raises
    ------
    TypeError
        If `op` is not an operator, for example because it is composed of several.
    ValueError
        When the operator is called, on every rank: if a dim is in two of the shardings,
        or results are addends of two kinds. A rule shards each dim in one way.

    Notes
    -----
    The kernel is unchanged: each rank calls it on its parts. The operator's cache of
    calls is cleared. Modelled on
    ``torch.distributed.tensor.experimental.register_sharding``.

    Examples
    --------
    >>> @register_sharding(dtensor.softmax)  # doctest: +SKIP
    ... def rows(x, axis=-1):
    ...     dims = [d for d in range(x.ndim) if d != axis % x.ndim]
    ...     return [([Shard(d)], [Shard(d), None]) for d in dims]
    """
    ops = [_operator_of(each) for each in (op if isinstance(op, list) else [op])]

    def register(function: Function) -> Function:
        def replace(rule: Rule, *args: Any, **kwargs: Any) -> Rule:
            shapes = [getattr(x, "shape", None) for x in args]
            name = f"{function.__qualname__}, the shardings of {shapes}"
            shardings = _C.carried(name, function, args, kwargs)
            return rule_of(rule, shardings, args, kwargs)

        for each in ops:
            each.replace_rule(replace)
        return function

    return register


def _operator_of(op: Any) -> _C.Operator:
    found = op if isinstance(op, _C.Operator) else FUNCTIONS.get(op)
    if isinstance(found, _C.Operator) and found.otherwise is None:
        return found
    raise TypeError(
        f"register_sharding: {op!r} is not an operator with its own rule; if it is "
        "composed of several operators, register those"
    )
