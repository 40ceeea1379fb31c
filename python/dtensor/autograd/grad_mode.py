"""Whether operators are recorded: `no_grad` and related contexts."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from dtensor import _C

__all__ = [
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]

is_grad_enabled = _C.is_grad_enabled


F = TypeVar("F", bound=Callable[..., Any])


class _Recording:
    """Set whether this thread records operators within the context."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode
        self._before: list[bool] = []

    def __call__(self, function: F) -> F:
        """Return a function, or a generator, that runs in this mode."""
        mode = self.mode

        @functools.wraps(function)
        def within(*args: Any, **kwargs: Any) -> Any:
            with _Recording(mode):  # one for each call: threads may call at once
                return function(*args, **kwargs)

        @functools.wraps(function)
        def steps(*args: Any, **kwargs: Any) -> Any:
            generator, sent = function(*args, **kwargs), None
            while True:
                with _Recording(mode):
                    try:
                        value = generator.send(sent)
                    except StopIteration as stop:
                        return stop.value
                sent = yield value

        made = steps if inspect.isgeneratorfunction(function) else within
        return made  # type: ignore[return-value]

    def __enter__(self) -> None:
        self._before.append(_C.set_recording(self.mode))

    def __exit__(self, *error: object) -> None:
        _C.set_recording(self._before.pop())


class no_grad(_Recording):
    """Record nothing: results do not require gradients. A context and a decorator.

    Local to this thread. Not collective, but all ranks must use it alike.
    """

    def __new__(cls, function: Any = None) -> Any:
        """Allow the decorator without parentheses."""
        made = super().__new__(cls)
        if function is None:
            return made
        made.__init__()  # type: ignore[misc]
        return made(function)

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(_Recording):
    """Record again within `no_grad`. A context and a decorator."""

    def __init__(self) -> None:
        super().__init__(True)


class inference_mode(_Recording):
    """Record nothing, like `no_grad`; with ``mode=False`` do nothing."""

    def __init__(self, mode: bool = True) -> None:
        super().__init__(not mode and is_grad_enabled())


class set_grad_enabled(_Recording):
    """Set whether operators are recorded, from now on or within a context.

    Parameters
    ----------
    mode : bool
        Whether operators are recorded.
    """

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)
        self._before.append(_C.set_recording(mode))

    def __enter__(self) -> None:
        """Keep the mode, which was set when the object was made."""

    def __call__(self, function: F) -> F:
        """Return a function that runs in this mode; the previous mode is restored."""
        _C.set_recording(self._before.pop())
        return super().__call__(function)
