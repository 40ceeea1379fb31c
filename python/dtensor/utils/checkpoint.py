"""Activation checkpointing: backward recomputes forward, to save memory."""

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from dtensor import _C, random as _random
from dtensor._core.nested import mapped
from dtensor.amp.autocast_mode import present
from dtensor.autograd import Function, backward, enable_grad
from dtensor.autograd.graph import saved_tensors_hooks

__all__ = ["checkpoint", "checkpoint_sequential", "noop_context_fn"]

Context = AbstractContextManager[Any]


def noop_context_fn() -> tuple[Context, Context]:
    """Return two contexts that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool = False,
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
        Returns two contexts, for the first call and for the second.
    determinism_check : {"default", "none"}
        Whether the second call must save tensors of the same shapes and dtypes.
    debug : bool, default False
        Ignored.
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
    RuntimeError
        In backward, if the second call saves other tensors than the first.

    References
    ----------
    .. [1] T. Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016.
    """
    if use_reentrant:
        return _Reentrant.apply(function, preserve_rng_state, kwargs, *args)
    first, second = context_fn()
    # Saved as operators save tensors: outer hooks see them, and writes are detected.
    kept = mapped((args, kwargs), _C.Tensor, _C.save)

    def again() -> Any:
        inputs, options = mapped(kept, _C.Saved, _C.Saved.unpack)
        return function(*inputs, **options)

    frame = _Frame(
        again, second, preserve_rng_state, determinism_check != "none", early_stop
    )
    with saved_tensors_hooks(frame.pack, frame.unpack), first:
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
        preserve_rng_state: bool,
        check: bool,
        early_stop: bool,
    ) -> None:
        self._call = call
        self._context = context
        self._autocast = present()
        self._state = _random.get_rng_state() if preserve_rng_state else None
        self._check = check
        self._early_stop = early_stop
        self._metas: list[Any] = []
        self._made: dict[int, Any] = {}

    def pack(self, tensor: Any) -> int:
        """Save a number, and the tensor's shape and dtype."""
        self._metas.append((tuple(tensor.shape), tensor.dtype))
        return len(self._metas) - 1

    def unpack(self, number: int) -> Any:
        """Return the tensor of that number; the first time, compute all of them."""
        if number not in self._made:
            self._again()
        return self._made.pop(number)

    def _again(self) -> None:
        made: list[Any] = []

        def pack(tensor: Any) -> Any:
            made.append(tensor)
            if self._early_stop and len(made) == len(self._metas):
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
                contextlib.suppress(_Enough),
            ):
                self._call()
        finally:
            if before is not None:
                _random.set_rng_state(before)
        self._compare(made)
        self._made = dict(enumerate(made))

    def _compare(self, made: list[Any]) -> None:
        if len(made) != len(self._metas):
            raise RuntimeError(
                "checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation: "
                f"{len(self._metas)} and {len(made)}"
            )
        for number, (meta, tensor) in enumerate(zip(self._metas, made, strict=True)):
            have = (tuple(tensor.shape), tensor.dtype)
            if self._check and meta != have:
                raise RuntimeError(
                    "checkpoint: Recomputed values for the following tensors have "
                    "different metadata than during the forward pass: tensor at "
                    f"position {number} was {meta} and is {have}"
                )


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
