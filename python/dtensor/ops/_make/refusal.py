"""Exceptions in PyTorch's dialect, of functions that are no operators."""

from typing import Any

from dtensor import _C

__all__ = ["TYPES", "in_dialect", "translated"]

# Exceptions of ours and of NumPy's -> PyTorch's, which are both: of dtensor.torch.
TYPES: dict[type[Exception], type[Exception]] = {}


def translated(error: Exception) -> Exception | None:
    """Return PyTorch's exception for one of ours; None if it stays as it is."""
    to = TYPES.get(type(error))
    if to is None:
        return None
    made = to(*error.args)
    for note in getattr(error, "__notes__", ()):
        made.add_note(note)
    made.__cause__, made.__suppress_context__ = error.__cause__, True
    return made.with_traceback(error.__traceback__)


def in_dialect(error: Exception, *objects: Any) -> Exception | None:
    """Return PyTorch's exception if one of the objects is a tensor in its dialect."""
    if type(error) not in TYPES or not _C.is_torch(*objects):
        return None
    return translated(error)
