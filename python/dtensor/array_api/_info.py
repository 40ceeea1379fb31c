"""The inspection interface of the namespace."""

from typing import Any

import numpy as np

from dtensor.ops.methods.array_api import DEVICE, check_device

__all__ = ["Info", "namespace_info"]

MAX_DIMENSIONS = 64

_DTYPES: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS: dict[str | None, tuple[str, ...]] = {
    "integral": ("signed integer", "unsigned integer"),
    "numeric": tuple(_DTYPES)[1:],
    None: tuple(_DTYPES),
}


class Info:
    """What ``__array_namespace_info__()`` returns."""

    def capabilities(self) -> dict[str, bool | int | None]:
        """Return which optional behaviour is supported."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": MAX_DIMENSIONS,
        }

    def default_device(self) -> str:
        """Return the default device of new arrays."""
        return DEVICE

    def devices(self) -> list[str]:
        """Return all devices. The layout of an array over ranks is not a device."""
        return [DEVICE]

    def default_dtypes(self, *, device: str | None = None) -> dict[str, np.dtype[Any]]:
        """Return the default dtypes of new arrays."""
        check_device(device)
        return {
            "real floating": np.dtype("float64"),
            "complex floating": np.dtype("complex128"),
            "integral": np.dtype("int64"),
            "indexing": np.dtype("int64"),
        }

    def dtypes(
        self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, np.dtype[Any]]:
        """Return the dtypes of a kind, of several, or all of them, by name."""
        check_device(device)
        if isinstance(kind, tuple):
            parts = [self.dtypes(kind=part) for part in kind]
            return {name: dtype for part in parts for name, dtype in part.items()}
        if kind not in _DTYPES and kind not in _KINDS:
            raise ValueError(f"{kind!r} is not a kind of dtype")
        kinds = (kind,) if kind in _DTYPES else _KINDS[kind]
        names = [name for each in kinds for name in _DTYPES[str(each)]]
        return {name: np.dtype(name) for name in names}


def namespace_info() -> Info:
    """Return what the namespace can do: dtypes, devices, defaults, capabilities."""
    return Info()
