"""Activation checkpointing: backward recomputes forward, to save memory."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

from dtensor import _C, random as _random
from dtensor._core.nested import mapped
from dtensor.amp.autocast_mode import present
from dtensor.autograd import Function, backward, enable_grad
from dtensor.autograd.graph import saved_tensors_hooks
from dtensor.utils._selective import Selecting, called_operators

__all__ = [
    "CheckpointError",
    "checkpoint",
    "checkpoint_sequential",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]

Context = AbstractContextManager[Any]


class CheckpointError(RuntimeError):
    """The second call of a function has saved other tensors than the first."""


class _Settings(threading.local):
    """Of this thread: what takes the place of arguments of `checkpoint`, or None."""

    debug: bool | None = None
    early_stop: bool | None = None


_settings = _Settings()


def noop_context_fn() -> tuple[Context, Context]:
    """Return two contexts that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


@contextlib.contextmanager
def _setting(name: str, value: bool | None) -> Iterator[None]:
    before = getattr(_settings, name)
    setattr(_settings, name, value)
    try:
        yield
    finally:
        setattr(_settings, name, before)


def set_checkpoint_debug_enabled(enabled: bool | None) -> Context:
    """Return a context in which `debug` of `checkpoint` is this; None: as it is told.

    It counts where `checkpoint` is called. Not collective; local to this thread.
    """
    return _setting("debug", enabled)


def set_checkpoint_early_stop(enable: bool) -> Context:
    """Return a context in which `early_stop` of `checkpoint` is this.

    It counts where `checkpoint` is called. Not collective; local to this thread.
    """
    return _setting("early_stop", enable)


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = False,
    context_fn: Callable[[], tuple[Context, Context]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Call a function whose activations backward recomputes instead of keeping.

    The second call is within `autocast` if the first one was.

    Collective if the function is: backward calls it once more, on all ranks.

    Parameters
    ----------
    function : callable
        Called with `args` and `kwargs`; the second time with the same random numbers.
    use_reentrant : bool, default False
        torch's older variant, in which tensors inside lists, and the inputs of
        `autograd.grad`, get no gradient.
    context_fn : callable, optional
        Returns two contexts, for the first call and for the second. Those of
        `torch.utils.checkpoint.create_selective_checkpoint_contexts` choose what is
        kept.
    determinism_check : {"default", "none"}
        Whether the second call must save tensors of the same shapes and dtypes.
    debug : bool, default False
        Whether the error of other tensors names the operators of both calls.
    early_stop : bool, default True
        End the second call once it has recomputed all that is needed.
    preserve_rng_state : bool, default True
        Whether the second call starts with the random state of the first.

    Returns
    -------
    object
        What the function returns.

    Raises
    ------
    CheckpointError
        In backward, if the second call saves other tensors than the first: a
        RuntimeError.
    ValueError
        If `determinism_check` is anything else, or `use_reentrant` comes with
        `context_fn` or `debug`.

    References
    ----------
    .. [1] T. Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016.
    """
    debug = debug if _settings.debug is None else _settings.debug
    if _settings.early_stop is not None:
        early_stop = _settings.early_stop
    if determinism_check not in ("default", "none"):
        raise ValueError(
            "determinism_check should be one of ['default', 'none'], but got "
            f"{determinism_check}"
        )
    if use_reentrant:
        if context_fn is not noop_context_fn or debug:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when "
                "use_reentrant=False."
            )
        return _Reentrant.apply(function, preserve_rng_state, kwargs, *args)
    first, second = context_fn()
    selecting = first if isinstance(first, Selecting) else None

    def save(x: Any) -> Any:
        saved = _C.save(x)  # outer hooks see it, and writes are detected
        if selecting is not None:
            selecting.know(x, saved.unpack)
        return saved

    kept = mapped((args, kwargs), _C.Tensor, save)

    def again() -> Any:
        inputs, options = mapped(kept, _C.Saved, _C.Saved.unpack)
        return function(*inputs, **options)

    check = determinism_check != "none"
    frame = _Frame(again, second, selecting, preserve_rng_state, check, early_stop)
    if debug:
        frame.names = ([], [])
    with saved_tensors_hooks(frame.pack, frame.unpack), first, frame.listening(0):
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, **options: Any
) -> Any:
    """Checkpoint a Sequential, or a list of functions, in segments.

    Parameters
    ----------
    functions : Sequential or list of callable
        The functions, which are called one after the other.
    segments : int
        The number of segments; the last one is not checkpointed.
    input : Tensor or DTensor
        The input of the first function.
    **options
        As for `checkpoint`.
    """
    children = getattr(functions, "children", None)
    chain = list(functions if children is None else children())
    size = len(chain) // segments

    def run(start: int, end: int) -> Callable[[Any], Any]:
        def forward(x: Any) -> Any:
            for function in chain[start:end]:
                x = function(x)
            return x

        return forward

    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(run(start, end), input, **options)
    return run(end, len(chain))(input)


# --- with hooks on saved tensors ------------------------------------------------------


class _Enough(Exception):
    """The second call has recomputed all tensors that the first one saved."""


class _Frame:
    """One call: the tensors that it saved, and those that the second call made."""

    def __init__(
        self,
        call: Callable[[], Any],
        context: Context,
        selecting: Selecting | None,
        preserve_rng_state: bool,
        check: bool,
        early_stop: bool,
    ) -> None:
        self._call = call
        self._context = context
        self._selecting = selecting
        self._autocast = present()
        self._state = _random.get_rng_state() if preserve_rng_state else None
        self._check = check
        self._early_stop = early_stop
        self._metas: list[Any] = []
        self._kept: dict[int, Any] = {}  # what the policy keeps, by its number
        self._made: dict[int, Any] = {}
        self.names: tuple[list[str], list[str]] | None = None

    def listening(self, place: int) -> Context:
        """Return a context that notes the names of operators, for debugging."""
        if self.names is None:
            return contextlib.nullcontext()
        return called_operators(self.names[place])

    def pack(self, tensor: Any) -> int:
        """Save a number, and the tensor's shape and dtype."""
        self._metas.append((tuple(tensor.shape), tensor.dtype))
        number = len(self._metas) - 1
        if self._selecting is not None:
            self._selecting.packed(self._kept, number, tensor)
        return number

    def unpack(self, number: int) -> Any:
        """Return the tensor of that number; the first time, compute all of them."""
        if number in self._kept:
            return self._kept[number]()
        if number not in self._made:
            self._again()
        return self._made.pop(number)

    def _again(self) -> None:
        made: list[Any] = []
        wanted = [k for k in range(len(self._metas)) if k not in self._kept]
        enough = wanted[-1] + 1

        def pack(tensor: Any) -> Any:
            made.append(tensor)
            if self._early_stop and len(made) == enough:
                raise _Enough
            return tensor

        before = _random.get_rng_state() if self._state is not None else None
        try:
            if self._state is not None:
                _random.set_rng_state(self._state)
            with (
                enable_grad(),
                saved_tensors_hooks(pack, lambda tensor: tensor),
                self._context,
                self._autocast,
                self.listening(1),
                contextlib.suppress(_Enough),
            ):
                self._call()
        finally:
            if before is not None:
                _random.set_rng_state(before)
        self._compare(made, enough if self._early_stop else len(self._metas))
        self._made = {k: made[k] for k in wanted}

    def _compare(self, made: list[Any], count: int) -> None:
        if len(made) != count:
            raise CheckpointError(
                "checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation: "
                f"{len(self._metas)} and {len(made)}{self._told()}"
            )
        for number, (meta, tensor) in enumerate(zip(self._metas, made, strict=False)):
            have = (tuple(tensor.shape), tensor.dtype)
            if self._check and meta != have:
                raise CheckpointError(
                    "checkpoint: Recomputed values for the following tensors have "
                    "different metadata than during the forward pass: tensor at "
                    f"position {number} was {meta} and is {have}{self._told()}"
                )

    def _told(self) -> str:
        """Return what debugging tells of both calls."""
        if self.names is None:
            return "; debug=True names the operators"
        first, second = map(" ".join, self.names)
        return f"; operators of the first call: {first}; of the second: {second}"


# --- with a backward within backward --------------------------------------------------


class _Reentrant(Function):
    @staticmethod
    def forward(
        ctx: Any, function: Callable[..., Any], preserve: bool, kwargs: Any, *args: Any
    ) -> Any:
        ctx.function, ctx.kwargs, ctx.autocast = function, kwargs, present()
        ctx.state = _random.get_rng_state() if preserve else None
        ctx.tensors = [k for k, x in enumerate(args) if isinstance(x, _C.Tensor)]
        ctx.args = [None if k in ctx.tensors else x for k, x in enumerate(args)]
        ctx.save_for_backward(*(args[k] for k in ctx.tensors))
        return function(*args, **kwargs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        args = list(ctx.args)
        for k, x in zip(ctx.tensors, ctx.saved_tensors, strict=True):
            args[k] = x.detach().requires_grad_(x.requires_grad)
        before = _random.get_rng_state()
        try:
            if ctx.state is not None:
                _random.set_rng_state(ctx.state)
            with enable_grad(), ctx.autocast:
                outputs = ctx.function(*args, **ctx.kwargs)
        finally:
            _random.set_rng_state(before)
        outputs = outputs if isinstance(outputs, tuple | list) else (outputs,)
        pairs = [
            (y, g)
            for y, g in zip(outputs, grads, strict=True)
            if isinstance(y, _C.Tensor) and y.requires_grad
        ]
        backward([y for y, _ in pairs], [g for _, g in pairs])
        return (
            None,
            None,
            None,
            *(x.grad if isinstance(x, _C.Tensor) else None for x in args),
        )
