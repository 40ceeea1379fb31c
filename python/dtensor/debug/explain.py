"""What a move of an array, or an expression, will cost, before it runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, overload

from dtensor import _C
from dtensor.debug._expression import Expression, explain_expression
from dtensor.debug._pictures._html import framed, table
from dtensor.debug._units import aligned, duration, size
from dtensor.device_mesh import DeviceMesh

__all__ = ["Explanation", "Step", "explain"]


_HEAD = ("step", "mesh dims", "from", "to", "sent", "received", "messages")


@dataclass(frozen=True)
class Step:
    """One step of a move, for one rank."""

    op: str
    """Kind: "all_gather", "all_to_all", "exchange", ..., or "local"."""
    mesh_dims: tuple[int, ...]
    """The mesh dimensions that change."""
    from_: str
    """The placements before, and the dtype where it is not the array's: sums of 16-bit
    floats travel as float32."""
    to: str
    """The placements after, and the dtype in the same way."""
    bytes_sent: int
    """Bytes that the rank sends, or that others read of its memory."""
    bytes_received: int
    """Bytes that the rank receives or reads."""
    messages: int
    """Messages that the rank sends; what others read of its memory takes none."""
    peak_bytes: int
    """Bytes of the rank's parts before and after the step, and of its buffers."""
    way: str
    """How the step is expected to move data: "messages", "read" (the ranks read each
    other's memory), or "local"."""
    why: str
    """Why this way is expected, in a few words."""


@dataclass(frozen=True)
class Explanation:
    """A plan for a move: its steps, and what they cost one rank.

    ``str()`` returns a table, or "nothing to move" for a plan without steps. It is the
    plan that redistribute runs.
    """

    rank: int
    """The rank that the numbers are for."""
    steps: list[Step]
    """The steps, in order; empty if there is nothing to do."""
    peak_bytes: int
    """The most bytes that the rank holds at once for this move, including its input."""
    predicted_seconds: float
    """Predicted time, by the cost model: see `dtensor.set_costs`."""

    @property
    def bytes_sent(self) -> int:
        """Bytes that the rank sends in all steps."""
        return sum(step.bytes_sent for step in self.steps)

    @property
    def bytes_received(self) -> int:
        """Bytes that the rank receives in all steps."""
        return sum(step.bytes_received for step in self.steps)

    @property
    def messages(self) -> int:
        """Messages that the rank sends in all steps."""
        return sum(step.messages for step in self.steps)

    def __str__(self) -> str:
        if not self.steps:
            return "nothing to move"
        return "\n".join([*aligned(_HEAD, self._rows(), 4), *self._notes()])

    def _repr_html_(self) -> str:
        if not self.steps:
            return framed("Explanation: nothing to move")
        body = table(_HEAD, self._rows(), 4, "; ".join(self._notes()))
        return framed("Explanation of a move", body)

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for step in self.steps:
            dims = ", ".join(map(str, step.mesh_dims)) or "-"
            rows.append((step.op, dims, step.from_, step.to, *_counts(step)))
        if len(self.steps) > 1:
            rows.append(("total", "", "", "", *_counts(self)))
        return rows

    def _notes(self) -> list[str]:
        ways = {f"{s.way} ({s.why})": 0 for s in self.steps if s.way != "local"}
        memory = f"rank {self.rank}: peak {size(self.peak_bytes)}"
        costs = f"{memory}, predicted {duration(self.predicted_seconds)}"
        return ["way: " + ", ".join(ways), costs] if ways else [costs]


def _counts(what: Step | Explanation) -> tuple[str, str, str]:
    return size(what.bytes_sent), size(what.bytes_received), str(what.messages)


@overload
def explain(
    x: _C.DTensor | _C.Layout,
    placements: Sequence[_C.Placement] | _C.Layout | None = None,
    device_mesh: DeviceMesh | None = None,
    /,
    *,
    rank: int | None = None,
    max_bytes: int | None = None,
) -> Explanation: ...
@overload
def explain(
    x: _C.DTensor | _C.Layout,
    /,
    *,
    placements: Sequence[_C.Placement] | _C.Layout | None = None,
    device_mesh: DeviceMesh | None = None,
    rank: int | None = None,
    max_bytes: int | None = None,
) -> Explanation: ...
@overload
def explain(
    fn: Callable[..., Any], /, *args: Any, rank: int | None = None, **kwargs: Any
) -> Expression: ...
def explain(
    x: Any, /, *args: Any, rank: int | None = None, **kwargs: Any
) -> Explanation | Expression:
    """Return what a move, or an expression, will do and cost, without running it.

    ``explain(x, placements=None, device_mesh=None)`` returns the plan that
    ``x.redistribute(device_mesh, placements)`` would run. ``explain(fn, *args)``
    returns what ``fn(*args)`` would do: for each operator its rule, the layouts that
    its operands are moved to, the possible rows of the rule with their costs, and the
    bytes sent. Not collective; nothing moves and nothing is computed. Layouts may be
    given instead of DTensors, also on a mesh without ranks.

    Parameters
    ----------
    x : DTensor, Layout, or callable
        The array to move; or an operator, or any function of tensors that does not read
        their values, such as a module.
    placements : sequence of Placement, or Layout, optional
        The target placements; default: Replicate on all mesh dimensions. A Layout also
        gives orders, cut points and the mesh.
    device_mesh : DeviceMesh, optional
        The target mesh; default: that of `x`.
    *args, **kwargs
        The arguments of the function.
    rank : int, optional
        The rank whose bytes, messages and memory are returned; default: the calling
        rank, or 0 on a mesh without ranks.
    max_bytes : int, optional
        The bound on scratch memory, as redistribute takes it.

    Returns
    -------
    Explanation
        For a move: the steps and their sums.
    Expression
        For a function: its operators and their sums.

    Raises
    ------
    TypeError
        If `x` is neither a DTensor nor a Layout nor callable.
    ValueError
        If there are more or fewer placements than mesh dimensions, or no plan stays
        within `max_bytes`.
    IndexError
        If a Shard names a dimension that the tensor does not have.
    RuntimeError
        If the function reads the values of a tensor.

    Notes
    -----
    What is written by ``x[index] = value`` and `numpy.copyto` is counted where `index`
    has slices and integers. Values that are written to elements picked by arrays of
    indices or masks depend on these, and are not.

    Examples
    --------
    >>> from dtensor import DeviceMesh, Layout, Shard
    >>> mesh = DeviceMesh.abstract((4,))
    >>> x = Layout(mesh, [Shard(0)], (8, 8), "float32")
    >>> plan = explain(x, [Shard(1)])
    >>> [step.op for step in plan.steps], plan.bytes_sent
    (['all_to_all'], 48)
    >>> expression = explain(lambda a, b: a.T @ b, x, x)
    >>> [(plan.name, plan.bytes_sent) for plan in expression.operators]
    [('transpose', 0), ('matmul', 0)]
    >>> [row.text for row in expression.operators[1].rows if row.chosen]
    ['S(1),S(0)->P(sum)']
    """
    if isinstance(x, _C.DTensor | _C.Layout):
        layout = x._spec if isinstance(x, _C.DTensor) else x
        return _explain_move(layout, rank, *args, **kwargs)
    if not callable(x):
        raise TypeError(
            f"explain takes a DTensor, a Layout or a function, not {type(x).__name__}; "
            "distribute_tensor and DTensor.from_local make a DTensor of an array"
        )
    return explain_expression(x, args, kwargs, rank)


def _explain_move(
    layout: _C.Layout,
    rank: int | None,
    placements: Sequence[_C.Placement] | _C.Layout | None = None,
    device_mesh: DeviceMesh | None = None,
    *,
    max_bytes: int | None = None,
) -> Explanation:
    if rank is None:
        rank = layout.mesh.get_rank() if layout.mesh.world else 0
    if isinstance(placements, _C.Layout):
        target = placements
    elif device_mesh is None or device_mesh == layout.mesh:
        target = layout.with_placements(placements)
    else:
        target = _C.Layout(device_mesh, placements, layout.shape, layout.dtype)
    seconds, peak, steps = _C._explain(layout, target, rank, max_bytes)
    return Explanation(rank, [Step(*step) for step in steps], peak, seconds)
