"""The parts of a program."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from dtensor import _C

__all__ = ["KINDS", "Node", "Ref", "Result"]

KINDS = ("input", "parameter", "buffer", "constant", "call", "collective")


@dataclass(frozen=True, slots=True)
class Ref:
    """The result of a node, or one of several."""

    node: str
    index: int | None = None

    def __repr__(self) -> str:
        return self.node if self.index is None else f"{self.node}[{self.index}]"


class Result(NamedTuple):
    """The description of a tensor that a node returns."""

    shape: tuple[int, ...]
    """The shape of this rank's part."""
    dtype: np.dtype[Any]
    layout: _C.Layout | None = None
    """The layout of the whole; None if the tensor is not a part of a DTensor."""

    @classmethod
    def of(cls, x: _C.Tensor) -> Self:
        """Return the description of a tensor."""
        if isinstance(x, _C.DTensor):
            return cls(x._local_tensor.shape, x.dtype, x.layout)
        return cls(x.shape, x.dtype)

    def __str__(self) -> str:
        text = f"{self.dtype}{list(self.shape)}"
        if self.layout is not None:
            places = "".join(map(str, self.layout.placements))
            text += f" of {list(self.layout.shape)} {places}"
        return text


@dataclass(frozen=True)
class Node:
    """A step of a program.

    A node of kind "input", "parameter", "buffer" or "constant" is what the program
    starts from. "call" calls an operator, "collective" one of `functional_collectives`.
    """

    name: str
    """Unique in the program."""
    kind: str
    target: str
    """The operator or collective; or the name in the state dict, or of a constant."""
    args: tuple[Any, ...] = ()
    """The arguments, with a `Ref` for each tensor."""
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    results: tuple[Result, ...] = ()
    operands: tuple[_C.Layout, ...] | None = None
    """The layouts that the tensors among the arguments are parts of, if the operator
    must know which part it has."""

    def __str__(self) -> str:
        given = [repr(x) for x in self.args]
        given += [f"{key}={value!r}" for key, value in self.kwargs.items()]
        runs = self.kind in ("call", "collective")
        text = f"{self.target}({', '.join(given)})" if runs else self.kind
        if self.kind in ("parameter", "buffer"):
            text += f" {self.target}"
        return f"{self.name} = {text}  # {', '.join(map(str, self.results))}"
