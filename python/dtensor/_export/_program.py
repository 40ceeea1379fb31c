"""ExportedProgram: nodes in the order in which they run, and their starting values."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from dtensor import _C, functional_collectives
from dtensor._core.nested import leaves, mapped
from dtensor._export import _file
from dtensor._export._nodes import Node, Ref, Result
from dtensor._export._operators import operators
from dtensor.autograd import no_grad

__all__ = ["COLLECTIVES", "ExportedProgram"]

# What a node of kind "collective" calls.
COLLECTIVES: dict[str, Callable[..., _C.Tensor]] = {
    name: getattr(functional_collectives, name)
    for name in (
        "all_gather_tensor",
        "all_reduce",
        "reduce_scatter_tensor",
        "shard_dim_alltoall",
    )
}


class ExportedProgram:
    """A program of operators, without Python's control flow, as `export` returns it.

    Call it with the arguments of the module: tensors of the shapes and dtypes that it
    was recorded with. It computes with the tensors of `state_dict`, which are those of
    the module and may be changed in place. Gradients are recorded as in the module,
    except where it computes with parts of tensors (`operands` of a node).

    Attributes
    ----------
    nodes : list of Node
        The nodes in the order in which they run. ``str()`` of the program prints them.
    state_dict : dict of str to Tensor
        Parameters and buffers by their names in the module.
    constants : dict of str to Tensor
        Tensors that the module makes without inputs, such as masks, and its buffers
        that are not persistent.

    See Also
    --------
    dtensor.experimental.tp_transform.tensor_parallel_transformation : One rank's part.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        inputs: tuple[tuple[Any, ...], dict[str, Any]],
        outputs: Any,
        state_dict: Mapping[str, _C.Tensor],
        constants: Mapping[str, _C.Tensor],
        called: Mapping[str, _C.Operator] | None = None,
    ) -> None:
        self.nodes = list(nodes)
        self.state_dict, self.constants = dict(state_dict), dict(constants)
        self._inputs, self._outputs = inputs, outputs  # a Ref for each tensor
        self._operators = operators() | dict(called or {})

    @property
    def inputs(self) -> list[Node]:
        """The nodes of the program's inputs."""
        return [node for node in self.nodes if node.kind == "input"]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program.

        Collective if it has collectives or DTensors.

        Raises
        ------
        TypeError
            If the arguments do not correspond to those that were recorded.
        ValueError
            If a tensor has another shape or dtype than in the record, or an argument
            that is not a tensor has another value.
        """
        values: dict[str, Any] = dict(self._given(args, kwargs))
        parts = any(node.operands is not None for node in self.nodes)
        with no_grad() if parts else nullcontext():
            for node in self.nodes:
                if node.kind != "input":
                    values[node.name] = self._run(node, values)
            return _filled(self._outputs, values)

    def _given(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Iterator[tuple[str, _C.Tensor]]:
        wanted, given = leaves(self._inputs), leaves((args, kwargs))
        if len(wanted) != len(given) or list(kwargs) != list(self._inputs[1]):
            raise TypeError(
                f"the program takes {self._inputs}, {len(wanted)} arguments, but got "
                f"{len(given)}"
            )
        nodes = {node.name: node for node in self.inputs}
        for ref, value in zip(wanted, given, strict=True):
            if isinstance(ref, Ref):
                x = _C.as_tensor(value) if isinstance(value, np.ndarray) else value
                _check(x, nodes[ref.node])
                yield ref.node, x
            elif value is not ref and value != ref:
                raise ValueError(
                    f"the program was recorded with {ref!r}, not {value!r}: arguments "
                    "that are not tensors are fixed"
                )

    def _run(self, node: Node, values: Mapping[str, Any]) -> Any:
        if node.kind in ("parameter", "buffer"):
            x = self.state_dict[node.target]
            _check(x, node)
            return x
        if node.kind == "constant":
            return self.constants[node.target]
        args, kwargs = _filled((node.args, dict(node.kwargs)), values)
        if node.kind == "collective":
            return COLLECTIVES[node.target](*args, **kwargs)
        operator = self._operators[node.target]
        if node.operands is None:
            return operator(*args, **kwargs)
        layouts = iter(node.operands)
        args, kwargs = mapped(
            (args, kwargs),
            _C.Tensor,
            lambda x: _C.of_part(x, next(layouts)),
        )
        planned = iter(node.results)
        return mapped(
            operator(*args, **kwargs),
            _C.DTensor,
            lambda x: x.redistribute(placements=next(planned).layout).to_local(),
        )

    def __str__(self) -> str:
        names = ", ".join(node.name for node in self.inputs)
        lines = [f"    {node}" for node in self.nodes]
        last = f"    return {self._outputs!r}"
        return "\n".join([f"program({names}):", *lines, last])

    def __repr__(self) -> str:
        calls = sum(node.kind in ("call", "collective") for node in self.nodes)
        return f"<ExportedProgram: {calls} calls, {len(self.state_dict)} in state_dict>"

    def save(self, f: str | Path) -> None:
        """Write the program to a JSON file, with names instead of parameters.

        Not collective. The file contains constants, bit for bit, but no parameters and
        buffers.

        Parameters
        ----------
        f : str or Path
            The file.

        Raises
        ------
        TypeError
            If an operator is not one of dtensor's, or got an argument that cannot be
            written.
        OSError
            If the file cannot be written.
        """
        known = operators()
        for node in self.nodes:
            if node.kind == "call" and node.target not in known:
                raise TypeError(f"{node.target} is not one of dtensor's operators")
        words = (self.nodes, self._inputs, self._outputs, self.constants)
        Path(f).write_text(_file.written(*words))

    @classmethod
    def load(
        cls, f: str | Path, state_dict: Mapping[str, _C.Tensor]
    ) -> "ExportedProgram":
        """Read a program that `save` wrote. Nothing in the file is executed.

        Not collective.

        Parameters
        ----------
        f : str or Path
            The file.
        state_dict : dict of str to Tensor
            The parameters and buffers.

        Returns
        -------
        ExportedProgram
            The program.

        Raises
        ------
        ValueError
            If the file does not hold a program, or uses operators that do not exist.
        KeyError
            If a parameter or buffer is missing.
        OSError
            If the file cannot be read.
        """
        nodes, inputs, outputs, constants = _file.read(Path(f).read_bytes(), str(f))
        known = {"call": set(operators()), "collective": set(COLLECTIVES)}
        for node in nodes:
            if node.target not in known.get(node.kind, {node.target}):
                raise ValueError(f"{f}: there is no operator {node.target!r}")
            if node.kind in ("parameter", "buffer") and node.target not in state_dict:
                raise KeyError(f"{f}: state_dict lacks {node.target!r}")
        return cls(nodes, inputs, outputs, state_dict, constants)


def _filled(tree: Any, values: Mapping[str, Any]) -> Any:
    """Return a tree with the results of nodes in place of Refs."""

    def value(ref: Ref) -> Any:
        given = values[ref.node]
        return given if ref.index is None else given[ref.index]

    return mapped(tree, Ref, value)


def _check(x: Any, node: Node) -> None:
    """Raise unless a tensor matches what a node was recorded with."""
    (wanted,) = node.results
    if not isinstance(x, _C.Tensor):
        raise TypeError(f"{node.name} must be a tensor, not {type(x).__name__}")
    found = Result.of(x)
    if found[:2] != wanted[:2] or isinstance(x, _C.DTensor) and found != wanted:
        raise ValueError(
            f"the program was recorded with {node.name} = {wanted}, not {found}"
        )
