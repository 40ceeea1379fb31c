"""``torch.compiler``: nothing is compiled, so that functions stay as they are."""

import contextlib
import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from dtensor import _C
from dtensor.torch._create import as_tensor

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "config",
    "cudagraph_mark_step_begin",
    "disable",
    "get_default_backend",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "keep_portable_guards_unsafe",
    "keep_tensor_guards_unsafe",
    "list_backends",
    "load_cache_artifacts",
    "nested_compile_region",
    "reset",
    "save_cache_artifacts",
    "set_default_backend",
    "set_enable_guard_collectives",
    "set_stance",
    "skip_all_guards_unsafe",
    "skip_guard_on_all_nn_modules_unsafe",
    "skip_guard_on_globals_unsafe",
    "skip_guard_on_inbuilt_nn_modules_unsafe",
    "substitute_in_graph",
    "wrap_numpy",
]

config = SimpleNamespace(
    job_id=None,
    cache_key_tag="",
    force_disable_caches=False,
    dynamic_sources="",
    unbacked_sources="",
)
_backend: Any = "inductor"


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


class set_stance(contextlib.ContextDecorator):  # noqa: N801
    """Do nothing, also for a block or a function: nothing is compiled.

    Parameters
    ----------
    stance : str, default "default"
    **options
        Ignored.
    """

    def __init__(self, stance: str = "default", **options: Any) -> None:
        self.stance = stance

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None


def get_default_backend() -> Any:
    """Return what `set_default_backend` has set: "inductor", at first; no effect."""
    return _backend


def set_default_backend(backend: Any) -> None:
    """Keep a default, or None for the first one; nothing is compiled."""
    global _backend
    _backend = "inductor" if backend is None else backend


def set_enable_guard_collectives(enabled: bool) -> None:
    """Do nothing: there are no guards."""


def save_cache_artifacts() -> None:
    """Return None, as PyTorch before anything is compiled."""


def load_cache_artifacts(serialized_artifacts: bytes) -> None:
    """Return None: there is no cache."""


def nested_compile_region(fn: Any = None, **options: Any) -> Any:
    """Return a function unchanged; without one, a decorator for it."""
    return (lambda given: given) if fn is None else fn


def _guards(keep: bool) -> Callable[..., list[bool]]:
    def filter_fn(guard_entries: Any, keep_parameters: bool = False) -> list[bool]:
        return [keep for _ in guard_entries]

    filter_fn.__doc__ = f"Return {keep} for each guard; there are none."
    return filter_fn


keep_portable_guards_unsafe = keep_tensor_guards_unsafe = _guards(True)
skip_all_guards_unsafe = skip_guard_on_all_nn_modules_unsafe = _guards(False)
skip_guard_on_globals_unsafe = skip_guard_on_inbuilt_nn_modules_unsafe = _guards(False)


def wrap_numpy(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of tensors, of one of NumPy's arrays.

    Of a DTensor the function gets the whole: collective, then.
    """

    @functools.wraps(fn)
    def answer(*args: Any, **options: Any) -> Any:
        given = {name: _array(x) for name, x in options.items()}
        return _tensors(fn(*map(_array, args), **given))

    return answer


def _array(x: Any) -> Any:
    if isinstance(x, _C.DTensor):
        x = x.full_tensor()
    return np.asarray(x.detach()) if isinstance(x, _C.Tensor) else x


def _tensors(x: Any) -> Any:
    if isinstance(x, tuple | list):
        return type(x)(map(_tensors, x))
    return as_tensor(x) if isinstance(x, np.ndarray | np.generic) else x
