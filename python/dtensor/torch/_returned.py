"""Results with named fields, such as `torch.return_types.max`.

They are tuples, made of one sequence, and print as PyTorch's do. `typed` gives a
function a result of such a type.
"""

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["TYPES", "Extremes", "Picked", "Struct", "Triangular", "typed", "written"]


class Struct(tuple[Any, ...]):
    """A tuple whose elements have names.

    Parameters
    ----------
    sequence
        As many elements as there are fields.

    Raises
    ------
    TypeError
        If it is no sequence, or of another length.
    """

    __slots__ = ()

    _names: tuple[str, ...] = ()
    n_fields = n_sequence_fields = n_unnamed_fields = 0

    def __new__(cls, sequence: Any, dict: Any = None) -> "Struct":
        try:
            found = tuple(sequence)
        except TypeError:
            raise TypeError("constructor requires a sequence") from None
        if len(found) != len(cls._names):
            raise TypeError(
                f"torch.return_types.{cls.__name__}() takes a {len(cls._names)}-"
                f"sequence ({len(found)}-sequence given)"
            )
        return tuple.__new__(cls, found)

    def __repr__(self) -> str:
        pairs = zip(self._names, self, strict=True)
        fields = ",\n".join(f"{name}={value!r}" for name, value in pairs)
        return f"torch.return_types.{type(self).__name__}(\n{fields})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self), {})


def _field(place: int) -> Any:
    return property(operator.itemgetter(place))


class Picked(Struct):
    """Elements along a dim, and their indices as int64."""

    __slots__ = ()

    values: Any = _field(0)
    indices: Any = _field(1)


class Extremes(Struct):
    """The smallest and the greatest elements."""

    __slots__ = ()

    min: Any = _field(0)
    max: Any = _field(1)


class Triangular(Struct):
    """A solution, and the matrix that was given."""

    __slots__ = ()

    solution: Any = _field(0)
    cloned_coefficient: Any = _field(1)


_BASES: dict[tuple[str, ...], type[Struct]] = {
    ("values", "indices"): Picked,
    ("min", "max"): Extremes,
    ("solution", "cloned_coefficient"): Triangular,
}
# The types of functions, whose results have these fields. Those that take `out=` have a
# second one, for calls with it.
_FIELDS = {
    "values indices": "cummax cummin kthvalue max median min mode nanmedian sort topk",
    "min max": "aminmax",
    "mantissa exponent": "frexp",
    "a tau": "geqrf",
    "hist bin_edges": "histogram histogramdd",
    "L info": "linalg_cholesky_ex",
    "eigenvalues eigenvectors": "linalg_eig linalg_eigh",
    "inverse info": "linalg_inv_ex",
    "LD pivots": "linalg_ldl_factor",
    "LD pivots info": "linalg_ldl_factor_ex",
    "solution residuals rank singular_values": "linalg_lstsq",
    "P L U": "linalg_lu lu_unpack",
    "LU pivots": "linalg_lu_factor",
    "LU pivots info": "linalg_lu_factor_ex",
    "Q R": "linalg_qr qr",
    "sign logabsdet": "linalg_slogdet slogdet",
    "result info": "linalg_solve_ex",
    "U S Vh": "linalg_svd",
    "U S V": "svd",
    "solution cloned_coefficient": "triangular_solve",
}


def _made(name: str, fields: tuple[str, ...]) -> type[Struct]:
    base = _BASES.get(fields, Struct)
    places: dict[str, Any] = {}
    if base is Struct:
        places = {field: _field(place) for place, field in enumerate(fields)}
    count = len(fields)
    places |= {"__slots__": (), "__module__": "dtensor.torch.return_types"}
    places |= {"_names": fields, "n_fields": count, "n_sequence_fields": count}
    return type(name, (base,), places)


TYPES: dict[str, Any] = {}
for _fields, _functions in _FIELDS.items():
    for _name in _functions.split():
        for _made_of in (_name, f"{_name}_out"):
            TYPES[_made_of] = _made(_made_of, tuple(_fields.split()))
del TYPES["histogramdd_out"]  # it takes no `out=`


def typed(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a function whose result, if it is a tuple, is of a type of the table."""
    kind = TYPES[name]

    @functools.wraps(function)
    def answer(*args: Any, **options: Any) -> Any:
        found = function(*args, **options)
        return kind(found) if isinstance(found, tuple) else found

    return answer


def written(found: Any, parts: Sequence[Any]) -> Any:
    """Return other parts in a tuple of the type that a result with `out=` has."""
    kind: Any = type(found)
    if isinstance(found, Struct):
        return TYPES.get(f"{kind.__name__}_out", kind)(parts)
    return kind(*parts) if hasattr(found, "_fields") else tuple(parts)
