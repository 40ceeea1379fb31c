"""What goes on while a module under `fully_shard` computes, between nodes.

A message between nodes goes on by itself; on one node ranks copy from each other's
memory, and have nothing to gain from starting earlier. So in a job of several nodes,
and in no other, the parameters of the module that comes next are on their way while one
computes, and gradients while the next ones are computed: of each one group, as PyTorch
has them on streams of their own.
"""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from dtensor import _C, no_grad

__all__ = ["Overlap"]


class Gathered(Protocol):
    """What can be gathered ahead of its use: a group of parameters."""

    def unshard(self, async_op: bool = ...) -> None:
        """Gather it, or start to."""

    def give_up(self) -> None:
        """Take no notice of what is on its way."""

    @property
    def is_coming(self) -> bool:
        """Whether something is."""


Group = TypeVar("Group", bound=Gathered)


class Overlap(Generic[Group]):
    """The order in which the groups of a root are used, and what is on its way.

    Every rank has the same: what followed a group is likely to follow it again.
    """

    def __init__(self) -> None:
        self._last: Group | None = None
        self._after: dict[Group, Group] = {}  # when each was last used
        self._before: dict[Group, Group] = {}
        self._in_forward = False
        self._ahead: list[Group] = []  # of their use
        self._reduced: list[Callable[[], None]] = []

    @property
    def pays(self) -> bool:
        """Whether messages go between nodes."""
        world = _C.World.current()
        return world is not None and world.overlaps

    def begin(self) -> None:
        """Begin a forward of the root; an exception may have left something."""
        self.forget()
        self._last, self._in_forward = None, True

    def end(self) -> None:
        """End a forward of the root: nothing that is on its way outlasts it."""
        self.forget()
        self._in_forward = False

    def in_forward(self, group: Group) -> list[Group]:
        """Return what is likely to be used after a group that is used now."""
        likely = self._after.get(group)
        if self._last is not None:
            self._after[self._last], self._before[group] = group, self._last
        self._last = group
        return self._found(likely) if self._in_forward else []

    def in_backward(self, group: Group) -> list[Group]:
        """Return what backward is likely to come to after a group.

        From the first one, the root, it goes to the last.
        """
        return self._found(self._before.get(group, self._last))

    def _found(self, group: Group | None) -> list[Group]:
        return [] if group is None or not self.pays else [group]

    def gather(self, groups: list[Group]) -> None:
        """Start to gather groups, if nobody else has."""
        for group in groups:
            if not group.is_coming:
                group.unshard(async_op=True)
                self._ahead.append(group)

    def reduce(self, arrive: Callable[[], None]) -> None:
        """Call a function that waits for a reduction: now, or before another one."""
        if self.pays:
            self._reduced.append(arrive)
        else:
            arrive()

    @no_grad()
    def wait(self) -> None:
        """Wait for the gradients that are on their way."""
        while self._reduced:
            self._reduced.pop(0)()

    def forget(self) -> None:
        """Take no notice of what is on its way.

        Ranks on which a run has failed at different places have different groups.
        """
        for group in self._ahead:
            group.give_up()
        self._ahead.clear()
        self._reduced.clear()
