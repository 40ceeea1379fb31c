"""The parameters of one `fully_shard` call: gathered together, reduced together."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

from dtensor import (
    DeviceMesh,
    DTensor,
    Layout,
    Replicate,
    Tensor,
    is_grad_enabled,
    no_grad,
    redistribute,
)
from dtensor._C import backward_depth, hooks_of, queue_callback
from dtensor._core.nested import mapped
from dtensor.fsdp._overlap import Overlap
from dtensor.fsdp._parameter import Sharded, compare, reduced_placements
from dtensor.fsdp.policies import MixedPrecisionPolicy

__all__ = ["Group", "Switches"]


@dataclass
class Switches:
    """The settings that the methods of `FSDPModule` change."""

    gradient_sync: bool = True
    all_reduce: bool = True
    reshard_after_backward: bool = True
    unshard_in_backward: bool = True
    last_backward: bool = True
    divide_factor: float | None = None
    force_sum: bool = False
    all_reduce_hook: Callable[[Any], None] | None = None


class _Input:
    """An input of forward whose gradient has not come; its hook alone keeps it."""


class Group:
    """Parameters that are gathered by one all_gather and reduced by one reduce_scatter.

    Parameters
    ----------
    parameters : list of Sharded
    policy : MixedPrecisionPolicy
    """

    def __init__(self, parameters: list[Sharded], policy: MixedPrecisionPolicy) -> None:
        self.parameters = parameters
        self.policy = policy
        self.switches = Switches()
        self.reshard_after_forward: bool | int = True
        self.is_full = False
        self.in_backward = False
        self._depth = 0  # of the first backward that reached this group
        self._is_due = False  # unreduced gradients have arrived, or may arrive
        self.prefetch: tuple[list[Group], list[Group]] = ([], [])
        self.below: list[Group] = []  # of a root
        self.overlap: Overlap[Group] = Overlap()  # that of its root
        self._coming: list[list[DTensor]] | None = None
        self._waits: set[int] = set()
        # What calls `_arrived`, though it may be frozen since forward.
        self._trained: set[int] = set()
        self._was_trained = False  # backward has been through it
        # Inputs of forward that backward has not come to, if it may need frozen
        # parameters until then.
        self._inputs: WeakSet[_Input] = WeakSet()
        self._ahead: WeakSet[_Input] = WeakSet()
        self._end = _Input()  # backward comes to it by ending
        self._postponed: dict[int, DTensor] = {}  # to be all-reduced later
        self._regroups: dict[DeviceMesh, DeviceMesh] = {}

    def _by_mesh(self) -> list[list[Sharded]]:
        """Return the parameters in lists that can move together."""
        lists: dict[tuple[DeviceMesh, Any], list[Sharded]] = {}
        for p in self.parameters:
            lists.setdefault((p.layout.mesh, p.compute_dtype), []).append(p)
        return list(lists.values())

    # --- gathered and sharded ---------------------------------------------------------

    @no_grad()
    def unshard(self, async_op: bool = False) -> None:
        """Gather the parameters; with `async_op` only start. Collective."""
        if self.is_full or self._coming is not None:
            if not any(p.is_stale() for p in self.parameters):
                return
            self._coming = None
            self.reshard()
        for parameter in self.parameters:
            parameter.begin()
            if parameter.full.requires_grad and not parameter.watched:
                parameter.watched = True
                hooks_of(parameter.full).append((0, "at once", self._arrived))
        self._coming = [
            redistribute(
                [(p.sharded if p.held is None else p.held).detach() for p in together],
                together[0].gathered.mesh,
                [p.gathered.with_dtype(p.compute_dtype) for p in together],
                async_op=async_op,
                forward_dtype=together[0].compute_dtype,
            )
            for together in self._by_mesh()
        ]

    def _unshard_before(self, named: "list[Group]", likely: "list[Group]") -> None:
        """Gather, and start to gather the groups that follow."""
        self.unshard(async_op=bool(named or likely))
        self._unshard_ahead(named, likely)
        self.wait()

    def _unshard_ahead(self, named: "list[Group]", likely: "list[Group]") -> None:
        for group in named:
            group.unshard(async_op=True)
        if not named:
            self.overlap.gather(likely)

    @property
    def is_coming(self) -> bool:
        """Whether it is being gathered."""
        return self._coming is not None

    def give_up(self) -> None:
        """Take no notice of what is on its way."""
        self._coming = None

    def wait(self) -> None:
        """Make the modules use the gathered parameters."""
        if self._coming is None:
            return
        coming, self._coming = self._coming, None  # an error counts once
        for together, gathered in zip(self._by_mesh(), coming, strict=True):
            for parameter, whole in zip(together, gathered, strict=True):
                parameter.fill(whole)
                parameter.held = None
        self.is_full = True
        for parameter in self.parameters:
            parameter.show(parameter.full)

    def reshard(self, write_back: bool = False) -> None:
        """Free the gathered parameters; nothing is sent.

        With `write_back` the values that were written to them are kept.
        """
        self.wait()
        if not self.is_full:
            return
        self.is_full = False
        if write_back:
            compare("full parameters", (p.full for p in self.parameters))
            for parameter in self.parameters:
                parameter.write_back()
        for parameter in self.parameters:
            parameter.follow_full()
            parameter.show(parameter.sharded)
            parameter.drop()

    @no_grad()
    def hold(self, count: int) -> None:
        """Keep the parameters sharded over groups of `count` ranks until backward."""
        for p in self.parameters:
            mine = [*[Replicate()] * p.outer, p.spread.placements[-1]]
            p.held = p.cut(p.spread_over(self._regrouped(p, count), mine)).copy()

    def _regrouped(self, p: Sharded, count: int) -> DeviceMesh:
        """Return the mesh of a parameter with its sharding dim in groups of `count`."""
        mesh = p.layout.mesh
        if mesh not in self._regroups:
            shape, dim = mesh.shape, p.outer - 1
            ranks = mesh.ranks.reshape(*shape[:dim], -1, count, *shape[dim + 1 :])
            self._regroups[mesh] = DeviceMesh("cpu", ranks, _init_backend=False)
        return self._regroups[mesh]

    # --- around forward and backward --------------------------------------------------

    def before_forward(self) -> None:
        """Gather if needed, and start to gather the groups that follow."""
        if self.in_backward and backward_depth() == 0:  # an exception ended it
            self.in_backward = self._is_due = False
            self._waits = set()
        likely = [] if self.in_backward else self.overlap.in_forward(self)
        self._unshard_before(self.prefetch[0], likely)
        if self._was_trained and not self.in_backward:
            self._trained.clear()
            self._was_trained = False
        self._trained |= self._requiring()

    def watched(self, inputs: Any) -> Any:
        """Return the inputs of forward; what becomes of their gradients is heard of.

        When all trained parameters have their gradients, those of inputs may still need
        the frozen ones.
        """
        frozen = not all(p.full.requires_grad for p in self.parameters)
        if not frozen or self.in_backward or not is_grad_enabled():
            return inputs
        return mapped(inputs, Tensor, self._watched)

    def _watched(self, x: Tensor) -> Tensor:
        if not x.requires_grad:
            return x
        if x.is_leaf:
            x = x[...]  # a hook of x itself would outlive this forward
        mark = _Input()
        self._inputs.add(mark)
        x.register_hook(lambda grad: self._passed(mark))
        return x

    def _passed(self, mark: _Input) -> None:
        """Free the parameters if backward has now left forward by all its inputs."""
        if mark in self._ahead:
            self._ahead.discard(mark)
            if not self._ahead and not self._is_due:
                self._free()

    def after_forward(self) -> None:
        """Free the gathered parameters, unless backward is running."""
        after = self.reshard_after_forward
        if self.in_backward or after is False:
            return
        if after is not True:
            self.hold(int(after))
        self.reshard()

    def before_backward(self) -> None:
        """Gather again when the gradient of an output arrives.

        That of another output may come when all parameters have their gradients; then
        only frozen ones can still be needed.
        """
        self._begin()
        done = not self._is_due and backward_depth() == self._depth
        if done and all(p.full.requires_grad for p in self.parameters):
            return
        likely = [g for g in self.overlap.in_backward(self) if not g.in_backward]
        if self.switches.unshard_in_backward:
            self._unshard_before(self.prefetch[1], likely)
        else:
            self._unshard_ahead(self.prefetch[1], likely)

    def _begin(self) -> None:
        if not self.in_backward:
            self.in_backward = self._is_due = True
            self._depth = backward_depth()
            self._waits = self._trained | self._requiring()
            self._was_trained = True
            frozen = any(id(p.full) not in self._waits for p in self.parameters)
            self._ahead = WeakSet((self._inputs or [self._end]) if frozen else [])
            queue_callback(self.after_backward)

    def _requiring(self) -> set[int]:
        return {id(p.full) for p in self.parameters if p.full.requires_grad}

    def _arrived(self, full: Any) -> None:
        """Reduce when the last of the parameters has its gradient.

        In a backward within backward, which reentrant checkpoints run for each call,
        more gradients may arrive.
        """
        self._begin()  # if it did not arrive through an output of forward
        self._is_due = True
        self._waits.discard(id(full))
        if not self._waits and backward_depth() == self._depth:
            self._finish()

    def after_backward(self) -> None:
        """Reduce what has arrived, if some parameters were not used.

        A root also frees the parameters of modules that backward has not come to.
        """
        if self.in_backward and self._is_due:
            self._finish()
        if self.in_backward:
            for group in (self, *self.below):
                if group is self or not group.in_backward:
                    group._free()
        self.in_backward = False
        self.overlap.wait()
        if backward_depth() == 1:
            self.overlap.forget()

    def forget_run(self) -> None:
        """Start afresh after an exception."""
        self.in_backward = False
        self.overlap.forget()
        self._waits = set()
        self._postponed.clear()
        self.give_up()
        self.reshard()
        for p in self.parameters:
            p.held = p.waiting = p.full.grad = None

    def _free(self) -> None:
        if self.switches.reshard_after_backward:
            self.reshard()

    def _finish(self) -> None:
        self._is_due = False
        self._waits = set()
        if not self._ahead:
            self._free()
        if self.switches.gradient_sync:
            self.reduce()
        elif self.policy.reduce_dtype is not None:
            with no_grad():
                for parameter in self.parameters:
                    parameter.keep_gradient(self.policy.reduce_dtype)

    @no_grad()
    def reduce(self) -> None:
        """Sum the gradients of the ranks; each rank gets its part. Collective."""
        lists: dict[tuple[DeviceMesh, Any], list[tuple[Sharded, DTensor]]] = {}
        scaled = self.switches.divide_factor is not None or self.switches.force_sum
        for p in self.parameters:
            p.keep_gradient(self.policy.reduce_dtype)
        compare("gradients", (p.waiting for p in self.parameters))
        for p in self.parameters:
            if p.waiting is None:
                continue
            grad = p.take_gradient("sum" if scaled else "avg")
            lists.setdefault((grad.device_mesh, grad.dtype), []).append((p, grad))
        self.overlap.wait()
        for together in lists.values():
            self._reduce_together(together, scaled)

    def _reduce_together(
        self, together: list[tuple[Sharded, DTensor]], scaled: bool
    ) -> None:
        """Reduce gradients that can move together with one collective."""
        dtype = self.policy.reduce_dtype
        mesh = together[0][1].device_mesh
        late = not self.switches.all_reduce or any(
            id(p) in self._postponed for p, _ in together
        )
        moved = redistribute(
            [grad for _, grad in together],
            mesh,
            [self._target(p, grad, late) for p, grad in together],
            async_op=self.overlap.pays,
            forward_dtype=dtype,
        )
        parameters = [p for p, _ in together]
        self.overlap.reduce(lambda: self._arrive(parameters, moved, late, scaled))

    def _arrive(
        self, parameters: list[Sharded], moved: list[DTensor], late: bool, scaled: bool
    ) -> None:
        """Add reduced gradients to those of the parameters, when they have come."""
        for p, grad in zip(parameters, moved, strict=True):
            grad.wait()
            if late:
                before = self._postponed.pop(id(p), None)
                grad = grad if before is None else before + grad
                if not self.switches.all_reduce:
                    self._postponed[id(p)] = grad
                    continue
                to = p.layout.with_dtype(grad.dtype)
                grad = grad.redistribute(grad.device_mesh, to)
            if scaled:
                factor = self.switches.divide_factor or p.spread.mesh.size()
                grad = grad * (1 / factor)
            if self.switches.all_reduce_hook is not None:
                self.switches.all_reduce_hook(grad.to_local())
            p.add_gradient(grad)

    def _target(self, p: Sharded, grad: DTensor, late: bool) -> Layout:
        """Return the reduced layout of a gradient; `late`: addends of the replicas."""
        dtype = self.policy.reduce_dtype
        target = p.layout.with_dtype(grad.dtype if dtype is None else dtype)
        if not late:
            return target
        op = grad.placements[0]._pending_op
        assert op is not None  # `take_gradient` made addends
        return target.with_placements(
            reduced_placements(tuple(target.placements), p.outer - 1, op)
        )
