"""Random arrays: new ones of a shape, or laid out as another.

Each takes a `generator`, or uses the default one of `dtensor.random`, which documents
what each draws. The values do not depend on layouts or the number of ranks."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core import device
from dtensor.ops._make.created import Placements
from dtensor.ops._make.elementwise import anywhere
from dtensor.ops._make.parts import place
from dtensor.ops.create.like import empty_like
from dtensor.ops.random.dropout import bernoulli, dropout
from dtensor.ops.random.generator import Generator
from dtensor.ops.random.in_place import *  # noqa: F403  # methods
from dtensor.ops.random.stream import check, fill
from dtensor.random import default_generator

__all__ = [
    "bernoulli",
    "dropout",
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
]

Drawer = Callable[[_C.Tensor], object]


def _made(
    size: tuple[Any, ...], draw: Drawer, requires_grad: bool, options: dict[str, Any]
) -> _C.DTensor:
    """Return a new tensor of a shape, which `draw` fills."""
    x = _C.empty(*size, **options)
    draw(x)
    return x.requires_grad_() if requires_grad else x


def _options(
    dtype: npt.DTypeLike | None, layout: Any, device_mesh: Any, placements: Placements
) -> dict[str, Any]:
    """Return what `_C.empty` takes beside the size."""
    return {
        "dtype": dtype,
        "layout": layout,
        "device_mesh": device_mesh,
        "placements": placements,
    }


def _like(
    input: Any, draw: Drawer, requires_grad: bool, options: dict[str, Any]
) -> Any:
    """Return a new tensor laid out as another one, which `draw` fills."""
    options.pop("layout", None)
    options.pop("memory_format", None)
    x = _empty_like(input, **options)
    draw(x)
    return x.requires_grad_() if requires_grad else x


def _empty_like(input: Any, **options: Any) -> Any:
    if getattr(input, "device", None) == "meta":
        return device.empty_like(input, options.get("dtype"))
    return empty_like(input, **options)


def _drawer(
    kind: str, a: Any, b: Any, generator: Generator | None, what: str
) -> Drawer:
    stream = default_generator() if generator is None else generator
    return lambda x: fill(x, stream, kind, a, b, what)


def rand(
    *size: Any,
    requires_grad: bool = False,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device_mesh: _C.Mesh | None = None,
    placements: Placements = None,
    generator: Generator | None = None,
) -> _C.DTensor:
    """Make a DTensor of uniform numbers in [0, 1).

    Not collective: every rank makes its own part, and nothing is sent. The numbers are
    those of NumPy's generator over Philox: see `dtensor.random.Generator`.

    Parameters
    ----------
    *size : int, or one sequence of int
        The global shape.
    requires_grad : bool, default False
        Whether operations on it are recorded.
    dtype : dtype_like, optional
        Floating or complex; default: that of `get_default_dtype`.
    layout, device_mesh, placements
        As of `zeros`.
    generator : Generator, optional
        Default: `dtensor.random.default_generator`.

    Raises
    ------
    NotImplementedError
        For other dtypes.
    AssertionError, IndexError, ValueError, RuntimeError
        As `zeros`.
    """
    draw = _drawer("uniform", 0.0, 1.0, generator, "rand")
    options = _options(dtype, layout, device_mesh, placements)
    return _made(size, draw, requires_grad, options)


def randn(
    *size: Any,
    requires_grad: bool = False,
    dtype: npt.DTypeLike | None = None,
    layout: Any = None,
    device_mesh: _C.Mesh | None = None,
    placements: Placements = None,
    generator: Generator | None = None,
) -> _C.DTensor:
    """Make a DTensor of normal numbers with mean 0 and variance 1; others as of `rand`.

    Computed in double and then rounded: all floating dtypes have the same numbers.
    """
    draw = _drawer("normal", 0.0, 1.0, generator, "randn")
    options = _options(dtype, layout, device_mesh, placements)
    return _made(size, draw, requires_grad, options)


def randint(
    *args: Any,
    size: Any = None,
    low: Any = None,
    high: Any = None,
    dtype: npt.DTypeLike = np.int64,
    requires_grad: bool = False,
    generator: Generator | None = None,
    **options: Any,
) -> _C.DTensor:
    """Make a DTensor of integers from `low` up to `high`, exclusively.

    Parameters
    ----------
    *args
        ``randint(high, size)`` or ``randint(low, high, size)``.
    low, high : int
        The same by name; `low` is 0 by default.
    size : sequence of int
        The global shape.
    dtype : dtype_like, default int64
        Any that is not complex.
    requires_grad, generator, **options
        As of `rand`.

    Raises
    ------
    RuntimeError
        If there are no such integers, or none in the dtype.
    TypeError
        If arguments are missing.
    """
    ends = [value for value in (low, high, size) if value is not None]
    given = [*args, *ends] if low is None else [low, *args, *ends[1:]]
    if len(given) not in (2, 3):
        raise TypeError("randint() takes (high, size) or (low, high, size)")
    *ends, size = given
    low, high = ends if len(ends) == 2 else (0, ends[0])
    draw = _whole(low, high, dtype, generator, "randint")
    return _made((size,), draw, requires_grad, {**options, "dtype": dtype})


def _whole(
    low: Any, high: Any, dtype: npt.DTypeLike, generator: Generator | None, what: str
) -> Drawer:
    check("integers", low, high, dtype)
    return _drawer("integers", int(low), int(high) - int(low), generator, what)


def randperm(
    n: int,
    *,
    dtype: npt.DTypeLike = np.int64,
    requires_grad: bool = False,
    generator: Generator | None = None,
    **options: Any,
) -> _C.DTensor:
    """Make a DTensor of 0 ... n - 1 in random order; all orders are equally likely.

    Not collective: every rank makes the whole order, of 8 bytes for each number.

    Parameters
    ----------
    n : int
        How many.
    dtype, requires_grad, generator, **options
        As of `randint`.

    Raises
    ------
    RuntimeError
        If `n` is negative.
    """
    stream = default_generator() if generator is None else generator
    order = np.asarray(stream.permutation(n))
    x = _C.empty(int(n), dtype=dtype, **options)
    x = place(order.astype(x.dtype), x.layout)
    return x.requires_grad_() if requires_grad else x


def rand_like(
    input: Any,
    *,
    requires_grad: bool = False,
    generator: Generator | None = None,
    **options: Any,
) -> Any:
    """Return uniform numbers in [0, 1), laid out as another tensor.

    Parameters
    ----------
    input : DTensor or Tensor
        The model; where it is Partial the result is replicated.
    requires_grad, generator
        As of `rand`.
    **options
        `dtype`, `device_mesh` and `placements`, as of `zeros_like`.
    """
    draw = _drawer("uniform", 0.0, 1.0, generator, "rand_like")
    return _like(input, draw, requires_grad, options)


def randn_like(
    input: Any,
    *,
    requires_grad: bool = False,
    generator: Generator | None = None,
    **options: Any,
) -> Any:
    """Return normal numbers, laid out as another tensor: see `randn`, `rand_like`."""
    draw = _drawer("normal", 0.0, 1.0, generator, "randn_like")
    return _like(input, draw, requires_grad, options)


def randint_like(
    input: Any,
    low: int,
    high: int | None = None,
    *,
    requires_grad: bool = False,
    generator: Generator | None = None,
    **options: Any,
) -> Any:
    """Return integers, laid out as another tensor: see `randint`, `rand_like`.

    With one of the ends only it is `high`, and `low` is 0.
    """
    low, high = (0, low) if high is None else (low, high)
    dtype = input.dtype if options.get("dtype") is None else options["dtype"]
    draw = _whole(low, high, dtype, generator, "randint_like")
    return _like(input, draw, requires_grad, options)


def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    requires_grad: bool = False,
    generator: Generator | None = None,
    **options: Any,
) -> Any:
    """Return normal numbers: each with a mean and deviation of its own, or of a shape.

    Parameters
    ----------
    mean, std : float or DTensor or Tensor
        If one of them is a tensor the result is laid out as ``mean + std * noise`` is.
        No gradient goes back to them.
    size : sequence of int, optional
        The global shape; needed if, and only if, neither is a tensor.
    requires_grad, generator, **options
        As of `rand`.

    Raises
    ------
    RuntimeError
        If a deviation is negative: collective for a DTensor.
    TypeError
        If `size` is missing or too much.
    """
    tensors = [x.detach() for x in (mean, std) if isinstance(x, _C.Tensor)]
    if (size is None) != bool(tensors):
        raise TypeError("normal() takes a size if mean and std are numbers, else none")
    if not tensors:
        check("normal", mean, std)
        draw = _drawer("normal", mean, std, generator, "normal")
        return _made((size,), draw, requires_grad, options)
    mean, std = (x.detach() if isinstance(x, _C.Tensor) else x for x in (mean, std))
    if anywhere(std < 0):
        raise RuntimeError("normal expects all elements of std >= 0.0")
    shape = np.broadcast_shapes(np.shape(mean), np.shape(std))
    dtype = np.result_type(mean, std)
    draw = _drawer("normal", 0.0, 1.0, generator, "normal")
    noise = _like(tensors[0], draw, False, {"shape": shape, "dtype": dtype})
    result = mean + std * noise
    return result.requires_grad_() if requires_grad else result
