"""Containers: modules in sequence, in a list, in a dict."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Self

from dtensor.nn._kind import T
from dtensor.nn.module import Module

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


def _place(index: Any, length: int) -> int:
    """Return the index of an element, counted from the start."""
    index = index.__index__()
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of range")
    return int(index) % length


class _Listed(Module):
    """Modules under the names "0", "1", ..."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def _replace(self, modules: Iterable[Any]) -> None:
        """Replace all modules by these."""
        values = list(modules)
        self._modules.clear()
        self._modules.update((str(k), module) for k, module in enumerate(values))

    def __setitem__(self, index: int, module: Any) -> None:
        names = list(self._modules)
        setattr(self, names[_place(index, len(self))], module)

    def __delitem__(self, index: int | slice) -> None:
        modules = list(self)
        if isinstance(index, slice):
            del modules[index]
        else:
            del modules[_place(index, len(modules))]
        self._replace(modules)

    def append(self, module: Any) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Any) -> Any:
        """Add a module before the one at an index."""
        modules = list(self)
        modules.insert(index, module)
        self._replace(modules)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove a module and return it."""
        module = self[key]
        del self[key]
        return module

    def __getitem__(self, index: Any) -> Any:
        items = list(self._modules.items())
        if isinstance(index, slice):
            return self._of(items[index])
        return items[_place(index, len(items))][1]

    def _of(self, items: list[tuple[str, Any]]) -> Any:
        raise NotImplementedError


class Sequential(_Listed):
    """Modules that are called one after the other.

    Parameters
    ----------
    *args : Module, or one dict of names and modules

    Examples
    --------
    >>> from dtensor import nn
    >>> nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], Mapping)
        modules = args[0] if named else {str(k): each for k, each in enumerate(args)}
        for name, module in modules.items():
            self.add_module(name, module)

    def forward(self, input: T) -> T:
        """Return the output of the last module."""
        for module in self:
            input = module(input)
        return input

    def _of(self, items: list[tuple[str, Any]]) -> Any:
        return type(self)(dict(items))

    def insert(self, index: int, module: Any) -> Any:
        """Add a module before the one at an index.

        Raises
        ------
        AssertionError
            If `module` is not a Module.
        IndexError
            If the index is out of range.
        """
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        return super().insert(index, module)

    def extend(self, sequential: Iterable[Any]) -> Self:
        """Add modules at the end."""
        for module in list(sequential):
            self.append(module)
        return self

    def __add__(self, other: Any) -> Any:
        return Sequential(*self, *_sequential(other))

    def __iadd__(self, other: Any) -> Self:
        return self.extend(_sequential(other))

    def __mul__(self, other: int) -> Any:
        return Sequential(*(list(self) * _times(other)))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Self:
        self._replace(list(self) * _times(other))
        return self


def _sequential(other: Any) -> Sequential:
    """Return what is added to a `Sequential`, if it is one."""
    if not isinstance(other, Sequential):
        raise ValueError(
            "add operator supports only objects of Sequential class, but "
            f"{type(other)} is given."
        )
    return other


def _times(other: Any) -> int:
    if not isinstance(other, int):
        raise TypeError(
            f"unsupported operand type(s) for *: {Sequential} and {type(other)}"
        )
    if other <= 0:
        raise ValueError(f"Non-positive multiplication factor {other} for {Sequential}")
    return other


class ModuleList(_Listed):
    """Modules in a list; it has no `forward`.

    Parameters
    ----------
    modules : iterable of Module, optional
    """

    def __init__(self, modules: Iterable[Any] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _of(self, items: list[tuple[str, Any]]) -> Any:
        return type(self)(module for _, module in items)

    def insert(self, index: int, module: Any) -> None:
        """Add a module before the one at an index."""
        super().insert(index, module)

    def extend(self, modules: Iterable[Any]) -> Self:
        """Add modules at the end.

        Raises
        ------
        TypeError
            If `modules` is not iterable.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def __iadd__(self, modules: Iterable[Any]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Any]) -> "ModuleList":
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        if not self._modules:
            return f"{self._get_name()}()"
        lines, first = [], 0
        for text, group in groupby(repr(module) for module in self):
            count = len(list(group))
            name = f"({first}): " if count == 1 else f"({first}-{first + count - 1}): "
            times = "" if count == 1 else f"{count} x "
            lines.append(name + times + text.replace("\n", "\n  "))
            first += count
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """Modules in a dict, in order of insertion; it has no `forward`.

    Parameters
    ----------
    modules : mapping or iterable of pairs, optional
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Any) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: object) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Remove a module and return it."""
        return self._modules.pop(key)

    def keys(self) -> Any:
        """Return the names."""
        return self._modules.keys()

    def items(self) -> Any:
        """Return the names and modules."""
        return self._modules.items()

    def values(self) -> Any:
        """Return the modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules from a mapping or from pairs.

        Raises
        ------
        TypeError, ValueError
            If it is neither.
        """
        for key, module in _pairs("ModuleDict", modules):
            self[key] = module


def _pairs(what: str, values: Any) -> list[tuple[Any, Any]]:
    """Return names and values of a mapping, of such a container, or of pairs."""
    if not isinstance(values, Iterable):
        raise TypeError(
            f"{what}.update should be called with an iterable of key/value pairs, but "
            f"got {type(values).__name__}"
        )
    if isinstance(values, Mapping) or hasattr(values, "items"):
        return list(values.items())
    pairs = []
    for place, pair in enumerate(values):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{what} update sequence element #{place} should be Iterable; is "
                f"{type(pair).__name__}"
            )
        pair = tuple(pair)
        if len(pair) != 2:
            raise ValueError(
                f"{what} update sequence element #{place} has length {len(pair)}; 2 is "
                "required"
            )
        pairs.append(pair)
    return pairs
