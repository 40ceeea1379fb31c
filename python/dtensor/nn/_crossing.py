"""Where gradients enter and leave a module: full backward hooks."""

from collections.abc import Callable, Sequence
from typing import Any

from dtensor._C import Tensor
from dtensor.autograd import Function, is_grad_enabled

__all__ = ["Crossing"]

Grads = tuple[Any, ...]


class _Gate(Function):
    """The identity, which passes the gradients that come back to a function."""

    @staticmethod
    def forward(ctx: Any, seen: Callable[[Grads], Grads], *tensors: Tensor) -> Any:
        ctx.seen = seen
        return tuple(tensor.detach() for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, *ctx.seen(grads)


class Crossing:
    """One call of a module that has backward hooks.

    Inputs and outputs that require gradients go through one gate each. In backward the
    gate of the outputs comes first: it calls the pre-hooks. Then the gate of the inputs
    calls the hooks; if there is none, the gate of the outputs does.
    """

    def __init__(
        self,
        module: Any,
        pre_hooks: Sequence[Callable[..., Any]],
        hooks: Sequence[Callable[..., Any]],
    ) -> None:
        self.module, self.pre_hooks, self.hooks = module, pre_hooks, hooks
        self.inputs = self.outputs = 0  # their numbers
        self.entered: list[int] = []  # the inputs that go through a gate
        self.left: list[int] = []  # the outputs that do
        self.grad_output: Grads = ()

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the inputs of forward."""
        self.inputs = len(args)
        self.entered, args = _through(args, self._at_inputs)
        return args

    def leave(self, result: Any) -> Any:
        """Return the output of forward; only tensors and tuples get a gate."""
        many = isinstance(result, tuple)
        results = result if many else (result,)
        self.outputs = len(results)
        self.left, through = _through(results, self._at_outputs)
        if not self.left:
            return result
        if not many:
            return through[0]
        kind: Any = type(result)
        return kind(*through) if hasattr(result, "_fields") else kind(through)

    def _at_outputs(self, grads: Grads) -> Grads:
        given = _spread(grads, self.left, self.outputs)
        for hook in self.pre_hooks:
            given = _answer(hook(self.module, given), given, "pre hook", "grad_output")
        self.grad_output = given
        if not self.entered:
            nothing = (None,) * self.inputs
            for hook in self.hooks:
                answer = hook(self.module, nothing, given)
                if answer is not None and any(grad is not None for grad in answer):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient "
                        "should always return None or None for all gradients."
                    )
        return tuple(given[k] for k in self.left)

    def _at_inputs(self, grads: Grads) -> Grads:
        if not self.left:  # the output was not made of tensors
            return grads
        given = _spread(grads, self.entered, self.inputs)
        for hook in self.hooks:
            answer = hook(self.module, given, self.grad_output)
            given = _answer(answer, given, "hook", "grad_input")
        return tuple(given[k] for k in self.entered)


def _through(
    values: tuple[Any, ...], seen: Callable[[Grads], Grads]
) -> tuple[list[int], tuple[Any, ...]]:
    """Send tensors that require gradients through a gate; return their indices."""
    places = [
        k
        for k, value in enumerate(values)
        if isinstance(value, Tensor) and value.requires_grad
    ]
    if not places or not is_grad_enabled():
        return [], values
    out = list(values)
    passed = _Gate.apply(seen, *(values[k] for k in places))
    for k, value in zip(places, passed, strict=True):
        out[k] = value
    return places, tuple(out)


def _spread(grads: Grads, places: list[int], count: int) -> Grads:
    out: list[Any] = [None] * count
    for k, grad in zip(places, grads, strict=True):
        out[k] = grad
    return tuple(out)


def _answer(answer: Any, given: Grads, who: str, what: str) -> Grads:
    """Return the gradients after a hook."""
    if answer is None:
        return given
    grads = answer if isinstance(answer, tuple) else (answer,)
    if len(grads) != len(given):
        raise RuntimeError(
            f"Backward {who} returned an invalid number of {what}, got {len(grads)}, "
            f"but expected {len(given)}"
        )
    return grads
