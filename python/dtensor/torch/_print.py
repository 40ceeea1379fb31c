"""Tensors as text: ``tensor([1., 2.], requires_grad=True)``, and ``f"{loss:.3f}"``."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor.torch._promotion import default_dtype
from dtensor.torch._types import torch_dtype

__all__ = ["formatted", "set_printoptions", "text_of"]

Array = npt.NDArray[Any]
PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}
_options: dict[str, Any] = PROFILES["default"] | {"sci_mode": None}
UNSAID = ("bool", "int64", "complex64")  # dtypes that the elements show


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors are written as text.

    Parameters
    ----------
    precision : int, default 4
        Digits after the point.
    threshold : int, default 1000
        The number of elements above which those in the middle are left out.
    edgeitems : int, default 3
        How many are written at both ends then.
    linewidth : int, default 80
        The number of characters in a line.
    profile : ``"default"``, ``"short"`` or ``"full"``, optional
        Values of the others, unless they are given.
    sci_mode : bool, optional
        Whether numbers have exponents; default: as their sizes need it.
    """
    if profile is not None and profile.lower() in PROFILES:
        _options.update(PROFILES[profile.lower()])
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    _options.update({name: x for name, x in given.items() if x is not None})
    _options["sci_mode"] = sci_mode


class _Writer:
    """Writes the numbers of an array as PyTorch would, all in one width."""

    def __init__(self, array: Array) -> None:
        self.spec, self.width = "", 1
        if array.dtype.kind in "biu":
            self.width = max((len(str(x)) for x in array.ravel()), default=1)
            return
        self.spec = ".0f"
        values = array[np.isfinite(array) & (array != 0)].astype(np.float64)
        if not values.size:
            return
        low, high = np.abs(values).min(), np.abs(values).max()
        exponents, digits = _options["sci_mode"], _options["precision"]
        if exponents is None:
            exponents = low < high / 1000 or high > 1e8 or low < 1e-4
        if exponents:
            self.spec = f".{digits}e"
        elif (np.ceil(values) != values).any():
            self.spec = f".{digits}f"
        self.width = max(len(self._text(x)) for x in values)

    def _text(self, x: Any) -> str:
        text = format(x, self.spec)
        return f"{text}." if self.spec == ".0f" and np.isfinite(x) else text

    def __call__(self, x: Any) -> str:
        return self._text(x).rjust(self.width)


class _Pairs:
    """The same for complex numbers."""

    def __init__(self, array: Array) -> None:
        self.real, self.imag = _Writer(array.real), _Writer(array.imag)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, x: Any) -> str:
        imag = f"{self.imag(x.imag)}j".lstrip()
        return f"{self.real(x.real)}{'' if imag[0] in '+-' else '+'}{imag}"


def _elements(array: Array, indent: int) -> str:
    shown = array.astype(np.float64) if array.dtype.kind == "V" else array
    if not shown.size:
        return "[]"
    edge = _options["edgeitems"] if shown.size > _options["threshold"] else None
    part = shown if edge is None else _edges(shown, edge)
    write = _Pairs(part) if shown.dtype.kind == "c" else _Writer(part)
    return _nested(shown, indent, edge, write)


def _edges(array: Array, edge: int) -> Array:
    """Return what is shown of a long array, flattened."""
    for dim in range(array.ndim):
        n = array.shape[dim]
        if n > 2 * edge:
            array = np.take(array, [*range(edge), *range(n - edge, n)], dim)
    return array


def _nested(array: Array, indent: int, edge: int | None, write: Any) -> str:
    """Return the text of an array, of which only the edges are written, if so given."""
    if array.ndim == 0:
        return str(write(array.item()))
    last = array.ndim == 1
    parts = array.tolist() if last else array
    dots = " ..." if last else "..."

    def text(x: Any) -> str:
        return str(write(x)) if last else _nested(x, indent + 1, edge, write)

    if edge is None or len(array) <= 2 * edge:
        texts = [text(x) for x in parts]
    else:
        after = [text(x) for x in parts[len(array) - edge :]]
        texts = [*(text(x) for x in parts[:edge]), dots, *after]
    between = "," + "\n" * max(1, array.ndim - 1) + " " * (indent + 1)
    if last:
        count = max(1, (_options["linewidth"] - indent) // (write.width + 2))
        rows = [texts[k : k + count] for k in range(0, len(texts), count)]
        texts = [", ".join(row) for row in rows]
    return f"[{between.join(texts)}]"


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
        wide = len(last) + len(item) + 2 > _options["linewidth"]
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
