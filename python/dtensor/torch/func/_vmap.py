"""`vmap`: a function called for each slice of its arguments, and the results stacked.

The slices and the stack are operators, with gradients. Of DTensors whose batch dim is
cut each rank calls the function for its own slices.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from dtensor import _C, ops as _ops
from dtensor._core import world
from dtensor._core.nested import leaves, with_leaves
from dtensor.ops._make.composite import within
from dtensor.placement_types import Partial, Replicate, Shard
from dtensor.random import get_rng_state, set_rng_state

__all__ = ["vmap"]

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
CONTAINERS = (list, tuple, dict)


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that applies another one to each slice of its arguments.

    `func` is called once for each slice, with tensors that lack the mapped dim, and may
    do whatever it does of single ones: what it returns may depend on values, and
    nothing needs a rule. It costs as many calls as there are slices, where PyTorch
    makes one.

    Parameters
    ----------
    func : callable
        It returns tensors, also in lists, tuples and dicts.
    in_dims : int, None, or nested, default 0
        The dim of each positional argument that is mapped; None: the function gets the
        whole argument. Nested as the arguments are, or a number for all that is below
        it. Keyword arguments are not mapped.
    out_dims : int, None, or nested, default 0
        The dim that the results get; None: a result is that of the first slice.
    randomness : {"error", "different", "same"}
        Whether the function may draw random numbers: each slice its own, or all the
        same ones.
    chunk_size : int, optional
        Without effect.

    Returns
    -------
    callable
        Of DTensors whose mapped dims are cut alike and that are not cut otherwise, each
        rank calls `func` for its own slices, as Tensors; what is not mapped is
        replicated for it, and the results are cut in the same way. The call is then
        collective, and `func` must not be. Other DTensors are sliced whole.

    Raises
    ------
    ValueError
        When the result is called: if dims do not fit the arguments or results, sizes
        differ, or `func` returns what is no tensor.
    RuntimeError
        If `func` draws random numbers, and `randomness` is ``"error"``.

    Examples
    --------
    >>> import dtensor.torch as torch
    >>> a, b = torch.arange(6.0).view(3, 2), torch.ones(2)
    >>> torch.vmap(torch.dot, in_dims=(0, None))(a, b)
    tensor([1., 5., 9.])
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. "
            f"Got {randomness}"
        )

    @functools.wraps(func)
    def mapped_function(*args: Any, **options: Any) -> Any:
        name = getattr(func, "__name__", type(func).__name__)
        dims = _in_dims(name, in_dims, args) + [None] * len(leaves(options))
        given = leaves((args, options))
        batch = _checked(name, in_dims, given, dims)
        run = functools.partial(_slices, func, (args, options), randomness)
        cut = _cut(given, dims)
        if cut is None:
            found = run(given, dims, batch)
            return _joined(name, found, out_dims, batch)
        return _along(name, run, given, dims, out_dims, cut)

    return mapped_function


# --- arguments ------------------------------------------------------------------------


def _in_dims(name: str, in_dims: Any, args: tuple[Any, ...]) -> list[int | None]:
    """Return a dim for each leaf of the arguments."""
    where = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, int | tuple | list):
        raise ValueError(
            f"{where}: expected `in_dims` to be int or a (potentially nested) tuple "
            f"matching the structure of inputs, got: {type(in_dims)}."
        )
    if isinstance(in_dims, list):
        in_dims = tuple(in_dims)
    found = _spread(in_dims, args)
    if found is None:
        raise ValueError(
            f"{where}: in_dims is not compatible with the structure of `inputs`."
        )
    return found


def _spread(dims: Any, tree: Any) -> list[Any] | None:
    """Return a dim for each leaf of a tree; None if they do not fit."""
    if dims is None or isinstance(dims, int):
        return [dims] * len(leaves(tree))
    if not isinstance(tree, CONTAINERS) or len(dims) != len(tree):
        return None
    if isinstance(dims, dict) != isinstance(tree, dict):
        return None
    if isinstance(tree, dict):
        if set(dims) != set(tree):
            return None
        pairs = [(dims[key], x) for key, x in tree.items()]
    else:
        pairs = list(zip(dims, tree, strict=True))
    parts = [_spread(d, x) for d, x in pairs]
    if any(part is None for part in parts):
        return None
    return [d for part in parts for d in part or ()]


def _checked(name: str, in_dims: Any, given: list[Any], dims: list[Any]) -> int:
    """Return how many slices there are; make the dims count from the front."""
    where = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
    sizes = []
    for k, (x, dim) in enumerate(zip(given, dims, strict=True)):
        if dim is None:
            continue
        if not isinstance(x, _C.Tensor):
            raise ValueError(
                f"{where}: Got in_dim={dim} for an input but the input is of type "
                f"{type(x)}. We cannot vmap over non-Tensor arguments, please use None "
                "as the respective in_dim"
            )
        if not -x.ndim <= dim < x.ndim:
            raise ValueError(
                f"{where}: Got in_dim={dim} for some input, but that input is a Tensor "
                f"of dimensionality {x.ndim} so expected in_dim to satisfy -{x.ndim} "
                f"<= in_dim < {x.ndim}."
            )
        dims[k] = dim % x.ndim
        sizes.append(int(x.shape[dims[k]]))
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, "
            f"got sizes {sizes} for the mapped dimension"
        )
    return sizes[0]


# --- slices ---------------------------------------------------------------------------


class _Found(NamedTuple):
    """What the calls returned: leaves by slice, and the structure of one result."""

    rows: list[list[Any]]
    tree: Any


def _slices(
    func: Callable[..., Any],
    tree: Any,
    randomness: str,
    given: list[Any],
    dims: list[Any],
    batch: int,
) -> _Found:
    """Call the function for each slice; of none once, to know what it returns."""
    if not batch:
        shapes = [x if d is None else _without(x, d) for x, d in _pairs(given, dims)]
        columns = [[x] for x in shapes]
    else:
        columns = [
            [x] * batch if d is None else ops.unbind(x, d)
            for x, d in _pairs(given, dims)
        ]
    rows: list[list[Any]] = []
    answer, before = None, get_rng_state()
    alone = not tree[1] and not any(isinstance(x, CONTAINERS) for x in tree[0])
    for row in zip(*columns, strict=True):
        if rows and randomness == "same":
            set_rng_state(before)
        args, options = (row, {}) if alone else with_leaves(tree, list(row))
        answer = func(*args, **options)
        if not rows and randomness == "error":  # the others most likely do the same
            _check_no_draw(before)
        rows.append(leaves(answer))
    if randomness == "error":
        _check_no_draw(before)
    return _Found(rows, answer)


def _check_no_draw(before: Any) -> None:
    """Refuse that random numbers have been drawn since the generator had a state."""
    if before.tolist() != get_rng_state().tolist():
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please "
            "either use the 'same' or 'different' randomness flags on vmap or "
            "perform the randomness operation out of vmap"
        )


def _pairs(given: list[Any], dims: list[Any]) -> Any:
    return zip(given, dims, strict=True)


def _without(x: Any, dim: int) -> Any:
    """Return zeros in the shape of a slice, which depend on the tensor."""
    shape = list(x.shape)
    shape[dim] = 1
    zeros = ops.zeros_like(x.detach(), shape=shape)
    return ops.squeeze(ops.concatenate([x, zeros], dim), dim)


def _joined(name: str, found: _Found, out_dims: Any, batch: int) -> Any:
    """Return the results of the slices, stacked along the dims that they are to get."""
    dims = _out_dims(name, found, out_dims)
    for row in found.rows:
        for x, dim in zip(row, dims, strict=True):
            if dim is not None and not isinstance(x, _C.Tensor):
                raise ValueError(
                    f"vmap({name}, ...): `{name}` must only return Tensors, got type "
                    f"{type(x)}. Did you mean to set out_dims= to None for output?"
                )
    flat = []
    for k, dim in enumerate(dims):
        column = [row[k] for row in found.rows]
        if dim is None:
            flat.append(column[0])
            continue
        whole = ops.stack(column, dim)
        index = (slice(None),) * (dim % whole.ndim) + (slice(batch),)
        flat.append(whole if batch else ops.getitem(whole, index))
    return with_leaves(found.tree, flat)


def _out_dims(name: str, found: _Found, out_dims: Any) -> list[Any]:
    dims = _spread(out_dims, found.tree)
    if isinstance(out_dims, tuple) and not isinstance(found.tree, CONTAINERS):
        dims = list(out_dims) if len(out_dims) == 1 else None
    if dims is None or any(len(row) != len(dims) for row in found.rows):
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not "
            "compatible with the structure of `outputs`."
        )
    return dims


# --- a batch that is cut --------------------------------------------------------------


def _cut(given: list[Any], dims: list[Any]) -> Any:
    """Return the mesh, and the mesh dims that cut the batch of all that is mapped; None
    if nothing is cut, or something else is."""
    mapped_ones = [x for x, d in _pairs(given, dims) if d is not None]
    if not all(isinstance(x, _C.DTensor) for x in mapped_ones):
        return None
    found = set()
    for x, d in _pairs(given, dims):
        if not isinstance(x, _C.DTensor):
            continue
        cuts = tuple(m for m, p in enumerate(x.placements) if p.is_shard())
        if d is None:
            if x.device_mesh != mapped_ones[0].device_mesh:
                return None
            continue
        alike = all(p == Shard(d) or p.is_replicate() for p in x.placements)
        if not alike or not cuts:
            return None
        lengths = x.layout.cuts or {}
        order = tuple(dict(x.layout.shard_order).get(d, ()))
        found.add((x.device_mesh, cuts, order, tuple(lengths.get(d, ()))))
    return found.pop()[:2] if len(found) == 1 else None


def _along(
    name: str,
    run: Callable[..., _Found],
    given: list[Any],
    dims: list[Any],
    out_dims: Any,
    cut: tuple[Any, tuple[int, ...]],
) -> Any:
    """Call the function for this rank's slices, and make DTensors of the results."""
    mesh, cuts = cut
    whole = [Replicate()] * mesh.ndim
    addends = [Partial() if m in cuts else Replicate() for m in range(mesh.ndim)]
    local = [
        x
        if not isinstance(x, _C.DTensor)
        else x.to_local()
        if d is not None
        else x.redistribute(placements=whole).to_local(grad_placements=addends)
        for x, d in _pairs(given, dims)
    ]
    batch = next(int(x.shape[d]) for x, d in _pairs(local, dims) if d is not None)
    try:
        found = run(local, dims, batch)
        part = _joined(name, found, out_dims, batch)
        made = _out_dims(name, found, out_dims)
    except Exception as error:
        # Ranks that are making DTensors of results receive the error there.
        if mesh.get_coordinate() is not None:
            world.current().agree(b"", "vmap", error, mesh)
        raise
    with within("vmap", run, given, dims):
        flat = [
            _C.DTensor.from_local(x, mesh, _placed(x, d, cuts, mesh.ndim))
            if isinstance(x, _C.Tensor)
            else x
            for x, d in _pairs(leaves(part), made)
        ]
    return with_leaves(part, flat)


def _placed(x: Any, dim: int | None, cuts: tuple[int, ...], count: int) -> list[Any]:
    if dim is None:
        return [Replicate()] * count
    return [Shard(dim % x.ndim) if m in cuts else Replicate() for m in range(count)]
