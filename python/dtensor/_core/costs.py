"""The constants that plans and layouts are chosen by."""

import operator
from collections.abc import Mapping

from dtensor._core.world import current

__all__ = ["costs_text", "set_costs"]

_RESERVED = set(".,= ")


def set_costs(
    *,
    latency: float = 1e-6,
    bandwidth: float = 1e10,
    copy: float = 1e10,
    nodes_latency: float = 3e-6,
    nodes_bandwidth: float = 1e9,
    node_ranks: int | None = None,
    mesh_dims: Mapping[str, Mapping[str, float]] | None = None,
) -> None:
    """Set what messages and copies count as when plans and layouts are chosen.

    Collective: all ranks of the job call it, with equal arguments. Without arguments it
    sets the defaults. Results that are there already stay as they are.

    Parameters
    ----------
    latency : float, default 1e-6
        Seconds for a message of no bytes.
    bandwidth : float, default 1e10
        Bytes per second that one rank receives while all do.
    copy : float, default 1e10
        Bytes per second of a copy in one rank's memory while all copy.
    nodes_latency, nodes_bandwidth : float, default 3e-6 and 1e9
        The same as `latency` and `bandwidth`, along mesh dims that join ranks of
        several nodes.
    node_ranks : int, optional
        How many neighbouring ranks share a node: 8 says that ranks 0 to 7 share one,
        and ranks 8 to 15. By default that is found when the job starts. Nodes decide
        which steps a plan has, not which layouts operators choose. Values are the same
        for any number.
    mesh_dims : mapping of str to mapping, optional
        Mesh dims, by name, that have a ``"latency"`` or ``"bandwidth"`` of their own.
        A step along several mesh dims counts as along the most expensive of them. At
        most 16.

    Raises
    ------
    ValueError
        If a latency is negative, a bandwidth or `copy` is not positive, `node_ranks`
        is not 1 or more, or a name is empty or has one of the characters ``.,=`` or a
        space: on all ranks.
    RuntimeError
        If the arguments differ between ranks: on all ranks.

    See Also
    --------
    dtensor.debug.explain : The plan of a move, by these costs.
    dtensor.debug.simulate : A program on any mesh, with any costs.

    Notes
    -----
    The environment variable ``DTENSOR_COSTS`` sets the same when the job starts, as in
    ``latency=1e-6,bandwidth=1e10,nodes_latency=3e-6,nodes_bandwidth=1e9,node_ranks=8``
    or ``dp.latency=2e-5,dp.bandwidth=1.2e9``. ``python -m dtensor.doctor --measure``
    prints what fits a machine, or several nodes if the job has them. Nothing is
    measured otherwise: the same program has the same layouts and the same bits each
    time it is run.

    Examples
    --------
    >>> import dtensor
    >>> dtensor.set_costs(mesh_dims={"dp": {"latency": 2e-5, "bandwidth": 1.2e9}})
    >>> dtensor.set_costs(nodes_latency=2e-5, nodes_bandwidth=1.2e8)
    >>> dtensor.set_costs()
    """
    error: Exception | None = None
    text = ""
    try:
        nodes = {"nodes_latency": nodes_latency, "nodes_bandwidth": nodes_bandwidth}
        if node_ranks is not None:
            nodes["node_ranks"] = operator.index(node_ranks)
        text = costs_text(latency, bandwidth, copy, nodes, mesh_dims)
    except (TypeError, ValueError) as failure:
        error = failure
    world = current()
    world.agree(b"", "set_costs", error)
    world.set_costs(text)


def costs_text(
    latency: float,
    bandwidth: float,
    copy: float,
    nodes: Mapping[str, float] | None = None,
    mesh_dims: Mapping[str, Mapping[str, float]] | None = None,
) -> str:
    """Return costs as ``DTENSOR_COSTS`` has them; those of nodes by their names there.

    Raises
    ------
    TypeError
        If a cost is no number.
    ValueError
        If a name cannot be written.
    """
    items: dict[str, float] = {
        "latency": latency,
        "bandwidth": bandwidth,
        "copy": copy,
        **(nodes or {}),
    }
    for name, own in (mesh_dims or {}).items():
        if not name or _RESERVED & set(name):
            raise ValueError(
                "set_costs: a mesh dim with costs of its own needs a name without "
                f"'.', ',', '=' and spaces, not {name!r}"
            )
        items |= {f"{name}.{key}": value for key, value in own.items()}
    return ",".join(f"{key}={float(value)!r}" for key, value in items.items())
