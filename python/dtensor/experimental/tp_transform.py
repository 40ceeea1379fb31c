"""tensor_parallel_transformation: one rank's part of a program, with collectives."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core import world
from dtensor._core.nested import leaves, mapped
from dtensor._export import ExportedProgram, Node, Ref
from dtensor.device_mesh import DeviceMesh
from dtensor.experimental._parts import Parts
from dtensor.functional_collectives._group import of_ranks
from dtensor.nn import Embedding, Linear
from dtensor.parallel import ParallelStyle
from dtensor.parallel._layers import _LayerStyle
from dtensor.placement_types import Placement, Replicate

__all__ = ["tensor_parallel_transformation"]

Strategies = Mapping[str, ParallelStyle | type[ParallelStyle]]


def tensor_parallel_transformation(
    exported_program: ExportedProgram,
    rank: int,
    world_size: int,
    device_type: str,
    parallel_strategies: Strategies,
) -> ExportedProgram:
    """Return the program of one rank, which computes with its part of the parameters.

    Not collective. Parameters of the modules in the plan are sharded as their styles
    say. All other parameters, the inputs and the outputs are whole on every rank. Each
    operator uses the cheapest layouts; the moves that it needs are collectives in the
    program: see `nodes`, or ``print(program)``.

    Parameters
    ----------
    exported_program : ExportedProgram
        The program of one process, as `dtensor.export` returns it. It is not changed.
    rank : int
        The rank whose program is returned; only that rank can run it.
    world_size : int
        The number of ranks, from rank 0 of the job.
    device_type : str
        A label of their mesh.
    parallel_strategies : dict of str to ParallelStyle
        `ColwiseParallel` or `RowwiseParallel`, as class or instance, by the names of
        Linear and Embedding modules. The input and output layouts of an instance are
        ignored.

    Returns
    -------
    ExportedProgram
        A collective program: all ranks must call theirs, with equal inputs. Its
        `state_dict` has this rank's parts. It records no gradients.

    Raises
    ------
    ValueError
        If there is no such rank, or the program already uses DTensors.
    AssertionError
        If a module of the plan has no weight in the program.
    NotImplementedError
        If a style is not one of the two.

    Notes
    -----
    Modelled on ``torch.distributed.tensor.experimental._tp_transform``.

    Examples
    --------
    >>> import dtensor
    >>> from dtensor import nn
    >>> from dtensor.parallel import ColwiseParallel, RowwiseParallel
    >>> mlp = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))
    >>> x = dtensor.tensor(np.ones((2, 4), "float32"))
    >>> plan = {"0": ColwiseParallel, "2": RowwiseParallel}
    >>> program = tensor_parallel_transformation(
    ...     dtensor.export(mlp, (x,)), 0, 1, "cpu", plan
    ... )
    >>> program(x).shape
    (2, 4)
    """
    if not 0 <= rank < world_size:
        raise ValueError(
            f"tensor_parallel_transformation: no rank {rank} of {world_size}"
        )
    if any(
        result.layout is not None or node.operands is not None
        for node in exported_program.nodes
        for result in node.results
    ):
        raise ValueError("the program uses DTensors, so it already has layouts")
    placements = _parameter_placements(exported_program, parallel_strategies)
    if world_size <= world.current().size:
        mesh = of_ranks(range(world_size))
    else:  # to be looked at
        mesh = DeviceMesh.abstract((world_size,))
    mesh.device_type = device_type
    return _Transformation(exported_program, mesh, rank, placements).program()


def _parameter_placements(
    program: ExportedProgram, strategies: Strategies
) -> dict[str, Placement]:
    """Return the placement of each parameter that the plan shards."""
    looked_up = {
        ref.node
        for node in program.nodes
        if node.kind == "call" and "embedding" in node.target.split(".")
        for ref in leaves(node.args)
        if isinstance(ref, Ref)
    }
    tables = {
        node.target: Embedding if node.name in looked_up else Linear
        for node in program.nodes
        if node.kind == "parameter"
    }
    found: dict[str, Placement] = {}
    for name, style in strategies.items():
        kind = style if isinstance(style, type) else type(style)
        if not issubclass(kind, _LayerStyle):
            raise NotImplementedError(
                "tensor_parallel_transformation supports ColwiseParallel and "
                f"RowwiseParallel, not {kind.__name__}"
            )
        prefix = f"{name}." if name else ""
        if f"{prefix}weight" not in tables:
            raise AssertionError(f"{prefix}weight is not a parameter of the program")
        sharding = kind._shardings[tables[f"{prefix}weight"]]
        for last, placement in sharding.parameters.items():
            if prefix + last in program.state_dict:
                found[prefix + last] = placement
    return found


class _Transformation:
    """The nodes of one rank's program, made one after the other."""

    def __init__(
        self,
        source: ExportedProgram,
        mesh: DeviceMesh,
        rank: int,
        placements: Mapping[str, Placement],
    ) -> None:
        self.source, self.placements = source, placements
        self.state = dict(source.state_dict)
        names = {node.name for node in source.nodes}
        self.parts = Parts(mesh, rank, names, source.constants)

    def program(self) -> ExportedProgram:
        """Return the program of the rank."""
        for node in self.source.nodes:
            if node.kind == "call":
                self._call(node)
            else:
                self._start(node)
        return ExportedProgram(
            self.parts.nodes,
            self.source._inputs,
            mapped(self.source._outputs, Ref, self.parts.whole),
            self.state,
            self.parts.constants,
            self.source._operators,
        )

    def _start(self, node: Node) -> None:
        """Add an input, buffer or constant; of a parameter, this rank's part."""
        (result,) = node.results
        placement: Placement = Replicate()
        if node.kind == "parameter":
            placement = self.placements.get(node.target, Replicate())
        mesh = self.parts.mesh
        layout = _C.Layout(mesh, [placement], result.shape, result.dtype)
        if not placement._is_whole:
            array = self.state[node.target].numpy(force=True)
            part = array[self.parts.rows(layout)].copy()
            self.state[node.target] = _C.Tensor(part)
        self.parts.add(node, (layout,))

    def _call(self, node: Node) -> None:
        """Add an operator, after the moves of its operands."""
        planned = self._plan(node)
        if planned is None:  # gathered operands, replicated results
            new = _with_refs(node, map(self.parts.whole, _refs(node)))
            layouts = [
                _C.Layout(self.parts.mesh, None, result.shape, result.dtype)
                for result in node.results
            ]
            self.parts.add(node, layouts, *new)
            return
        results, operands = planned
        new = _with_refs(node, map(self.parts.move, _refs(node), operands))
        whole = all(x.is_replicated for x in operands)
        self.parts.add(node, results, *new, None if whole else operands)

    def _plan(
        self, node: Node
    ) -> tuple[tuple[_C.Layout, ...], tuple[_C.Layout, ...]] | None:
        """Return the layouts of results and operands, or None if there is no rule."""
        layouts = [self.parts.layouts[ref] for ref in _refs(node)]
        if all(x.is_replicated for x in layouts):
            return None
        operator = self.source._operators[node.target]
        while True:
            args, kwargs = _with_refs(node, layouts)
            try:
                results, operands, _ = operator.abstract(*args, **kwargs)
            except NotImplementedError:  # it is composed of several
                return None
            places = list(_places(operator, args, kwargs))
            if len(operands) != len(places):
                return None
            wanted = [x for x, tensor in zip(operands, places, strict=True) if tensor]
            if wanted == layouts:  # what runs then, without a move
                return results, tuple(wanted)
            layouts = wanted


def _refs(node: Node) -> list[Ref]:
    return [x for x in leaves((node.args, dict(node.kwargs))) if isinstance(x, Ref)]


def _with_refs(
    node: Node, new: Iterable[Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a node with other values in place of tensors."""
    given = iter(new)
    args, kwargs = mapped((node.args, dict(node.kwargs)), Ref, lambda _: next(given))
    return args, kwargs


def _places(
    operator: _C.Operator, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Iterator[bool]:
    """Yield for each operand of a call whether it is a tensor, not a number."""
    for place, x in enumerate((*args, *kwargs.values())):
        number = isinstance(x, int | float | complex | np.generic)
        if place < min(operator.operands, len(args)) and number:
            yield False
        for leaf in leaves(x):
            if isinstance(leaf, _C.Layout):
                yield True
