"""`ZeroRedundancyOptimizer`: each rank has the state of some of the parameters."""

import math
import pickle
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dtensor import _C, DeviceMesh, DTensor, Layout, Replicate, Shard, Tensor, no_grad
from dtensor._core import world
from dtensor._core.dtype import dtype_of
from dtensor.fsdp._fully_shard import mesh_of_all
from dtensor.fsdp.join import Join, Joinable, JoinHook, shared
from dtensor.fsdp.wrapper import _mesh_of
from dtensor.functional_collectives._moves import moved, together
from dtensor.optim import Optimizer
from dtensor.optim._params import settings_of

__all__ = ["ZeroRedundancyOptimizer"]

Group = dict[str, Any]


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """An optimizer whose state is spread over the ranks: each parameter's on one.

    Every rank holds all parameters, with the same gradients, as under
    `DistributedDataParallel`. A step updates this rank's parameters, and gives them to
    the other ranks: one all_gather for each dtype. Making one is collective; nothing
    is sent but what the ranks compare.

    Parameters
    ----------
    params : iterable of Tensor or of dict
        As of any optimizer; the same on all ranks.
    optimizer_class : type
        The optimizer of the parameters, such as `dtensor.optim.AdamW`.
    process_group : mpi4py.MPI.Comm or DeviceMesh, optional
        The ranks; default: all.
    parameters_as_bucket_view : bool, default False
        Without effect: parameters are sent together in any case.
    overlap_with_ddp : bool, default False
        To be left out: a backward has no buckets that steps could overlap with.
    **defaults
        Arguments of `optimizer_class`.

    Attributes
    ----------
    optim : Optimizer
        The optimizer of this rank's parameters.
    state : dict
        Its state.

    Raises
    ------
    TypeError
        If a parameter is a DTensor, whose state is cut as it is itself.
    ValueError
        With `overlap_with_ddp`, or if there are no parameters.
    RuntimeError
        If the ranks have different parameters or settings. All of these on all ranks.

    References
    ----------
    .. [1] S. Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion
       Parameter Models", SC 2020.
    """

    def __init__(
        self,
        params: Iterable[Any],
        optimizer_class: Callable[..., Optimizer],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        name = "ZeroRedundancyOptimizer"
        mesh = _mesh_of(process_group, None) or mesh_of_all(name)
        self.process_group = mesh
        coordinate = mesh.get_coordinate()
        self.rank = -1 if coordinate is None else coordinate[0]
        self.world_size = mesh.size()
        self._owners: dict[int, int] = {}  # by the identity of a parameter
        self._sizes = [0] * self.world_size
        self._whole: dict[Any, Any] | None = None
        self._is_made = False

        def prepare() -> None:
            if mesh.ndim != 1:
                raise ValueError(
                    f"{name} expects a mesh of one dim, but got {mesh}: pass "
                    "process_group=mesh[name] for one of its dims"
                )
            if overlap_with_ddp:
                raise ValueError(
                    f"{name}: overlap_with_ddp=True is not supported, because a "
                    "backward ends with one all_reduce: leave it out, or use "
                    "fully_shard, which overlaps what it sends"
                )
            Optimizer.__init__(self, params, defaults)
            own = [self._own_part(group) for group in self.param_groups]
            self.optim = optimizer_class(own, **defaults)

        together(name, mesh, prepare)
        Joinable.__init__(self)
        self.state = self.optim.state
        _copy_settings(self.optim.param_groups, self.param_groups)
        self._agree(f"{name} of {self.optim!r}", self.param_groups)
        self._is_made = True

    def _agree(self, what: str, groups: list[Group]) -> None:
        """Raise, on all ranks, if these have other parameters or settings."""
        seen = [
            [(np.dtype(p.dtype).name, tuple(p.shape)) for p in group["params"]]
            for group in groups
        ]
        if self.rank >= 0:
            text = f"{what}, with parameters {seen}"
            world.current().agree(text.encode(), text, None, self.process_group)

    # --- which rank has which parameters ----------------------------------------------

    def add_param_group(self, param_group: Group) -> None:
        """Add a group of parameters: see `Optimizer.add_param_group`.

        Collective: the ranks compare them. Parameters stay on the ranks where they are.
        """
        if not self._is_made:
            self._add(param_group)
            return
        name = "ZeroRedundancyOptimizer.add_param_group"

        def prepare() -> None:
            self._add(param_group)
            self.optim.add_param_group(self._own_part(self.param_groups[-1]))

        together(name, self.process_group, prepare)
        _copy_settings(self.optim.param_groups, self.param_groups)
        self._agree(name, self.param_groups[-1:])

    def _add(self, param_group: Group) -> None:
        """Add a group, and give the largest parameters to the ranks that have least."""
        super().add_param_group(param_group)
        params = self.param_groups[-1]["params"]
        for p in params:
            if isinstance(p, DTensor):
                self.param_groups.pop()
                raise TypeError(
                    "ZeroRedundancyOptimizer: a parameter is a DTensor, whose state is "
                    "cut as it is itself: use the optimizer directly, as "
                    "AdamW(model.parameters())"
                )
        for p in sorted(params, key=lambda p: -math.prod(p.shape)):
            rank = self._sizes.index(min(self._sizes))
            self._sizes[rank] += math.prod(p.shape)
            self._owners[id(p)] = rank

    def _own_part(self, group: Group) -> Group:
        """Return a group with this rank's parameters only."""
        own = [p for p in group["params"] if self._owners[id(p)] == self.rank]
        return {**settings_of(group), "params": own}

    def _ordered(self) -> list[Any]:
        return [p for group in self.param_groups for p in group["params"]]

    # --- steps ------------------------------------------------------------------------

    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        """Update this rank's parameters, and give them to the others. Collective.

        Parameters
        ----------
        closure : callable, optional
            Computes the gradients again, and returns the loss; called on every rank.
        **kwargs
            Arguments of the optimizer's own step.

        Returns
        -------
        The loss, or None without `closure`.
        """
        Join.notify_join_context(self)
        _copy_settings(self.param_groups, self.optim.param_groups)
        given = {} if closure is None else {"closure": closure}
        loss = self.optim.step(**given, **kwargs)
        _copy_settings(self.optim.param_groups, self.param_groups)
        self._exchange()
        return loss

    @no_grad()
    def _exchange(self) -> None:
        """Copy each parameter from the rank that has updated it to all."""
        if self.rank < 0 or self.world_size == 1:
            return
        lists: dict[np.dtype[Any], list[Any]] = {}
        for p in self._ordered():
            if p.requires_grad:
                lists.setdefault(np.dtype(p.dtype), []).append(p)
        ordered = [
            sorted(params, key=lambda p: self._owners[id(p)])
            for params in lists.values()
        ]
        parts, moves = [], []
        for dtype, params in zip(lists, ordered, strict=True):
            own = [p for p in params if self._owners[id(p)] == self.rank]
            sizes = [0] * self.world_size
            for p in params:
                sizes[self._owners[id(p)]] += math.prod(p.shape)
            source = _in_parts(self.process_group, sizes, dtype)
            parts.append(_flat(own, dtype))
            moves.append((source, source.with_placements([Replicate()])))
        for params, found in zip(
            ordered, moved(parts, moves) if moves else (), strict=True
        ):
            ends = np.cumsum([math.prod(p.shape) for p in params])
            pieces = np.split(np.asarray(found), ends[:-1])
            for p, piece in zip(params, pieces, strict=True):
                if self._owners[id(p)] != self.rank:
                    p.detach()[...] = piece.reshape(p.shape)

    # --- state ------------------------------------------------------------------------

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Gather the state of all ranks on one of them, for `state_dict`. Collective.

        Sends each rank's state to that one, all tensors of a dtype together, and what
        there is of numbers and names to all.

        Parameters
        ----------
        to : int
            A rank of the group.

        Raises
        ------
        ValueError
            If there is no such rank.
        """
        if not 0 <= to < self.world_size:
            raise ValueError(
                f"consolidate_state_dict: to={to} is not a rank of a group of "
                f"{self.world_size} ranks"
            )
        _copy_settings(self.param_groups, self.optim.param_groups)
        self._whole = None
        if self.rank >= 0:
            self._gather(to)

    @no_grad()
    def _gather(self, to: int) -> None:
        params = self._ordered()
        tensors: list[tuple[int, str, Any]] = []
        numbers: list[tuple[int, str, Any]] = []
        for number, p in enumerate(params):
            if self._owners[id(p)] == self.rank:
                for key, value in self.optim.state.get(p, {}).items():
                    into = tensors if isinstance(value, Tensor) else numbers
                    into.append((number, key, value))
        shapes = [
            (number, key, np.dtype(x.dtype).name, tuple(x.shape))
            for number, key, x in tensors
        ]
        what = f"ZeroRedundancyOptimizer.consolidate_state_dict(to={to})"
        told = [
            pickle.loads(data)
            for data in shared(
                self.process_group, what, pickle.dumps((shapes, numbers))
            )
        ]
        whole: dict[int, dict[str, Any]] = {}
        for _, values in told:
            for number, key, value in values:
                whole.setdefault(number, {})[key] = value
        for name in sorted({row[2] for rows, _ in told for row in rows}):
            rows = [[row for row in theirs if row[2] == name] for theirs, _ in told]
            sizes = [sum(math.prod(row[3]) for row in theirs) for theirs in rows]
            dtype = dtype_of(name)
            own = [x for _, _, x in tensors if np.dtype(x.dtype) == dtype]
            layout = _in_parts(self.process_group, sizes, dtype)
            found: Any = _C.of_part(_flat(own, dtype), layout).full_tensor(root=to)
            if self.rank == to:
                at = 0
                flat = np.asarray(found)
                for number, key, _, shape in (row for theirs in rows for row in theirs):
                    end = at + math.prod(shape)
                    x = _C.tensor(flat[at:end].reshape(shape))
                    x = _C.into_torch(x) if _C.is_torch(params[number]) else x
                    whole.setdefault(number, {})[key] = x
                    at = end
        if self.rank == to:
            self._whole = {params[number]: whole[number] for number in sorted(whole)}

    def state_dict(self) -> Group:
        """Return the state that `consolidate_state_dict` has gathered on this rank.

        Not collective. Its numbers are those of all parameters, so that the optimizer
        itself can load it, too.

        Raises
        ------
        RuntimeError
            If it has not been gathered on this rank.
        """
        if self._whole is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={max(self.rank, 0)})` on all ranks "
                "beforehand if you meant to save the global state."
            )
        own, self.state = self.state, self._whole  # type: ignore[assignment]
        try:
            return super().state_dict()
        finally:
            self.state = own

    def load_state_dict(self, state_dict: Group) -> None:
        """Load the state of this rank's parameters, of what `state_dict` returned.

        Not collective: every rank is given the whole state.

        Raises
        ------
        ValueError
            As in ``Optimizer.load_state_dict``.
        """
        saved = [n for group in state_dict["param_groups"] for n in group["params"]]
        own = {
            number
            for number, p in zip(saved, self._ordered(), strict=False)
            if self._owners[id(p)] == self.rank
        }
        state = {k: v for k, v in state_dict["state"].items() if k in own and v}
        super().load_state_dict({**state_dict, "state": state})
        _copy_settings(self.param_groups, self.optim.param_groups)

    # --- uneven inputs ----------------------------------------------------------------

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return what a rank without inputs does within `Join`: a step with the others.

        List the `DistributedDataParallel` first, whose hook leaves the gradients.
        """
        return _Hook(self)

    @property
    def join_device(self) -> Any:
        """The device of the parameters."""
        return self._ordered()[0].device

    @property
    def join_process_group(self) -> DeviceMesh:
        """The ranks."""
        return self.process_group


class _Hook(JoinHook):
    def __init__(self, optimizer: ZeroRedundancyOptimizer) -> None:
        self._optimizer = optimizer

    def main_hook(self) -> None:
        self._optimizer.step()


def _copy_settings(source: list[Group], target: list[Group]) -> None:
    """Copy all of the groups but their parameters."""
    for mine, theirs in zip(source, target, strict=True):
        theirs.update(settings_of(mine))


def _flat(tensors: list[Any], dtype: np.dtype[Any]) -> Tensor:
    """Return the elements of tensors, one after another."""
    arrays = [np.asarray(x.detach()).ravel() for x in tensors]
    return Tensor(np.concatenate(arrays) if arrays else np.empty(0, dtype))


def _in_parts(mesh: DeviceMesh, sizes: list[int], dtype: np.dtype[Any]) -> Layout:
    """Return the layout of a vector of which each rank has so many elements."""
    ends = [0, *np.cumsum(sizes).tolist()]
    return Layout(mesh, [Shard(0)], (ends[-1],), dtype, cuts={0: ends})
