"""Sharding rules of the user's own."""

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
        A decorator for a function of the operator's own arguments, in which an object
        with ``shape``, ``ndim`` and ``dtype`` stands for each tensor. It returns pairs
        (placements of the results, placements of the arguments) for ONE mesh dim; None
        stands for an argument that is no tensor. All replicated is always acceptable.

    Raises
    ------
    TypeError
        If `op` is no operator, but composed of several.
    ValueError
        When the operator is called, on every rank: if a dim takes part in two of the
        shardings, or addends of two kinds come out. A rule cuts each dim in one way.

    Notes
    -----
    The kernel stays: each rank calls it on its parts. Known calls are forgotten.
    After ``torch.distributed.tensor.experimental.register_sharding``.

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
            return rule_of(rule, function(*args, **kwargs), args, kwargs)

        for each in ops:
            each.replace_rule(replace)
        return function

    return register


def _operator_of(op: Any) -> _C.Operator:
    found = op if isinstance(op, _C.Operator) else FUNCTIONS.get(op)
    if isinstance(found, _C.Operator):
        return found
    raise TypeError(
        f"register_sharding: {op!r} is no operator with a rule of its own; it may be "
        "composed of several: register those"
    )
