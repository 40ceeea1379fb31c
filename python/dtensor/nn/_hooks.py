"""Hooks that run before and after a module's forward and backward."""

import itertools
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, Protocol, Self, TypeVar

from dtensor import _C
from dtensor._core.caller import warn
from dtensor.nn._crossing import Crossing

__all__ = [
    "Hooks",
    "RemovableHandle",
    "register",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
    "registered",
]

Hook = Callable[..., Any]
Table = OrderedDict[int, Any]

_numbers = itertools.count()

# The hooks of all modules; they run before a module's own.
_global_forward_pre_hooks: Table = OrderedDict()
_global_forward_hooks: Table = OrderedDict()
_global_forward_hooks_with_kwargs: Table = OrderedDict()
_global_forward_hooks_always_called: Table = OrderedDict()
_global_backward_pre_hooks: Table = OrderedDict()
_global_backward_hooks: Table = OrderedDict()
_at_calls: Table = OrderedDict()  # the numbers of all of these
# The hooks of what is added to any module.
_registrations: dict[str, Table] = {
    kind: OrderedDict() for kind in ("parameter", "buffer", "module")
}


F_co = TypeVar("F_co", covariant=True)


class _HasForward(Protocol[F_co]):
    @property
    def forward(self) -> F_co: ...


class _Calls(Protocol):
    """What type checkers know of a module's call: it is that of its `forward`."""

    def __get__(self, module: _HasForward[F_co], owner: Any = None, /) -> F_co: ...


class RemovableHandle:
    """The handle of a registered hook: `remove` removes the hook.

    In a ``with`` statement, the hook is removed at the end.
    """

    def __init__(self, hooks: Table, *, extra_dict: Iterable[Table] = ()) -> None:
        self.id = next(_numbers)
        # A handle does not keep the module alive.
        self._tables = [weakref.ref(table) for table in (hooks, *extra_dict)]

    def remove(self) -> None:
        """Remove the hook; do nothing if it is removed already."""
        for reference in self._tables:
            table = reference()
            if table is not None:
                table.pop(self.id, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def register(
    hooks: Table, hook: Hook, prepend: bool = False, *flags: tuple[Table, bool]
) -> RemovableHandle:
    """Add a hook to a table, and to the tables of the flags that are set."""
    handle = RemovableHandle(hooks, extra_dict=[table for table, _ in flags])
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    for table, wanted in flags:
        if wanted:
            table[handle.id] = True
    return handle


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, args)`` before the forward of every module.

    Returns
    -------
    RemovableHandle
    """
    return register(_global_forward_pre_hooks, hook, False, (_at_calls, True))


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call ``hook(module, args, output)`` after the forward of every module.

    See `Hooks.register_forward_hook`.

    Returns
    -------
    RemovableHandle
    """
    return register(
        _global_forward_hooks,
        hook,
        False,
        (_at_calls, True),
        (_global_forward_hooks_with_kwargs, with_kwargs),
        (_global_forward_hooks_always_called, always_call),
    )


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, grad_output)`` before every module's gradients are computed.

    Returns
    -------
    RemovableHandle
    """
    return register(_global_backward_pre_hooks, hook, False, (_at_calls, True))


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, grad_input, grad_output)`` after every module's backward.

    Returns
    -------
    RemovableHandle
    """
    return register(_global_backward_hooks, hook, False, (_at_calls, True))


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, name, param)`` for every parameter that a module gets.

    What it returns, unless that is None, is taken in its place.

    Returns
    -------
    RemovableHandle
    """
    return register(_registrations["parameter"], hook)


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, name, buffer)`` for every buffer that a module gets.

    See `register_module_parameter_registration_hook`.
    """
    return register(_registrations["buffer"], hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """Call ``hook(module, name, submodule)`` for every module that a module gets.

    See `register_module_parameter_registration_hook`.
    """
    return register(_registrations["module"], hook)


def registered(kind: str, module: Any, name: str, value: Any) -> Any:
    """Return what a module gets under a name: a value, or what the hooks return."""
    for hook in _registrations[kind].values():
        new = hook(module, name, value)
        value = value if new is None else new
    return value


def _both(first: Table, then: Table) -> list[Hook]:
    return [*first.values(), *then.values()]


class Hooks:
    """The part of a module that calls `forward` and its hooks."""

    forward: Callable[..., Any]
    _forward_pre_hooks: Table
    _forward_pre_hooks_with_kwargs: Table
    _forward_hooks: Table
    _forward_hooks_with_kwargs: Table
    _forward_hooks_always_called: Table
    _backward_pre_hooks: Table
    _backward_hooks: Table

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call a hook before `forward`.

        Parameters
        ----------
        hook : callable
            ``hook(module, args)`` returns None, or new arguments: a tuple, or a single
            argument. With `with_kwargs`, ``hook(module, args, kwargs)`` returns None or
            a pair of args and kwargs.
        prepend : bool, default False
            Whether it is called before the hooks that are already registered.
        with_kwargs : bool, default False
            Whether it gets keyword arguments too.

        Returns
        -------
        RemovableHandle
        """
        flag = self._forward_pre_hooks_with_kwargs, with_kwargs
        return register(self._forward_pre_hooks, hook, prepend, flag)

    def register_forward_hook(
        self,
        hook: Hook,
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call a hook after `forward`.

        Parameters
        ----------
        hook : callable
            ``hook(module, args, output)`` returns None or a new output; with
            `with_kwargs` it is ``hook(module, args, kwargs, output)``.
        prepend : bool, default False
            Whether it is called before the hooks that are already registered.
        with_kwargs : bool, default False
            Whether it gets keyword arguments too.
        always_call : bool, default False
            Whether it is also called if `forward` or another hook raises.

        Returns
        -------
        RemovableHandle
        """
        return register(
            self._forward_hooks,
            hook,
            prepend,
            (self._forward_hooks_with_kwargs, with_kwargs),
            (self._forward_hooks_always_called, always_call),
        )

    def register_full_backward_pre_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call a hook before gradients are computed for the module.

        Parameters
        ----------
        hook : callable
            ``hook(module, grad_output)`` returns None or new gradients of the outputs.
        prepend : bool, default False
            Whether it is called before the hooks that are already registered.

        Returns
        -------
        RemovableHandle
        """
        return register(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(
        self, hook: Hook, prepend: bool = False
    ) -> RemovableHandle:
        """Call a hook when the gradients of the module's inputs are computed.

        Parameters
        ----------
        hook : callable
            ``hook(module, grad_input, grad_output)`` returns None or new gradients of
            the positional inputs, with None for those that have no gradient.
        prepend : bool, default False
            Whether it is called before the hooks that are already registered.

        Returns
        -------
        RemovableHandle
        """
        return register(self._backward_hooks, hook, prepend)

    # --- the call ---------------------------------------------------------------------

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        if (
            self._forward_pre_hooks
            or self._forward_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or _at_calls
        ):
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    __call__: _Calls = _call_impl

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result, called = None, set()
        try:
            args, kwargs = self._before(args, kwargs)
            crossing = None
            before = _both(_global_backward_pre_hooks, self._backward_pre_hooks)
            after = _both(_global_backward_hooks, self._backward_hooks)
            if before or after:
                crossing = Crossing(self, before, after)
                args = crossing.enter(args)
            result = self.forward(*args, **kwargs)
            for number, hook in self._after_hooks():
                called.add(number)
                result = self._after(number, hook, args, kwargs, result)
            return result if crossing is None else crossing.leave(result)
        except Exception:
            for number, hook in self._after_hooks():
                always = (
                    number in self._forward_hooks_always_called
                    or number in _global_forward_hooks_always_called
                )
                if not always or number in called:
                    continue
                try:
                    result = self._after(number, hook, args, kwargs, result)
                except Exception as error:
                    warn(
                        "forward hook with ``always_call=True`` raised an exception "
                        "that was silenced as another error was raised in forward: "
                        f"{error}"
                    )
            raise

    def _before(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        hooks = (*_global_forward_pre_hooks.items(), *self._forward_pre_hooks.items())
        for number, hook in hooks:
            if number in self._forward_pre_hooks_with_kwargs:
                both = _C.carried("a hook", hook, (self, args, kwargs))
                if both is None:
                    continue
                if not isinstance(both, tuple) or len(both) != 2:
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, "
                        f"new_kwargs), but got {both}."
                    )
                args, kwargs = both
            else:
                new = _C.carried("a hook", hook, (self, args))
                if new is not None:
                    args = new if isinstance(new, tuple) else (new,)
        return args, kwargs

    def _after_hooks(self) -> list[tuple[int, Hook]]:
        return [*_global_forward_hooks.items(), *self._forward_hooks.items()]

    def _after(
        self, number: int, hook: Hook, args: Any, kwargs: Any, result: Any
    ) -> Any:
        if (
            number in self._forward_hooks_with_kwargs
            or number in _global_forward_hooks_with_kwargs
        ):
            new = _C.carried("a hook", hook, (self, args, kwargs, result))
        else:
            new = _C.carried("a hook", hook, (self, args, result))
        return result if new is None else new
