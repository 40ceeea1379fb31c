"""Which submodules `FullyShardedDataParallel` wraps on their own."""

import contextlib
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dtensor.fsdp._state import state_of
from dtensor.nn import Module, ModuleDict, ModuleList, MultiheadAttention

__all__ = [
    "CustomPolicy",
    "ModuleWrapPolicy",
    "always_wrap_policy",
    "enable_wrap",
    "lambda_auto_wrap_policy",
    "size_based_auto_wrap_policy",
    "transformer_auto_wrap_policy",
    "wrap",
]

Chosen = bool | dict[str, Any]


# --- policies -------------------------------------------------------------------------


class ModuleWrapPolicy:
    """A policy that wraps the modules of some classes, each on its own.

    Parameters
    ----------
    module_classes : iterable of type
    """

    def __init__(self, module_classes: Iterable[type]) -> None:
        self._classes = tuple(module_classes)

    def __call__(
        self, module: Module, recurse: bool, *args: Any, **kwargs: Any
    ) -> bool:
        """Return whether to wrap `module`; always look below it."""
        return recurse or isinstance(module, self._classes)

    def __repr__(self) -> str:
        names = ", ".join(each.__name__ for each in self._classes)
        return f"ModuleWrapPolicy({names})"


class CustomPolicy:
    """A policy that asks a function of each module.

    Parameters
    ----------
    lambda_fn : callable
        ``lambda_fn(module)`` returns whether to wrap the module, or a dict: arguments
        of `FullyShardedDataParallel` that differ from those of the whole model. An
        empty dict says no.

    Raises
    ------
    ValueError
        While a model is wrapped, if the function returns anything else.
    """

    def __init__(self, lambda_fn: Callable[[Module], Chosen]) -> None:
        self._function = lambda_fn

    def __call__(
        self, module: Module, recurse: bool, *args: Any, **kwargs: Any
    ) -> Chosen:
        """Return what the function says of `module`; always look below it."""
        if recurse:
            return True
        found = self._function(module)
        if not isinstance(found, dict | bool):
            raise ValueError(
                "The lambda_fn passed to CustomPolicy should return False/True or a "
                f"kwarg dict, but it returned {found}"
            )
        return found


def always_wrap_policy(*args: Any, **kwargs: Any) -> bool:
    """Return True: every module is wrapped."""
    return True


def lambda_auto_wrap_policy(
    module: Module,
    recurse: bool,
    nonwrapped_numel: int,
    lambda_fn: Callable[[Module], bool],
) -> bool:
    """Return whether a function says yes to a module; always look below it."""
    return recurse or lambda_fn(module)


def transformer_auto_wrap_policy(
    module: Module,
    recurse: bool,
    nonwrapped_numel: int,
    transformer_layer_cls: Iterable[type] = (),
) -> bool:
    """Return whether a module is a layer of these classes; always look below it."""
    return recurse or isinstance(module, tuple(transformer_layer_cls))


FORCE_LEAF_MODULES: set[type] = {MultiheadAttention}
EXCLUDE_WRAP_MODULES: set[type] = {ModuleList, ModuleDict}


def size_based_auto_wrap_policy(
    module: Module,
    recurse: bool,
    nonwrapped_numel: int,
    min_num_params: int = 100_000_000,
    force_leaf_modules: set[type] | None = None,
    exclude_wrap_modules: set[type] | None = None,
) -> bool:
    """Return whether a module has that many elements in parameters not yet wrapped.

    Parameters
    ----------
    module, recurse, nonwrapped_numel
        As of every policy.
    min_num_params : int
    force_leaf_modules : set of type, optional
        Classes of modules below which nothing is wrapped; default:
        `MultiheadAttention`.
    exclude_wrap_modules : set of type, optional
        Classes of modules that are not wrapped themselves; default: `ModuleList` and
        `ModuleDict`, which have no forward.
    """
    left_out = (
        (FORCE_LEAF_MODULES if force_leaf_modules is None else force_leaf_modules)
        if recurse
        else EXCLUDE_WRAP_MODULES
        if exclude_wrap_modules is None
        else exclude_wrap_modules
    )
    return nonwrapped_numel >= min_num_params and not isinstance(
        module, tuple(left_out)
    )


size_based_auto_wrap_policy.FORCE_LEAF_MODULES = FORCE_LEAF_MODULES  # type: ignore[attr-defined]
size_based_auto_wrap_policy.EXCLUDE_WRAP_MODULES = EXCLUDE_WRAP_MODULES  # type: ignore[attr-defined]


def wrap_below(
    module: Module,
    policy: Callable[..., Chosen],
    wrapper: Callable[..., Module],
    ignored: Iterable[Module] = (),
    ignored_params: Iterable[Any] = (),
) -> None:
    """Put wrapped submodules in the places of those that a policy selects.

    The innermost come first. A container without a forward stays as it is if all that
    is in it has been wrapped.

    Parameters
    ----------
    module : Module
        Not wrapped itself.
    policy : callable
    wrapper : callable
        ``wrapper(module, **overrides)`` returns the wrapped module.
    ignored, ignored_params : iterable
        Modules that are passed over, and parameters that do not count.
    """
    passed = {id(each) for each in ignored}
    uncounted = {id(each) for each in ignored_params}
    done: dict[int, tuple[Module, int]] = {}  # a module may have several places

    def size(module: Module) -> int:
        counted = (p for p in module.parameters() if id(p) not in uncounted)
        return sum(math.prod(p.shape) for p in counted)

    def inside(module: Module, total: int) -> int:
        wrapped = 0
        if policy(module=module, recurse=True, nonwrapped_numel=total):
            for name, child in list(module.named_children()):
                if id(child) not in passed:
                    new, count = result(child)
                    wrapped += count
                    if new is not child:
                        setattr(module, name, new)
        return wrapped

    def result(child: Module) -> tuple[Module, int]:
        if id(child) not in done:
            total = size(child)
            done[id(child)] = child, total
            if state_of(getattr(child, "_fsdp_wrapped_module", child)) is None:
                done[id(child)] = chosen(child, total, inside(child, total))
        return done[id(child)]

    def chosen(child: Module, total: int, wrapped: int) -> tuple[Module, int]:
        left = total - wrapped
        if isinstance(child, ModuleList | ModuleDict) and not left:
            return child, wrapped
        options = policy(module=child, recurse=False, nonwrapped_numel=left)
        if not options:
            return child, wrapped
        return wrapper(child, **(options if isinstance(options, dict) else {})), total

    inside(module, size(module))


# --- wrapping while a model is made ---------------------------------------------------


class _Open(threading.local):
    """The block of this thread, which may be a rank."""

    wrapper: Callable[..., Module] | None = None
    options: Mapping[str, Any] = {}


_open = _Open()


@contextlib.contextmanager
def enable_wrap(*, wrapper_cls: Any, **wrapper_kwargs: Any) -> Iterator[None]:
    """Within the block, `wrap` wraps modules.

    Parameters
    ----------
    wrapper_cls : callable
        Such as `FullyShardedDataParallel`.
    **wrapper_kwargs
        Its arguments.

    Raises
    ------
    NotImplementedError
        Within another such block.
    """
    if _open.wrapper is not None:
        raise NotImplementedError(
            "You are already within an autowrap context and we currently do not "
            "support nested autowrap: pass what differs to wrap(module, ...)"
        )
    _open.wrapper, _open.options = wrapper_cls, wrapper_kwargs
    try:
        yield
    finally:
        _open.wrapper, _open.options = None, {}


def wrap(module: Module, **wrap_overrides: Any) -> Module:
    """Return a module wrapped, within a block of `enable_wrap`; elsewhere itself.

    Collective if the wrapper is.

    Parameters
    ----------
    module : Module
    **wrap_overrides
        Arguments of the wrapper, instead of those of `enable_wrap`.
    """
    if _open.wrapper is None:
        return module
    return _open.wrapper(module, **{**_open.options, **wrap_overrides})
