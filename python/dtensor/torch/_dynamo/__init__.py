"""``torch._dynamo``: nothing is compiled, so that functions stay as they are.

What marks a function or tensor for the compiler has no effect.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from dtensor.torch._dynamo import config as config
from dtensor.torch._settled import Patch
from dtensor.torch.compiler import (
    allow_in_graph as allow_in_graph,
    assume_constant_result as assume_constant_result,
    disable as disable,
    is_compiling as is_compiling,
    list_backends as list_backends,
    reset as reset,
    set_stance as set_stance,
    substitute_in_graph as substitute_in_graph,
)

__all__ = [
    "allow_c_slot",
    "allow_in_graph",
    "assume_constant_result",
    "config",
    "disable",
    "disable_nested_graph_breaks",
    "disallow_in_graph",
    "dont_skip_tracing",
    "error_on_graph_break",
    "explain",
    "forbid_in_graph",
    "graph_break",
    "is_compiling",
    "is_dynamo_disable_recursive",
    "list_backends",
    "lookup_backend",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "nonstrict_trace",
    "optimize",
    "optimize_assert",
    "override_cudagraphs",
    "override_optimization_hint",
    "patch_dynamo_config",
    "register_backend",
    "reset",
    "reset_recompile_user_contexts",
    "run",
    "set_recursion_limit",
    "set_stance",
    "skip_frame",
    "step_unsupported",
    "substitute_in_graph",
]

_backends: dict[str, Callable[..., Any]] = {}


def _same(fn: Any = None) -> Any:
    """Return a function unchanged; without one, a decorator for it."""
    return (lambda given: given) if fn is None else fn


disable_nested_graph_breaks = dont_skip_tracing = run = _same
disallow_in_graph = forbid_in_graph = nonstrict_trace = _same


def allow_c_slot(tp: type, **options: Any) -> type:
    """Return a type unchanged."""
    return tp


def _nothing(*args: Any, **options: Any) -> None:
    """Do nothing: nothing is compiled."""


graph_break = skip_frame = step_unsupported = _nothing
mark_dynamic = mark_static = mark_static_address = maybe_mark_dynamic = _nothing
override_optimization_hint = reset_recompile_user_contexts = _nothing
set_recursion_limit = _nothing


def optimize(*args: Any, **options: Any) -> Callable[[Any], Any]:
    """Return a decorator that leaves functions and modules unchanged."""
    return lambda given: given


optimize_assert = optimize


def patch_dynamo_config(arg1: Any = None, arg2: Any = None, **changes: Any) -> Patch:
    """Set settings for a block or a function: see ``torch._dynamo.config``."""
    found: Patch = config.patch(arg1, arg2, **changes)
    return found


def error_on_graph_break(error_on_graph_break: bool) -> Patch:
    """Do nothing, for a block or a function: nothing is compiled."""
    return Patch(config.__name__, {})


def override_cudagraphs(fwd: bool | None = None, bwd: bool | None = None) -> Patch:
    """Do nothing, for a block or a function: there are no CUDA graphs."""
    return Patch(config.__name__, {})


def is_dynamo_disable_recursive(method: Any) -> None:
    """Return None: no function is marked."""


def register_backend(
    compiler_fn: Any = None, name: str | None = None, tags: Any = ()
) -> Any:
    """Keep a compiler under its name, for `lookup_backend`; it is never called."""
    if compiler_fn is None:
        return lambda given: register_backend(given, name, tags)
    _backends[name or compiler_fn.__name__] = compiler_fn
    return compiler_fn


def lookup_backend(compiler_fn: Any) -> Any:
    """Return the compiler of a name.

    Raises
    ------
    RuntimeError
        If none has been registered under it.
    """
    if not isinstance(compiler_fn, str):
        return compiler_fn
    if compiler_fn not in _backends:
        raise RuntimeError(
            f"Invalid backend: {compiler_fn!r}; nothing is compiled here, and "
            f"registered are {sorted(_backends)}"
        )
    return _backends[compiler_fn]


def explain(f: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return a function that calls `f`, and says that there is no graph.

    With arguments it is called at once, as PyTorch's older form.
    """

    def answer(*given: Any, **named: Any) -> Any:
        f(*given, **named)
        return SimpleNamespace(
            graphs=[], graph_count=0, graph_break_count=0, break_reasons=[], op_count=0
        )

    return answer(*args, **options) if args or options else answer
