"""The integers in a call, and the same call with another one in the place of each.

A call is a function of arrays: what it is called with besides is in its closure, its
default values, and, where it is written in place, in the constants of its code.
"""

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from rows import Sample

VALUES = (-(2**63), -1, 0, 2**31, 2**40, 2**62)

# Not arguments: what these functions of the rows count or name.
HELPERS = {"rows.py", "integers.py"}


class Changed(NamedTuple):
    """A sample with another integer: the `k`-th is `value` where it was `before`."""

    sample: Sample
    k: int
    before: int
    value: int

    def made(self) -> Sample:
        """That sample. Its reference gets the integer where it has the same one."""
        fn, reference = self.sample.fn, self.sample.reference
        if reference is not None:
            there = integers_of(reference)[self.k : self.k + 1] == [self.before]
            reference = (
                with_integer(reference, self.k, self.value) if there else unknown
            )
        fn = with_integer(fn, self.k, self.value)
        return self.sample._replace(fn=fn, reference=reference)

    def __str__(self) -> str:
        return f"{self.sample}: integer {self.k} is {self.value}, not {self.before}"


class _Walk:
    """Copies an object; `visit` gives what comes in the place of each integer."""

    def __init__(self, visit: Callable[[int], int]) -> None:
        self.visit = visit
        self.inside: set[int] = set()

    def copy(self, x: Any) -> Any:
        if type(x) is int:
            return self.visit(x)
        if type(x) in (tuple, list):
            return type(x)(map(self.copy, x))
        if type(x) is dict:
            return {key: self.copy(value) for key, value in x.items()}
        if isinstance(x, slice):
            return slice(*map(self.copy, (x.start, x.stop, x.step)))
        if isinstance(x, functools.partial):
            args, keywords = self.copy(x.args), self.copy(x.keywords)
            return functools.partial(self.copy(x.func), *args, **keywords)
        if isinstance(x, types.FunctionType) and id(x) not in self.inside:
            return self.function(x)
        return x

    def function(self, fn: types.FunctionType) -> Any:
        file = fn.__code__.co_filename.rsplit("/", 1)[-1]
        if not (file in HELPERS or file.startswith("samples")):
            return fn
        self.inside.add(id(fn))
        is_call = file not in HELPERS and fn.__name__ == "<lambda>"
        code = self.code(fn.__code__) if is_call else fn.__code__
        cells = [
            types.CellType(self.copy(c.cell_contents)) for c in fn.__closure__ or ()
        ]
        defaults = self.copy(fn.__defaults__)
        new = types.FunctionType(
            code, fn.__globals__, fn.__name__, defaults, tuple(cells)
        )
        new.__kwdefaults__ = self.copy(fn.__kwdefaults__)
        new.__dict__.update(fn.__dict__)
        self.inside.discard(id(fn))
        return new

    def code(self, code: types.CodeType) -> types.CodeType:
        constants = tuple(
            self.code(x) if isinstance(x, types.CodeType) else self.copy(x)
            for x in code.co_consts
        )
        return code.replace(co_consts=constants)


def called_with(fn: Any) -> tuple[Any, Any] | None:
    """What a row made by `rows.each` calls, and with what besides the arrays."""
    while isinstance(fn, types.FunctionType) and fn.__closure__:
        values = [cell.cell_contents for cell in fn.__closure__]
        cells = dict(zip(fn.__code__.co_freevars, values, strict=True))
        if {"target", "more"} <= cells.keys():
            return cells["target"], cells["more"]
        fn = cells.get("fn")
    return None


def integers_of(fn: Any) -> list[int]:
    """The integers that a function is called with, in the order of the walk."""
    found: list[int] = []

    def note(x: int) -> int:
        found.append(x)
        return x

    _Walk(note).copy(fn)
    return found


def with_integer(fn: Any, k: int, value: int) -> Any:
    """The function with another `k`-th integer."""
    turn = iter(range(10**9))
    return _Walk(lambda x: value if next(turn) == k else x).copy(fn)


def changed(sample: Sample) -> Iterator[Changed]:
    """The sample with each of its integers replaced by each of `VALUES`."""
    for k, before in enumerate(integers_of(sample.fn)):
        for value in VALUES:
            if value != before:
                yield Changed(sample, k, before, value)


def unknown(*_arrays: Any) -> Any:
    """The reference of a call whose result nobody says."""
    raise NotImplementedError("nothing to compare with")
