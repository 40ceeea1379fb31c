"""Writing the pickle of a file of ``torch.save``: tensors and plain containers."""

import struct
from collections import Counter, OrderedDict
from collections.abc import Callable
from functools import partial
from pickle import PicklingError, encode_long
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import device, is_meta
from dtensor._torchfile.names import DTYPES, STORAGES

__all__ = ["Storage", "dumps"]

Array = npt.NDArray[Any]

_BATCH = 1000  # items that are put into a container at once


class Storage(NamedTuple):
    """The memory of one or several tensors, contiguous."""

    array: Array

    def data(self) -> memoryview:
        """Return its bytes."""
        return self.array.view(np.uint8).data


def dumps(
    value: Any, dtypes: Any = np.dtype, sizes: Any = ()
) -> tuple[bytes, list[Storage]]:
    """Return the pickle of a value, and the storages that it names ``"0"``, ``"1"`` ...

    Parameters
    ----------
    value : object
    dtypes, sizes : type or tuple of types, optional
        What is written as a dtype, and as a ``torch.Size``.

    Raises
    ------
    PicklingError
        If there is something in it that `read` would not read: its type is named.
    TypeError
        If there is a DTensor in it.
    """
    writer = _Writer(dtypes, sizes)
    try:
        writer.save(value)
    except RecursionError as error:
        raise PicklingError("the containers are nested too deeply") from error
    return b"\x80\x02" + b"".join(writer.parts) + b".", writer.storages


class _Writer:
    """What was written, and the numbers of the objects in it."""

    def __init__(self, dtypes: Any, sizes: Any) -> None:
        self.dtypes, self.sizes = dtypes, sizes
        self.parts: list[bytes] = []
        self.memo: dict[int, tuple[int, Any]] = {}
        self.names: dict[str, int] = {}
        self.keys: list[Any] = []  # of the dicts that are being written
        self.count = 0
        self.storages: list[Storage] = []
        self.places: dict[tuple[int, int, Any], int] = {}

    def write(self, *parts: bytes) -> None:
        self.parts.extend(parts)

    def save(self, value: Any) -> None:
        known = self.memo.get(id(value))
        if known is not None:
            self._get(known[0])
            return
        if isinstance(value, _C.Tensor):
            self.tensor(value)
        elif type(value) in _TYPES:
            _TYPES[type(value)](self, value)
        elif isinstance(value, self.dtypes):
            self.dtype(value)
        elif isinstance(value, self.sizes):
            self.call("torch Size", (tuple(value),))
            self._put(value)
        else:
            self.refuse(value)

    def refuse(self, value: Any) -> None:
        kind = type(value)
        hint = {
            np.ndarray: ": save torch.from_numpy(array)",
            np.generic: ": save value.item()",
        }
        hints = [text for of, text in hint.items() if isinstance(value, of)]
        if hasattr(value, "state_dict"):
            hints = [": save its state_dict()"]
        raise PicklingError(
            f"a value of type {kind.__module__}.{kind.__qualname__} cannot be saved"
            f"{hints[0] if hints else ''}. A file holds tensors, numbers, texts, "
            "bytes, None, sizes, dtypes, devices, and lists, tuples, dicts and sets"
        )

    # --- the memo ---------------------------------------------------------------------

    def _put(self, value: Any) -> None:
        self.memo[id(value)] = self._number(), value

    def _number(self) -> int:
        k = self.count
        self.write(b"q" + bytes([k]) if k < 256 else b"r" + struct.pack("<I", k))
        self.count += 1
        return k

    def _get(self, k: int) -> None:
        self.write(b"h" + bytes([k]) if k < 256 else b"j" + struct.pack("<I", k))

    # --- plain values -----------------------------------------------------------------

    def constant(self, value: Any) -> None:
        self.write({None: b"N", True: b"\x88", False: b"\x89"}[value])

    def integer(self, value: int) -> None:
        if 0 <= value < 256:
            self.write(b"K" + bytes([value]))
        elif 0 <= value < 65536:
            self.write(b"M" + struct.pack("<H", value))
        elif -(1 << 31) <= value < 1 << 31:
            self.write(b"J" + struct.pack("<i", value))
        else:
            digits = encode_long(value)
            if len(digits) > 255:  # which PyTorch would not read
                raise PicklingError("an integer of more than 2,040 bits")
            self.write(b"\x8a" + bytes([len(digits)]) + digits)

    def real(self, value: float) -> None:
        self.write(b"G" + struct.pack(">d", value))

    def text(self, value: str) -> None:
        encoded = value.encode("utf-8", "surrogatepass")
        self.write(b"X" + struct.pack("<I", len(encoded)) + encoded)
        self._put(value)

    def octets(self, value: bytes) -> None:
        self.call("_codecs encode", (value.decode("latin1"), "latin1"))
        self._put(value)

    def array_of_bytes(self, value: bytearray) -> None:
        self.call("__builtin__ bytearray", (bytes(value),))
        self._put(value)

    def dtype(self, value: Any) -> None:
        name = value.name
        if name not in DTYPES:
            self.refuse(value)
        self.name(f"torch {name}")

    def device(self, value: Any) -> None:
        index = () if value.index is None else (value.index,)
        self.call("torch device", (value.type, *index))

    # --- containers -------------------------------------------------------------------

    def row(self, value: tuple[Any, ...]) -> None:
        self._tuple([partial(self.save, item) for item in value])
        if value:
            self._put(value)

    def _tuple(self, items: list[Callable[[], None]]) -> None:
        if not items:
            self.write(b")")
            return
        if len(items) > 3:
            self.write(b"(")
        for item in items:
            item()
        self.write({1: b"\x85", 2: b"\x86", 3: b"\x87"}.get(len(items), b"t"))

    def sequence(self, value: list[Any]) -> None:
        self.write(b"]")
        self._put(value)
        for k in range(0, len(value), _BATCH):
            self.write(b"(")
            for item in value[k : k + _BATCH]:
                self.save(item)
            self.write(b"e")

    def mapping(self, value: Any) -> None:
        if type(value) is dict:
            self.write(b"}")
        else:
            self.name(f"collections {type(value).__name__}")
            self.write(b")R")
        self._put(value)
        items = list(value.items())
        for k in range(0, len(items), _BATCH):
            self.write(b"(")
            for key, item in items[k : k + _BATCH]:
                self.save(key)
                self.keys.append(key)
                self.save(item)
                self.keys.pop()
            self.write(b"u")
        metadata = getattr(value, "_metadata", None)
        if metadata is not None:  # the versions of the modules of a state dict
            self.save({"_metadata": metadata})
            self.write(b"b")

    def items(self, value: Any) -> None:
        self.call("__builtin__ set", (list(value),))
        self._put(value)

    # --- what is called ---------------------------------------------------------------

    def name(self, name: str) -> None:
        """Write the name of a function or class, "module name"."""
        if name in self.names:
            self._get(self.names[name])
            return
        module, _, last = name.partition(" ")
        self.write(f"c{module}\n{last}\n".encode())
        self.names[name] = self._number()

    def call(self, name: str, arguments: tuple[Any, ...]) -> None:
        self.name(name)
        self._tuple([partial(self.save, item) for item in arguments])
        self.write(b"R")

    # --- tensors ----------------------------------------------------------------------

    def tensor(self, value: Any) -> None:
        if isinstance(value, _C.DTensor):
            where = f" (key {'.'.join(map(str, self.keys))!r})" if self.keys else ""
            raise TypeError(
                f"torch.save cannot save a DTensor{where}: its parts are on several "
                "ranks. Use dtensor.checkpoint.save; or, for one file, call "
                "full_tensor() of each DTensor on all ranks, or "
                "get_model_state_dict(model, options="
                "StateDictOptions(full_state_dict=True)), and save what it returns on "
                "one"
            )
        is_parameter = value._is_param
        if is_parameter:
            self.name("torch._utils _rebuild_parameter")
        self._data(value.detach() if is_parameter else value)
        if is_parameter:
            self.constant(value.requires_grad)
            self._hooks()
            self.write(b"\x87R")
        self._put(value)

    def _hooks(self) -> None:
        self.name("collections OrderedDict")
        self.write(b")R")

    def _data(self, value: Any) -> None:
        """Write the call that makes a tensor of a storage, or without data."""
        dtype = value.dtype.name
        if dtype not in DTYPES:
            raise PicklingError(f"PyTorch has no tensors of dtype {dtype}")
        if is_meta(value):
            strides = _contiguous(tuple(value.shape))
            self.name("torch._utils _rebuild_meta_tensor_no_storage")
            self.write(b"(")
            self.name(f"torch {dtype}")
            self._lengths(tuple(value.shape), strides)
            self.constant(value.requires_grad)
            self.write(b"tR")
            return
        array = np.asarray(value.detach().numpy())
        key, storage, offset, strides = self._stored(array)
        typed = dtype in STORAGES
        version = 2 if typed else 3
        self.name(f"torch._utils _rebuild_tensor_v{version}")
        self.write(b"((")
        self.save("storage")
        kind = f"torch {STORAGES[dtype]}" if typed else "torch.storage UntypedStorage"
        self.name(kind)
        self.text(key)
        self.save("cpu")
        size = 1 if not typed else array.itemsize
        self.integer(storage.array.nbytes // size)
        self.write(b"tQ")
        self.integer(offset)
        self._lengths(array.shape, strides)
        self.constant(value.requires_grad)
        self._hooks()
        if not typed:
            self.name(f"torch {dtype}")
        self.write(b"tR")

    def _lengths(self, *each: tuple[int, ...]) -> None:
        for lengths in each:
            self._tuple([partial(self.integer, n) for n in lengths])

    def _stored(self, array: Array) -> tuple[str, Storage, int, tuple[int, ...]]:
        """Return the storage that an array is a view of, and what the view is."""
        root, offset, strides = _root(array)
        place = root.__array_interface__["data"][0], root.nbytes, array.dtype
        k = self.places.setdefault(place, len(self.storages))
        if k == len(self.storages):
            self.storages.append(Storage(root.reshape(-1, order="A")))
        return str(k), self.storages[k], offset, strides


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = [1]
    for n in shape[:0:-1]:
        strides.insert(0, strides[0] * max(n, 1))
    return tuple(strides) if shape else ()


def _root(array: Array) -> tuple[Array, int, tuple[int, ...]]:
    """Return the array whose memory an array is part of; the array's offset and strides
    in it, in elements. It is a copy if PyTorch has no such views."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    size = array.itemsize
    offset = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    steps = array.strides if array.size else ()
    fits = (root.flags.c_contiguous or root.flags.f_contiguous) and array.dtype.isnative
    parts = (root.nbytes, offset, *steps)
    if not fits or any(n < 0 or n % size for n in parts):
        copy = np.array(array, array.dtype.newbyteorder("="), order="C")
        return copy, 0, _contiguous(copy.shape)
    if not array.size:
        return root, 0, _contiguous(array.shape)
    return root, offset // size, tuple(n // size for n in steps)


_TYPES: dict[type, Callable[[_Writer, Any], None]] = {
    type(None): _Writer.constant,
    bool: _Writer.constant,
    int: _Writer.integer,
    float: _Writer.real,
    complex: lambda w, z: w.call("__builtin__ complex", (z.real, z.imag)),
    str: _Writer.text,
    bytes: _Writer.octets,
    bytearray: _Writer.array_of_bytes,
    tuple: _Writer.row,
    list: _Writer.sequence,
    dict: _Writer.mapping,
    OrderedDict: _Writer.mapping,
    Counter: _Writer.mapping,
    set: _Writer.items,
    device: _Writer.device,
}
