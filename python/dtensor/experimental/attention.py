"""context_parallel: attention over a sequence that is sharded over the ranks."""

import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from dtensor import _C
from dtensor._core import world
from dtensor._core.device import is_meta
from dtensor.autograd import no_grad
from dtensor.device_mesh import DeviceMesh
from dtensor.experimental import _ring, _sequence
from dtensor.functional_collectives._collectives import gathering
from dtensor.functional_collectives._moves import moved, together
from dtensor.ops._make.composite import within
from dtensor.ops.model import attention
from dtensor.placement_types import Shard

__all__ = ["context_parallel", "context_parallel_unshard", "set_rotate_method"]

_cp_options = _sequence.options


def set_rotate_method(rotate_method: str) -> None:
    """Choose how keys and values reach the ranks, for this thread.

    Parameters
    ----------
    rotate_method : {"allgather", "alltoall"}
        "allgather", the default, takes one collective, and memory for all keys and
        values. "alltoall" rotates them around a ring: each rank holds those of two
        ranks at a time, and the next ones move while it computes.

    Raises
    ------
    NotImplementedError
        For any other method.
    """
    _cp_options.rotate_method = rotate_method


# --- buffers --------------------------------------------------------------------------


@contextmanager
def context_parallel(
    mesh: DeviceMesh,
    *,
    buffers: list[Any] | None = None,
    buffer_seq_dims: list[int] | None = None,
    no_restore_buffers: Collection[Any] | None = None,
) -> Iterator[None]:
    """Shard buffers along the sequence, and make attention span all ranks' parts.

    Within the ``with`` block `scaled_dot_product_attention`, however it was imported,
    treats this rank's rows of query, key and value as parts of a sequence that is
    sharded over the ranks of the mesh. It is then collective: every rank must make the
    same call, forward and backward. Other threads are not affected.

    Parameters
    ----------
    mesh : DeviceMesh
        A mesh of one dimension.
    buffers : list of Tensor, optional
        Tensors with a sequence dim: inputs, labels, positional embeddings. Each becomes
        this rank's part of itself, and is restored after the block, also after an
        exception. Parameters and DTensors are not allowed.
    buffer_seq_dims : list of int, optional
        The sequence dim of each.
    no_restore_buffers : set of Tensor, optional
        Buffers that are not restored at the end.

    Raises
    ------
    ValueError
        If there are more or fewer dims than buffers, `no_restore_buffers` has other
        tensors, a buffer appears twice, is a parameter or the result of operators, or
        the mesh has several dimensions. In a causal attention, on every rank: if the
        parts are not those that this function makes.
    TypeError
        If a buffer is not a Tensor of this rank.
    IndexError
        If a buffer does not have the dim.
    NotImplementedError
        In attention: for a mask or dropout, or for a causal attention with more or
        fewer queries than keys.

    Notes
    -----
    Rank i of n gets chunks i and 2 n - 1 - i of 2 n, so that all ranks have equal work
    under a causal mask. Lengths need not be multiples of 2 n (in PyTorch they must).
    ``dtensor.experimental.attention._cp_options.enable_load_balance = False`` gives
    each rank one chunk. Second derivatives are not supported.

    Examples
    --------
    >>> import dtensor
    >>> from dtensor.nn import functional as F
    >>> mesh = dtensor.init_device_mesh("cpu", (1,))
    >>> q = dtensor.tensor(np.ones((1, 2, 6, 4), "float32"))
    >>> with context_parallel(mesh, buffers=[q], buffer_seq_dims=[2]):
    ...     out = F.scaled_dot_product_attention(q, q, q, is_causal=True)
    >>> out.shape
    (1, 2, 6, 4)
    """
    cut = list(buffers or ())
    dims = _check_buffers(mesh, cut, buffer_seq_dims or (), no_restore_buffers or ())
    kept = [None if _among(x, no_restore_buffers or ()) else x.data for x in cut]
    try:
        for x, dim in zip(cut, dims, strict=True):
            _set(x, _part(x, dim, mesh))
        with _patched(mesh):
            yield
    finally:
        for x, whole in zip(cut, kept, strict=True):
            if whole is not None:
                _set(x, whole)


def context_parallel_unshard(
    mesh: DeviceMesh,
    buffers: list[Any],
    seq_dims: list[int],
    load_balancer: None = None,
) -> list[_C.Tensor]:
    """Return the whole of buffers that `context_parallel` sharded, on every rank.

    Collective over the mesh. It has no gradient.

    Parameters
    ----------
    mesh : DeviceMesh
        The mesh of the context.
    buffers : list of Tensor
        This rank's parts: buffers within the context, or results computed from them.
    seq_dims : list of int
        The sequence dim of each.
    load_balancer : None
        Only None; the order is that of the options of the context.

    Returns
    -------
    list of Tensor
        New tensors, in the order of the sequence.

    Raises
    ------
    ValueError
        If there are more or fewer dims than buffers, or the parts do not have the
        lengths that `context_parallel` gives them. On every rank.
    IndexError
        If a buffer does not have the dim. On every rank.
    """
    _check_mesh(mesh)
    if len(buffers) != len(seq_dims):
        raise ValueError(
            "`seq_dims` must have the same number of elements as `buffers`."
        )
    if load_balancer is not None:
        raise NotImplementedError(
            "context_parallel_unshard: load_balancer must be None; set "
            "_cp_options.enable_load_balance instead"
        )
    return [_whole(x, dim, mesh) for x, dim in zip(buffers, seq_dims, strict=True)]


def _set(x: _C.Tensor, data: _C.Tensor) -> None:
    """Give a buffer other data; a backward that needs the old data raises."""
    x.data = data
    _C.written(x)


def _check_mesh(mesh: DeviceMesh) -> None:
    if mesh.ndim != 1:
        raise ValueError(
            f"context_parallel needs a mesh of one dimension, not {mesh}: slice it, "
            'as in mesh["cp"]'
        )


def _among(x: Any, some: Collection[Any]) -> bool:
    return any(x is each for each in some)


def _check_buffers(
    mesh: DeviceMesh,
    buffers: list[Any],
    dims: Sequence[int],
    no_restore: Collection[Any],
) -> list[int]:
    """Return the dims, none of them negative."""
    _check_mesh(mesh)
    if len(buffers) != len(dims):
        raise ValueError(
            "`seq_dims` must have the same number of elements as `buffers`."
        )
    if not all(_among(x, buffers) for x in no_restore):
        raise ValueError("`no_restore_buffers` must be a subset of `buffers`.")
    for place, (x, dim) in enumerate(zip(buffers, dims, strict=True)):
        if not isinstance(x, _C.Tensor) or isinstance(x, _C.DTensor):
            raise TypeError(
                "context_parallel: a buffer must be a Tensor of this rank, not "
                f"{type(x).__name__}"
            )
        if x._is_param or not x.is_leaf or _among(x, buffers[:place]):
            raise ValueError(
                f"context_parallel: buffer {place} is a parameter, the result of "
                "recorded operators, or listed twice"
            )
        if not -x.ndim <= dim < x.ndim:
            raise IndexError(f"context_parallel: buffer {place} has no dim {dim}")
    return [dim % x.ndim for x, dim in zip(buffers, dims, strict=True)]


def _part(x: _C.Tensor, dim: int, mesh: DeviceMesh) -> _C.Tensor:
    rank = max(mesh.get_local_rank(), 0)
    balanced = _cp_options.enable_load_balance
    parts = _sequence.rows(x.shape[dim], mesh.size(), rank, balanced)
    pieces = [x.detach()[(*(slice(None),) * dim, rows)] for rows in parts]
    return _C.as_tensor(np.concatenate(pieces, dim))


def _whole(x: Any, dim: int, mesh: DeviceMesh) -> _C.Tensor:
    part = _C.as_tensor(x).detach()
    source, target = gathering(part, dim, mesh)
    dim, n = dim % part.ndim, mesh.size()
    lengths = [source.local_shape((r,))[dim] for r in range(n)]
    balanced = _cp_options.enable_load_balance
    _check_lengths(lengths, balanced)
    (gathered,) = moved([part], [(source, target)])
    places = np.argsort(_sequence.order(sum(lengths), n, balanced))
    return _C.Tensor(np.take(gathered.numpy(force=True), places, dim))


def _check_lengths(lengths: list[int], balanced: bool) -> None:
    n, total = len(lengths), sum(lengths)
    expected = [
        sum(rows.stop - rows.start for rows in _sequence.rows(total, n, r, balanced))
        for r in range(n)
    ]
    if lengths != expected:
        raise ValueError(
            f"the ranks hold {lengths} rows of a sequence of {total}, but "
            f"context_parallel gives them {expected}"
        )


# --- attention ------------------------------------------------------------------------

Options = tuple[bool, float | None, bool]  # is_causal, scale, enable_gqa


class _Open(threading.local):
    """The meshes of the contexts that are open in this thread, innermost last."""

    def __init__(self) -> None:
        self.meshes: list[DeviceMesh] = []


_open = _Open()
_lock = threading.Lock()
_count = 0  # contexts that are open in all threads
_own = {name: getattr(attention, name) for name in ("_attention", "with_dropout")}


@contextmanager
def _patched(mesh: DeviceMesh) -> Iterator[None]:
    """Make this thread's calls of attention use the ring."""
    global _count
    with _lock:
        _count += 1
        attention._attention = _call  # type: ignore[assignment]
        attention.with_dropout = _call_with_dropout  # type: ignore[assignment]
    _open.meshes.append(mesh)
    try:
        yield
    finally:
        _open.meshes.pop()
        with _lock:
            _count -= 1
            if _count == 0:
                for name, function in _own.items():
                    setattr(attention, name, function)


def _call(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """Stand in for the operator: return the result, and None for the sums."""
    options = (bool(is_causal), scale, bool(enable_gqa))
    mesh = _mesh()
    if mesh is None:
        return _own["_attention"](query, key, value, attn_mask, *options)
    if attn_mask is not None:
        _refuse("attn_mask is not supported; use is_causal", mesh)
    if not any(isinstance(x, _C.DTensor) for x in (query, key, value)):
        return _local(mesh, [*map(_C.as_tensor, (query, key, value))], options), None
    given = _check_dtensors(mesh, query, key, value)
    out = _local(mesh, [x.to_local() for x in given], options)
    with within("scaled_dot_product_attention", *given, options):
        return _C.DTensor.from_local(out, query.device_mesh, query.placements), None


def _call_with_dropout(*args: Any) -> Any:
    mesh = _mesh()
    if mesh is not None:
        _refuse("dropout_p is not supported", mesh)
    return _own["with_dropout"](*args)


def _mesh() -> DeviceMesh | None:
    """Return the mesh of the innermost context, if this rank is on it."""
    mesh = _open.meshes[-1] if _open.meshes else None
    return None if mesh is None or mesh.get_coordinate() is None else mesh


def _refuse(why: str, mesh: DeviceMesh) -> NoReturn:
    """Raise, also on ranks whose own call is supported."""
    error = NotImplementedError(f"context_parallel: {why}")
    world.current().agree(b"", "context_parallel", error, mesh)
    raise error


def _check_dtensors(mesh: DeviceMesh, *tensors: Any) -> tuple[_C.DTensor, ...]:
    """Raise unless each part holds this rank's rows of the sequence, for some heads."""
    for x in tensors:
        if not isinstance(x, _C.DTensor) or x.device_mesh != tensors[0].device_mesh:
            raise RuntimeError(
                "context_parallel: query, key and value must all be DTensors on one "
                "mesh, or all be Tensors"
            )
        cut = [p._cut_dim for p in x.placements if p._cut_dim is not None]
        along = x.device_mesh == mesh and cut == [x.ndim - 2]
        odd = x.layout.is_partial or any(map(x.layout.is_strided, range(x.ndim)))
        if odd or not along and any(dim >= x.ndim - 2 for dim in cut):
            raise NotImplementedError(
                "context_parallel: DTensors may be sharded only along batch and head "
                f"dims, not {x.layout}"
            )
    return tensors


def _local(mesh: DeviceMesh, tensors: list[_C.Tensor], options: Options) -> _C.Tensor:
    if mesh.size() == 1:
        found: tuple[_C.Tensor, _C.Tensor] = _own["_attention"](
            *tensors, None, *options
        )
        return found[0]
    together("context_parallel", mesh, lambda: _check_call(tensors, options))
    how = f"is_causal={options[0]}, scale={options[1]}, enable_gqa={options[2]}"
    chosen = f"{_cp_options.rotate_method}, balanced={_cp_options.enable_load_balance}"
    what = f"context_parallel({how}, {chosen})"
    world.current().agree(what.encode(), what, None, mesh, False)
    return _ring.ring_attention(tensors, _ring_of(mesh, tensors, options))


def _check_call(tensors: list[_C.Tensor], options: Options) -> None:
    """Raise what the operator raises for shapes and dtypes, and our own errors."""
    (q, k, v), (causal, scale, grouped) = tensors, options
    with no_grad():
        out, _ = _own["_attention"](q[..., :0, :], k, v, None, False, scale, grouped)
    if out.shape[:-2] != q.shape[:-2]:
        raise RuntimeError(
            f"context_parallel: query {q.shape} lacks batch dims of key and value"
        )
    if causal and q.shape[-2] != k.shape[-2]:
        raise NotImplementedError(
            "is_causal requires the same query and context sequence lengths"
        )


def _ring_of(
    mesh: DeviceMesh, tensors: list[_C.Tensor], options: Options
) -> _ring.Ring:
    """Return the settings of a call; the ranks exchange how many keys they have."""
    (_, k, v), (causal, scale, grouped) = tensors, options
    keys, _ = gathering(k, -2, mesh)
    values = _C.Layout(
        mesh,
        [Shard(v.ndim - 2)],
        (*v.shape[:-2], keys.shape[-2], v.shape[-1]),
        v.dtype,
        cuts=None if keys.cuts is None else {v.ndim - 2: keys.cuts[k.ndim - 2]},
    )
    balanced, rotate = _cp_options.enable_load_balance, _cp_options.rotate_method
    ring = _ring.Ring(
        *(mesh, (keys, values), causal, balanced, rotate == "alltoall", scale, grouped)
    )
    if causal and balanced and not is_meta(k):  # simulated ranks have equal lengths
        _check_lengths(ring.lengths, True)
    return ring
