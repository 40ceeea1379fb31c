"""The contents of a module: parameters, buffers and modules, by name."""

from typing import Any

from dtensor._C import Tensor
from dtensor.nn._hooks import registered
from dtensor.nn.parameter import Buffer, Parameter

__all__ = ["Registry", "type_name"]


def type_name(value: object) -> str:
    """Return the name of a value's type for messages."""
    kind = value if isinstance(value, type) else type(value)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return module + kind.__qualname__


class Registry:
    """The attributes of a module, with tensors and modules in separate registries.

    `register_parameter`, `register_buffer`, `add_module` and assignment fill them.
    Attributes that Python does not find are looked up in them.
    """

    training: bool
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]

    def _check_new(self, kind: str, name: Any) -> None:
        """Raise unless an attribute of this kind can have the name."""
        if "_parameters" not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {type_name(name)}")
        if "." in name:
            got = f", got: {name}" if kind == "module" else ""
            raise KeyError(f'{kind} name can\'t contain "."{got}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')

    def _check_free(self, name: str, registry: dict[str, Any]) -> None:
        if hasattr(self, name) and name not in registry:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Any) -> None:
        """Add a parameter, or None for an optional one.

        Raises
        ------
        TypeError
            If the name is not a str, or `param` is not a `Parameter`.
        KeyError
            If the name is taken, empty, or has a dot.
        ValueError
            If the parameter is a result of recorded operations.
        """
        self._check_new("parameter", name)
        self._check_free(name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type_name(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and not param.is_leaf:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model "
                f"parameters must be created explicitly. To express '{name}' as a "
                "function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = registered("parameter", self, name, param)

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Add a tensor that is part of the module's state and is not trained.

        Parameters
        ----------
        name : str
        tensor : Tensor, DTensor or None
        persistent : bool, default True
            Whether it is part of the `state_dict`.

        Raises
        ------
        TypeError
            If the name is not a str, or `tensor` is not a tensor.
        KeyError
            If the name is taken, empty, or has a dot.
        """
        self._check_new("buffer", name)
        self._check_free(name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type_name(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self._buffers[name] = registered("buffer", self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Any) -> None:
        """Add a module as a child of this one, or None.

        Raises
        ------
        TypeError
            If the name is not a str, or `module` is not a Module.
        KeyError
            If the name is taken, empty, or has a dot.
        """
        if module is not None and not isinstance(module, Registry):
            raise TypeError(f"{type_name(module)} is not a Module subclass")
        self._check_new("module", name)
        self._check_free(name, self._modules)
        self._modules[name] = registered("module", self, name, module)

    def register_module(self, name: str, module: Any) -> None:
        """Add a module as a child: see `add_module`."""
        self.add_module(name, module)

    # --- attributes -------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        find = self.__dict__.get
        for registry in ("_parameters", "_buffers", "_modules"):
            known = find(registry)
            if known and name in known:
                return known[name]
        raise AttributeError(
            f"'{type(self).__name__}' object has no attribute '{name}'"
        )

    def _forget(self, name: str, keep: dict[str, Any]) -> None:
        """Remove a name from everything except one registry."""
        for other in (self.__dict__, self._parameters, self._buffers, self._modules):
            if other is not keep:
                other.pop(name, None)
        if keep is not self._buffers:
            self._non_persistent_buffers_set.discard(name)

    def __setattr__(self, name: str, value: Any) -> None:
        for registry, kind, allowed, what, wanted, early in _KINDS:
            known = self.__dict__.get(registry)
            if isinstance(value, kind):
                if known is None:
                    raise AttributeError(
                        f"cannot assign {early} before Module.__init__() call"
                    )
                self._forget(name, known)
                self._register(registry, name, value)
                return
            if known and name in known:
                if value is not None and not isinstance(value, allowed):
                    raise TypeError(
                        f"cannot assign '{type_name(value)}' as {what} '{name}' "
                        f"({wanted} or None expected)"
                    )
                known[name] = registered(registry[1:-1], self, name, value)
                return
        super().__setattr__(name, value)

    def _register(self, registry: str, name: str, value: Any) -> None:
        if registry == "_parameters":
            self.register_parameter(name, value)
        elif registry == "_buffers":
            self.register_buffer(name, value, getattr(value, "persistent", True))
        else:
            self._modules[name] = registered("module", self, name, value)

    def __delattr__(self, name: str) -> None:
        for registry in (self._parameters, self._buffers, self._modules):
            if name in registry:
                del registry[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__}
        names.update(self._parameters, self._modules, self._buffers)
        return sorted(name for name in names if not name[:1].isdigit())


# The registries: the attribute that holds each, the type that is assigned there, the
# type that may replace an entry, and the names in messages.
_KINDS: tuple[tuple[str, Any, Any, str, str, str], ...] = (
    (
        "_parameters",
        Parameter,
        Parameter,
        "parameter",
        "torch.nn.Parameter",
        "parameters",
    ),
    ("_modules", Registry, Registry, "child module", "torch.nn.Module", "module"),
    ("_buffers", Buffer, Tensor, "buffer", "torch.nn.Buffer, torch.Tensor", "buffer"),
)
