"""Reading the pickle of a file of ``torch.save``, which says what is in its storages.

A pickle is a program for a small machine. The module `pickle` has one that calls any
function; this one knows tensors and plain values, and no operation of it does more than
to put together what it was given. So there is nothing to run.
"""

import pickletools
from collections import Counter, OrderedDict
from collections.abc import Callable
from io import BytesIO
from pickle import UnpicklingError
from typing import Any

from dtensor._torchfile.calls import (
    CALLS,
    Calls,
    Makes,
    Name,
    Stored,
    checked,
    natural,
    told,
)
from dtensor._torchfile.names import DTYPES, STORAGES

__all__ = ["read"]

_WRONG = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class _Arguments(tuple[Any, ...]):
    """A tuple that only a call can take: it has names or storages."""


def read(text: bytes, makes: Makes) -> Any:
    """Return the object that a pickle describes.

    Raises
    ------
    UnpicklingError
        If it holds anything but tensors, plain containers of them, numbers, texts,
        bytes, sizes, dtypes and devices, with the name of what it met; or is damaged.
    """
    try:
        return _Machine(text, makes).run()
    except UnpicklingError:
        raise
    except (*_WRONG, RecursionError) as error:
        raise UnpicklingError(
            f"not a pickle that torch.save writes: {type(error).__name__}: {error}"
        ) from error


class _Machine:
    """A stack, marks in it, and a memo, as `pickletools` describes them."""

    def __init__(self, text: bytes, makes: Makes) -> None:
        self.text = text
        self.calls = Calls(makes, 4 * len(text))
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        file = BytesIO(self.text)
        while (code := file.read(1)) not in (_STOP, b""):
            if code not in _CODES:
                raise UnpicklingError(f"Unsupported operand {code!r}")
            argument, step = _CODES[code]
            step(self, argument(file))
        if not code:
            raise UnpicklingError("the pickle does not end")
        return self._only()

    def _only(self) -> Any:
        if self.marks or len(self.stack) != 1:
            raise UnpicklingError("the pickle ends in the middle")
        return _values(self.stack)[0]

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def popped(self) -> list[Any]:
        """Return what is above the last mark."""
        items = self.stack
        self.stack = self.marks.pop()
        return items

    def mark(self, _: Any) -> None:
        self.marks.append(self.stack)
        self.stack = []

    def last(self, count: int) -> list[Any]:
        """Return the last items."""
        return [self.stack.pop() for _ in range(count)][::-1]

    def put_together(self, items: list[Any]) -> None:
        """Push a tuple."""
        inner = any(type(item) in (Name, Stored) for item in items)
        self.push(_Arguments(items) if inner else tuple(_values(items)))

    def extend(self, items: list[Any]) -> None:
        """Append to the list below."""
        if type(self.stack[-1]) is not list:
            raise UnpicklingError(f"cannot append to {type(self.stack[-1]).__name__}")
        self.stack[-1].extend(_values(items))

    def set_items(self, items: list[Any]) -> None:
        """Put keys and values into the dict below."""
        into = self.stack[-1]
        if type(into) not in (dict, OrderedDict, Counter) or len(items) % 2:
            raise UnpicklingError(f"cannot set items of {type(into).__name__}")
        for key, value in zip(items[::2], _values(items[1::2]), strict=True):
            into[checked(key)] = value

    def put(self, at: int) -> None:
        self.memo[at] = self.stack[-1]

    # --- names, calls and attributes --------------------------------------------------

    def name(self, text: str) -> None:
        """Push what a name stands for: the dotted name itself if it can be called."""
        module, _, name = text.partition(" ")
        full = f"{_MODULES.get(module, module)}.{name}"
        short = full.removeprefix("torch.")
        if full in CALLS or full in _KINDS:
            self.push(Name(full))
        elif short in DTYPES and module == "torch":
            self.push(self.calls.makes.dtype(short))
        else:
            raise UnpicklingError(
                f"Unsupported global: GLOBAL {full} was not an allowed global by "
                "default. A file may hold tensors and plain containers of them, "
                "numbers and texts; nothing else is made of it, and no code is run"
            )

    def call(self, _: Any) -> None:
        arguments, function = self.stack.pop(), self.stack.pop()
        if type(function) is not Name or not isinstance(arguments, tuple):
            raise UnpicklingError(
                f"Trying to call reduce for unrecognized function {told(function)}"
            )
        if function not in CALLS:
            raise UnpicklingError(f"Trying to call {function}, which is no function")
        self.push(CALLS[function](self.calls, *arguments))

    def state(self, _: Any) -> None:
        """Set the attributes of an OrderedDict: `_metadata` of a state dict."""
        state, of = self.stack.pop(), self.stack[-1]
        if type(of) is not OrderedDict or type(state) is not dict:
            raise UnpicklingError(
                f"Can only build OrderedDict, but got {type(of).__name__}"
            )
        if set(state) - {"_metadata"}:
            raise UnpicklingError(f"attributes {', '.join(map(told, state))}")
        for name, value in state.items():
            setattr(of, name, value)

    def stored(self, _: Any) -> None:
        """Push a storage, which is the only thing that lies outside of the pickle."""
        known = self.stack.pop()
        if type(known) is not _Arguments or len(known) != 5:
            raise UnpicklingError(
                f"Only persistent_load of storage is allowed, but got {told(known)}"
            )
        what, kind, key, location, count = known
        if type(what) is not str or what != "storage":
            raise UnpicklingError(f"a persistent id of {told(what)}")
        if type(kind) is not Name or kind not in _KINDS:
            raise UnpicklingError(f"a storage of {told(kind)}")
        if type(key) is not str or type(location) is not str or not natural(count):
            raise UnpicklingError("a storage without name, location or length")
        self.push(Stored(key, _KINDS[kind], location, count))


def _values(items: list[Any]) -> list[Any]:
    """Return items, none of which is a function, a class or a storage."""
    for item in items:
        if type(item) in (Name, Stored, _Arguments):
            raise UnpicklingError(f"{told(item)} is not a value that is read")
    return items


_MODULES = {"__builtin__": "builtins", "copy_reg": "copyreg"}  # of Python 2

_KINDS: dict[str, str | None] = {
    **{f"torch.{storage}": dtype for dtype, storage in STORAGES.items()},
    **{f"torch.storage.{storage}": dtype for dtype, storage in STORAGES.items()},
    "torch.storage.UntypedStorage": None,
    "torch.UntypedStorage": None,
}

_STEPS: dict[str, Callable[[_Machine, Any], None]] = {
    "PROTO": lambda m, version: None,
    "MARK": _Machine.mark,
    "NONE": lambda m, _: m.push(None),
    "NEWTRUE": lambda m, _: m.push(True),
    "NEWFALSE": lambda m, _: m.push(False),
    "EMPTY_TUPLE": lambda m, _: m.push(()),
    "EMPTY_LIST": lambda m, _: m.push([]),
    "EMPTY_DICT": lambda m, _: m.push({}),
    "EMPTY_SET": lambda m, _: m.push(set()),
    **dict.fromkeys(
        ("BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT", "BINUNICODE"),
        _Machine.push,
    ),
    "TUPLE": lambda m, _: m.put_together(m.popped()),
    "TUPLE1": lambda m, _: m.put_together(m.last(1)),
    "TUPLE2": lambda m, _: m.put_together(m.last(2)),
    "TUPLE3": lambda m, _: m.put_together(m.last(3)),
    "APPEND": lambda m, _: m.extend([m.stack.pop()]),
    "APPENDS": lambda m, _: m.extend(m.popped()),
    "SETITEM": lambda m, _: m.set_items([m.stack.pop(-2), m.stack.pop()]),
    "SETITEMS": lambda m, _: m.set_items(m.popped()),
    "BINPUT": _Machine.put,
    "LONG_BINPUT": _Machine.put,
    "BINGET": lambda m, at: m.push(m.memo[at]),
    "LONG_BINGET": lambda m, at: m.push(m.memo[at]),
    "GLOBAL": _Machine.name,
    "REDUCE": _Machine.call,
    "BUILD": _Machine.state,
    "BINPERSID": _Machine.stored,
}
_STOP = b"."


def _two_lines(file: BytesIO) -> str:
    """Return the argument of GLOBAL, in which `pickletools` would look for escapes."""
    module, name = file.readline(), file.readline()
    if not name.endswith(b"\n"):
        raise ValueError("a name that does not end")
    return f"{module[:-1].decode()} {name[:-1].decode()}"


def _reader(opcode: pickletools.OpcodeInfo) -> Callable[[BytesIO], Any]:
    if opcode.name == "GLOBAL":
        return _two_lines
    return (lambda file: None) if opcode.arg is None else opcode.arg.reader


# By the first byte of an operation: what reads its argument, and what it does.
_CODES = {
    opcode.code.encode("latin1"): (_reader(opcode), _STEPS[opcode.name])
    for opcode in pickletools.opcodes
    if opcode.name in _STEPS
}
