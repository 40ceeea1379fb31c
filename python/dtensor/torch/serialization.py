"""``torch.serialization``: files of ``torch.save``, whose code is never run."""

import os
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import device
from dtensor._torchfile import Archive, Makes, Spec, dumps, folder_of, read, write
from dtensor.torch._create import empty
from dtensor.torch._types import Size, dtype, numpy_dtype, torch_dtype
from dtensor.torch.nn import Parameter

__all__ = [
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "load",
    "safe_globals",
    "save",
]

MapLocation = str | Mapping[str, str] | Callable[[Any, str], Any] | None


_safe: list[Any] = []


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Keep a list of types and functions, which `get_safe_globals` returns.

    `load` makes what `save` writes, and nothing else: it refuses a file with other
    types, by their name, also if they are in this list.
    """
    _safe.extend(x for x in safe_globals if x not in _safe)


def get_safe_globals() -> list[Any]:
    """Return the list of `add_safe_globals`."""
    return list(_safe)


def clear_safe_globals() -> None:
    """Empty the list of `add_safe_globals`."""
    _safe.clear()


class safe_globals:  # noqa: N801
    """Add to the list of `add_safe_globals` for a block."""

    def __init__(self, safe_globals: list[Any]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self.safe_globals)

    def __exit__(self, *error: object) -> None:
        _safe[:] = self._before


def save(
    obj: Any,
    f: str | os.PathLike[str] | BinaryIO,
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write tensors, and plain containers of them, to a file that PyTorch reads.

    Not collective: each rank that calls it writes its own file. Tensors that share
    memory share it in the file; a view brings the whole memory that it is a view of.

    Parameters
    ----------
    obj : object
        Tensors, parameters, numbers, texts, bytes, None, sizes, dtypes, devices, and
        lists, tuples, dicts and sets of them; state dicts of modules and optimizers.
    f : path-like or binary file
    pickle_module, pickle_protocol
        Accepted; 2 is the only protocol.
    _use_new_zipfile_serialization : bool
        Must be True.

    Raises
    ------
    TypeError
        For a DTensor: `dtensor.checkpoint.save` writes its parts.
    pickle.PicklingError
        If `obj` holds anything else, with the name of its type. Nothing is written.
    NotImplementedError
        For another protocol, or the older format.
    RuntimeError
        If there is no such directory.

    See Also
    --------
    load : Read such a file.
    dtensor.checkpoint.save : Save what is on several ranks.

    Examples
    --------
    >>> import io
    >>> import dtensor.torch as torch
    >>> file = io.BytesIO()
    >>> torch.save({"w": torch.ones(2), "step": 3}, file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    {'w': tensor([1., 1.]), 'step': 3}
    """
    if pickle_protocol != 2 or not _use_new_zipfile_serialization:
        raise NotImplementedError(
            "torch.save writes zip archives with pickles of protocol 2, which all "
            "releases since PyTorch 1.6 read, and nothing else"
        )
    text, storages = dumps(obj, (np.dtype, dtype), Size)
    members: list[tuple[str, Any]] = [
        ("data.pkl", text),
        (".format_version", b"1"),
        (".storage_alignment", b"64"),
        ("byteorder", b"little"),
        *((f"data/{k}", storage.data()) for k, storage in enumerate(storages)),
        ("version", b"3\n"),
    ]
    if isinstance(f, str | os.PathLike):
        if not Path(f).parent.is_dir():
            raise RuntimeError(f"Parent directory {Path(f).parent} does not exist.")
        with open(f, "wb") as file:
            write(file, folder_of(f), members)
    else:
        write(f, folder_of(f), members)


def load(
    f: str | os.PathLike[str] | BinaryIO,
    map_location: MapLocation = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Return what ``torch.save`` wrote, here or in PyTorch.

    Not collective: each rank that calls it reads the whole file, or with ``mmap=True``
    the parts that it uses. `dtensor.checkpoint.read`, `load` and `load_hf` read such
    files in parts, onto a mesh.

    Parameters
    ----------
    f : path-like or binary file
        A seekable file is read from where it stands.
    map_location : str, device, mapping or callable, optional
        Where tensors go that were on other devices: ``"cpu"``, or ``"meta"`` for
        tensors without data. Without it a tensor that was on a GPU is an error, as in
        PyTorch without a GPU.
    pickle_module : None
        No other machine reads the pickle.
    weights_only : bool, optional
        Accepted: a file holds data, and no code of it is run, whatever this says.
    mmap : bool, optional
        Whether storages are mapped: read when they are first used. `f` is a path, and
        the data are not checked.
    **pickle_load_args
        ``encoding`` is accepted.

    Raises
    ------
    pickle.UnpicklingError
        If the file holds anything but what `save` writes, which is named; or if it has
        the format from before PyTorch 1.6.
    RuntimeError
        If the archive is damaged (the CRC-32 of each storage is checked), is one of
        TorchScript, or has tensors of another device.
    ModuleNotFoundError
        If it has bfloat16 and ml_dtypes is not installed.

    See Also
    --------
    save : Write such a file; with an example.
    """
    if pickle_module not in (None, pickle):
        raise RuntimeError(
            "Can not safely load weights when explicit pickle_module is specified"
        )
    if set(pickle_load_args) - {"encoding"}:
        raise TypeError(f"unexpected arguments: {', '.join(pickle_load_args)}")
    if isinstance(f, str | os.PathLike):
        with open(f, "rb") as file:
            return _Loader(file, map_location, bool(mmap)).load()
    if mmap:
        raise ValueError("f must be a file path in order to use the mmap argument")
    return _Loader(f, map_location, False).load()


def _parameter(data: Any, requires_grad: bool) -> Any:
    if not isinstance(data, _C.Tensor):
        raise pickle.UnpicklingError("a parameter that is not made of a tensor")
    return Parameter(data, requires_grad)


class _OnCpu:
    """What a function given as `map_location` gets for a storage, and returns."""

    def cpu(self) -> "_OnCpu":
        return self


class _Loader:
    """The storages of a file that were read so far, and the tensors on them."""

    def __init__(self, file: BinaryIO, map_location: MapLocation, mapped: bool) -> None:
        self.archive = Archive(file)
        self.map_location = map_location
        self.bytes_of = self.archive.mapped() if mapped else self.archive.array
        self.storages: dict[str, npt.NDArray[np.uint8]] = {}
        self.swapped: dict[tuple[str, str], npt.NDArray[np.uint8]] = {}
        self.left = sum(member.size for member in self.archive.members.values())

    def load(self) -> Any:
        self.is_big = self.archive.byteorder() == "big"
        makes = Makes(self.tensor, _parameter, torch_dtype, Size, device)
        return read(self.archive.pickle(), makes)

    def tensor(self, spec: Spec) -> Any:
        if spec.storage is None or self._place(spec.storage.location) == "meta":
            found = empty(spec.shape, dtype=spec.dtype, device="meta")
        else:
            found = _C.into_torch(_C.as_tensor(self._array(spec)))
        return found.requires_grad_(True) if spec.requires_grad else found

    def _array(self, spec: Spec) -> npt.NDArray[Any]:
        to = numpy_dtype(spec.dtype)
        storage = self._storage(spec, to)
        # NumPy's own check overflows, and leaves out storages without bytes.
        if spec.end() * to.itemsize > len(storage):
            raise pickle.UnpicklingError("a tensor is larger than its storage")
        array: npt.NDArray[Any] = np.ndarray(
            spec.shape,
            to,
            storage,
            0 if 0 in spec.shape else spec.offset * to.itemsize,
            tuple(step * to.itemsize for step in spec.strides),
        )
        if not spec.conj and not spec.neg:
            return array
        self.left -= array.nbytes
        if self.left < 0:
            raise pickle.UnpicklingError("the file has more conjugates than data")
        array = np.conj(array) if spec.conj else array
        return np.negative(array) if spec.neg else array

    def _storage(self, spec: Spec, to: np.dtype[Any]) -> npt.NDArray[np.uint8]:
        """Return the bytes of a storage, in this machine's order."""
        assert spec.storage is not None
        key, kind, _, length = spec.storage
        known = self.storages.get(key)
        if known is None:
            known = self.storages[key] = self.bytes_of(f"data/{key}")
        if len(known) // (to.itemsize if kind else 1) != length:
            raise pickle.UnpicklingError(
                f"storage {key} has {len(known)} bytes, and not {length} elements"
            )
        if not self.is_big:
            return known
        name = key, spec.dtype
        if name not in self.swapped:
            whole = known[: len(known) // to.itemsize * to.itemsize]
            self.swapped[name] = _in_this_order(whole, to)
        return self.swapped[name]

    def _place(self, location: str) -> str:
        """Return the device of a storage that was saved on another one."""
        to: Any = self.map_location
        if isinstance(to, Mapping):
            to = to.get(location, location)
        elif callable(to):
            to = "cpu" if to(_OnCpu(), location) is not None else location
        kind = str(location if to is None else to)
        if kind.startswith("cuda"):
            raise RuntimeError(
                "Attempting to deserialize object on a CUDA device but "
                "torch.cuda.is_available() is False. If you are running on a CPU-only "
                "machine, please use torch.load with map_location=torch.device('cpu') "
                "to map your storages to the CPU."
            )
        return device(kind)


def _in_this_order(
    given: npt.NDArray[np.uint8], to: np.dtype[Any]
) -> npt.NDArray[np.uint8]:
    """Return bytes of the other byte order; of a complex number both parts turn."""
    part = to.itemsize // 2 if to.kind == "c" else to.itemsize
    return given.view(f"u{part}").byteswap().view(np.uint8)
