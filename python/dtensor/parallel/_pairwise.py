"""PyTorch 2.0's styles for a whole model: pairs of layers, and attention."""

from collections.abc import Iterator
from typing import Any

from dtensor._core.caller import warn
from dtensor.device_mesh import DeviceMesh
from dtensor.nn import Linear, Module, MultiheadAttention
from dtensor.parallel._contract import ParallelStyle, Prepare
from dtensor.parallel._heads import shard_by_heads
from dtensor.parallel._layers import ColwiseParallel, RowwiseParallel
from dtensor.parallel._prepare import (
    make_input_replicate_1d,
    make_input_reshard_replicate,
    make_output_reshard_tensor,
    make_output_tensor,
)
from dtensor.parallel.multihead_attention_tp import (
    ReplacedAttention,
    TensorParallelMultiheadAttention,
)

__all__ = ["PairwiseParallel", "PairwiseSequenceParallel"]

Attention = MultiheadAttention | TensorParallelMultiheadAttention


def _as_it_is(values: Any, _mesh: DeviceMesh) -> Any:
    return values


class PairwiseParallel(ParallelStyle):
    """Shard pairs of Linears, the first by columns and the second by rows.

    It applies to all submodules, at any depth. A module that directly contains two or
    more Linears counts as an MLP: these alternate between columns and rows, in the
    order of their definition, and the last of an odd number is left unchanged. A
    MultiheadAttention is replaced by a `TensorParallelMultiheadAttention` that computes
    the same.

    Parameters
    ----------
    _prepare_input : callable, optional
        Called with the inputs of the first layer and the mesh; default
        `make_input_replicate_1d`.
    _prepare_output : callable, optional
        Called with the output of the last layer and the mesh; default
        `make_output_tensor`.

    Warns
    -----
    UserWarning
        By `parallelize_module`, if the module contains nothing that it applies to.

    See Also
    --------
    ColwiseParallel, RowwiseParallel : The current styles, for one layer.
    """

    def __init__(
        self,
        _prepare_input: Prepare = make_input_replicate_1d,
        _prepare_output: Prepare = make_output_tensor,
    ) -> None:
        super().__init__(_prepare_input, _prepare_output)

    def _check(self, module: Module, device_mesh: DeviceMesh) -> None:
        if next(_targets(module), None) is None:
            warn(
                f"{type(self).__name__} found neither two Linears nor an attention in "
                f"{module}: nothing is parallelized"
            )

    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        if isinstance(module, Attention):
            return self._attention(module, device_mesh)
        self._mlp(module, device_mesh)
        for name, child in list(module.named_children()):
            if not isinstance(child, Linear):
                new = self._apply(child, device_mesh)
                if new is not child:
                    module.register_module(name, new)
        return module

    def _mlp(self, module: Module, mesh: DeviceMesh) -> None:
        linears = _linears(module)
        count = len(linears) // 2 * 2
        for i, linear in enumerate(linears[:count]):
            self._shard(linear, mesh, i % 2 == 1, i == 0, i == count - 1)

    def _attention(self, module: Attention, mesh: DeviceMesh) -> Module:
        if isinstance(module, MultiheadAttention):
            module = ReplacedAttention.of(module, mesh.size())
        heads, src = module.num_heads, self.src_data_rank
        for linear in module.projections():
            shard_by_heads(linear, "weight", 0, heads, mesh, src)
            shard_by_heads(linear, "bias", 0, heads, mesh, src)
            self._shard(linear, mesh, False, True, False)
        for name in ("bias_k", "bias_v"):
            shard_by_heads(module, name, 2, heads, mesh, src)
        shard_by_heads(module.proj, "weight", 1, heads, mesh, src)
        self._shard(module.proj, mesh, True, False, True)
        return module

    def _shard(
        self, linear: Linear, mesh: DeviceMesh, by_rows: bool, first: bool, last: bool
    ) -> None:
        style = (RowwiseParallel if by_rows else ColwiseParallel)(
            self._prepare_input if first else _as_it_is,
            self._prepare_output if last else _as_it_is,
        )
        style.src_data_rank = self.src_data_rank
        style._apply(linear, mesh)

    def __repr__(self) -> str:
        return self._describe("_prepare_input", "_prepare_output")


class PairwiseSequenceParallel(PairwiseParallel):
    """`PairwiseParallel` between layers that work on parts of the sequence.

    Every rank has its rows of the input (dimension 0), and gets its rows of the output.
    There is an all_gather before each pair and a reduce_scatter after it.

    See Also
    --------
    SequenceParallel : The current style for the layers in between.
    """

    def __init__(self) -> None:
        super().__init__(make_input_reshard_replicate, make_output_reshard_tensor)


def _linears(module: Module) -> list[Linear]:
    return [child for child in module.children() if isinstance(child, Linear)]


def _targets(module: Module) -> Iterator[Module]:
    """Yield the MLPs and attentions in a module."""
    if isinstance(module, Attention):
        yield module
        return
    if len(_linears(module)) > 1:
        yield module
    for child in module.children():
        yield from _targets(child)
