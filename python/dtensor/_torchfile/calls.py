"""What the pickle of a file of ``torch.save`` may call: tensors and plain values."""

from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pickle import UnpicklingError
from typing import Any, NamedTuple

from dtensor._torchfile.names import DTYPES

__all__ = [
    "CALLS",
    "Calls",
    "Makes",
    "Name",
    "Spec",
    "Stored",
    "checked",
    "natural",
    "told",
]

_KEYS = (bool, int, float, complex, str, bytes, type(None))


class Name(str):
    """A global that is on the list."""


class Stored(NamedTuple):
    """A storage: the member of the archive, its dtype, where it was, its length."""

    key: str
    dtype: str | None
    location: str
    length: int


class Spec(NamedTuple):
    """A tensor: a view of a storage, whose sizes nobody has checked so far."""

    storage: Stored | None
    """None on the meta device."""
    dtype: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In elements, as the offset."""
    requires_grad: bool
    conj: bool = False
    neg: bool = False

    def end(self) -> int:
        """Return after how many elements of the storage the last one of it ends."""
        if 0 in self.shape:
            return 0
        pairs = zip(self.shape, self.strides, strict=True)
        return self.offset + 1 + sum((n - 1) * step for n, step in pairs)


@dataclass(frozen=True)
class Makes:
    """What becomes of the values that plain Python has no type for."""

    tensor: Callable[[Spec], Any]
    parameter: Callable[[Any, bool], Any]
    dtype: Callable[[str], Any]
    size: Callable[[tuple[int, ...]], Any]
    device: Callable[[str], Any]


class Calls:
    """The functions; each puts together what it is given.

    Parameters
    ----------
    makes : Makes
    left : int
        What the copies that they make may have together, in items or bytes.
    """

    def __init__(self, makes: Makes, left: int) -> None:
        self.makes = makes
        self.left = left

    def spend(self, count: int) -> None:
        """Account for a copy, so that a small file cannot ask for large memory."""
        self.left -= count
        if self.left < 0:
            raise UnpicklingError("the pickle copies more than it holds")

    def ordered(self, items: Any = ()) -> Any:
        if type(items) not in (list, tuple):
            raise UnpicklingError("an OrderedDict that is not made of a list")
        self.spend(len(items))
        return OrderedDict((checked(key), value) for key, value in items)

    def counted(self, items: Any = None) -> Any:
        items = {} if items is None else items
        if type(items) is not dict:
            raise UnpicklingError("a Counter that is not made of a dict")
        self.spend(len(items))
        return Counter(items)

    def of_items(self, items: Any) -> set[Any]:
        if type(items) is not list:
            raise UnpicklingError("a set that is not made of a list")
        self.spend(len(items))
        return set(map(checked, items))

    def encoded(self, text: str, encoding: str) -> bytes:
        if type(text) is not str or type(encoding) is not str or encoding != "latin1":
            raise UnpicklingError(f"bytes in the encoding {told(encoding)}")
        self.spend(len(text))
        return text.encode("latin1")

    def array_of_bytes(self, given: Any = b"", encoding: str = "latin1") -> bytearray:
        if type(given) is str:
            given = self.encoded(given, encoding)
        if type(given) is not bytes:
            raise UnpicklingError("a bytearray that is not made of bytes")
        self.spend(len(given))
        return bytearray(given)

    def complex(self, real: Any, imag: Any) -> complex:
        if type(real) is not float or type(imag) is not float:
            raise UnpicklingError("a complex number that is not made of floats")
        return complex(real, imag)

    def size(self, of: Any) -> Any:
        self.spend(len(of))
        return self.makes.size(_lengths(of))

    def device(self, kind: str, index: int | None = None) -> Any:
        if type(kind) is not str or type(index) not in (int, type(None)):
            raise UnpicklingError(f"a device that is {told(kind)}")
        try:
            return self.makes.device(kind if index is None else f"{kind}:{index}")
        except RuntimeError as error:
            raise UnpicklingError(f"a device: {error}") from error

    def tensor(
        self,
        storage: Any,
        offset: Any,
        shape: Any,
        strides: Any,
        requires_grad: bool = False,
        hooks: Any = None,
        *more: Any,
    ) -> Any:
        """A tensor of a typed storage; `more` says if it is conjugate or negative."""
        dtype = storage.dtype if type(storage) is Stored else None
        return self._view(dtype, storage, offset, shape, strides, requires_grad, more)

    def typed(
        self,
        storage: Any,
        offset: Any,
        shape: Any,
        strides: Any,
        requires_grad: bool,
        hooks: Any,
        dtype: Any,
        *more: Any,
    ) -> Any:
        """A tensor of an untyped storage."""
        return self._view(
            _name_of(dtype), storage, offset, shape, strides, requires_grad, more
        )

    def _view(
        self,
        dtype: str | None,
        storage: Any,
        offset: Any,
        shape: Any,
        strides: Any,
        requires_grad: Any,
        more: tuple[Any, ...],
    ) -> Any:
        if type(storage) is not Stored or dtype is None or not natural(offset):
            raise UnpicklingError("a tensor without storage, dtype or offset")
        lengths, steps = _lengths(shape), _lengths(strides)
        if len(lengths) != len(steps):
            raise UnpicklingError(f"shape {lengths} with strides {steps}")
        bits = more[0] if more and more[0] else {}
        if type(bits) is not dict or set(bits) - {"conj", "neg"} or len(more) > 1:
            raise UnpicklingError(f"a tensor with {told(bits)}")
        marks = requires_grad is True, bool(bits.get("conj")), bool(bits.get("neg"))
        return self.makes.tensor(Spec(storage, dtype, offset, lengths, steps, *marks))

    def without_data(
        self, dtype: Any, shape: Any, strides: Any, requires_grad: Any
    ) -> Any:
        lengths, steps, name = _lengths(shape), _lengths(strides), _name_of(dtype)
        return self.makes.tensor(
            Spec(None, name, 0, lengths, steps, requires_grad is True)
        )

    def parameter(self, data: Any, requires_grad: Any, hooks: Any) -> Any:
        return self.makes.parameter(data, requires_grad is True)


def told(value: Any) -> str:
    return str(value) if isinstance(value, str) else type(value).__name__


def natural(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


def _lengths(values: Any) -> tuple[int, ...]:
    if isinstance(values, tuple) and len(values) <= 64 and all(map(natural, values)):
        return tuple(values)
    raise UnpicklingError(f"lengths or strides of a tensor are {told(values)}")


def _name_of(dtype: Any) -> str:
    name = str(getattr(dtype, "name", ""))
    if name not in DTYPES:
        raise UnpicklingError(f"{told(dtype)} is not a dtype")
    return name


def checked(key: Any) -> Any:
    """Return a key: a plain value, or a tuple of them.

    Other tuples could share their items, and take forever to be hashed.
    """
    flat = key if type(key) is tuple else (key,)
    if all(isinstance(item, _KEYS) and type(item) is not Name for item in flat):
        return key
    raise UnpicklingError(f"a key of a dict, or an item of a set, is {told(key)}")


CALLS: dict[str, Callable[..., Any]] = {
    "collections.OrderedDict": Calls.ordered,
    "collections.Counter": Calls.counted,
    "builtins.set": Calls.of_items,
    "builtins.bytearray": Calls.array_of_bytes,
    "builtins.bytes": lambda _: b"",
    "builtins.complex": Calls.complex,
    "_codecs.encode": Calls.encoded,
    "torch.Size": Calls.size,
    "torch.device": Calls.device,
    "torch._utils._rebuild_tensor": Calls.tensor,
    "torch._utils._rebuild_tensor_v2": Calls.tensor,
    "torch._utils._rebuild_tensor_v3": Calls.typed,
    "torch._utils._rebuild_meta_tensor_no_storage": Calls.without_data,
    "torch._utils._rebuild_parameter": Calls.parameter,
}
