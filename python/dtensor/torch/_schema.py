"""The types of a function's arguments and results, as PyTorch's schemas write them."""

import inspect
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dtensor import _C
from dtensor.torch._types import dtype

__all__ = ["infer_schema"]

_NAMES: dict[Any, str] = {
    bool: "bool",
    float: "float",
    int: "SymInt",
    str: "str",
    complex: "Scalar",
    dtype: "ScalarType",
    _C.Tensor: "Tensor",
    _C.TorchTensor: "Tensor",
    _C.TorchDTensor: "Tensor",
}


def _written(kind: Any) -> str | None:
    """Return the name of a type; None if a schema has none for it."""
    if kind in _NAMES:
        return _NAMES[kind]
    origin, inside = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        rest = [x for x in inside if x is not type(None)]
        if set(rest) == {int, float, bool}:
            return "Scalar"
        one = _written(rest[0]) if len(rest) == 1 and len(rest) < len(inside) else None
        return one and f"{one}?"
    if origin in (list, Sequence):
        one = _written(inside[0])
        return one and f"{one}[]"
    return None


def _default(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return str(value).removeprefix("torch.")


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
    tags: Any = (),
) -> str:
    """Return the types of a function's arguments and results, by its annotations.

    Parameters
    ----------
    prototype_function : callable
    mutates_args : iterable of str
        The arguments that it writes into; "unknown": all tensors.
    op_name : str, optional
        What stands before the arguments.
    tags : optional
        Ignored.

    Raises
    ------
    ValueError
        If an argument has no annotation, or one that a schema has no name for.

    Examples
    --------
    >>> import dtensor.torch as torch
    >>> def f(x: torch.Tensor, n: int = 2) -> torch.Tensor: ...
    >>> torch.library.infer_schema(f, mutates_args=())
    '(Tensor x, SymInt n=2) -> Tensor'
    """
    signature = inspect.signature(prototype_function)
    hints = typing.get_type_hints(prototype_function)

    def refuse(text: str) -> ValueError:
        return ValueError(
            f"infer_schema(func): {text} Got func with signature {signature})"
        )

    parts: list[str] = []
    marks = 0
    for name, each in signature.parameters.items():
        if each.kind not in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY):
            raise refuse("We do not support positional-only args, varargs, or varkw.")
        if each.kind is each.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        if name not in hints:
            raise refuse(f"Parameter {name} must have a type annotation.")
        kind = _written(hints[name])
        if kind is None:
            raise refuse(f"Parameter {name} has unsupported type {hints[name]}.")
        tensor = kind.startswith("Tensor")
        if tensor if mutates_args == "unknown" else name in mutates_args:
            kind = kind.replace("Tensor", f"Tensor(a{marks}!)", 1)
        marks += 1
        text = f"{kind} {name}"
        if each.default is not each.empty:
            text += f"={_default(each.default)}"
        parts.append(text)
    return f"{op_name or ''}({', '.join(parts)}) -> {_results(hints, refuse)}"


def _results(hints: dict[str, Any], refuse: Callable[[str], ValueError]) -> str:
    if "return" not in hints:
        raise refuse("The return must have a type annotation.")
    kind = hints["return"]
    if kind is type(None):
        return "()"
    if typing.get_origin(kind) is tuple:
        names = [_written(each) for each in typing.get_args(kind)]
        if None not in names:
            return f"({', '.join(name for name in names if name)})"
    name = _written(kind)
    if name is None:
        raise refuse(f"Return has unsupported type {kind}.")
    return name
