"""Messages from one rank to another: ``torch.distributed.send`` and `recv`.

Between processes they go through mpi4py; a sender does not wait for its receiver. Ranks
that are threads put them into queues.
"""

import queue
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core import world as _world
from dtensor.autograd import no_grad
from dtensor.torch.distributed._collectives import Work
from dtensor.torch.distributed._groups import Group
from dtensor.torch.distributed._world import get_global_rank, get_rank

__all__ = [
    "P2POp",
    "batch_isend_irecv",
    "irecv",
    "isend",
    "recv",
    "recv_object_list",
    "send",
    "send_object_list",
]

_PAUSE = 0.0001  # seconds between questions whether something has come
_OBJECTS = 1 << 14  # tags of objects are those of tensors and this


class _Mail:
    """Messages between ranks that are threads, by sender, receiver and tag."""

    def __init__(self) -> None:
        self.worlds: set[Any] = set()
        self.queues: dict[tuple[int, int, int], queue.SimpleQueue[Any]] = defaultdict(
            queue.SimpleQueue
        )


_mail: dict[int, _Mail] = {}  # of the ranks of each `run_ranks`


def _queue(sender: int, receiver: int, tag: int) -> "queue.SimpleQueue[Any]":
    """Return the queue of such messages; what nobody took ends with its ranks."""
    world = _world.current()
    if world.made not in _mail:
        for made, mail in list(_mail.items()):
            if all(each.closed for each in mail.worlds):
                del _mail[made]
    mail = _mail.setdefault(world.made, _Mail())
    mail.worlds.add(world)
    return mail.queues[sender, receiver, tag]


class _Waits(Work):
    """A message under way."""

    def __init__(self, step: Callable[[], bool], what: str) -> None:
        self._step, self._what, self._done = step, what, False
        self._limit: float = _world.current().timeout
        self.source = -1

    def is_completed(self) -> bool:
        """Return whether it has been sent, or is in the tensor."""
        self._done = self._done or self._step()
        return self._done

    def wait(self, timeout: Any = None) -> bool:
        """Wait until it is.

        Raises
        ------
        RuntimeError
            If that takes longer than `timeout`, or ``DTENSOR_TIMEOUT``. On this rank.
        """
        limit = self._limit if timeout is None else timeout.total_seconds()
        until = time.monotonic() + limit
        while not self.is_completed():
            if time.monotonic() > until:
                raise RuntimeError(f"{self._what}: nothing came within {limit:g} s")
            time.sleep(_PAUSE)
        return True


def _peer(name: str, rank: int | None, group: Group, group_rank: int | None) -> int:
    """Return the other rank, among all ranks."""
    if rank is not None and group_rank is not None:
        raise ValueError("Can't specify both group_dst and dst")
    if group_rank is not None:
        return get_global_rank(group, group_rank)
    if rank is None:
        raise ValueError("Must specify destination or source")
    if rank == get_rank():
        raise ValueError(
            f"Invalid {name} rank: {name} rank should not be the same as the rank of "
            "the current process."
        )
    return rank


def _post(data: Any, to: int, tag: int) -> _Waits:
    """Send an object."""
    world = _world.current()
    what = f"send to rank {to}"
    if not _is_mpi():
        _queue(world.rank, to, tag).put(data)
        return _Waits(lambda: True, what)
    request = _world.communicator("send").isend(data, to, tag)
    return _Waits(lambda: bool(request.test()[0]), what)


def _is_mpi() -> bool:
    try:
        _world.communicator("send")
    except RuntimeError:
        return False
    return True


def _take(source: int | None, tag: int, use: Callable[[Any], None]) -> _Waits:
    """Receive an object, from any rank if there is no `source`."""
    of = "any rank" if source is None else f"rank {source}"
    work = _Waits(lambda: False, f"recv from {of}")
    work._step = lambda: _taken(source, tag, use, work)
    return work


def _taken(
    source: int | None, tag: int, use: Callable[[Any], None], work: _Waits
) -> bool:
    world = _world.current()
    if _is_mpi():
        status = _world.MPI.Status()
        sender = _world.MPI.ANY_SOURCE if source is None else source
        message = _world.communicator("recv").improbe(sender, tag, status)
        if message is None:
            return False
        work.source = status.Get_source()
        use(message.recv())
        return True
    senders = range(world.size) if source is None else [source]
    for sender in senders:
        try:
            data = _queue(sender, world.rank, tag).get_nowait()
        except queue.Empty:
            continue
        work.source = sender
        use(data)
        return True
    return False


def _array(tensor: Any) -> Any:
    if isinstance(tensor, _C.DTensor):
        raise TypeError("a DTensor cannot be sent: send its to_local()")
    return np.array(tensor.detach() if isinstance(tensor, _C.Tensor) else tensor)


def isend(
    tensor: Any,
    dst: int | None = None,
    group: Group = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> Work | None:
    """Send a tensor to another rank, and return what waits until it is sent.

    Parameters
    ----------
    tensor : Tensor or ndarray
    dst : int, optional
        The rank, among all ranks.
    group, group_dst : optional
        A group, and the rank within it, instead of `dst`.
    tag : int, default 0
        The receiver must give the same.

    Raises
    ------
    ValueError
        If the rank is this one, or none is given.
    """
    return _post(_array(tensor), _peer("destination", dst, group, group_dst), tag)


def irecv(
    tensor: Any,
    src: int | None = None,
    group: Group = None,
    tag: int = 0,
    group_src: int | None = None,
) -> Work | None:
    """Return what waits until a message of another rank is in a tensor.

    Parameters
    ----------
    tensor : Tensor or ndarray
        It must have the shape of what is sent.
    src, group, group_src, tag
        As `dst` and so on of `isend`; by default from any rank.
    """
    source = None
    if src is not None or group_src is not None:
        source = _peer("source", src, group, group_src)

    def use(data: Any) -> None:
        if data.shape != tuple(np.shape(tensor)):
            raise RuntimeError(
                f"recv: a tensor of shape {tuple(np.shape(tensor))}, but what came is "
                f"of {data.shape}"
            )
        with no_grad():
            np.copyto(tensor, data)

    return _take(source, tag, use)


def send(
    tensor: Any,
    dst: int | None = None,
    group: Group = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """Send a tensor to another rank: see `isend`."""
    work = isend(tensor, dst, group, tag, group_dst)
    assert work is not None
    work.wait()


def recv(
    tensor: Any,
    src: int | None = None,
    group: Group = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """Receive a tensor, and return the rank that sent it: see `irecv`.

    Raises
    ------
    RuntimeError
        If nothing comes in time, or it has another shape.
    """
    work = irecv(tensor, src, group, tag, group_src)
    assert isinstance(work, _Waits)
    work.wait()
    return work.source


class P2POp:
    """A message for `batch_isend_irecv`.

    Parameters
    ----------
    op : `isend` or `irecv`
    tensor, group, tag
        As of these.
    peer, group_peer : int, optional
        The other rank, among all ranks or within the group.
    """

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Any,
        peer: int | None = None,
        group: Group = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type "
                "``torch.distributed.isend`` or ``torch.distributed.irecv``."
            )
        self.op, self.tensor, self.peer = op, tensor, peer
        self.group, self.tag, self.group_peer = group, tag, group_peer


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Work]:
    """Begin several messages, and return what waits for each.

    Raises
    ------
    ValueError
        If they are not `P2POp`.
    """
    if not p2p_op_list or not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise ValueError(
            "Invalid ``p2p_op_list``. Each op is expected to to be of type "
            "``torch.distributed.P2POp``."
        )
    return [p.op(p.tensor, p.peer, p.group, p.tag, p.group_peer) for p in p2p_op_list]


# --- objects --------------------------------------------------------------------------


def send_object_list(
    object_list: Sequence[Any],
    dst: int | None = None,
    group: Group = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send picklable objects to another rank; `device`, `use_batch` are ignored."""
    to = _peer("destination", dst, group, group_dst)
    _post(list(object_list), to, _OBJECTS).wait()


def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Group = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Receive objects into a list of as many, and return the rank that sent them."""
    source = None
    if src is not None or group_src is not None:
        source = _peer("source", src, group, group_src)

    def use(data: list[Any]) -> None:
        object_list[:] = data

    work = _take(source, _OBJECTS, use)
    work.wait()
    return work.source
