"""Tensors as text: ``tensor([1., 2.], requires_grad=True)``, and ``f"{loss:.3f}"``."""

from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.torch._promotion import default_dtype
from dtensor.torch._types import torch_dtype

__all__ = ["formatted", "text_of"]

Array = npt.NDArray[Any]
DIGITS, WIDTH = 4, 80
UNSAID = ("bool", "int64", "complex64")  # dtypes that the elements show


def _numbers(array: Array) -> Any:
    """Return a function that writes a number of an array as PyTorch would."""
    if array.dtype.kind in "biu":
        width = max((len(str(x)) for x in array.ravel()), default=0)
        return lambda x: str(x).rjust(width)
    values = np.abs(array[np.isfinite(array) & (array != 0)]).astype(np.float64)
    if not values.size:
        return _padded(array, lambda x: f"{x:.0f}." if np.isfinite(x) else str(x))
    low, high = values.min(), values.max()
    if (np.ceil(values) == values).all():
        if high / low > 1000 or high > 1e8:
            return _padded(array, lambda x: f"{x:.{DIGITS}e}")
        return _padded(array, lambda x: f"{x:.0f}." if np.isfinite(x) else str(x))
    if high / low > 1000 or high > 1e8 or low < 1e-4:
        return _padded(array, lambda x: f"{x:.{DIGITS}e}")
    return _padded(array, lambda x: f"{x:.{DIGITS}f}")


def _padded(array: Array, write: Any) -> Any:
    width = max(len(write(float(x))) for x in array.ravel()) if array.size else 0
    return lambda x: write(float(x)).rjust(width)


def _complex(array: Array) -> Any:
    real, imag = _numbers(array.real), _numbers(array.imag)
    return lambda x: (
        f"{real(x.real)}{'' if imag(x.imag).strip()[0] == '-' else '+'}"
        + (f"{imag(x.imag).strip()}j")
    )


def _elements(array: Array, indent: int) -> str:
    shown = array.astype(np.float64) if array.dtype.kind == "V" else array
    if not shown.size:
        return "[]"
    part = shown if shown.size <= np.get_printoptions()["threshold"] else _edges(shown)
    write = _complex(part) if shown.dtype.kind == "c" else _numbers(part)
    return np.array2string(
        shown,
        separator=", ",
        prefix=" " * indent,
        max_line_width=WIDTH,
        formatter={"all": write},
    )


def _edges(array: Array) -> Array:
    """Return what is shown of a long array, flattened."""
    edge = np.get_printoptions()["edgeitems"]
    for dim in range(array.ndim):
        n = array.shape[dim]
        if n > 2 * edge:
            array = np.take(array, [*range(edge), *range(n - edge, n)], dim)
    return array


def text_of(x: Any) -> str:
    """Return what ``repr`` gives for a Tensor."""
    name = "Parameter containing:\ntensor(" if x._is_param else "tensor("
    dtype = np.dtype(x.dtype)
    more = []
    if is_meta(x):
        body = "..."
        more += ["device='meta'", f"size={tuple(x.shape)}"]
    else:
        body = _elements(x.numpy(force=True), len("tensor("))
        if x.numel() == 0 and x.ndim != 1:
            more.append(f"size={tuple(x.shape)}")
    implied = dtype.name in UNSAID and x.numel() and not is_meta(x)
    if dtype != default_dtype() and not implied:
        more.append(f"dtype={torch_dtype(dtype)}")
    if x.grad_fn is not None:
        more.append(f"grad_fn=<{str(x.grad_fn).strip('<>')}>")
    elif x.requires_grad:
        more.append("requires_grad=True")
    text = name + body
    for item in more:
        last = text.rpartition("\n")[2]
        wide = len(last) + len(item) + 2 > WIDTH
        text += (",\n" + " " * len("tensor(") if wide else ", ") + item
    return text + ")"


def formatted(self: Any, spec: str, /) -> str:
    """Format a tensor without dims as the number that it is.

    Of a DTensor only with a `spec`, which is collective; else it gives ``str(self)``,
    and sends nothing.

    Raises
    ------
    TypeError
        If there is a `spec` and there are dims.
    """
    number = self.ndim == 0 and not is_meta(self)
    if number and (spec or not isinstance(self, _C.DTensor)):
        return format(self.item(), spec)
    return object.__format__(self, spec) if spec else str(self)
