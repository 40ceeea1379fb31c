"""Operations with a gradient that the user defines: `Function`."""

import functools
from collections.abc import Callable
from typing import Any

from dtensor import _C
from dtensor.autograd import _backward
from dtensor.autograd.grad_mode import no_grad

__all__ = ["Function", "FunctionCtx", "once_differentiable"]


class FunctionCtx:
    """What `forward` keeps for `backward`; any attribute may be set.

    Attributes
    ----------
    needs_input_grad : tuple of bool
        For each argument of ``apply``, whether its gradient is needed.
    saved_tensors : tuple
        What `save_for_backward` was given.
    """

    needs_input_grad: tuple[bool, ...] = ()

    def __init__(self) -> None:
        self._saved: tuple[Any, ...] = ()
        self._materialize = True
        self._plain: set[int] = set()
        self._dirty: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors, or None, until backward."""
        self._saved = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Do nothing: it is for `jvp`, and there is no forward mode to call that."""

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The saved tensors; RuntimeError if one was written to since."""
        return tuple(x.unpack() if isinstance(x, _C.Saved) else x for x in self._saved)

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Mark outputs that have no gradient."""
        self._plain |= {id(x) for x in tensors}

    def mark_dirty(self, *tensors: Any) -> None:
        """Mark inputs that `forward` has written to and returns."""
        self._dirty = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Set whether `backward` gets zeros, not None, for an unused output."""
        self._materialize = value


class Function:
    """An operation with its own gradient: override `forward` and `backward`.

    Call it with ``apply``; never make an instance. Operators within `forward` are not
    recorded. If `setup_context` is overridden, `forward` gets no context.

    Examples
    --------
    >>> import dtensor
    >>> class Square(Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * grad
    >>> x = dtensor.tensor([3.0], requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    Tensor([6.], dtype=float32)
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute; the context comes first, unless `setup_context` is overridden."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Save what backward needs, if `forward` gets no context."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return a gradient or None for each argument of `forward` but the context."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call `forward`, and record `backward`.

        Raises
        ------
        RuntimeError
            In backward, if `backward` returns more or fewer gradients than there are
            arguments.
        """
        ctx = FunctionCtx()
        recording = _C.is_grad_enabled()
        ctx.needs_input_grad = tuple(
            isinstance(x, _C.Tensor) and x.requires_grad and recording for x in args
        )
        with no_grad():
            if cls.setup_context is Function.setup_context:
                given = (ctx, *args)
                output = _C.carried(cls.__qualname__, cls.forward, given, kwargs)
            else:
                output = _C.carried(cls.__qualname__, cls.forward, args, kwargs)
                cls.setup_context(ctx, args, output)
        if ctx._dirty:
            _check_returned(ctx, output)
        if any(ctx.needs_input_grad):
            return _record(cls, ctx, args, output)
        return output


def _outputs(output: Any) -> tuple[Any, ...]:
    return tuple(output) if isinstance(output, tuple | list) else (output,)


def _check_returned(ctx: FunctionCtx, output: Any) -> None:
    """Raise RuntimeError if an input that was written to is not an output."""
    outputs = _outputs(output)
    if not all(any(x is d for x in outputs) for d in ctx._dirty):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned "
            "as output. The inputs that are modified inplace must all be outputs of "
            "the Function."
        )


def _written(
    cls: type[Function], ctx: FunctionCtx, args: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Return the inputs that were written to and have a gradient; check that it can be
    recorded."""
    written = tuple(x for x in ctx._dirty if any(x is arg for arg in args))
    for x in written:
        if x.is_leaf and x.requires_grad:
            raise RuntimeError(
                "a leaf Variable that requires grad has been used in an in-place "
                "operation."
            )
        _C.check_write(cls.__name__, x, args)
    return tuple(x for x in written if id(x) not in ctx._plain)


def _record(
    cls: type[Function], ctx: FunctionCtx, args: tuple[Any, ...], output: Any
) -> Any:
    written = _written(cls, ctx, args)
    several = isinstance(output, tuple | list)
    outputs = tuple(_own(x, args, ctx) for x in _outputs(output))
    places = [k for k, x in enumerate(args) if isinstance(x, _C.Tensor)]
    inputs = tuple(args[k] for k in places)
    metas = [_C.operand_of(x) if isinstance(x, _C.Tensor) else None for x in outputs]

    def back(*grads: Any) -> tuple[Any, ...]:
        if ctx._materialize:
            grads = tuple(
                _backward.zeros(meta) if grad is None and meta is not None else grad
                for grad, meta in zip(grads, metas, strict=True)
            )
        name = f"{cls.__qualname__}.backward"
        given = _C.carried(name, cls.backward, (ctx, *grads))
        given = given if isinstance(given, tuple) else (given,)
        if len(given) < len(args) or any(g is not None for g in given[len(args) :]):
            raise RuntimeError(
                f"function {cls.__name__} returned an incorrect number of gradients "
                f"(expected {len(args)}, got {len(given)})"
            )
        return tuple(given[k] for k in places)

    kept = tuple(x if id(x) not in ctx._plain else None for x in outputs)
    ctx._saved = tuple(
        _C.save(x) if isinstance(x, _C.Tensor) else x for x in ctx._saved
    )
    _C.record_function(cls.__name__, back, inputs, kept, written)
    return outputs if several else outputs[0]


def _own(x: Any, args: tuple[Any, ...], ctx: FunctionCtx) -> Any:
    """Return an output as a new object, unless it was written to."""
    if any(x is arg for arg in args) and not any(x is d for d in ctx._dirty):
        return x.detach() if isinstance(x, _C.Tensor) else x
    return x


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Make `backward` return gradients that have no gradient themselves."""

    @functools.wraps(backward)
    def once(ctx: Any, *grads: Any) -> Any:
        with no_grad():
            return backward(ctx, *grads)

    return once
