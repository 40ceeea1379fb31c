"""Styles of one layer: its parameters, its input and its output."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dtensor._C import DTensor, Tensor
from dtensor.device_mesh import DeviceMesh
from dtensor.nn import Embedding, Linear, Module
from dtensor.nn._distribute import (
    check_not_distributed,
    distribute_module,
    distribute_parameter,
)
from dtensor.parallel._contract import ParallelStyle, Prepare, place
from dtensor.placement_types import Placement, Replicate, Shard

__all__ = ["ColwiseParallel", "RowwiseParallel", "SequenceParallel"]


class _Sharding(NamedTuple):
    """How a layer is sharded: its parameters by name, and the input that it needs."""

    parameters: Mapping[str, Placement]
    input: Placement


class _LayerStyle(ParallelStyle):
    """A style that shards the weight of a layer."""

    _shardings: ClassVar[Mapping[type[Module], _Sharding]]
    _default_input: ClassVar[Placement]
    _default_output: ClassVar[Placement]

    def __init__(
        self,
        _prepare_input: Prepare | None = None,
        _prepare_output: Prepare | None = None,
        *,
        input_layouts: Placement | None = None,
        output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:
        super().__init__(_prepare_input, _prepare_output)
        if _prepare_input is not None and input_layouts is not None:
            raise ValueError("give either _prepare_input or input_layouts, not both")
        if _prepare_output is not None and output_layouts is not None:
            raise ValueError("give either _prepare_output or output_layouts, not both")
        self.input_layouts = (input_layouts or self._default_input,)
        self.output_layouts = (output_layouts or self._default_output,)
        self.use_local_output = use_local_output

    def _sharding_of(self, module: Module) -> _Sharding:
        for kind, sharding in self._shardings.items():
            if isinstance(module, kind):
                return sharding
        raise NotImplementedError(
            f"{type(self).__name__} currently only support nn.Linear and nn.Embedding!"
        )

    def _check(self, module: Module, device_mesh: DeviceMesh) -> None:
        self._sharding_of(module)
        check_not_distributed(module)

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        sharding = self._sharding_of(module)
        take, give = self._prepare_input, self._prepare_output

        def partition(_name: str, part: Module, mesh: DeviceMesh) -> None:
            if part is not module:
                return
            for name, placement in sharding.parameters.items():
                distribute_parameter(part, name, mesh, [placement], self.src_data_rank)

        def before(called: Module, inputs: tuple[Any, ...], mesh: DeviceMesh) -> Any:
            if take is not None:
                return take(inputs, mesh)
            first, *others = _positional(self, inputs)
            wanted = (sharding.input,)
            return place(first, mesh, self.input_layouts, wanted, called), *others

        def after(_module: Module, output: Any, mesh: DeviceMesh) -> Any:
            if give is not None:
                return give(output, mesh)
            output = output.redistribute(placements=self.output_layouts)
            return output.to_local() if self.use_local_output else output

        return distribute_module(module, device_mesh, partition, before, after)

    def __repr__(self) -> str:
        return self._describe("input_layouts", "output_layouts", "use_local_output")


def _positional(style: ParallelStyle, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs of a layer; only the first one is prepared."""
    if not inputs:
        raise ValueError(
            f"{type(style).__name__} prepares the first positional input of a module, "
            "but this one was called without: pass its input by position"
        )
    return inputs


class ColwiseParallel(_LayerStyle):
    """Shard a Linear by output features, an Embedding by embedding dimensions.

    The weight of a Linear is ``Shard(0)`` (it is stored transposed), its bias
    ``Shard(0)``; the weight of an Embedding is ``Shard(1)``. Each rank computes its
    features of the output from the whole input, without communication. Followed by a
    `RowwiseParallel` layer, as in an MLP, the pair takes one all_reduce in forward, and
    one in backward if its input requires a gradient.

    Parameters
    ----------
    _prepare_input, _prepare_output : callable, optional
        Functions as in PyTorch 2.0, such as ``make_input_replicate_1d``. They take the
        inputs (the output) and the mesh, and replace `input_layouts` (`output_layouts`
        and `use_local_output`).
    input_layouts : Placement, optional
        The placement of an input that is not a DTensor; default Replicate. It is
        redistributed to Replicate.
    output_layouts : Placement, optional
        The placement of the output; default ``Shard(-1)``.
    use_local_output : bool, default True
        Whether the module returns this rank's part of the output, a `Tensor`, instead
        of the DTensor.

    Raises
    ------
    ValueError
        If both forms of an argument are given.
    NotImplementedError
        By `parallelize_module`, if the module is not a Linear or Embedding. On every
        rank, before any communication.

    See Also
    --------
    RowwiseParallel : The second half of the pair.

    Notes
    -----
    If the number of ranks does not divide the number of features, they are split as
    torch.chunk does; some ranks may have none.

    Examples
    --------
    >>> from dtensor import init_device_mesh, nn
    >>> from dtensor.parallel import parallelize_module
    >>> mesh = init_device_mesh("cpu", (1,))
    >>> parallelize_module(nn.Linear(8, 6), mesh, ColwiseParallel()).weight.placements
    (Shard(dim=0),)
    """

    _shardings = {
        Linear: _Sharding({"weight": Shard(0), "bias": Shard(0)}, Replicate()),
        Embedding: _Sharding({"weight": Shard(1)}, Replicate()),
    }
    _default_input = Replicate()
    _default_output = Shard(-1)


class RowwiseParallel(_LayerStyle):
    """Shard a Linear by input features, an Embedding by its rows.

    The weight of a Linear is ``Shard(1)`` (it is stored transposed), its bias
    replicated; the weight of an Embedding is ``Shard(0)``. Each rank computes an addend
    of the output from its features of the input (for an Embedding: from the whole
    input). One all_reduce sums the addends, or one reduce_scatter if `output_layouts`
    is a Shard.

    Parameters
    ----------
    _prepare_input, _prepare_output : callable, optional
        Functions as in PyTorch 2.0, such as ``make_input_shard_1d_last_dim``. They take
        the inputs (the output) and the mesh, and replace `input_layouts`
        (`output_layouts` and `use_local_output`).
    input_layouts : Placement, optional
        The placement of an input that is not a DTensor; default ``Shard(-1)``. It is
        redistributed to ``Shard(-1)``, for an Embedding to Replicate.
    output_layouts : Placement, optional
        The placement of the output; default Replicate.
    use_local_output : bool, default True
        Whether the module returns this rank's part of the output, a `Tensor`, instead
        of the DTensor.

    Raises
    ------
    ValueError
        If both forms of an argument are given.
    NotImplementedError
        By `parallelize_module`, if the module is not a Linear or Embedding. On every
        rank, before any communication.

    See Also
    --------
    ColwiseParallel : The first half of the pair.
    """

    _shardings = {
        Linear: _Sharding({"weight": Shard(1), "bias": Replicate()}, Shard(-1)),
        Embedding: _Sharding({"weight": Shard(0)}, Replicate()),
    }
    _default_input = Shard(-1)
    _default_output = Replicate()


class SequenceParallel(ParallelStyle):
    """Run a module on parts of the sequence, with its parameters replicated.

    For modules that treat each position of the sequence on its own: LayerNorm, RMSNorm,
    Dropout and the like. The parameters are those of rank `src_data_rank`. Their
    gradients are summed over the ranks: one all_reduce for each, in backward.

    Parameters
    ----------
    sequence_dim : int, default 1
        The dimension of the input that is the sequence.
    use_local_output : bool, default False
        Whether the module returns this rank's part of the output, a `Tensor`, instead
        of the DTensor.

    Raises
    ------
    ValueError
        When the module is called: if its first input is not a tensor.

    Notes
    -----
    A plain input counts as this rank's part of the sequence; a DTensor is redistributed
    to ``Shard(sequence_dim)``. See Korthikanti et al., "Reducing Activation
    Recomputation in Large Transformer Models", 2022. PyTorch does not broadcast the
    parameters: it assumes that they are equal on all ranks. Here
    ``src_data_rank=None`` does the same.
    """

    def __init__(
        self, *, sequence_dim: int = 1, use_local_output: bool = False
    ) -> None:
        super().__init__()
        self.sequence_sharding = (Shard(sequence_dim),)
        self.use_local_output = use_local_output

    @property
    def sequence_dim(self) -> int:
        """The dimension of the input that is the sequence."""
        return self.sequence_sharding[0].dim

    def _check(self, module: Module, device_mesh: DeviceMesh) -> None:
        check_not_distributed(module)

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        def replicate(_name: str, part: Module, mesh: DeviceMesh) -> None:
            for name, parameter in list(part._parameters.items()):
                if parameter is not None and not isinstance(parameter, DTensor):
                    distribute_parameter(
                        part, name, mesh, [Replicate()], self.src_data_rank
                    )

        def before(called: Module, inputs: tuple[Any, ...], mesh: DeviceMesh) -> Any:
            first, *others = _positional(self, inputs)
            if not isinstance(first, Tensor | np.ndarray):
                raise ValueError(
                    f"expecting input of {called} to be a torch.Tensor or DTensor, but "
                    f"got {first}"
                )
            sharding = self.sequence_sharding
            return place(first, mesh, sharding, sharding, called), *others

        def after(_module: Module, output: Any, _mesh: DeviceMesh) -> Any:
            return output.to_local() if self.use_local_output else output

        return distribute_module(module, device_mesh, replicate, before, after)

    def __repr__(self) -> str:
        return self._describe("sequence_dim", "use_local_output")
