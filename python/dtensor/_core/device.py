"""The device of new tensors: in memory, or ``"meta"`` for models without data."""

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from dtensor import _C

__all__ = ["device", "empty", "empty_like", "is_meta", "kind_of"]

_KINDS = ("cpu", "meta")


class NoDeviceError(RuntimeError, AssertionError):
    """There is no such device; PyTorch without CUDA raises an AssertionError for it."""

    def __str__(self) -> str:
        return ": ".join(map(str, self.args))


class device(str):  # noqa: N801
    """A device: ``"cpu"``, or ``"meta"``, where tensors have a shape and no data.

    Results computed from a tensor without data have no data either, so a model can be
    built, parallelized and stepped in almost no time and memory. In the block
    ``with device("meta"):`` the modules of `dtensor.nn` put their parameters there; the
    block is for this thread only.

    Parameters
    ----------
    type : str
        ``"cpu"`` or ``"meta"``, also with an index, which is ignored: ``"cpu:0"``.
    index : int, optional
        The index, if `type` has none.

    Raises
    ------
    RuntimeError
        If there is no such device. On this rank only.

    Examples
    --------
    >>> from dtensor import nn
    >>> with device("meta"):
    ...     layer = nn.Linear(10**6, 10**6)
    >>> layer.weight.device, layer.weight.nbytes
    ('meta', 4000000000000)
    """

    type: str
    index: int | None  # type: ignore[assignment]

    def __new__(cls, type: str | int, index: int | None = None) -> Self:
        if isinstance(type, device) and index is None:
            index = type.index
        kind, colon, number = str(type).partition(":")
        if kind not in _KINDS or (colon and not number.isdigit()):
            raise NoDeviceError(
                "Cannot access accelerator device when none is available"
                if isinstance(type, int)
                else f"Expected one of {', '.join(_KINDS)} device type at start of "
                f"device string: {type}",
                "there is only the CPU here: leave the device out, or write 'cpu'",
            )
        self = super().__new__(cls, kind)
        self.type, self.index = kind, int(number) if number else index
        return self

    def __repr__(self) -> str:
        number = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{number})"

    def __enter__(self) -> Self:
        _entered.set((*_entered.get(), self))
        return self

    def __exit__(self, *error: object) -> None:
        _entered.set(_entered.get()[:-1])


# The devices of the `with` statements, innermost last.
_entered: ContextVar[tuple[device, ...]] = ContextVar("device", default=())


def kind_of(name: str | None) -> str:
    """Return the kind of a device; for None, of the ``with device(...):`` block."""
    if name is None:
        entered = _entered.get()
        return entered[-1].type if entered else "cpu"
    return name if name in _KINDS else device(name).type


def is_meta(x: Any) -> bool:
    """Return whether a tensor has no data."""
    return bool(x.device == "meta")


def empty(
    shape: Sequence[int], dtype: npt.DTypeLike | None = None, device: str | None = None
) -> _C.Tensor:
    """Return a new Tensor of this rank whose elements are arbitrary.

    Parameters
    ----------
    shape : sequence of int
    dtype : dtype_like, optional
        Default: `get_default_dtype`.
    device : str, optional
        Default: that of the ``with device(...):`` block, else ``"cpu"``.
    """
    dtype = _C.get_default_dtype() if dtype is None else dtype
    if kind_of(device) == "meta":
        return _C.without_data(tuple(shape), dtype)
    array = _C.carried("empty", np.empty, (tuple(shape), dtype), {}, True)
    return _C.as_tensor(array)


def empty_like(
    x: _C.Tensor, dtype: npt.DTypeLike | None = None, device: str | None = None
) -> Any:
    """Return a new Tensor or DTensor, laid out as `x`, whose elements are arbitrary.

    Not collective. Default of `device`: that of `x`.
    """
    dtype = x.dtype if dtype is None else dtype
    device = x.device if device is None else device
    if not isinstance(x, _C.DTensor):
        made = empty(x.shape, dtype, device)
        return _C.into_torch(made) if _C.is_torch(x) else made
    local = empty(x.to_local().shape, dtype, device)
    made = _C.of_part(local, x.layout.with_dtype(dtype))
    made = _C.into_torch(made) if _C.is_torch(x) else made
    return _C.made_of(made, "empty_like", x, device)
