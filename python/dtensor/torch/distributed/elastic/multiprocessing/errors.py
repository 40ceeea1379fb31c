"""``torch.distributed.elastic.multiprocessing.errors``: `record`."""

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["record"]

F = TypeVar("F", bound=Callable[..., Any])


def record(fn: F, error_handler: Any = None) -> F:
    """Return the function: an error of a rank ends the job here, with its traceback."""
    return fn
