"""PyTorch's type promotion: operators that compute in the dtype that PyTorch chooses.

Tensors with dims count before those without, and these before Python's numbers: each
group counts only if its kind (boolean, integer, floating-point, complex) is a higher
one. Where NumPy computes in that dtype anyway, the call is the same as NumPy's.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.halves import in_float32, is_half
from dtensor.ops._make.operator import call
from dtensor.torch._types import dtype, numpy_dtype, torch_dtype

__all__ = [
    "bare",
    "can_cast",
    "default_dtype",
    "of_number",
    "promote",
    "promote_types",
    "promoted",
    "result_type",
]

KINDS = {"b": 0, "u": 1, "i": 1, "f": 2, "V": 2, "c": 3}  # V: bfloat16
BARE = ("uint16", "uint32", "uint64")  # PyTorch has little arithmetic of these
Dtype = np.dtype[Any]
# What takes tensors alone, and what is not for complex numbers.
TENSORS_ONLY: set[np.ufunc] = {
    np.arctan2,
    np.fmax,
    np.fmin,
    np.hypot,
    np.logaddexp,
    np.logaddexp2,
    np.logical_and,
    np.logical_or,
    np.logical_xor,
    np.maximum,
    np.minimum,
    np.nextafter,
}
ORDERED: set[np.ufunc] = {
    np.maximum,
    np.minimum,
    np.fmax,
    np.fmin,
    np.less,
    np.less_equal,
}
BITS: set[np.ufunc] = {np.bitwise_and, np.bitwise_or, np.bitwise_xor}
BITS |= {np.left_shift, np.right_shift, np.gcd, np.lcm}
QUESTIONS: set[np.ufunc] = {np.equal, np.not_equal, np.less, np.less_equal, np.greater}
QUESTIONS |= {np.greater_equal, np.logical_and, np.logical_or, np.logical_xor}
ORDERED |= {np.greater, np.greater_equal, np.floor_divide, np.remainder, np.fmod}


def default_dtype() -> Dtype:
    """Return NumPy's dtype of Python's floats."""
    return np.dtype(_C.get_default_dtype())


def _kind(of: Dtype) -> int:
    return KINDS[of.kind]


def _complex(of: Dtype) -> Dtype:
    return np.dtype("complex128" if of.itemsize == 8 else "complex64")


def promote(a: Dtype | None, b: Dtype | None) -> Dtype | None:
    """Return the dtype of two tensors with dims; None: there is no such operand."""
    if a is None or b is None or a == b:
        return b if a is None else a
    if _kind(a) > _kind(b):
        a, b = b, a
    if _kind(b) >= 2:  # the higher kind decides, but a float64 part makes complex128
        if _kind(a) == 2 and _kind(b) == 3:
            return np.promote_types(_complex(a), b)
        if _kind(a) == 2:
            halves = {a.name, b.name} == {"float16", "bfloat16"}
            return np.dtype("float32") if halves else np.promote_types(a, b)
        return b if _kind(a) < 2 else np.promote_types(a, b)
    if _kind(a) == 1 and (a.name in BARE or b.name in BARE):
        raise RuntimeError(
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to "
            f"promote {torch_dtype(a).legacy} and {torch_dtype(b).legacy}"
        )
    return np.promote_types(a, b)


def _over(higher: Dtype | None, lower: Dtype | None) -> Dtype | None:
    """Return the dtype of a group of operands beside one that counts less."""
    if higher is None or lower is None:
        return lower if higher is None else higher
    if _kind(higher) == 3:
        return higher
    if _kind(higher) == 2:
        return _complex(higher) if _kind(lower) == 3 else higher
    if _kind(higher) == 0 or _kind(lower) >= 2:
        return promote(higher, lower)
    return higher


def of_number(number: Any) -> Dtype:
    """Return the dtype of a Python number, or of its type."""
    of = number if isinstance(number, type) else type(number)
    if issubclass(of, int):
        return np.dtype(bool if of is bool else np.int64)
    return _complex(default_dtype()) if issubclass(of, complex) else default_dtype()


def bare(x: Any) -> Any:
    """Return a scalar of NumPy's as the number of Python's that it is in PyTorch."""
    return x.item() if isinstance(x, np.generic) else x


def dtype_for(operands: Sequence[Any]) -> Dtype:
    """Return the dtype that PyTorch computes in, for tensors, arrays and numbers."""
    dims = zero = numbers = None
    for x in map(bare, operands):
        of = getattr(x, "dtype", None)
        if of is None:
            numbers = promote(numbers, of_number(getattr(x, "number", x)))
        elif x.ndim > 0:
            dims = promote(dims, numpy_dtype(of))
        else:
            zero = promote(zero, numpy_dtype(of))
    found = _over(dims, _over(zero, numbers))
    assert found is not None
    return found


def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """Return the dtype of an operation on two tensors or Python numbers.

    Parameters
    ----------
    tensor1, tensor2 : tensor or number

    Examples
    --------
    >>> import dtensor.torch as torch
    >>> torch.result_type(torch.tensor([1, 2]), 1.0)
    torch.float32
    """
    return torch_dtype(dtype_for([tensor1, tensor2]))


def promote_types(type1: Any, type2: Any) -> dtype:
    """Return the smallest dtype, by PyTorch's rules, that both can be cast to."""
    return torch_dtype(promote(numpy_dtype(type1), numpy_dtype(type2)))


def can_cast(from_: Any, to: Any) -> bool:
    """Return whether PyTorch lets results of a dtype be written into another one.

    Parameters
    ----------
    from_, to : dtype
        Only the kind counts: complex, floating-point, integer, boolean, downwards.
    """
    return _kind(numpy_dtype(from_)) <= _kind(numpy_dtype(to))


# --- operators ------------------------------------------------------------------------


def _computed(function: np.ufunc, xs: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return the dtypes of NumPy's own loop for these operands."""
    given = [np.dtype(bool) if x.number is bool else x.dtype or x.number for x in xs]
    try:
        return function.resolve_dtypes((*given, *(None,) * function.nout))
    except TypeError:
        return None


def promoted(base: Any, function: np.ufunc, floats: bool = False) -> Any:
    """Return an operator that computes in PyTorch's dtype.

    Parameters
    ----------
    base : Operator
        That of the ufunc, with NumPy's promotion.
    function : numpy.ufunc
    floats : bool, default False
        Whether integers and booleans become the default floating-point dtype.
    """
    make: Callable[..., Any] = base.__wrapped__

    def answer(*xs: Any, **options: Any) -> Any:
        given = {"dtype", "signature", "sig"} & options.keys()
        if given or len(xs) != function.nin:
            return make(*xs, **options)
        options |= _options(function, xs, floats)
        if _is_by_number(function, xs):
            kernel = in_float32(function, dtype_for(xs))
            return make(*xs)[0], call(kernel, *xs, **options | IN_FLOAT32)
        found, kernel = make(*xs, **options), function
        inexact = any(_is_float(x) for x in xs)
        by_number = function is np.power and xs[1].dtype is None
        if function in OF_INTEGERS and not inexact and not by_number:
            nothing = any(0 in x.shape for x in xs if x.dtype is not None)
            kernel = _quiet(function) if nothing else OF_INTEGERS[function]
        if any(x.dtype is None and x.number is int for x in xs):
            kernel = _going_round(kernel, dtype_for(xs))
        return found if kernel is function else (found[0], call(kernel, *xs, **options))

    answer.__name__ = base.__name__
    answer.__doc__ = base.__doc__
    answer.ufunc = function  # type: ignore[attr-defined]  # its signature is shown
    made = _C.Operator(answer, base.__name__, base.operands, base=base)
    made.bare = True
    return made


# Arrays of 16 bits are multiplied and divided by a number, or a tensor of no dims, in
# float32; for all other functions the number is rounded to the dtype first.
BY_NUMBER = {np.multiply, np.divide, np.floor_divide}
IN_FLOAT32 = {"signature": (np.dtype(np.float32),) * 3, "casting": "unsafe"}


def _is_by_number(function: np.ufunc, xs: Sequence[Any]) -> bool:
    """Return whether an array of 16 bits meets a number, or such a tensor after it."""
    if function not in BY_NUMBER:
        return False
    array, number = xs if xs[0].dtype is not None else xs[::-1]
    alone = is_half(array.dtype) and number.ndim == 0
    return alone and dtype_for(xs) == array.dtype


def _is_float(x: Any) -> bool:
    return _kind(np.dtype(x.number) if x.dtype is None else x.dtype) >= 2


@functools.cache
def _going_round(function: Callable[..., Any], dtype: Dtype) -> Callable[..., Any]:
    """Return a kernel that takes a Python integer modulo what a narrow dtype holds."""
    if dtype.kind not in "iu" or dtype.itemsize == 8:
        return function

    def run(*xs: Any, **options: Any) -> Any:
        try:
            return function(*xs, **options)
        except OverflowError:
            mask = (1 << 8 * dtype.itemsize) - 1
            held = (x if hasattr(x, "dtype") else np.uint64(x & mask) for x in xs)
            return function(*(x.astype(dtype) for x in held), **options)

    return run


def _refusing_zero(function: np.ufunc) -> Callable[..., Any]:
    """Return the kernel that divides integers; by 0 it is an error, as in PyTorch."""

    def divided(*xs: Any, **options: Any) -> Any:
        try:
            with np.errstate(divide="raise"):
                return function(*xs, **options)
        except FloatingPointError:
            raise RuntimeError("ZeroDivisionError") from None

    return divided


@functools.cache
def _quiet(function: np.ufunc) -> Callable[..., Any]:
    """Return the kernel for no elements, of which NumPy may say that 0 divides them."""

    def divided(*xs: Any, **options: Any) -> Any:
        with np.errstate(divide="ignore"):
            return function(*xs, **options)

    return divided


def _power_of_integers(x: Any, y: Any, **options: Any) -> Any:
    """Return powers; with an exponent in a tensor that is negative 1, -1 or 0."""
    try:
        return np.power(x, y, **options)
    except ValueError:
        if not hasattr(y, "dtype"):
            raise
        below = np.less(y, 0)
        powers = np.power(x, np.where(below, y & 1, y), **options)
        return np.where(below & (np.abs(x) != 1), 0, powers).astype(powers.dtype)


OF_INTEGERS = {
    function: _refusing_zero(function)
    for function in (np.floor_divide, np.remainder, np.fmod)
} | {np.power: _power_of_integers}


def _check(function: np.ufunc, xs: Sequence[Any]) -> None:
    """Raise torch's errors for operands that it refuses."""
    name = function.__name__
    for place, x in enumerate(xs):
        if not hasattr(x, "number"):
            raise TypeError(
                f"{name}(): argument (position {place + 1}) must be Tensor or number, "
                f"not {type(x).__name__}"
            )
    of = [np.dtype(x.number) if x.dtype is None else x.dtype for x in xs]
    if function.nin == 1 and xs[0].dtype is None:
        raise TypeError(
            f"{name}(): argument 'input' (position 1) must be Tensor, not "
            f"{xs[0].number.__name__}"
        )
    if function in TENSORS_ONLY and not all(x.number is None for x in xs):
        raise TypeError(f"{name}(): argument 'other' must be Tensor, not a number")
    if function in ORDERED and any(each.kind == "c" for each in of):
        raise NotImplementedError(f"{name} does not support complex inputs")
    floats = [each for each in of if each.kind not in "bui"]
    if function in BITS and floats:
        raise NotImplementedError(
            f"{name!r} not implemented for {torch_dtype(floats[0]).legacy!r}"
        )
    if function is np.negative and of[0] == np.dtype(bool):
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are "
            "trying to invert a mask, use the `~` or `logical_not()` operator instead."
        )
    if function is np.subtract and np.dtype(bool) in of:
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If "
            "you are trying to invert a mask, use the `~` or `logical_not()` operator "
            "instead."
        )


def _options(function: np.ufunc, xs: Sequence[Any], floats: bool) -> dict[str, Any]:
    """Return what the ufunc is to be told: nothing where NumPy does the same."""
    _check(function, xs)
    if not all(x.dtype is None or x.dtype.kind in KINDS for x in xs):
        return {}
    wanted = dtype_for(xs)
    if floats and _kind(wanted) < 2:
        wanted = default_dtype()
    own = _computed(function, xs)
    if own is not None and all(each == wanted for each in own[: function.nin]):
        return {}
    result = np.dtype(bool) if function in QUESTIONS else wanted
    loop = (*(wanted,) * function.nin, *(result,) * function.nout)
    return {"signature": loop, "casting": "unsafe"}
