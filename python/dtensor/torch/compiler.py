"""``torch.compiler``: nothing is compiled, so that functions stay as they are."""

import contextlib
from typing import Any

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "reset",
    "set_stance",
    "substitute_in_graph",
]


def compile(model: Any = None, **options: Any) -> Any:
    """Return the module or function unchanged; without one, a decorator for it."""
    return (lambda given: given) if model is None else model


def disable(fn: Any = None, recursive: bool = True, *, reason: Any = None) -> Any:
    """Return a function unchanged; without one, a decorator for it."""
    return (lambda given: given) if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """Return a function unchanged."""
    return fn


def assume_constant_result(fn: Any) -> Any:
    """Return a function unchanged."""
    return fn


def substitute_in_graph(original_fn: Any, **options: Any) -> Any:
    """Return a decorator that leaves functions unchanged."""
    return lambda given: given


def is_compiling() -> bool:
    """Return False: nothing is compiled."""
    return False


def is_dynamo_compiling() -> bool:
    """Return False: nothing is compiled."""
    return False


def is_exporting() -> bool:
    """Return False: nothing is compiled."""
    return False


def reset() -> None:
    """Do nothing: nothing is kept."""


def cudagraph_mark_step_begin() -> None:
    """Do nothing: there are no CUDA graphs."""


def list_backends(exclude_tags: Any = ()) -> list[str]:
    """Return an empty list: there are no compilers."""
    return []


def set_stance(
    stance: Any = "default", **options: Any
) -> contextlib.AbstractContextManager[None]:
    """Do nothing, also for a block."""
    return contextlib.nullcontext()
