"""Which module a thread is in, forward or backward, while it is watched."""

import sys
import threading
import time
from types import FrameType
from typing import Any, NamedTuple

from dtensor import _C
from dtensor._core.nested import leaves
from dtensor.nn._hooks import register_module_forward_pre_hook
from dtensor.nn.module import Module

__all__ = ["GLOBAL", "Span", "Tracker"]

GLOBAL = "Global"  # torch's name for what is outside of all modules


class Span(NamedTuple):
    """The time that a module took."""

    module: str
    backward: bool
    begin: float  # time.monotonic()
    end: float


class _Entry(NamedTuple):
    name: str
    module: Module
    frame: FrameType  # of its call: held, or another one could get its address
    begin: float


class Tracker:
    """The modules of `dtensor.nn` that a thread is in, in forward and backward.

    A module is named by the class of the outermost one and the attributes that lead to
    it: "Model.layers.0". The hooks exist only between `open` and `close`.

    Backward is inside a module from the gradient of its first output to that of its
    last input. It leaves a module whose inputs have no gradient when it enters another.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.names: dict[int, str] = {}
        self.modules: dict[str, Module] = {}  # in the order of their first call
        self.spans: list[Span] = []
        self._stack: list[_Entry] = []
        self._back: str | None = None  # the module that backward is in
        self._back_since = 0.0
        self._handles: list[Any] = []
        self._left: set[int] = set()  # modules that have a hook for their end

    def open(self) -> None:
        """Start tracking if needed; it ends after as many calls of `close`."""
        self.depth += 1
        if self.depth > 1:
            return
        thread = threading.get_ident()

        def enter(module: Module, args: tuple[Any, ...]) -> None:
            if threading.get_ident() == thread:
                # The caller's caller: the caller runs the hooks, and ends before.
                self._enter(module, args, sys._getframe(2))

        self.names, self.modules, self.spans, self._stack = {}, {}, [], []
        self._back = None
        self._handles = [register_module_forward_pre_hook(enter)]

    def close(self) -> None:
        """Remove all hooks."""
        self.depth -= 1
        if self.depth:
            return
        self._leave_back()
        for handle in self._handles:
            handle.remove()
        self._handles, self._stack, self._left = [], [], set()
        self.names, self.modules, self.spans = {}, {}, []

    def where(self) -> tuple[str, bool, bool]:
        """Return the module that the thread is in, whether in backward, and whether in
        a forward within backward, as a checkpoint runs it."""
        try:
            _C.queue_callback(self._leave_back)
        except RuntimeError:  # not in backward
            self._leave_back()
            return self._stack[-1].name if self._stack else GLOBAL, False, False
        if self._stack:
            return self._stack[-1].name, True, True
        return self._back or GLOBAL, True, False

    # --- forward ----------------------------------------------------------------------

    def _enter(self, module: Module, args: Any, frame: FrameType) -> None:
        self._drop_ended(frame)
        name = self._name(module)
        if id(module) not in self._left:
            self._have_left(module)
        self._stack.append(_Entry(name, module, frame, time.monotonic()))
        inputs = [x for x in _tensors(args) if x.requires_grad]
        missing = [len(inputs)]

        def arrived(_grad: Any) -> None:
            missing[0] -= 1
            if missing[0] == 0 and self._back is not None and _within(self._back, name):
                self._set_back(name.rpartition(".")[0] or None)

        self._handles += [x.register_hook(arrived) for x in inputs]

    def _have_left(self, module: Module) -> None:
        """Hook the end of a module's calls, after its own hooks."""
        thread = threading.get_ident()

        def leave(module: Module, _args: tuple[Any, ...], output: Any) -> None:
            if threading.get_ident() == thread:
                self._leave(module, output)

        self._left.add(id(module))
        self._handles.append(module.register_forward_hook(leave, always_call=True))

    def _leave(self, module: Module, output: Any) -> None:
        while self._stack:
            entry = self._stack.pop()
            if entry.module is module:
                break
        else:
            return
        name, now = entry.name, time.monotonic()
        self.spans.append(Span(name, False, entry.begin, now))

        def begins(_grad: Any) -> None:
            # A module may return its last child's output: the child is the inner one.
            if self._back is None or not _within(self._back, name):
                self._set_back(name)

        self._handles += [
            y.register_hook(begins) for y in _tensors(output) if y.requires_grad
        ]

    def _drop_ended(self, frame: FrameType | None) -> None:
        """Forget calls that ended with an exception."""
        alive = set()
        while frame is not None:
            alive.add(frame)
            frame = frame.f_back
        while self._stack and self._stack[-1].frame not in alive:
            self._stack.pop()

    def _name(self, module: Module) -> str:
        name = self.names.get(id(module))
        if name is None or not self._stack:
            root = name or type(module).__name__
            for path, child in module.named_modules():
                self.names[id(child)] = f"{root}.{path}" if path else root
            name = root
            for child in module.modules():
                if _is_called(child):
                    self.modules.setdefault(self.names[id(child)], child)
        return name

    # --- backward ---------------------------------------------------------------------

    def _set_back(self, name: str | None) -> None:
        now = time.monotonic()
        if self._back is not None:
            self.spans.append(Span(self._back, True, self._back_since, now))
        self._back, self._back_since = name, now

    def _leave_back(self) -> None:
        if self._back is not None:
            self._set_back(None)


def _is_called(module: Module) -> bool:
    """Return whether a module can be called; a ModuleList only contains others."""
    return getattr(module.forward, "__func__", None) is not Module._forward_is_missing


def _within(name: str, module: str) -> bool:
    return name == module or name.startswith(module + ".")


def _tensors(value: Any) -> list[_C.Tensor]:
    """Return the tensors of arguments or of an output."""
    return [x for x in leaves(value) if isinstance(x, _C.Tensor)]
