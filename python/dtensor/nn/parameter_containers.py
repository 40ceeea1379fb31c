"""Parameters in a list and in a dict, which may also hold other objects."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any, Self

from dtensor._C import Tensor
from dtensor.nn.containers import _pairs, _place
from dtensor.nn.module import Module
from dtensor.nn.parameter import Parameter

__all__ = ["ParameterDict", "ParameterList"]


def _kept(value: Any) -> Any:
    """Return the value to store: a tensor becomes a parameter."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _line(name: Any, value: Any, of: str) -> str:
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    shape = "x".join(map(str, value.shape))
    return f"  ({name}): {kind} containing: [{of} of size {shape}]"


def _text(name: str, lines: list[str]) -> str:
    """Return what is printed: a single line stands between the parentheses."""
    if len(lines) > 1:
        return f"{name}(\n" + "".join(f"  {line}\n" for line in lines) + ")"
    return f"{name}({''.join(lines)})"


def _legacy(value: Any) -> str:
    """Return the old name of a tensor's type in PyTorch's dialect, else its dtype."""
    legacy = getattr(getattr(value, "dtype", None), "legacy", None)
    return f"torch.{legacy}Tensor" if legacy else str(getattr(value, "dtype", ""))


class ParameterList(Module):
    """Parameters in a list. Tensors become parameters; other objects are kept too.

    Parameters
    ----------
    values : iterable, optional
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(self[k] for k in range(*index.indices(len(self))))
        return getattr(self, str(_place(index, len(self))))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, str(_place(index, len(self))), _kept(value))

    def append(self, value: Any) -> Self:
        """Add a value at the end."""
        setattr(self, str(self._size), _kept(value))
        self._size += 1
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add values at the end.

        Raises
        ------
        TypeError
            If `values` is a tensor or not iterable.
        """
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got "
                f"{type(values).__name__}"
            )
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def __repr__(self) -> str:
        lines = [_line(k, x, str(getattr(x, "dtype", ""))) for k, x in enumerate(self)]
        return _text(self._get_name(), lines)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Raise RuntimeError: a list of parameters cannot be called."""
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters in a dict. Tensors become parameters; other objects are kept too.

    Parameters
    ----------
    parameters : mapping, iterable of pairs, or ParameterDict, optional
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _name(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a "
                f"string (type is '{type(key).__name__}'). Open an issue on github if "
                "you need non-string keys."
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._name(key))

    def __setitem__(self, key: str, value: Any) -> None:
        name = self._name(key)
        self._keys[name] = None
        setattr(self, name, _kept(value))

    def __delitem__(self, key: str) -> None:
        name = self._name(key)
        del self._keys[name]
        delattr(self, name)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def keys(self) -> Iterable[str]:
        """Return the names."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return the names and values."""
        return ((name, self[name]) for name in self._keys)

    def values(self) -> Iterable[Any]:
        """Return the values."""
        return (self[name] for name in self._keys)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, or `default` if there is none."""
        return self[key] if key in self else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of a key; if there is none, set it to `default`."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Remove a value and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove the last pair and return it."""
        key, _ = self._keys.popitem()
        self._keys[key] = None
        return key, self.pop(key)

    def clear(self) -> None:
        """Remove all entries."""
        for key in list(self._keys):
            del self[key]

    def copy(self) -> "ParameterDict":
        """Return a new container with the same objects."""
        return ParameterDict(self)

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> "ParameterDict":
        """Return a new container with one value for all `keys`."""
        return ParameterDict((key, default) for key in keys)

    def update(self, parameters: Any) -> None:
        """Add values from a mapping or from pairs; those of a plain dict are sorted.

        Raises
        ------
        TypeError, ValueError
            If it is neither.
        """
        pairs = _pairs("ParameterDict", parameters)
        ordered = OrderedDict, ParameterDict
        if isinstance(parameters, Mapping) and not isinstance(parameters, ordered):
            pairs = sorted(pairs, key=itemgetter(0))
        for key, value in pairs:
            self[key] = value

    def __or__(self, other: Any) -> "ParameterDict":
        copy = self.copy()
        copy.update(other)
        return copy

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def __repr__(self) -> str:
        lines = [_line(name, value, _legacy(value)) for name, value in self.items()]
        return _text(self._get_name(), lines)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Raise RuntimeError: a dict of parameters cannot be called."""
        raise RuntimeError("ParameterDict should not be called.")
