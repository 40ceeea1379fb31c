"""``torch.jit``: nothing is compiled, so that functions and modules stay as they are.

`script` and `trace` return what they are given, decorators return what they decorate,
and `is_scripting` is False. Files of compiled programs are neither written nor read.
"""

import builtins
from collections.abc import Callable
from typing import Any, Final as Final, NoReturn

from dtensor.torch.nn import Module

__all__ = [
    "Attribute",
    "Error",
    "Final",
    "RecursiveScriptModule",
    "ScriptFunction",
    "ScriptModule",
    "TracedModule",
    "annotate",
    "enable_onednn_fusion",
    "export",
    "fork",
    "freeze",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "onednn_fusion_enabled",
    "optimize_for_inference",
    "optimized_execution",
    "save",
    "script",
    "script_if_tracing",
    "script_method",
    "set_fusion_strategy",
    "strict_fusion",
    "trace",
    "trace_module",
    "unused",
    "wait",
]

ScriptModule = RecursiveScriptModule = TracedModule = Module
ScriptFunction = type(lambda: None)


class Error(RuntimeError):
    """What PyTorch raises in compiled functions; never raised here."""


class _Ignored:
    """A setting of the compiler for a block: it has no effect."""

    def __init__(self, *settings: Any) -> None:
        self.settings = settings

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, *exception: object) -> None:
        """Do nothing."""


optimized_execution = strict_fusion = _Ignored


def script(obj: Any, *args: Any, **options: Any) -> Any:
    """Return a function, class or module unchanged. Not collective.

    Parameters
    ----------
    obj : callable, class or nn.Module
        What PyTorch would compile.
    *args, **options
        Ignored.
    """
    return obj


def trace(func: Any, example_inputs: Any = None, *args: Any, **options: Any) -> Any:
    """Return a function or module unchanged: it is not called. Not collective."""
    return func


def trace_module(mod: Any, inputs: Any, *args: Any, **options: Any) -> Any:
    """Return a module unchanged: it is not called. Not collective."""
    return mod


def freeze(mod: Any, *args: Any, **options: Any) -> Any:
    """Return a module unchanged."""
    return mod


def optimize_for_inference(mod: Any, *args: Any, **options: Any) -> Any:
    """Return a module unchanged."""
    return mod


def _unchanged(fn: Any) -> Any:
    return fn


export = interface = script_if_tracing = script_method = _overload_method = _unchanged
_overload = _script_if_tracing = _unchanged


def ignore(drop: Any = False, **options: Any) -> Any:
    """Return a function unchanged, or a decorator that does."""
    return drop if callable(drop) else _unchanged


def unused(fn: Any) -> Any:
    """Return a function unchanged."""
    return fn


def is_scripting() -> bool:
    """Return False: nothing is compiled."""
    return False


def is_tracing() -> bool:
    """Return False: nothing is traced."""
    return False


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return a value, whatever its type is said to be."""
    return the_value


def Attribute(value: Any, type: Any) -> Any:  # noqa: N802
    """Return a value, whatever its type is said to be."""
    return value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Return whether an object is of a type; containers are not looked into."""
    origin = getattr(target_type, "__origin__", target_type)
    return builtins.isinstance(obj, origin)


def fork(func: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a function, and return what it returns, for `wait`."""
    return func(*args, **options)


def wait(future: Any) -> Any:
    """Return what `fork` has returned."""
    return future


def set_fusion_strategy(strategy: Any) -> Any:
    """Return the strategy: it has no effect."""
    return strategy


def enable_onednn_fusion(enabled: bool) -> None:
    """Do nothing: nothing is fused."""


def onednn_fusion_enabled() -> bool:
    """Return False."""
    return False


def save(m: Any, f: Any, *args: Any, **options: Any) -> NoReturn:
    """Raise RuntimeError: there are no compiled programs to save. On this rank only."""
    raise RuntimeError(
        "torch.jit.save: modules are not compiled here, and have no program to save; "
        "save module.state_dict() with torch.save or dtensor.checkpoint.save"
    )


def load(f: Any, *args: Any, **options: Any) -> NoReturn:
    """Raise RuntimeError: compiled programs are not read. On this rank only."""
    raise RuntimeError(
        "torch.jit.load: files of compiled programs are not read; make the module, and "
        "load its state_dict, which PyTorch writes with "
        "torch.save(module.state_dict(), file)"
    )
