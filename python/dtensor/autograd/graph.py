"""The recorded graph: its nodes and edges, hooks on saved tensors and on gradients."""

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from dtensor import _C
from dtensor._C import Node
from dtensor.autograd._backward import GradientEdge
from dtensor.autograd._hooks import RemovableHandle

__all__ = [
    "GradientEdge",
    "Node",
    "RemovableHandle",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class _State(threading.local):
    """Of this thread: why hooks on saved tensors are refused, and whether copies are
    saved."""

    refused: str | None = None
    copying = False


_state = _State()


# --- saved tensors --------------------------------------------------------------------


class saved_tensors_hooks:
    """Pass every tensor that is saved for backward through the user's functions.

    They apply to what this thread records within the ``with`` block. In nested blocks
    the innermost hooks apply. RuntimeError within `disable_saved_tensors_hooks`.

    Parameters
    ----------
    pack_hook : callable
        ``pack_hook(tensor)`` returns any object, which is saved instead of the tensor.
    unpack_hook : callable
        ``unpack_hook(packed)`` returns a tensor of the same values when backward needs
        it.
    """

    def __init__(
        self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]
    ) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook
        self._before: list[Any] = []

    def __enter__(self) -> None:
        self._set(self.pack_hook, self.unpack_hook)

    def _set(self, pack: Any, unpack: Any) -> None:
        if _state.refused is not None:
            raise RuntimeError(_state.refused)
        self._before.append(_C.set_saved_hooks(pack, unpack))

    def __exit__(self, *error: object) -> None:
        _C.set_saved_hooks(*self._before.pop())


class save_on_cpu(saved_tensors_hooks):
    """Save tensors in the memory of the CPU: where they are, so nothing is copied.

    As in PyTorch it takes the place of other hooks, such as those of a checkpoint
    around it. Writes to what was saved are detected, as without it.

    Parameters
    ----------
    pin_memory, device_type
        Without effect.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(_same, _same)

    def __enter__(self) -> None:
        self._set(None, None)


def _same(tensor: Any) -> Any:
    return tensor


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """Refuse hooks on saved tensors within a block of this thread. Not collective.

    Parameters
    ----------
    error_message : str
        What RuntimeError says where hooks, or checkpoints, are used; and here, if there
        are hooks already.
    """
    hooks = _C.set_saved_hooks(None, None)
    _C.set_saved_hooks(*hooks)
    if hooks[0] is not None:
        raise RuntimeError(error_message)
    before, _state.refused = _state.refused, error_message
    try:
        yield
    finally:
        _state.refused = before


class _AllowMutationOnSavedContext:
    """What `allow_mutation_on_saved_tensors` yields: it has no state to show."""

    def clear(self) -> None:
        """Do nothing."""


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """Let tensors be written to that backward needs: it gets what they were.

    Each tensor is copied when it is saved, where PyTorch copies those that are written
    to when this happens: it costs the memory of all that is saved. Backward may also
    run after the block. Not collective: nothing is sent.

    Raises
    ------
    RuntimeError
        If blocks are nested, or hooks on saved tensors are disabled.
    """
    if _state.copying:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    with saved_tensors_hooks(lambda tensor: tensor.detach().clone(), _same):
        _state.copying = True
        try:
            yield _AllowMutationOnSavedContext()
        finally:
            _state.copying = False


def increment_version(tensor: Any) -> None:
    """Note that tensors were written to in a way that the library does not know of.

    Not collective; but of a DTensor all ranks must note it alike.

    Parameters
    ----------
    tensor : Tensor, DTensor or iterable of these
        Backward that needs what they were raises RuntimeError.

    Raises
    ------
    RuntimeError
        If it is anything else.
    """
    given = [tensor] if isinstance(tensor, _C.Tensor) else tensor
    if isinstance(given, Iterable):
        given = list(given)
    if not isinstance(given, list) or not all(isinstance(x, _C.Tensor) for x in given):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for x in given:
        _C.written(x, "increment_version")


# --- edges ----------------------------------------------------------------------------


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """Return where the gradient of a tensor is computed, without its elements.

    `autograd.grad` and `autograd.backward` take it in place of the tensor; as an output
    it needs a gradient that is given. Not collective.

    Parameters
    ----------
    tensor : Tensor or DTensor

    Returns
    -------
    GradientEdge
        Its `node` is the leaf itself where PyTorch has an object AccumulateGrad.

    Raises
    ------
    RuntimeError
        If the tensor requires no gradient.
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not "
            "require gradients"
        )
    if tensor.is_leaf:
        return GradientEdge(tensor, 0, tensor)
    if isinstance(tensor, _C.DTensor):
        bare: Any = _C.without_data(tensor.layout)
    else:
        bare = _C.without_data(tuple(tensor.shape), tensor.dtype)
    made = _C.into_torch(bare) if _C.is_torch(tensor) else bare
    _C.take_node(made, tensor)
    return GradientEdge(tensor.grad_fn, tensor.output_nr, made)


# --- hooks on several gradients -------------------------------------------------------


class _Handles(RemovableHandle):
    """A handle that removes the hooks of several tensors."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self._handles = handles

    def remove(self) -> None:
        """Remove the hooks; do nothing if they are removed already."""
        for handle in self._handles:
            handle.remove()


class _Round:
    """What one backward has computed; called at its end, if it does not fail."""

    def __init__(self, end: Callable[[], None]) -> None:
        self.grads: dict[int, Any] = {}
        self._end = end

    def __call__(self) -> None:
        self._end()


class _Several:
    """The gradients of some tensors, as each backward computes them."""

    def __init__(self, count: int, fn: Callable[[Any], Any], first: bool) -> None:
        self._count, self._fn, self._first = count, fn, first
        # By the depth of the backward, which alone keeps its round.
        self._rounds: weakref.WeakValueDictionary[int, _Round]
        self._rounds = weakref.WeakValueDictionary()

    def hook(self, place: int) -> Callable[[Any], None]:
        """Return the hook of a tensor."""

        def note(grad: Any) -> None:
            depth = _C.backward_depth()
            current = self._rounds.get(depth)
            if current is None:
                current = _Round(lambda: self._end(depth))
                self._rounds[depth] = current
                _C.queue_callback(current)
            current.grads[place] = grad
            if self._first and len(current.grads) == 1:
                self._fn(grad)
            elif not self._first and len(current.grads) == self._count:
                self._call(current)

        return note

    def _call(self, current: _Round) -> None:
        self._fn([current.grads.get(place) for place in range(self._count)])

    def _end(self, depth: int) -> None:
        current = self._rounds.pop(depth)
        if not self._first and len(current.grads) < self._count:
            self._call(current)


def register_multi_grad_hook(
    tensors: Sequence[Any], fn: Callable[[Any], Any], *, mode: str = "all"
) -> RemovableHandle:
    """Call a function with the gradients of several tensors.

    Not collective; what `fn` does may be, on all ranks alike.

    Parameters
    ----------
    tensors : sequence of Tensor or DTensor
    fn : callable
        Its result is ignored.
    mode : {"all", "any"}
        "all": ``fn(grads)`` is called when a backward has computed all of them, or at
        its end, with None for those that it has not computed; "any": ``fn(grad)`` is
        called with the first one.

    Returns
    -------
    RemovableHandle
        Its ``remove()`` removes the hooks.

    Raises
    ------
    ValueError
        If `mode` is anything else.
    RuntimeError
        If a tensor requires no gradient.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    for x in tensors:
        if not x.requires_grad:
            raise RuntimeError(
                "cannot register a hook on a tensor that doesn't require gradient"
            )
    several = _Several(len(tensors), fn, mode == "any")
    return _Handles([x.register_hook(several.hook(k)) for k, x in enumerate(tensors)])
