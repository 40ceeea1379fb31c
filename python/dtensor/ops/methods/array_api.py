"""What the array API standard requires of an array: its device and namespace."""

from types import ModuleType

from dtensor._C import Tensor
from dtensor.ops._make.operator import method

__all__: list[str] = []  # no operators

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")
DEVICE = "cpu"  # how an array is distributed over ranks is not a device


_offered: list[ModuleType] = []  # the modules that answer; the last one counts


def offer(module: ModuleType) -> None:
    """Make a module the namespace of all arrays: `dtensor.array_api` does so."""
    _offered.append(module)


def check_device(device: object) -> None:
    """Raise ValueError unless a device is None or the only one that there is."""
    if device is not None and device != DEVICE:
        raise ValueError(f"there is no device {device!r}: arrays are on {DEVICE!r}")


def namespace(self: Tensor, /, *, api_version: str | None = None) -> ModuleType:
    """Return the array API namespace of this array: the module `dtensor.array_api`.

    Raises
    ------
    ValueError
        If a version is asked for that it does not have.
    """
    if api_version is not None and api_version not in VERSIONS:
        raise ValueError(
            f"there is no array API {api_version!r} here: {', '.join(VERSIONS)} are"
        )
    return _offered[-1]


def to_device(self: Tensor, device: str, /, *, stream: int | None = None) -> Tensor:
    """Return this array: there is one device. See `DTensor.redistribute` to move it."""
    check_device(device)
    if stream is not None:
        raise ValueError(f"device {DEVICE!r} has no streams, as stream={stream!r}")
    return self


method(namespace, name="__array_namespace__")
method(to_device)
