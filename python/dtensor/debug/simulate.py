"""A program on a mesh of any size, run by one process and without data."""

import contextvars
import threading
from collections.abc import Callable, Sequence
from typing import Any

from dtensor import _C
from dtensor._core.costs import costs_text
from dtensor._core.device import device
from dtensor.debug._simulate_report import Moves, Simulation
from dtensor.device_mesh import DeviceMesh, init_device_mesh

__all__ = ["Moves", "Simulation", "simulate"]

# Modules (a function of the same name hides some of them) with the operators whose
# results usually are views of their only operand.


def simulate(
    mesh_shape: int | Sequence[int],
    fn: Callable[[DeviceMesh], object],
    *,
    mesh_dim_names: Sequence[str] | None = None,
    rank: int = 0,
    cost: tuple[float, float, float] | None = None,
) -> Simulation:
    """Run a program as one rank of a mesh of any size, and return what it would cost.

    It needs neither the other ranks nor data: nothing is sent, and collectives are
    counted from the plans that would run. Not collective; inside a job it concerns only
    the calling rank.

    Parameters
    ----------
    mesh_shape : int or sequence of int
        Lengths of the dims of the mesh.
    fn : callable
        ``fn(mesh)`` builds, parallelizes and steps a model, as on every rank of a real
        job. Its tensors are on the device ``"meta"``, which is the default for new
        modules here; it must not read values. The report covers all that it does. If it
        returns a callable, this is called without arguments, and the report covers that
        call alone.
    mesh_dim_names : sequence of str, optional
        A name for every dim.
    rank : int, default 0
        The simulated rank. Rank 0 has the longest parts.
    cost : tuple of 3 float, optional
        Seconds per message, bytes per second of messages into one rank, and bytes per
        second of copies. By default those that `dtensor.set_costs` has set. They also
        decide which plans are chosen.

    Returns
    -------
    Simulation
        Counts and bytes by collective, peak memory, predicted seconds of the rank.

    Raises
    ------
    ValueError
        If there is no such rank, a length is below 1, or a cost is not positive.
    NotImplementedError
        If `fn` reads values, which do not exist: ``float(loss)``, ``print(x)``.
    Exception
        Whatever `fn` raises.

    See Also
    --------
    explain : The plan of one move.
    dtensor.abstract : The layouts of results, without traffic.

    Notes
    -----
    The other ranks are assumed to do what this one does, and to have the same values
    for what is agreed on or shared. So all parts in ``from_local`` have this rank's
    shape, and all parts of a sequence in `context_parallel` this rank's length. Plain
    arrays with data may be used too; a move that would send them gives a result without
    data. A `CommDebugMode` inside `fn` records modules and lines as on a real rank,
    with predicted seconds, but not which ranks receive the bytes.

    Memory is that of tensors without data, from when they are made until they are
    freed: parts of parameters, gradients, optimizer states, results of operators that
    are still used or that backward needs, and results and intermediates of moves. Views
    count once. Temporary memory of kernels and of packing messages (at most 12 MiB) is
    not counted, and neither are arrays with data.

    Seconds are the predicted times of moves, by the model that chooses plans: latency,
    bandwidth and copies, without waiting for other ranks and without arithmetic.

    Examples
    --------
    >>> from dtensor import Shard, distribute_tensor, nn
    >>> def gather(mesh):
    ...     whole = nn.Linear(65536, 1024, bias=False).weight.detach()
    ...     x = distribute_tensor(whole, mesh, [Shard(0), Shard(1)])
    ...     return x.full_tensor
    >>> report = simulate((256, 256), gather)
    >>> dict(report.comm_counts), report.live_bytes
    ({'all_gather': 2}, 268439552)
    """
    shape = (mesh_shape,) if isinstance(mesh_shape, int) else tuple(mesh_shape)
    size = 1
    for length in shape:
        if length < 1:
            raise ValueError(f"simulate: a mesh of shape {shape} has no ranks")
        size *= int(length)
    world = _C.World.simulated(size, rank, cost and costs_text(*cost))
    run = _Run(world, shape, mesh_dim_names, fn)
    call = contextvars.copy_context().run
    thread = threading.Thread(target=call, args=(run.be_rank,), name=f"rank {rank}")
    thread.daemon = True
    thread.dtensor_rank = rank  # type: ignore[attr-defined]
    thread.start()
    thread.join()
    if run.failure is not None:
        raise run.failure
    assert run.report is not None
    return run.report


class _Run:
    """One simulation: the body of its thread, which has a world of its own."""

    def __init__(
        self,
        world: _C.World,
        shape: tuple[int, ...],
        names: Sequence[str] | None,
        fn: Callable[[DeviceMesh], object],
    ) -> None:
        self.world, self.shape, self.names, self.fn = world, shape, names, fn
        self.report: Simulation | None = None
        self.failure: BaseException | None = None

    def be_rank(self) -> None:
        try:
            self.world.activate()
            with device("meta"):
                self.report = self.run()
        except BaseException as error:
            self.failure = error
        finally:
            self.world.close()

    def run(self) -> Simulation:
        mesh = init_device_mesh("cpu", self.shape, mesh_dim_names=self.names)
        built: Any = self.fn(mesh)
        counts: dict[str, tuple[int, int, int]] = {}
        seconds: dict[str, float] = {}
        result = None
        if callable(built):
            counts, seconds = self.world.counters(), self.world.predicted()
            self.world.memory(True)
            result = built()
        live, peak = self.world.memory()  # while the model and the result are alive
        del built, result
        moves = {}
        for name, row in self.world.counters().items():
            took = self.world.predicted()[name] - seconds.get(name, 0.0)
            old = counts.get(name, (0, 0, 0))
            moved = Moves(row[0] - old[0], row[1] - old[1], row[2] - old[2], took)
            if moved.calls or moved.seconds:
                moves[name] = moved
        return Simulation(
            self.shape, mesh.mesh_dim_names, self.world.rank, moves, peak, live
        )
