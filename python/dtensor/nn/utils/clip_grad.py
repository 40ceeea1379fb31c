"""The total norm of gradients, and gradient clipping."""

import math
from collections.abc import Generator, Iterable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core import world
from dtensor._core.caller import warn
from dtensor._core.device import is_meta
from dtensor._core.told import told
from dtensor.autograd import no_grad
from dtensor.ops._make.composite import within
from dtensor.placement_types import Partial, Replicate, Shard

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]

Array = npt.NDArray[Any]


# --- the norm -------------------------------------------------------------------------


def _settled(tensors: Sequence[Any]) -> list[Any]:
    """Return the tensors with all addends summed; those on one mesh move together.

    If a dim can be sharded, the sum stays sharded, so that each element counts once.
    """
    out = list(tensors)
    waiting: dict[Any, list[int]] = {}
    for k, x in enumerate(out):
        if isinstance(x, _C.DTensor) and x.layout.is_partial:
            waiting.setdefault(x.device_mesh, []).append(k)
    for mesh, places in waiting.items():
        targets = [_summed_placements(out[k]) for k in places]
        moved = _C.redistribute([out[k] for k in places], mesh, targets)
        for k, x in zip(places, moved, strict=True):
            out[k] = x
    return out


def _summed_placements(x: Any) -> list[_C.Placement]:
    free = [dim for dim in range(x.ndim) if not x.layout.cut_by(dim)]
    to: _C.Placement = Shard(free[0]) if free else Replicate()
    return [to if p._is_pending else p for p in x.placements]


def _counts_here(x: Any) -> bool:
    """Return whether this rank's part counts: of equal parts only the first does."""
    if not isinstance(x, _C.DTensor):
        return True
    at = x.device_mesh.get_coordinate()
    return at is not None and not any(
        place and p._is_whole for place, p in zip(at, x.placements, strict=True)
    )


def _power_sum(x: Any, norm_type: float) -> float:
    """Return the sum of ``|x|^norm_type`` over this rank's part, or the extreme."""
    part: Array = (x.to_local() if isinstance(x, _C.DTensor) else x).numpy()
    flat = part.astype(np.float32) if part.itemsize < 4 else part
    flat = flat.reshape(-1)
    if not flat.size:
        return _neutral(norm_type)
    if norm_type == 2.0:
        return float(np.vdot(flat, flat).real)
    if norm_type == math.inf:
        return float(np.abs(flat).max())
    if norm_type == -math.inf:
        return float(np.abs(flat).min())
    with np.errstate(divide="ignore"):
        return float(np.sum(np.abs(flat) ** norm_type))


def _neutral(norm_type: float) -> float:
    return math.inf if norm_type == -math.inf else 0.0


def _combined(values: Iterable[float], norm_type: float) -> float:
    """Return the sum of power sums, or the extreme of extremes; NaN stays."""
    many = np.fromiter(values, np.float64)
    if abs(norm_type) != math.inf:
        return float(many.sum())
    many = np.append(many, _neutral(norm_type))
    return float(many.max() if norm_type > 0 else many.min())


def _cover(meshes: Sequence[Any]) -> Any:
    """Return a known mesh with the ranks of all of them; None if there is none."""
    candidates = list(meshes)
    parents = [mesh._parent for mesh in meshes]
    while any(parent is not None for parent in parents):
        candidates += [parent for parent in parents if parent is not None]
        parents = [p._parent for p in parents if p is not None]
    for mesh in sorted(candidates, key=lambda mesh: mesh.size()):
        if all(np.isin(other.ranks, mesh.ranks).all() for other in meshes):
            return mesh
    return None


def _spread(values: Array, mesh: Any, placement: _C.Placement) -> Any:
    """Return a DTensor of this rank's array."""
    layout = _C.Layout(mesh, [placement] * mesh.ndim, values.shape, values.dtype)
    if mesh.get_coordinate() is None:
        values = np.empty(layout.local_shape(), values.dtype)
    return _C.of_part(values, layout)


def _flat(mesh: Any) -> Any:
    """Return the ranks of a mesh in one dim."""
    ranks = mesh.ranks.reshape(-1)
    return mesh._make(mesh.device_type, ranks.shape, ranks, None, mesh.world)


def _all_reduced(values: Array, mesh: Any, kind: str) -> Array:
    """Return the totals over all dims of a mesh at once."""
    x = _spread(values, _flat(mesh), Partial(kind))
    totals = x.redistribute(placements=[Replicate()])
    return totals.to_local().numpy()  # type: ignore[no-any-return]


def _totals(own: dict[Any, float], cover: Any, norm_type: float) -> dict[Any, float]:
    """Return the totals over each of several meshes.

    With a mesh that has all their ranks, it is one all_reduce of a table with a row for
    each rank and a column for each mesh. The meshes in one column may differ between
    ranks, like the rows of a 2-D mesh: every rank adds up its own.
    """
    meshes = list(own)
    if cover is None or len(meshes) < 2:
        kind = {math.inf: "max", -math.inf: "min"}.get(norm_type, "sum")
        totals = {}
        for mesh in meshes:
            rows = _all_reduced(np.array(own[mesh]), mesh, kind)
            totals[mesh] = _combined(rows.flat, norm_type)
        return totals
    table = np.zeros((cover.size(), len(meshes)))
    here = cover.index(cover.get_rank())
    if here >= 0:
        table[here] = list(own.values())
    rows = _all_reduced(table, cover, "sum")
    totals = {}
    for column, mesh in enumerate(meshes):
        places = [cover.index(int(rank)) for rank in mesh.ranks.flat]
        totals[mesh] = _combined(rows[places, column], norm_type)
    return totals


def _agree(tensors: Sequence[Any], norm_type: float) -> None:
    """Raise on all ranks of a mesh if they pass different tensors.

    The all_reduce of one number could not detect this.
    """
    given: dict[Any, list[Any]] = {}
    for x in tensors:
        if isinstance(x, _C.DTensor):
            given.setdefault(x.device_mesh, []).append(x)
    several = len(given) > 1  # else the move of the numbers compares lineages
    for mesh, those in given.items():
        if mesh.get_coordinate() is not None:
            what = f"get_total_norm({len(those)} tensors, norm_type={norm_type})"
            made_of = [_C.lineage(x) for x in those if several]
            token = f"{[x.shape for x in those]} {made_of} {norm_type}".encode()
            world.current().agree(token, what, None, mesh, False)


def _without_data(tensors: Any, meshes: list[Any], cover: Any, dtype: Any) -> Any:
    """Return a norm without data; the moves are made, so that they can be counted."""
    _settled(list(tensors))
    tables: dict[Any, tuple[int, ...]] = dict.fromkeys(meshes, ())
    if cover is not None and len(meshes) > 1:
        tables = {cover: (cover.size(), len(meshes))}
    for mesh, shape in tables.items():
        layout = _C.Layout(_flat(mesh), [Partial()], shape, np.float64)
        _C.without_data(layout).redistribute(placements=[Replicate()])
    if not meshes:
        return _C.without_data((), dtype)
    home = meshes[0] if cover is None else cover
    return _C.without_data(_C.Layout(home, None, (), dtype))


@told
@no_grad()
def get_total_norm(
    tensors: Any,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Return the norm of tensors as if they were one vector.

    Collective: one all_reduce of one number for all of them, whatever their placements.
    Before it, Partial tensors are reduced, all those on one mesh together. Tensors on
    several meshes need one all_reduce if one of the meshes, or a mesh that they are
    slices of, has all the ranks; otherwise one for each mesh.

    Parameters
    ----------
    tensors : tensor or iterable of tensors
        DTensors on any meshes, or Tensors of this rank.
    norm_type : float, default 2.0
        It may be ``inf`` or ``-inf``, but not 0.
    error_if_nonfinite : bool, default False
        Whether to raise if the norm is infinite or NaN.
    foreach : optional
        Ignored.

    Returns
    -------
    DTensor or Tensor, without dims
        A replicated DTensor if one of the tensors is a DTensor: on the mesh that has
        all their ranks, else on the mesh of the first.

    Raises
    ------
    RuntimeError
        If the norm is not finite and `error_if_nonfinite` is True, or the ranks of a
        mesh have different tensors on it. On every rank.
    ValueError
        If `norm_type` is 0.
    """
    tensors = [tensors] if isinstance(tensors, _C.Tensor) else list(tensors)
    norm_type = float(norm_type)
    if norm_type == 0:
        raise ValueError("get_total_norm: norm_type must not be 0")
    if not tensors:
        return _C.tensor(0.0)
    norm = _norm(tensors, norm_type, error_if_nonfinite)
    return _C.into_torch(norm) if any(map(_C.is_torch, tensors)) else norm


def _norm(tensors: list[Any], norm_type: float, finite: bool) -> Any:
    """Return the norm; `finite`: it must be."""
    dtype = np.empty(0, np.result_type(*{x.dtype for x in tensors})).real.dtype
    meshes = list({x.device_mesh: x for x in tensors if isinstance(x, _C.DTensor)})
    cover = _cover(meshes) if meshes else None
    home = meshes[0] if meshes and cover is None else cover
    if any(is_meta(x) for x in tensors):
        return _without_data(tensors, meshes, cover, dtype)
    _agree(tensors, norm_type)
    spread_out = [x for x in tensors if isinstance(x, _C.DTensor)]
    name = "get_total_norm"
    # With several meshes some ranks do not know what is on the others.
    with within(name, norm_type, *spread_out) if len(meshes) == 1 else nullcontext():
        local: list[float] = []
        own: dict[Any, list[float]] = {}
        for x in _settled(tensors):
            value = _power_sum(x, norm_type) if _counts_here(x) else _neutral(norm_type)
            spread = isinstance(x, _C.DTensor)
            (own.setdefault(x.device_mesh, []) if spread else local).append(value)
        sums = {mesh: _combined(values, norm_type) for mesh, values in own.items()}
        total = _combined(
            [*local, *_totals(sums, cover, norm_type).values()], norm_type
        )
    if abs(norm_type) != math.inf:
        total = np.float64(total) ** (1.0 / norm_type)
    if finite and not math.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is "
            "non-finite, so it cannot be clipped. To disable this error and scale the "
            "gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    number = np.array(total, dtype)
    if home is None:
        return _C.tensor(number)
    norm = _spread(number, home, Replicate())
    if len(meshes) > 1:
        return _C.arrived(norm)
    return _C.made_of(norm, name, norm_type, *spread_out)


# --- clipping -------------------------------------------------------------------------


def _listed(parameters: Any) -> list[Any]:
    if isinstance(parameters, _C.Tensor):
        return [parameters]
    listed = list(parameters)
    if not listed and isinstance(parameters, Generator):
        warn("`parameters` is an empty generator, no gradient clipping will occur.")
    return listed


def _gradients(parameters: Iterable[Any]) -> list[Any]:
    return [p.grad for p in parameters if p.grad is not None]


@told
@no_grad()
def clip_grads_with_norm_(
    parameters: Any, max_norm: float, total_norm: Any, foreach: bool | None = None
) -> None:
    """Multiply gradients by ``max_norm / (total_norm + 1e-6)``, if that is below 1.

    Not collective, with a norm that `get_total_norm` returned.

    Parameters
    ----------
    parameters : tensor or iterable of tensors
        The parameters, whose gradients are changed in place.
    max_norm : float
    total_norm : tensor
        The norm of all gradients.
    foreach : optional
        Ignored.
    """
    grads = _gradients(_listed(parameters))
    if not grads or is_meta(total_norm):
        return
    whole = isinstance(total_norm, _C.DTensor)
    norm = (total_norm.full_tensor() if whole else total_norm).numpy()[()]
    factor = min(float(max_norm / (norm + norm.dtype.type(1e-6))), 1.0)  # NaN stays
    for grad in grads:
        grad *= factor


@told
@no_grad()
def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Any:
    """Scale gradients in place so that their total norm is at most `max_norm`.

    Collective like `get_total_norm`: one all_reduce for all parameters.

    Parameters
    ----------
    parameters : tensor or iterable of tensors
        The parameters; those without a gradient are left out.
    max_norm : float
    norm_type : float, default 2.0
        It may be ``inf``.
    error_if_nonfinite : bool, default False
        Whether to raise if the norm is infinite or NaN.
    foreach : optional
        Ignored.

    Returns
    -------
    DTensor or Tensor, without dims
        The norm before clipping.

    Raises
    ------
    RuntimeError
        As in `get_total_norm`; also if a rank lacks a gradient that others have.

    Examples
    --------
    >>> from dtensor import nn, tensor
    >>> p = nn.Parameter(tensor([0.0, 0.0]))
    >>> p.grad = tensor([3.0, 4.0])
    >>> float(clip_grad_norm_([p], 1.0))
    5.0
    """
    parameters = _listed(parameters)
    total = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, max_norm, total)
    return _C.into_torch(total) if any(map(_C.is_torch, parameters)) else total


@told
@no_grad()
def clip_grad_value_(
    parameters: Any, clip_value: float, foreach: bool | None = None
) -> None:
    """Clip all elements of gradients to [-clip_value, clip_value], in place.

    Not collective, unless a gradient is Partial.

    Parameters
    ----------
    parameters : tensor or iterable of tensors
        The parameters whose gradients are changed.
    clip_value : float
    foreach : optional
        Ignored.
    """
    limit = float(clip_value)
    for grad in _gradients(_listed(parameters)):
        np.clip(grad, -limit, limit, out=grad)
