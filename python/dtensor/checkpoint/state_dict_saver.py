"""Saving: ``torch.distributed.checkpoint.state_dict_saver``."""

import contextvars
import enum
import logging
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from dtensor.checkpoint._ranks import (
    Alone,
    FileRanks,
    Group,
    WorldRanks,
    ranks_of,
    timeout_of,
    together,
)
from dtensor.checkpoint._save import Piece, Save
from dtensor.checkpoint.default_planner import DefaultSavePlanner
from dtensor.checkpoint.filesystem import FileSystemWriter, PathLike, path_of
from dtensor.checkpoint.metadata import Metadata

__all__ = ["AsyncCheckpointerType", "async_save", "save"]

MOST = 50 * 10**9  # bytes of a file: the limit of the Hugging Face hub


class AsyncCheckpointerType(enum.Enum):
    """PyTorch's choice of a background thread or process; here it is a thread."""

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
    the disk, and stays there until another one replaces it in one step. If it raises,
    or the job ends first, the previous checkpoint is unchanged.

    Parameters
    ----------
    state_dict : dict
        Nested dicts and lists of tensors and plain values. An object with
        ``state_dict`` and ``load_state_dict`` is replaced by its state. DTensors may be
        on several meshes; those under one name must be equal. Other tensors and values
        must be equal on all ranks that have them. Ranks may have different names.
    checkpoint_id : path-like
        A file that ends in ``.safetensors``, or a directory, which gets a file
        ``model.safetensors``, or several with an index.
    storage_writer : FileSystemWriter, optional
        Gives the path if `checkpoint_id` is not given.
    planner : DefaultSavePlanner, optional
        Ignored.
    process_group : DeviceMesh or MPI communicator, optional
        The ranks that save; default: all. The others get None at once.
    no_dist : bool, default False
        Whether this rank saves its state alone.
    use_collectives : bool, default True
        Ignored.
    max_shard_size : int, default 50 * 10**9
        In a directory, the bytes of data after which another file begins.
    progress : bool, default False
        Whether rank 0 shows a progress bar; needs the package tqdm.

    Returns
    -------
    Metadata
        Names, shapes and dtypes of what was saved.

    Raises
    ------
    CheckpointException
        On all ranks, if something failed on one. It is also of the class named here.
        ValueError for a Partial DTensor, a tensor without data, two leaves with one
        name, a DTensor that some ranks of its mesh do not save, or tensors that differ
        between ranks or meshes (elements are not compared under ``DTENSOR_CHECK=0``);
        TypeError for an object that is neither a tensor nor a plain value; OSError for
        a disk that is full or cannot be written to.
    ValueError
        If there is no path. On this rank only.

    See Also
    --------
    load : Load a checkpoint.
    async_save : Save in the background.

    Notes
    -----
    DTensors are redistributed into rows, one at a time, so that every rank writes long
    contiguous ranges of bytes. The ranks that hold replicas share the writing.

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

    Collective. When it returns, this rank's part is copied, so the originals may be
    changed. Earlier background saves finish first; the program also waits for them at
    its end.

    Parameters
    ----------
    state_dict, checkpoint_id, storage_writer, planner, process_group, no_dist, \
use_collectives, max_shard_size
        As in `save`.
    async_checkpointer_type, async_stager
        Ignored.

    Returns
    -------
    Future
        Its ``result()`` returns or raises what `save` would; not collective. A failure
        is also logged as an error, by the logger ``dtensor.checkpoint``.

    Raises
    ------
    CheckpointException, ValueError
        As in `save`, for errors that can be found before anything is written.

    Notes
    -----
    In the background, ranks communicate through small files beside the checkpoint, not
    through MPI. The usual timeout applies (``DTENSOR_TIMEOUT``).
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
        speakers = _speakers(run, ranks)
    except BaseException:
        run.end()
        raise
    return _queue.put(run, pieces, speakers)


def _speakers(run: Save, ranks: Alone | WorldRanks) -> Alone | FileRanks:
    """Return the ranks in the background. Collective."""
    if ranks.size == 1:
        return Alone()
    made: list[FileRanks] = []

    def make() -> None:
        made.append(
            FileRanks(run.place.prefix, ranks.rank, ranks.size, timeout_of(ranks))
        )

    try:
        together(ranks, run.what, make)
    except BaseException:
        for speakers in made:
            speakers.close()
        raise
    return made[0]


def _complete(
    run: Save, pieces: Sequence[Piece], speakers: Alone | FileRanks
) -> Metadata:
    """Write in the background."""
    try:
        return run.complete(pieces, speakers)
    finally:
        if isinstance(speakers, FileRanks):
            speakers.close()


def _begin(
    name: str, path: str, most: int, group: Group, no_dist: bool
) -> Alone | WorldRanks:
    """Return the ranks of a call, once earlier saves of this thread have ended."""
    wait_for_saves()
    what = f"checkpoint.{name}({path!r}, max_shard_size={most!r})"
    return ranks_of(group, no_dist, what)


def wait_for_saves() -> None:
    """Wait for the background saves of this thread."""
    wait([f for f in [_queue.last] if f is not None])


class _Queue(threading.local):
    """The background saves of a thread, which may be a rank."""

    last: "Future[Metadata | None] | None" = None
    executor: ThreadPoolExecutor | None = None

    def put(self, run: Save, *args: Any) -> "Future[Metadata | None]":
        if self.executor is None:
            self.executor = ThreadPoolExecutor(1, "dtensor.checkpoint")
        context = contextvars.copy_context()
        self.last = self.executor.submit(context.run, _complete, run, *args)
        self.last.add_done_callback(_tell)
        return self.last


_queue = _Queue()


def _tell(future: "Future[Metadata | None]") -> None:
    error = future.exception()
    if error is not None:
        logging.getLogger("dtensor.checkpoint").error("%s", str(error))
