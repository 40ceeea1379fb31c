"""The world of ranks that this process or this thread belongs to.

Importing this module starts MPI through mpi4py if it is not running yet; nothing is
sent. The world of all ranks is made when it is first needed. Rank threads
(`dtensor.testing`) have worlds of their own.

It is imported before `dtensor._C`, which then uses the MPI library that mpi4py loaded.
"""

import atexit
import contextlib
import os
import sys
import threading
import time
import warnings
from types import TracebackType

from dtensor._core.several import local_ranks


def _tell_open_mpi() -> None:
    """Set what Open MPI reads when it starts, unless the user has."""
    # Yield while waiting, if there are more ranks than processors. A launcher that has
    # bound a rank to some of them has more itself.
    cores = len(os.sched_getaffinity(0))
    with contextlib.suppress(OSError):
        cores = max(cores, len(os.sched_getaffinity(os.getppid())))
    if local_ranks() > cores:
        os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    # Packed messages of up to 32 KiB go without a handshake; the limit's name in Open
    # MPI 5 and in 4.1.
    for name in ("sm", "vader"):
        os.environ.setdefault(f"OMPI_MCA_btl_{name}_eager_limit", "32768")


_tell_open_mpi()

from mpi4py import MPI  # noqa: E402  after what it reads from the environment

from dtensor._core import launcher, mpi_family  # noqa: E402

mpi_family.load_extension()

from dtensor import _C  # noqa: E402  after the MPI library is loaded

__all__ = ["MPI", "communicator", "current", "free_row", "meet", "ranks_of", "row"]

ABORT_SECONDS = 5.0  # how long a rank that ends may take for its own clean-up


def _check_one_library() -> None:
    ours = _C.mpi_library_version().strip("\0\n ")
    theirs = MPI.Get_library_version().strip("\0\n ")
    if ours != theirs:
        raise ImportError(
            f"dtensor runs with the MPI library {ours!r}, mpi4py with {theirs!r}: they "
            "must be the same. Build dtensor with the mpicc of mpi4py's MPI, or choose "
            "that MPI for mpi4py (MPI4PY_LIBMPI)."
        )


_check_one_library()

# --- the world of all ranks -----------------------------------------------------------

_lock = threading.Lock()
_default: _C.World | None = None
_rows: dict[tuple[int, ...], MPI.Intracomm] = {}


def current() -> _C.World:
    """Return the world of this thread: that of rank threads, or all ranks of the job.

    The first call is collective over all ranks of the job; later calls are local.

    Raises
    ------
    RuntimeError
        If MPI is not running, or the launcher belongs to another MPI, so that every
        rank would be a job of its own.
    """
    world = _C.World.current()
    if world is None:
        world = _default_world()
        world.activate()
    return world


def _default_world() -> _C.World:
    global _default
    with _lock:
        if _default is None:
            if not MPI.Is_initialized() or MPI.Is_finalized():
                raise RuntimeError(
                    "MPI is not running: call MPI.Init() first, or leave "
                    "mpi4py.rc.initialize as it was"
                )
            _check_launcher()
            _default = _C.World.mpi(MPI.COMM_WORLD.py2f())
        return _default


def meet(what: str) -> None:
    """Bring all ranks of the job back in step, each of them at this place.

    Collective over all ranks of the job. Does nothing before ranks have met at all. A
    rank that is still elsewhere gets an error there.

    Raises
    ------
    RuntimeError
        If some rank does not come in time.
    """
    world = _default
    if world is None or world.closed:
        return
    until = time.monotonic() + world.timeout
    while True:
        try:
            world.resync(f"came to {what}", ())
            world.agree(b"", what)
        except RuntimeError:
            if time.monotonic() > until:
                raise
        else:
            return


# Launchers that start processes whether they use MPI or not: who sets the variable with
# their number, another one that it sets, and what to say instead.
_OTHERS = (
    ("torchrun", "WORLD_SIZE", "TORCHELASTIC_RUN_ID", "mpiexec -n {} python script.py"),
    ("srun", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_ID", "srun --mpi=pmix -n {} ..."),
)


def _check_launcher() -> None:
    if MPI.COMM_WORLD.size > 1:
        return
    for starter, name, other, instead in _OTHERS:
        size = os.environ.get(name, "1")
        if size.isdecimal() and int(size) > 1 and other in os.environ:
            warnings.warn(
                f"{starter} has started {size} processes, but MPI sees this one only: "
                "each of them computes alone, as the only rank. For ranks of one job: "
                f"{instead.format(size)}",
                RuntimeWarning,
                stacklevel=2,
            )
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"):
        size = os.environ.get(name, "1")
        if size.isdecimal() and int(size) > 1:
            raise RuntimeError(
                f"{name} says that there are {size} ranks, but MPI sees this one only: "
                "the launcher is of another MPI than mpi4py's "
                f"({MPI.Get_library_version().strip()}). Use that MPI's mpiexec."
            )


@atexit.register
def _close() -> None:
    """Free this rank's own resources before mpi4py ends MPI; wait for no other rank."""
    if _default is not None and MPI.Is_initialized() and not MPI.Is_finalized():
        _default.close()


# --- communicators for the user -------------------------------------------------------


def communicator(what: str) -> MPI.Intracomm:
    """Return the communicator of the ranks of this thread's world.

    Raises
    ------
    RuntimeError
        For ranks that are threads of one process: they have no communicator.
    """
    if current() is not _default:
        raise RuntimeError(
            f"{what} needs MPI: these ranks are threads of one process "
            "(dtensor.testing.run_ranks); start the script with mpiexec instead"
        )
    return MPI.COMM_WORLD


def row(mesh: _C.Mesh, what: str) -> MPI.Comm:
    """Return a communicator over the ranks of a mesh, made once.

    Collective over these ranks. Other ranks get ``MPI.COMM_NULL``.

    Raises
    ------
    RuntimeError
        If a rank does not take part, or the ranks are not MPI processes.
    """
    world = communicator(what)
    ranks = tuple(mesh.ranks.ravel().tolist())
    if world.rank not in ranks:
        return MPI.COMM_NULL
    if ranks not in _rows:
        current().agree(b"", f"{what} over ranks {list(ranks)}", None, mesh)
        group = world.group.Incl(ranks)
        tag = hash(ranks) % 32768  # of integers: the same everywhere
        _rows[ranks] = world.Create_group(group, tag)
        group.Free()
    return _rows[ranks]


def free_row(mesh: _C.Mesh) -> None:
    """Free the communicator over the ranks of a mesh, if there is one."""
    comm = _rows.pop(tuple(mesh.ranks.ravel().tolist()), None)
    if comm is not None:
        comm.Free()


def ranks_of(comm: MPI.Comm, what: str) -> list[int]:
    """Return the world ranks of a communicator's processes, in its order.

    Raises
    ------
    ValueError
        If one of its processes is not in ``MPI.COMM_WORLD``.
    """
    world = communicator(what)
    ranks = MPI.Group.Translate_ranks(comm.group, list(range(comm.size)), world.group)
    if MPI.UNDEFINED in ranks:
        raise ValueError(f"{what}: a process of {comm.name} is not in MPI.COMM_WORLD")
    return [int(r) for r in ranks]


# --- one rank that fails ends the job -------------------------------------------------


def _in_a_job() -> bool:
    """True in a script that runs on several ranks."""
    if hasattr(sys, "ps1") or sys.flags.interactive or "pytest" in sys.modules:
        return False
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        return False
    if not MPI.Is_initialized() or MPI.Is_finalized():
        return False
    return bool(MPI.COMM_WORLD.size > 1)


def _abort(status: int) -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    launcher.watch()
    MPI.COMM_WORLD.Abort(status)


def _end_job(status: int) -> None:
    """End the job when this interpreter has ended, or after some seconds."""
    MPI._set_abort_status(status)
    launcher.watch()
    timer = threading.Timer(ABORT_SECONDS, _abort, (status,))
    timer.daemon = True
    timer.start()


_excepthook = sys.excepthook
_thread_excepthook = threading.excepthook


def _on_exception(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    _excepthook(kind, error, trace)
    if _in_a_job():
        _end_job(1)


def _on_thread_exception(args: threading.ExceptHookArgs) -> None:
    _thread_excepthook(args)
    if args.exc_type is not SystemExit and _in_a_job():
        _abort(1)  # the main thread may be waiting for a rank, or for this thread


class _Exit(SystemExit):
    """The exception that sys.exit raises.

    Code that catches it frees it while a Python frame is running. If no frame is left,
    the interpreter frees it because it is exiting.
    """

    def __del__(self) -> None:
        if self.code in (None, 0) or sys._getframe().f_back is not None:
            return
        if _in_a_job():
            _end_job(self.code if isinstance(self.code, int) else 1)


def _exit(status: object = None, /) -> None:
    """Exit the interpreter by raising SystemExit(status); see Python's sys.exit."""
    raise _Exit(status)


sys.excepthook = _on_exception
threading.excepthook = _on_thread_exception
sys.exit = _exit  # type: ignore[assignment]
