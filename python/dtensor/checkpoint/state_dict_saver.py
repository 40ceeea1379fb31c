"""Saving: ``torch.distributed.checkpoint.state_dict_saver``."""

import enum
import logging
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from dtensor.checkpoint._ranks import (
    Alone,
    FileRanks,
    Group,
    Ranks,
    WorldRanks,
    ranks_of,
    timeout_of,
)
from dtensor.checkpoint._save import Save
from dtensor.checkpoint.default_planner import DefaultSavePlanner
from dtensor.checkpoint.filesystem import FileSystemWriter, PathLike, path_of
from dtensor.checkpoint.metadata import Metadata

__all__ = ["AsyncCheckpointerType", "async_save", "save"]

MOST = 50 * 10**9  # bytes of a file: what Hugging Face's hub takes


class AsyncCheckpointerType(enum.Enum):
    """What PyTorch writes in the background with; here it is a thread."""

    THREAD = "thread"
    PROCESS = "process"


def save(
    state_dict: Mapping[Any, Any],
    *,
    checkpoint_id: PathLike | None = None,
    storage_writer: FileSystemWriter | None = None,
    planner: DefaultSavePlanner | None = None,
    process_group: Group = None,
    no_dist: bool = False,
    use_collectives: bool = True,
    max_shard_size: int = MOST,
    progress: bool = False,
) -> Metadata | None:
    """Save a state dict as a safetensors file, which all ranks write together.

    Collective over the ranks of `process_group`. When it returns, the checkpoint is on
    the disk and stays until another one has taken its place as a whole; if it raises,
    or the job ends before, the checkpoint that was there is there.

    Parameters
    ----------
    state_dict : dict
        Nested dicts, and lists, of tensors and plain values; objects in it that have
        ``state_dict`` and ``load_state_dict`` give their state. DTensors may live on
        several meshes; what these have under one name must be the same. Other tensors,
        and values, must be the same on all ranks that have them; ranks may have
        different names.
    checkpoint_id : path-like
        A file that ends in ``.safetensors``, or a directory, which gets a file
        ``model.safetensors``, or several with an index.
    storage_writer : FileSystemWriter, optional
        Has the path, where `checkpoint_id` is not given.
    planner : DefaultSavePlanner, optional
        Without effect.
    process_group : DeviceMesh or MPI communicator, optional
        The ranks that save; default: all. The others get None at once.
    no_dist : bool, default False
        Whether this rank saves what it has, alone.
    use_collectives : bool, default True
        Without effect.
    max_shard_size : int, default 50 * 10**9
        Bytes of data, in a directory, after which another file begins.
    progress : bool, default False
        Whether rank 0 shows how much is written; needs the package tqdm.

    Returns
    -------
    Metadata
        Names, shapes and dtypes of what was saved.

    Raises
    ------
    CheckpointException
        On all ranks, if something failed on one: ValueError for a Partial DTensor, a
        tensor without data, two leaves with one name, a DTensor that ranks of its mesh
        do not save, or tensors that differ between ranks or meshes (elements are not
        compared under ``DTENSOR_CHECK=0``); TypeError for an object
        that is no tensor and no plain value; OSError for a disk that is full or cannot
        be written to. It is of this class too.
    ValueError
        If there is no path. On this rank only.

    See Also
    --------
    load : The other way.
    async_save : Goes on while it is written.

    Notes
    -----
    A DTensor is redistributed into rows, a tensor at a time, so that every rank writes
    long runs of bytes; of replicas every rank writes its share.

    Examples
    --------
    >>> import tempfile
    >>> from dtensor import Shard, distribute_tensor
    >>> x = distribute_tensor(np.arange(6.0), mesh, [Shard(0)])
    >>> path = tempfile.mkdtemp()
    >>> found = save({"model": {"w": x}, "step": 7}, checkpoint_id=path)
    >>> found.state_dict_metadata["model.w"].size
    (6,)
    >>> y = distribute_tensor(np.zeros(6), mesh, [Shard(0)])
    >>> state = {"model": {"w": y}, "step": 0}
    >>> load(state, checkpoint_id=path)
    >>> state["step"], y.full_tensor().tolist()
    (7, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    """
    path = path_of(checkpoint_id, storage_writer)
    ranks = _begin("save", path, max_shard_size, process_group, no_dist)
    if ranks.rank < 0:
        return None
    run = Save(f"checkpoint.save({path!r})", path, ranks, max_shard_size, progress)
    try:
        run.prepare(state_dict)
        return run.complete(run.pieces(), ranks)
    finally:
        run.end()


def async_save(
    state_dict: Mapping[Any, Any],
    *,
    checkpoint_id: PathLike | None = None,
    storage_writer: FileSystemWriter | None = None,
    planner: DefaultSavePlanner | None = None,
    process_group: Group = None,
    async_checkpointer_type: AsyncCheckpointerType = AsyncCheckpointerType.THREAD,
    async_stager: Any = None,
    no_dist: bool = False,
    use_collectives: bool = True,
    max_shard_size: int = MOST,
) -> "Future[Metadata | None]":
    """Copy a state dict, and write it in the background.

    Collective; when it returns, this rank's part is copied, and what is copied may
    change. Saves that were begun before end first, also at the end of the program.

    Parameters
    ----------
    state_dict, checkpoint_id, storage_writer, planner, process_group, no_dist, \
use_collectives, max_shard_size
        As in `save`.
    async_checkpointer_type, async_stager
        Without effect.

    Returns
    -------
    Future
        Its ``result()`` is what `save` returns, or raises; not collective. A failure is
        also logged, as an error of the logger ``dtensor.checkpoint``.

    Raises
    ------
    CheckpointException, ValueError
        As `save`, for what can be known before anything is written.

    Notes
    -----
    In the background ranks speak through small files beside the checkpoint, not by MPI,
    and wait for each other as long as elsewhere (``DTENSOR_TIMEOUT``).
    """
    path = path_of(checkpoint_id, storage_writer)
    ranks = _begin("async_save", path, max_shard_size, process_group, no_dist)
    if ranks.rank < 0:
        outside: Future[Metadata | None] = Future()
        outside.set_result(None)
        return outside
    run = Save(f"checkpoint.async_save({path!r})", path, ranks, max_shard_size, False)
    try:
        run.prepare(state_dict)
        pieces = run.staged()
    except BaseException:
        run.end()
        raise
    speakers: Ranks = Alone()
    if ranks.size > 1:
        speakers = FileRanks(
            run.place.prefix, ranks.rank, ranks.size, timeout_of(ranks)
        )
    return _queue.put(run, pieces, speakers)


def _begin(
    name: str, path: str, most: int, group: Group, no_dist: bool
) -> Alone | WorldRanks:
    """Return the ranks of a call, when earlier saves of this thread have ended."""
    wait_for_saves()
    what = f"checkpoint.{name}({path!r}, max_shard_size={most!r})"
    return ranks_of(group, no_dist, what)


def wait_for_saves() -> None:
    """Wait for what this thread has begun in the background."""
    wait([f for f in [_queue.last] if f is not None])


class _Queue(threading.local):
    """The saves that a thread, which may be a rank, has begun in the background."""

    last: "Future[Metadata | None] | None" = None
    executor: ThreadPoolExecutor | None = None

    def put(self, run: Save, *args: Any) -> "Future[Metadata | None]":
        if self.executor is None:
            self.executor = ThreadPoolExecutor(1, "dtensor.checkpoint")
        self.last = self.executor.submit(run.complete, *args)
        self.last.add_done_callback(_tell)
        return self.last


_queue = _Queue()


def _tell(future: "Future[Metadata | None]") -> None:
    error = future.exception()
    if error is not None:
        logging.getLogger("dtensor.checkpoint").error("%s", error)
