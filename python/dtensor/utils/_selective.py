"""Selective checkpoints: tensors that a policy keeps, and who listens to operators."""

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core.nested import leaves as flat

__all__ = ["Selecting", "called_operators"]

Listener = Callable[[_C.Operator, tuple[Any, ...], dict[str, Any], Any], object]


class _Current(threading.local):
    """Who is told of the operators of this thread."""

    listener: Listener | None = None


_current = _Current()


@contextlib.contextmanager
def _listening(listener: Listener) -> Iterator[None]:
    before, _current.listener = _current.listener, listener
    _C.set_recorder(listener)
    try:
        yield
    finally:
        _current.listener = before
        _C.set_recorder(before)


@contextlib.contextmanager
def called_operators(names: list[str]) -> Iterator[None]:
    """Add to a list the names of the operators that this thread calls."""
    with _listening(lambda op, _args, _kwargs, _result: names.append(op.__name__)):
        yield


def _array(x: Any) -> Any:
    return (x._local_tensor if isinstance(x, _C.DTensor) else x).numpy(force=True)


def _range(x: Any) -> tuple[int, int]:
    """Return where the elements of a tensor begin and end."""
    low, high = np.lib.array_utils.byte_bounds(_array(x))
    return int(low), int(high)


def _is_spread(x: Any) -> bool:
    return isinstance(x, _C.DTensor) and x.device_mesh.size() > 1


def _place(x: Any) -> tuple[Any, ...] | None:
    """Return what two tensors of the same elements have in common.

    Of a DTensor it must be the same on all ranks, or these would compute other things
    again: where its parts lie is not, since one may be empty, or contiguous by chance.
    None: nothing is known.
    """
    if _is_spread(x):
        lineage = _C.lineage(x)
        return (lineage, x.layout) if lineage else None
    array = _array(x)
    return array.__array_interface__["data"][0], array.shape, array.strides, array.dtype


class Selecting:
    """The context of the first call: chooses among what operators give.

    What a chosen operator gives is kept wherever backward needs it: as it is, or, of a
    tensor of one rank, a view that lies within. So are arguments of the function, and
    leaves that require a gradient, which are there anyway. The rest is computed by the
    second call.

    Parameters
    ----------
    choose : callable
        ``choose(operator, args, kwargs, result)`` tells whether a result is kept.
    check : bool
        Whether writing to what is kept is an error in backward.
    """

    def __init__(self, choose: Callable[..., bool], check: bool) -> None:
        self._choose, self._check = choose, check
        self._there: dict[tuple[Any, ...], Callable[[], Any]] = {}
        self._chosen: list[tuple[int, int, Any, int]] = []  # range, tensor, version
        self._fresh: list[tuple[dict[int, Any], int, Any]] = []
        self._stack = contextlib.ExitStack()
        self._busy = False

    def know(self, tensor: Any, again: Callable[[], Any]) -> None:
        """Note a tensor that is there in backward, and how to get it."""
        if tensor.numel() and tensor.device != "meta":
            place = _place(tensor)
            if place is not None:
                self._there.setdefault(place, again)

    def __enter__(self) -> None:
        self._stack.enter_context(_listening(self._called))

    def __exit__(self, *error: object) -> None:
        self._stack.close()
        self._there.clear()
        self._chosen.clear()
        self._fresh.clear()

    def packed(self, kept: dict[int, Any], number: int, tensor: Any) -> None:
        """Keep a tensor that backward needs, if it was chosen, or is to be yet."""
        if not self._keep(kept, number, tensor):
            self._fresh.append((kept, number, tensor))  # a result of what is running

    def _keep(self, kept: dict[int, Any], number: int, tensor: Any) -> bool:
        place = _place(tensor) if tensor.numel() else None
        again = None if place is None else self._there.get(place)
        if again is not None:
            kept[number] = again
            return True
        if _is_spread(tensor):
            return False
        low, high = _range(tensor)
        for start, end, owner, version in self._chosen:
            if start <= low and high <= end and low < high:
                checked = (owner, version) if self._check else None
                kept[number] = functools.partial(_unwritten, tensor, checked)
                return True
        return False

    def _called(
        self,
        op: _C.Operator,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
    ) -> None:
        if self._busy:  # what a policy computes is its own affair
            return
        fresh, self._fresh = self._fresh, []
        self._busy = True
        try:
            chosen = self._choose(op, args, kwargs, result)
        finally:
            self._busy = False
        leaves = [x for x in flat((args, kwargs)) if isinstance(x, _C.Tensor)]
        for x in leaves:
            if x.is_leaf and x.requires_grad:
                self.know(x, functools.partial(_unwritten, x, (x, x._version)))
        if not chosen:
            for each in fresh:
                self._keep(*each)
            return
        for x in result if isinstance(result, tuple | list) else [result]:
            if isinstance(x, _C.Tensor):
                self._choose_result(x.detach())
        for each in fresh:
            self._keep(*each)

    def _choose_result(self, bare: Any) -> None:
        if _is_spread(bare):
            checked = (bare, bare._version) if self._check else None
            self.know(bare, functools.partial(_unwritten, bare, checked))
        else:
            self._chosen.append((*_range(bare), bare, bare._version))


def _unwritten(tensor: Any, checked: tuple[Any, int] | None) -> Any:
    if checked is not None and checked[0]._version != checked[1]:
        raise RuntimeError(
            "a tensor that a selective checkpoint keeps has been written to; "
            "create_selective_checkpoint_contexts(..., "
            "allow_cache_entry_mutation=True) lets backward use what it is now"
        )
    return tensor
