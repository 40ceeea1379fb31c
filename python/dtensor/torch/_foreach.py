"""``torch._foreach_*``: functions of lists of tensors, one tensor after the other.

With an underscore at the end they write into the tensors of the first list, and return
None. A second argument is a list as long as the first, or one number or tensor for all.
"""

from collections.abc import Callable, Sequence
from typing import Any

from dtensor import _C
from dtensor.torch._reduce import norm

__all__ = ["FUNCTIONS"]

ONE = """
    abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10
    log1p log2 neg reciprocal round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc
""".split()
TWO = "add clamp_max clamp_min div maximum minimum mul pow sub".split()
NAMES = {"maximum": "clamp_min", "minimum": "clamp_max"}  # with a number


def _second(name: str, tensors: Sequence[Any], other: Any) -> Sequence[Any]:
    """The argument for each tensor."""
    if not isinstance(other, list | tuple):
        return [other] * len(tensors)
    if len(other) != len(tensors):
        raise RuntimeError(
            f"_foreach_{name}: Tensor lists must have the same number of tensors, got "
            f"{len(tensors)} and {len(other)}"
        )
    return other


def _pair(name: str, x: Any, y: Any, end: str) -> Any:
    if name in NAMES and isinstance(y, int | float):
        name = NAMES[name]
    elif name in ("clamp_min", "clamp_max") and isinstance(y, _C.Tensor):
        name = {"clamp_min": "maximum", "clamp_max": "minimum"}[name]
    if end and name in NAMES:  # they have no such method
        return x.copy_(getattr(x, name)(y))
    return getattr(x, name + end)(y)


def _of_two(name: str, end: str) -> Callable[..., Any]:
    def answer(self: Any, other: Any, alpha: Any = 1) -> Any:
        if name == "pow" and not isinstance(self, list | tuple):  # of a number
            return [self**x for x in other]
        second = _second(name, self, other)
        if alpha != 1:
            second = [alpha * y for y in second]
        found = [_pair(name, x, y, end) for x, y in zip(self, second, strict=True)]
        return None if end else found

    return answer


def _of_one(name: str, end: str) -> Callable[..., Any]:
    def answer(self: Any) -> Any:
        found = [getattr(x, name + end)() for x in self]
        return None if end else found

    return answer


def _of_three(name: str, end: str) -> Callable[..., Any]:
    def answer(
        self: Any, tensor1: Any, tensor2: Any, value: Any = 1, scalars: Any = None
    ) -> Any:
        values = value if scalars is None else scalars
        if isinstance(values, _C.Tensor):
            values = values.tolist()
        values = _second(name, self, values)
        rows = zip(self, tensor1, tensor2, values, strict=True)
        found = [getattr(x, name + end)(a, b, value=v) for x, a, b, v in rows]
        return None if end else found

    return answer


def _lerp(end: str) -> Callable[..., Any]:
    def answer(self: Any, tensors1: Any, weight: Any) -> Any:
        rows = zip(self, tensors1, _second("lerp", self, weight), strict=True)
        found = [getattr(x, f"lerp{end}")(y, w) for x, y, w in rows]
        return None if end else found

    return answer


def _zero_(self: Any) -> None:
    for x in self:
        x.zero_()


def _copy(self: Any, src: Any, non_blocking: bool = False) -> list[Any]:
    return [x.clone().copy_(y) for x, y in zip(self, src, strict=True)]


def _copy_(self: Any, src: Any, non_blocking: bool = False) -> None:
    for x, y in zip(self, src, strict=True):
        x.copy_(y)


def _norm(self: Any, ord: float = 2, dtype: Any = None) -> list[Any]:
    return [norm(x, ord, dtype=dtype) for x in self]


def _max(self: Any) -> list[Any]:
    return [x.max() for x in self]


def _made() -> dict[str, Any]:
    made: dict[str, Any] = {"norm": _norm, "max": _max, "zero_": _zero_}
    made |= {"copy_": _copy_, "copy": _copy}
    for end in ("", "_"):
        made |= {name + end: _of_one(name, end) for name in ONE}
        made |= {name + end: _of_two(name, end) for name in TWO}
        made |= {name + end: _of_three(name, end) for name in ("addcmul", "addcdiv")}
        made[f"lerp{end}"] = _lerp(end)
    for name, function in made.items():
        function.__name__ = function.__qualname__ = f"_foreach_{name}"
        function.__doc__ = f"Call `{name}` for each tensor of a list."
    return {f"_foreach_{name}": function for name, function in made.items()}


FUNCTIONS = _made()
