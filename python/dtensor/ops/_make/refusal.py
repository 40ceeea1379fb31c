"""Exceptions in PyTorch's dialect, of functions that are no operators."""

from collections.abc import Callable, Mapping
from typing import Any

from dtensor import _C

__all__ = ["in_dialect", "set_speaker", "translated"]

# PyTorch's exception for one of ours or of NumPy's, None if it stays as it is; also
# gets the name of what was called and its arguments.
Speaker = Callable[
    [Exception, str, tuple[Any, ...], Mapping[str, Any]], Exception | None
]
_speakers: list[Speaker] = []  # of dtensor.torch, once it is imported


def set_speaker(speaker: Speaker) -> None:
    """Let operators and functions ask for PyTorch's exceptions."""
    _speakers[:] = [speaker]
    _C.set_torch_errors(speaker)


def translated(
    error: Exception, name: str, args: tuple[Any, ...], options: Mapping[str, Any]
) -> Exception | None:
    """Return PyTorch's exception for one of ours; None if it stays as it is."""
    for speak in _speakers:
        return speak(error, name, args, options)
    return None


def in_dialect(error: Exception, name: str, *args: Any) -> Exception | None:
    """Return PyTorch's exception if one of the arguments is a tensor in its dialect."""
    if not _speakers or not _C.is_torch(*args):
        return None
    return translated(error, name, args, {})
