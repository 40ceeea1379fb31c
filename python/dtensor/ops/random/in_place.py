"""Tensors that are filled with random elements in place: torch's methods."""

from typing import Any

import numpy as np

from dtensor import _C
from dtensor.ops._make.operator import method
from dtensor.ops.random.dropout import bernoulli
from dtensor.ops.random.generator import Generator
from dtensor.ops.random.stream import check, refill
from dtensor.ops.shape.rearrange import broadcast_to
from dtensor.random import default_generator

__all__ = ["bernoulli_", "exponential_", "normal_", "random_", "uniform_"]


def _of(generator: Generator | None) -> Generator:
    return default_generator() if generator is None else generator


@method
def uniform_(
    self: Any,
    from_: float = 0.0,
    to: float = 1.0,
    *,
    generator: Generator | None = None,
    **named: float,
) -> Any:
    """Fill with uniform numbers in [from, to), and return this tensor.

    Not collective: every rank fills its own part. It may have any layout; of a Partial
    one coordinate 0 gets the numbers and the others what adds nothing.

    Parameters
    ----------
    self : DTensor or Tensor
        Of a floating or complex dtype.
    from_, to : float
        The ends; the first is also taken by torch's name, ``**{"from": 0.5}``.
    generator : Generator, optional
        Default: `dtensor.random.default_generator`.

    Raises
    ------
    RuntimeError
        If ``from > to``, or the tensor is a leaf that requires a gradient and operators
        are recorded.
    NotImplementedError
        For other dtypes.
    """
    from_ = named.pop("from", from_)
    _refuse("uniform_", named)
    check("uniform", from_, to)
    return refill(self, _of(generator), "uniform", from_, to, "uniform_")


@method
def normal_(
    self: Any,
    mean: float = 0.0,
    std: float = 1.0,
    *,
    generator: Generator | None = None,
) -> Any:
    """Fill with normal numbers, and return this tensor.

    Parameters
    ----------
    self, generator
        As of `uniform_`.
    mean, std : float
        Mean and standard deviation. Of complex numbers the mean is real, and `std` is
        that of both parts together.

    Raises
    ------
    RuntimeError, NotImplementedError
        If ``std < 0``, and as `uniform_`.
    """
    check("normal", mean, std)
    return refill(self, _of(generator), "normal", mean, std, "normal_")


@method
def exponential_(
    self: Any, lambd: float = 1.0, *, generator: Generator | None = None
) -> Any:
    """Fill with exponential numbers of the rate `lambd` > 0; see `uniform_`."""
    check("exponential", lambd, 0)
    return refill(self, _of(generator), "exponential", lambd, 0.0, "exponential_")


@method
def random_(
    self: Any,
    from_: int | None = None,
    to: int | None = None,
    *,
    generator: Generator | None = None,
    **named: int,
) -> Any:
    """Fill with integers from `from_` up to `to`, exclusively; return this tensor.

    Parameters
    ----------
    self, generator
        As of `uniform_`; of any dtype that is not complex.
    from_, to : int, optional
        With one of them only it is `to`, and `from_` is 0. With none: from 0 to the
        greatest number of an integer dtype; of a floating one, to the number up to
        which it has every integer.

    Raises
    ------
    RuntimeError
        If there are no such integers, or none in the dtype.
    """
    from_ = named.pop("from", from_)
    _refuse("random_", named)
    if from_ is None and to is None:
        low, high = 0, _beyond(self.dtype)
    else:
        low, high = (0, from_) if to is None else (from_ or 0, to)  # type: ignore
    return _integers(self, low, high, generator, "random_")


def _refuse(name: str, named: dict[str, Any]) -> None:
    if named:
        raise TypeError(
            f"{name}() got an unexpected keyword argument '{next(iter(named))}'"
        )


def _beyond(dtype: np.dtype[Any]) -> int:
    """Return one more than the greatest integer of `random_`."""
    if dtype.kind == "b":
        return 2
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).max) + 1
    digits = 8 if dtype.name == "bfloat16" else int(np.finfo(dtype).nmant) + 1
    return (1 << min(digits, 53)) + 1


def _integers(
    x: Any, low: int, high: int, generator: Generator | None, what: str
) -> Any:
    for value in (low, high):
        if not isinstance(value, int | np.integer):
            raise TypeError(f"{what}(): the ends are integers, not {value!r}")
    check("integers", low, high, x.dtype)
    span = int(high) - int(low)
    return refill(x, _of(generator), "integers", int(low), span, what)


@method
def bernoulli_(self: Any, p: Any = 0.5, *, generator: Generator | None = None) -> Any:
    """Fill with 1 with probability `p`, else 0, and return this tensor.

    Parameters
    ----------
    self, generator
        As of `uniform_`; of any dtype that is not complex.
    p : float or DTensor or Tensor
        Between 0 and 1; of a shape that broadcasts.

    Raises
    ------
    RuntimeError
        If a probability is none: see `bernoulli`.
    """
    if isinstance(p, _C.Tensor):
        ones = bernoulli(broadcast_to(p, self.shape), generator=generator)
        self[...] = ones
        return self
    check("bernoulli", p, 0)
    return refill(self, _of(generator), "bernoulli", p, 0.0, "bernoulli_")
