"""Hooks that backward calls, and the methods of tensors for autograd."""

import weakref
from collections.abc import Callable
from typing import Any

from dtensor import _C
from dtensor.autograd import _backward
from dtensor.ops._make.operator import method

__all__ = ["RemovableHandle"]

Hook = Callable[[Any], Any]


class RemovableHandle:
    """A handle that removes a hook: by ``remove()`` or at the end of a ``with``."""

    def __init__(self, hooks: list[Any], entry: Any) -> None:
        self._hooks = hooks
        self._entry = entry

    def remove(self) -> None:
        """Remove the hook; do nothing if it is removed already."""
        self._hooks[:] = [entry for entry in self._hooks if entry is not self._entry]

    def __enter__(self) -> "RemovableHandle":
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def _add(tensor: _C.Tensor, kind: str, hook: Hook) -> RemovableHandle:
    hooks = _C.hooks_of(tensor)
    entry = (tensor.output_nr, kind, hook)
    hooks.append(entry)
    return RemovableHandle(hooks, entry)


@method
def register_hook(self: _C.Tensor, hook: Hook) -> RemovableHandle:
    """Call ``hook(grad)`` when backward has computed the gradient of this tensor.

    Parameters
    ----------
    hook : callable
        If it returns something other than None, this replaces the gradient.

    Returns
    -------
    RemovableHandle
        Its ``remove()`` removes the hook.

    Raises
    ------
    RuntimeError
        If the tensor requires no gradient.
    """
    if not self.requires_grad:
        raise RuntimeError(
            "cannot register a hook on a tensor that doesn't require gradient"
        )
    return _add(self, "grad", hook)


@method
def register_post_accumulate_grad_hook(self: _C.Tensor, hook: Hook) -> RemovableHandle:
    """Call ``hook(tensor)`` after backward has added to the `grad` of this leaf.

    Raises
    ------
    RuntimeError
        If the tensor requires no gradient or is not a leaf.
    """
    if not self.requires_grad:
        raise RuntimeError(
            "cannot register a hook on a tensor that doesn't require gradient"
        )
    if not self.is_leaf:
        raise RuntimeError(
            "post accumulate grad hooks cannot be registered on non-leaf tensors"
        )

    def call(leaf: Any) -> None:
        if hook(leaf) is not None:
            raise RuntimeError("Tensor post accumulate grad hooks should return None.")

    return _add(self, "accumulated", call)


@method
def retain_grad(self: _C.Tensor) -> None:
    """Make backward set `grad` of this tensor, as it does for leaves.

    If the tensor is written to in place, the gradient is that of its last value.

    Raises
    ------
    RuntimeError
        If the tensor requires no gradient.
    """
    if not self.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if self.is_leaf or self.retains_grad:
        return
    owner = weakref.ref(self)

    def retain(grad: Any) -> None:
        tensor = owner()
        if tensor is not None:
            tensor.grad = grad if tensor.grad is None else tensor.grad + grad

    _add(self, "retain", retain)  # runs after all hooks, also later ones


@method
def backward(
    self: _C.Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add gradients to the `grad` of the leaves that this tensor was computed from.

    The form of `dtensor.autograd.backward` for one tensor.
    """
    if gradient is None and inputs is None:
        keep = create_graph if retain_graph is None else retain_graph
        _C.run_backward((self,), None, keep, create_graph, None, True, True)
    else:
        _backward.backward(self, gradient, retain_graph, create_graph, inputs)


@method
def detach_(self: _C.Tensor) -> _C.Tensor:
    """Detach this tensor from its graph in place: it becomes a leaf."""
    return _C.forget_history(self)


# --- hooks of nodes -------------------------------------------------------------------


def _add_to_node(node: _C.Node, kind: str, hook: Callable[..., Any]) -> RemovableHandle:
    hooks = _C.hooks_of(node)
    entry = (-1, kind, hook)
    hooks.append(entry)
    return RemovableHandle(hooks, entry)


def _node_hook(self: _C.Node, fn: Callable[[Any, Any], Any]) -> RemovableHandle:
    """Call ``fn(grad_inputs, grad_outputs)`` after backward has gone through this node.

    Parameters
    ----------
    fn : callable
        It gets two tuples, of gradients and None: of what the node was made of, and of
        what it made. If it returns a tuple, this replaces the first one.

    Returns
    -------
    RemovableHandle
        Its ``remove()`` removes the hook.
    """
    return _add_to_node(self, "after", fn)


def _node_prehook(self: _C.Node, fn: Callable[[Any], Any]) -> RemovableHandle:
    """Call ``fn(grad_outputs)`` before backward goes through this node.

    Parameters
    ----------
    fn : callable
        It gets a tuple of gradients and None, of what the node made, behind the hooks
        of tensors. If it returns a tuple, this replaces them.

    Returns
    -------
    RemovableHandle
        Its ``remove()`` removes the hook.
    """
    return _add_to_node(self, "before", fn)


_C.install_in(_C.Node, {"register_hook": _node_hook, "register_prehook": _node_prehook})
