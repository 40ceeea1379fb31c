"""`out=` of another dtype: what a result is computed in, and whether it may be cast."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from dtensor.ops._make.composite import array_of, as_dtype

__all__ = [
    "as_floats",
    "cast_back",
    "casts_out",
    "exact_out",
    "same_dtype",
    "widened",
    "widens_out",
]

F = TypeVar("F", bound=Callable[..., Any])

# --- for operators --------------------------------------------------------------------


def casts_out(answer: F) -> F:
    """Let an operator's result be cast into `out=` of any dtype, as NumPy does for
    reductions; the operator's function gets that dtype as its argument `out`.

    Without layouts there is no entry for that dtype: the operand is widened."""
    answer.casts_out = True  # type: ignore[attr-defined]
    answer.widens_array = widened  # type: ignore[attr-defined]
    return answer


def exact_out(answer: F) -> F:
    """Refuse to write an operator's result into `out=` of another dtype."""
    answer.exact_out = True  # type: ignore[attr-defined]
    return answer


def widens_out(wide: Callable[[Any, Any], Any]) -> Callable[[F], F]:
    """Let an operator's operand become ``wide(operand, out)`` where there is an `out=`:
    NumPy computes in the dtype of `out`."""

    def mark(answer: F) -> F:
        answer.widens_out = wide  # type: ignore[attr-defined]
        return answer

    return mark


# --- for both, and composites: their `wide` and `check` -------------------------------


def widened(x: Any, out: Any, integers: Any = None) -> Any:
    """Return an operand in a dtype that holds its values and those of `out`, in which
    NumPy computes what it writes there; itself if `out` holds no more.

    Parameters
    ----------
    x : array_like
    out : array
    integers : dtype_like, optional
        In which a function of integers computes; default: in their own.
    """
    x = array_of(x)
    own, into = np.dtype(x.dtype), np.dtype(out.dtype)
    if own.kind != "c":
        into = np.empty(0, into).real.dtype
    computed = np.dtype(integers) if integers and own.kind in "biu" else own
    try:
        wide = np.result_type(own, into)
    except TypeError:  # bfloat16 has nothing in common with most integers
        return x
    holds = np.can_cast(into, computed) or (wide.kind == "f" and into.kind in "iu")
    return x if holds else as_dtype(x, wide)


as_floats = functools.partial(widened, integers=np.float64)


def cast_back(result: Any, out: Any) -> None:
    """Refuse an `out` that NumPy casts to the result's dtype first."""
    if not np.can_cast(out.dtype, result.dtype):
        raise TypeError(
            f"Cannot cast array data from {out.dtype!r} to {result.dtype!r} according "
            "to the rule 'safe'"
        )


def same_dtype(result: Any, out: Any) -> None:
    """Refuse an `out` of another dtype, as NumPy's products of matrices do."""
    if out.dtype != result.dtype:
        raise ValueError(
            "output array is not acceptable (must have the right datatype, number of "
            "dimensions, and be a C-Array)"
        )
