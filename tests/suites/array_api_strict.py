"""Stands in for array_api_strict: SciPy's own tests play `dtensor.array_api`."""

from typing import Any

from dtensor import array_api

__version__ = "99.0"


def set_array_api_strict_flags(**_: Any) -> None:
    """Do nothing: there are no flags."""


def __getattr__(name: str) -> Any:
    return getattr(array_api, name)
