"""Functions and classes of devices that are not there: ``torch.cuda``, ``torch.xpu``.

A table says what each name does: raise what PyTorch's build for processors raises, or
return what it returns.
"""

import copy
from collections.abc import Callable
from typing import Any

__all__ = ["Nothing", "answers", "classes", "dummies", "raises"]


class Nothing:
    """A block in which nothing is different.

    Parameters
    ----------
    *args, **options
        Ignored: there is no such device.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        pass

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None


def raises(error: type[Exception], text: str, names: str) -> dict[str, Any]:
    """Return functions that raise, on this rank only; ``{}`` is their name."""

    def made(name: str) -> Callable[..., Any]:
        def refused(*args: Any, **options: Any) -> Any:
            raise error(text.replace("{}", name))

        doc = f"Raise {error.__name__}: there is no such device. On this rank only."
        return _named(refused, name, doc)

    return {name: made(name) for name in names.split()}


def answers(value: Any, names: str) -> dict[str, Any]:
    """Return functions that return a value; arguments are ignored."""

    def made(name: str) -> Callable[..., Any]:
        def answer(*args: Any, **options: Any) -> Any:
            return copy.copy(value)

        what = "Do nothing" if value is None else f"Return {value!r}"
        return _named(answer, name, f"{what}: there is no such device.")

    return {name: made(name) for name in names.split()}


def _named(function: Callable[..., Any], name: str, doc: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def classes(
    module: str, error: type[Exception], text: str, names: str
) -> dict[str, Any]:
    """Return classes without instances; making one raises. ``{}`` is their name."""

    def made(name: str) -> type:
        def new(cls: type, *args: Any, **options: Any) -> Any:
            raise error(text.replace("{}", cls.__name__))

        doc = f"A class without instances: making one raises {error.__name__}."
        places = {"__new__": new, "__doc__": doc, "__module__": module}
        return type(name, (), places)

    return {name: made(name) for name in names.split()}


def dummies(module: str, names: str) -> dict[str, Any]:
    """Return classes that PyTorch has only to say that they are not there."""
    text = "Tried to instantiate dummy base class {}"
    return classes(module, RuntimeError, text, names)
