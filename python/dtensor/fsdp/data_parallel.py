"""`DistributedDataParallel`: each rank holds the whole model, and other data."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dtensor import (
    _C,
    DeviceMesh,
    DTensor,
    Layout,
    Partial,
    Replicate,
    Tensor,
    no_grad,
)
from dtensor._C import queue_callback
from dtensor._core import world
from dtensor.autograd import is_grad_enabled
from dtensor.fsdp._bucket import GradBucket, averaged
from dtensor.fsdp._first import alike, broadcast, own
from dtensor.fsdp._fully_shard import mesh_of_all
from dtensor.fsdp._parameter import compare
from dtensor.fsdp.join import Join, Joinable, JoinHook, shared
from dtensor.fsdp.wrapper import _mesh_of
from dtensor.functional_collectives._moves import moved
from dtensor.nn import Module

__all__ = ["DataParallel", "DistributedDataParallel"]


class DistributedDataParallel(Module, Joinable):
    """A module that every rank holds whole, and trains on its own data.

    Backward ends with one all_reduce for each dtype, which leaves the average of the
    ranks' gradients in `grad`. Parameters stay what they are, unlike those of
    `replicate`, which become DTensors. Making one is collective, forward too if there
    are buffers to broadcast, and backward.

    Parameters
    ----------
    module : Module
        Its names get the prefix ``module.``.
    broadcast_buffers : bool, default True
        Whether forward begins with a broadcast of the first rank's buffers, one for
        each dtype. Not after a forward without gradients or within `no_sync`.
    init_sync : bool, default True
        Whether all ranks take the parameters and buffers of the first one now.
    process_group, device_mesh : mpi4py.MPI.Comm or DeviceMesh, optional
        The ranks; default: all. With DTensors among the parameters: those that have the
        same parts.
    find_unused_parameters, static_graph : bool, default False
        Whether a backward may leave out parameters: one more all_reduce finds those
        that no rank used, whose `grad` stays as it is.
    device_ids, output_device : optional
        None: there are no devices to choose.
    dim, bucket_cap_mb, gradient_as_bucket_view, **ignored
        PyTorch's other options, without effect: a bucket has all gradients of a dtype,
        and `grad` is no view of it.

    Raises
    ------
    RuntimeError
        If no parameter requires a gradient, or the ranks' parameters differ. Forward
        raises it, if the last backward left out parameters.
    ValueError
        If `device_ids` are given.

    References
    ----------
    .. [1] S. Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel
       Training", VLDB 2020.
    """

    _inner_prefix = "module."

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: Any = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        device_mesh: DeviceMesh | None = None,
        **ignored: Any,
    ) -> None:
        Module.__init__(self)
        Joinable.__init__(self)
        if device_ids:
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only "
                "work with single-device/multiple-device GPU modules or CPU modules, "
                f"but got device_ids {device_ids}: leave device_ids out"
            )
        self.module = module
        self.broadcast_buffers = broadcast_buffers is not False
        self.find_unused_parameters = find_unused_parameters
        self.static_graph = static_graph
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.require_backward_grad_sync = True
        self._syncs_buffers = True
        self._mesh = _mesh_of(process_group, device_mesh) or mesh_of_all(
            "DistributedDataParallel"
        )
        self._trained = [p for p in module.parameters() if p.requires_grad]
        if not self._trained:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any "
                "parameters that require a gradient."
            )
        self._compare()
        if init_sync:
            broadcast([*module.parameters(), *module.buffers()], self._mesh)
        self._hook: tuple[Any, Any] | None = None
        self._arrived: set[int] = set()
        self._is_due = False
        self._divides_by_all = True  # ranks, or by those that have not joined
        self._going_on = self._mesh.size()
        for parameter in self._trained:
            parameter.register_post_accumulate_grad_hook(self._arrive)

    def _compare(self) -> None:
        """Raise, on all ranks, if these have other parameters."""
        seen = [
            (name, str(np.dtype(x.dtype)), tuple(own(x).shape), x.requires_grad)
            for name, x in self.named_parameters()
        ]
        if self._mesh.get_coordinate() is not None:
            what = f"DistributedDataParallel of {len(seen)} parameters {seen}"
            world.current().agree(repr(seen).encode(), what, None, self._mesh)

    # --- forward ----------------------------------------------------------------------

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module."""
        Join.notify_join_context(self)
        syncs = is_grad_enabled() and self.require_backward_grad_sync
        if syncs and self._arrived:
            awaited = {id(p) for p in self._trained} - self._arrived
            left = [
                name for name, p in self.module.named_parameters() if id(p) in awaited
            ]
            raise RuntimeError(
                "Expected to have finished reduction in the prior iteration before "
                "starting a new one. This error indicates that your module has "
                "parameters that were not used in producing loss: "
                f"{', '.join(left)}. Pass find_unused_parameters=True to "
                "DistributedDataParallel, and make sure that all forward outputs "
                "participate in calculating loss."
            )
        sends = self._syncs_buffers and self.broadcast_buffers
        first = self._meet(sends, syncs)[0] if self._join_config.enable else 0
        if sends:
            broadcast(self.module.buffers(), self._mesh, first)
        self._syncs_buffers = syncs
        return self.module(*args, **kwargs)

    # --- backward ---------------------------------------------------------------------

    def _arrive(self, parameter: Any) -> None:
        if not self.require_backward_grad_sync:
            return
        self._arrived.add(id(parameter))
        if not self._is_due:
            self._is_due = True
            queue_callback(self._after_backward)

    def _after_backward(self) -> None:
        """Average the gradients, if all have arrived that are to come."""
        self._is_due = False
        self._reduce_used([id(p) in self._arrived for p in self._trained])

    def _reduce_used(self, used: list[bool]) -> None:
        """Average the gradients of the parameters that were used on some rank."""
        if self.find_unused_parameters or self.static_graph:
            used = np.asarray(self._reduce([Tensor(np.array(used))], "max")[0]).tolist()
        elif not all(used):
            return
        self._arrived.clear()
        self._average([p for p, some in zip(self._trained, used, strict=True) if some])

    @no_grad()
    def _average(self, parameters: list[Any]) -> None:
        """Put the averages of the ranks' gradients into `grad`."""
        lists = alike(parameters)
        for index, each in enumerate(lists):
            follows = self._join_config.has_joined  # its gradients do not count
            grads = [
                p.detach() * 0 if follows or p.grad is None else p.grad for p in each
            ]
            compare("gradients", grads)
            if self._hook is not None:
                bucket = GradBucket(index, len(lists), each, [own(x) for x in grads])
                found = averaged(*self._hook, bucket)
            else:
                found = self._reduce([own(x) for x in grads], "avg")
                if not self._divides_by_all:
                    found = [x * (self._mesh.size() / self._going_on) for x in found]
            for p, grad, mean in zip(each, grads, found, strict=True):
                whole = isinstance(grad, DTensor)
                new = _C.of_part(mean, grad.layout) if whole else mean
                p.grad = _C.into_torch(new) if _C.is_torch(p) else new

    def _reduce(self, tensors: list[Any], op: str) -> list[Any]:
        """Return the sums and the like over the ranks, of all at once."""
        if self._mesh.get_coordinate() is None:
            return tensors
        moves = []
        for x in tensors:
            addends = Layout(self._mesh, [Partial(op)], x.shape, x.dtype)
            moves.append((addends, addends.with_placements([Replicate()])))
        return moved([Tensor(np.asarray(x.detach())) for x in tensors], moves)

    def register_comm_hook(self, state: Any, hook: Callable[..., Any]) -> None:
        """Let a function average the gradients, in place of the all_reduce.

        Parameters
        ----------
        state : object
            The first argument of `hook`.
        hook : callable
            ``hook(state, bucket)`` is called at the end of backward on all ranks, once
            for each dtype, with a `dtensor.torch.distributed.GradBucket`. It returns a
            `dtensor.torch.futures.Future` of the tensor that takes the place of the
            bucket's buffer; divided by the number of ranks, if it is to be an average.

        Raises
        ------
        TypeError
            If `hook` is not callable; at the end of backward, if it returns no such
            future.
        RuntimeError
            If there is a hook already.
        """
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        if self._hook is not None:
            raise RuntimeError(
                "register_comm_hook or register_builtin_comm_hook can only be called "
                "once."
            )
        self._hook = hook, state

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within the block, backward adds up this rank's own gradients.

        The first backward after it averages the sums.
        """
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    # --- uneven inputs ----------------------------------------------------------------

    def _meet(self, sends: bool, syncs: bool) -> tuple[int, bool, bool]:
        """Tell the others what comes; return who is their first, and what comes.

        Collective, within `Join`. The first rank is the last one that goes on.
        """
        data = b"" if self._join_config.has_joined else bytes([sends, syncs])
        told = shared(self._mesh, "DistributedDataParallel", data)
        on = [rank for rank, each in enumerate(told) if each]
        self._going_on = len(on)
        return on[-1], bool(told[on[-1]][0]), bool(told[on[-1]][1])

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return what a rank without inputs does within `Join`.

        It takes part in the broadcasts of buffers and the reductions of gradients, with
        zeros of its own, and gets the same averages. In the end all ranks take the
        parameters and buffers of the last one that went on.

        Parameters
        ----------
        divide_by_initial_world_size : bool, default True
            Whether sums of gradients are divided by the number of all ranks, or by that
            of those that still have inputs.
        """
        return _Hook(self, kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self) -> Any:
        """The device of the parameters."""
        return self._trained[0].device

    @property
    def join_process_group(self) -> DeviceMesh:
        """The ranks."""
        return self._mesh

    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Join:
        """Return a block in which ranks may have different numbers of inputs.

        See `Join`, and `join_hook` for the first argument.
        """
        return Join(
            [self],
            enable,
            throw_on_early_termination,
            divide_by_initial_world_size=divide_by_initial_world_size,
        )


class _Hook(JoinHook):
    """What a rank of DistributedDataParallel does that has joined."""

    def __init__(self, ddp: DistributedDataParallel, divides_by_all: bool) -> None:
        self._ddp = ddp
        ddp._divides_by_all = divides_by_all

    def main_hook(self) -> None:
        ddp = self._ddp
        first, sends, syncs = ddp._meet(False, False)
        if sends:
            broadcast(ddp.module.buffers(), ddp._mesh, first)
        ddp._syncs_buffers = syncs
        if syncs:
            asks = ddp.find_unused_parameters or ddp.static_graph
            ddp._reduce_used([not asks] * len(ddp._trained))

    def post_hook(self, is_last_joiner: bool) -> None:
        ddp = self._ddp
        told = shared(ddp._mesh, "DistributedDataParallel", bytes([is_last_joiner]))
        last = max(rank for rank, each in enumerate(told) if each == b"\1")
        broadcast([*ddp.module.parameters(), *ddp.module.buffers()], ddp._mesh, last)
        ddp._divides_by_all = True


class DataParallel(Module):
    """A module as it is, under the name ``module.``: there is one device.

    Parameters
    ----------
    module : Module
    device_ids, output_device, dim : optional
        Without effect.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        self.module = module

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module."""
        return self.module(*args, **kwargs)
