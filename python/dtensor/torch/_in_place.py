"""Methods that work in place: those of functions, by their names, and their own."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.operator import METHODS
from dtensor.torch import _index, _pointwise, _special
from dtensor.torch._promotion import can_cast

__all__ = [
    "IN_PLACE",
    "abs_",
    "changes",
    "float_power_",
    "masked_fill_",
    "polygamma",
    "turns",
]

# Those that also work in place, under their name with an underscore.
IN_PLACE = """
    acos acosh add addbmm addcdiv addcmul addmm addmv addr asin asinh atan atan2 atanh
    baddbmm bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor
    clamp clamp_max clamp_min clip copysign cos cosh cumprod cumsum deg2rad div divide
    eq erf erfc exp exp2 expm1 floor_divide fmod frac gcd ge greater
    greater_equal gt heaviside hypot ldexp index_add index_copy index_fill index_put
    lcm le lerp less less_equal log log10 log1p log2 logical_and logical_or logical_xor
    logit
    lt masked_scatter mul multiply nan_to_num ne nextafter not_equal pow put rad2deg
    reciprocal remainder rsqrt scatter scatter_add scatter_reduce sigmoid sin
    sinh sqrt sub subtract tan tanh tril triu true_divide xlogy igamma igammac
    digamma erfinv i0 index_reduce lgamma mvlgamma renorm conj_physical
    sgn sign sinc
""".split()


# Those of two operands that a statement such as ``x += y`` does as well.
STATEMENTS = {
    f"{name}_": function
    for function, names in {
        operator.iadd: "add",
        operator.isub: "sub subtract",
        operator.imul: "mul multiply",
        operator.itruediv: "div divide true_divide",
    }.items()
    for name in names.split()
}


_dtype = _C.Tensor.dtype.__get__


def _keeps_dtype(self: Any, other: Any, divides: bool) -> bool:
    """Return whether an operator computes in the dtype of a tensor."""
    dtype = _dtype(self)
    if isinstance(other, _C.Tensor):
        return bool(_dtype(other) == dtype and (not divides or dtype.kind in "fc"))
    whole = type(other) is int and not divides
    return dtype.kind in ("iufc" if whole else "fc") and type(other) in (int, float)


def changes(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    statement: Callable[[Any, Any], Any] | None = STATEMENTS.get(name)

    def change(self: Any, *args: Any, **options: Any) -> Any:
        if statement is not None and len(args) == 1 and not options:
            if _keeps_dtype(self, args[0], statement is operator.itruediv):
                return statement(self, args[0])
        recorded = self.requires_grad and _C.is_grad_enabled()
        # It may be kept for backward.
        before = _C.old_value(self).clone() if recorded else self
        found = function(before, *args, **options)
        if not recorded and _C.overwrite(self, found, name):
            return self
        to, of = np.dtype(self.dtype), np.dtype(found.dtype)
        if not can_cast(of, to):
            raise RuntimeError(
                f"result type {found.dtype.legacy} can't be cast to the desired output "
                f"type {self.dtype.legacy}"
            )
        if tuple(found.shape) != tuple(self.shape):
            raise RuntimeError(
                f"output with shape {list(self.shape)} doesn't match the broadcast "
                f"shape {list(found.shape)}"
            )
        return METHODS["copy_"](self, found)

    change.__wrapped__ = function  # type: ignore[attr-defined]  # whose arguments it has
    change.__name__ = change.__qualname__ = name
    change.__doc__ = f"As `{function.__name__}`, in place; return this tensor."
    return change


def turns(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def turn(self: Any, *args: Any) -> Any:
        if self.grad_fn is None or not _C.is_grad_enabled():
            self.data = function(self.detach(), *args)
            return self
        found = function(self, *args)
        self.data = found.detach()
        _C.take_node(self, found)
        return self

    turn.__name__ = turn.__qualname__ = name
    turn.__doc__ = f"As `{function.__name__}`, of this object."
    return turn


def polygamma(self: Any, n: int) -> Any:
    """Return derivative `n` of the digamma function."""
    return _special.polygamma(n, self)


def masked_fill_(self: Any, mask: Any, value: Any) -> Any:
    """As `masked_fill`, in place; return this tensor."""
    value = _index.filling(self, value)
    plain = type(value) in (bool, int, float) and not isinstance(self, _C.DTensor)
    if plain and not (self.requires_grad and _C.is_grad_enabled()):
        found = METHODS["masked_fill"](self, mask, value)
        if _C.overwrite(self, found, "masked_fill_"):
            return self
    return METHODS["masked_fill_"](self, mask, value)


def abs_(self: Any) -> Any:
    """Replace the elements by their absolute values.

    Raises
    ------
    RuntimeError
        If they are complex.
    """
    if np.dtype(self.dtype).kind == "c":
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return METHODS["abs_"](self)


def float_power_(self: Any, exponent: Any) -> Any:
    """Raise to a power in place: float64 or complex128.

    Raises
    ------
    RuntimeError
        If the tensor has another dtype than the result.
    """
    found = _pointwise.float_power(self, exponent)
    if found.dtype != self.dtype:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.legacy} but the "
            f"operation's result requires dtype {found.dtype.legacy}"
        )
    return METHODS["copy_"](self, found)
