"""Training on uneven inputs: ranks that have none left follow the others."""

import abc
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dtensor import DeviceMesh
from dtensor._core import world
from dtensor._core.caller import warn

__all__ = ["Join", "JoinHook", "Joinable"]


class JoinHook:
    """What a rank that has joined does, until all have: subclasses define it."""

    def main_hook(self) -> None:
        """Do the collectives that the other ranks do in one iteration."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Do what is left when all ranks have joined.

        Parameters
        ----------
        is_last_joiner : bool
            Whether this rank was among the last.
        """


@dataclass
class JoinConfig:
    """What a `Joinable` knows of the block that it is in."""

    enable: bool = False
    throws: bool = False
    is_first: bool = False
    has_joined: bool = False


class Joinable(abc.ABC):
    """The base class of what may be used within `Join`.

    Its own constructor is to be called, and `Join.notify_join_context` before the
    collectives of an iteration.
    """

    def __init__(self) -> None:
        super().__init__()
        self._join_config = JoinConfig()

    @abc.abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return the hook of this object; `kwargs` are those of `Join`."""

    @property
    @abc.abstractmethod
    def join_device(self) -> Any:
        """The device, which is the CPU."""

    @property
    @abc.abstractmethod
    def join_process_group(self) -> Any:
        """The ranks, as a mesh of one dim."""


WARN_AT = 1000  # iterations that a rank has followed the others


class Join:
    """A block in which some ranks may do fewer iterations than others.

    A rank that is done waits at the end of the block: it takes part in the collectives
    of the others, until the last one is done. Each iteration has one more exchange of a
    byte between all ranks; the end of the block is collective.

    Parameters
    ----------
    joinables : list of Joinable
        Such as a `DistributedDataParallel` and a `ZeroRedundancyOptimizer`, in the
        order in which they communicate.
    enable : bool, default True
        Whether inputs may be uneven; if not, the block does nothing.
    throw_on_early_termination : bool, default False
        Whether all ranks raise instead, as soon as one is done.
    **kwargs
        Arguments of ``join_hook``: for `DistributedDataParallel`
        `divide_by_initial_world_size`.

    Raises
    ------
    ValueError
        If the joinables have different ranks, or there are none.
    RuntimeError
        With `throw_on_early_termination`: on ranks that are done at the end of the
        block, on others in their next iteration.
    """

    def __init__(
        self,
        joinables: Sequence[Joinable],
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs: Any,
    ) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = list(joinables)
        self._enable = enable
        self._throws = throw_on_early_termination
        self._mesh = _mesh_of_all(self._joinables)
        self._hooks = [each.join_hook(**kwargs) for each in joinables]
        for k, each in enumerate(joinables):
            each._join_config = JoinConfig(enable, self._throws, k == 0)

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        """Follow the other ranks until all are done."""
        try:
            if self._enable and kind is None and _is_inside(self._mesh):
                self._follow()
        finally:
            for each in self._joinables:
                each._join_config = JoinConfig()

    def _follow(self) -> None:
        for each in self._joinables:
            each._join_config.has_joined = True
        done = 0
        while b"1" in shared(self._mesh, "Join", b"0"):
            if self._throws:
                coordinate = self._mesh.get_coordinate() or (0,)
                raise RuntimeError(f"Rank {coordinate[0]} exhausted all inputs.")
            if done == WARN_AT:
                warn(
                    f"Detected uneven input skew of greater than {WARN_AT}: this rank "
                    f"has at least {WARN_AT} fewer inputs than others. This level of "
                    "skew could lead to performance degradation during training."
                )
            for hook in self._hooks:
                hook.main_hook()
            done += 1
        for hook in self._hooks:
            hook.post_hook(done == 0)

    @staticmethod
    def notify_join_context(joinable: Joinable) -> None:
        """Tell the other ranks that this one goes on: see `Joinable`.

        Collective over the ranks of the first joinable of a block; otherwise it does
        nothing.

        Raises
        ------
        RuntimeError
            With `throw_on_early_termination`, if a rank is done.
        """
        if not hasattr(joinable, "_join_config"):
            raise AssertionError(
                f"Check that the {type(joinable)} constructor calls the "
                "``Joinable`` constructor"
            )
        config = joinable._join_config
        if not config.enable or not config.is_first or config.has_joined:
            return
        mesh = joinable.join_process_group
        if not _is_inside(mesh):
            return
        if b"0" in shared(mesh, "Join", b"1") and config.throws:
            raise RuntimeError(
                "Detected at least one rank that exhausted inputs. Throwing across all "
                "ranks."
            )


def shared(mesh: DeviceMesh, what: str, data: bytes) -> list[bytes]:
    """Return the bytes of all ranks of a mesh, in their order. Collective."""
    return world.current().share(data, mesh, what)


def _is_inside(mesh: DeviceMesh) -> bool:
    return mesh.get_coordinate() is not None


def _mesh_of_all(joinables: Sequence[Joinable]) -> DeviceMesh:
    meshes: list[DeviceMesh] = [each.join_process_group for each in joinables]
    if any(mesh != meshes[0] for mesh in meshes):
        raise ValueError("Using join context manager with multiple process groups")
    return meshes[0]
