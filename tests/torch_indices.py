"""What PyTorch's index names, by NumPy: integers first, then arrays."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

__all__ = ["SHAPE", "indices", "is_apart", "named"]

SHAPE = (2, 3, 4)
ALL = slice(None)
KINDS = ("integer", "slice", "new", "dots", "array", "mask")


def named(array: np.ndarray, index: Sequence[Any]) -> np.ndarray:
    """Return ``array[index]`` of PyTorch.

    `index`: integers, slices, None, Ellipsis, and arrays of integers and booleans.
    """
    used = sum(_dims_of(item) for item in index)
    keys: list[Any] = []
    picks: list[Any] = []  # an array for each dim that is left, or None
    for item in index:
        dims = array.ndim - used if item is ... else _dims_of(item)
        if isinstance(item, np.ndarray):
            keys += [ALL] * dims
            picks += item.nonzero() if item.dtype == bool else [item]
            continue
        keys += [ALL] * dims if item is ... else [item]
        kept = [] if isinstance(item, int) else [None]
        picks += kept if item is not ... else [None] * dims
    left = array[tuple(keys)]
    picks += [None] * (left.ndim - len(picks))
    dims = [d for d, pick in enumerate(picks) if pick is not None]
    if not dims:
        return left
    arrays = np.broadcast_arrays(*(picks[d] for d in dims))
    found = np.moveaxis(left, dims, range(len(dims)))[tuple(arrays)]
    new = arrays[0].ndim
    together = dims == [*range(dims[0], dims[-1] + 1)]
    to = dims[0] if together else 0
    return np.moveaxis(found, range(new), range(to, to + new))


def _dims_of(item: Any) -> int:
    if isinstance(item, np.ndarray):
        return item.ndim if item.dtype == bool else 1
    return int(isinstance(item, int | slice))


def indices(count: int) -> Iterator[tuple[Any, ...]]:
    """Yield an index for `SHAPE` of each sequence of at most so many kinds of items."""
    for length in range(1, count + 1):
        for kinds in itertools.product(KINDS, repeat=length):
            if kinds.count("dots") < 2 and {"array", "mask"} & {*kinds}:
                index = _index(kinds)
                if index is not None:
                    yield index


def _index(kinds: Sequence[str]) -> tuple[Any, ...] | None:
    used = sum(kind not in ("new", "dots") for kind in kinds)
    if used > len(SHAPE):
        return None
    dim, items = 0, []
    for kind in kinds:
        if kind == "dots":
            dim += len(SHAPE) - used
        n = SHAPE[dim] if dim < len(SHAPE) else 0
        mask = np.isin(np.arange(n), [0, n - 1])
        items.append(
            {
                "integer": dim - 2,
                "slice": slice(n % 2, None),
                "new": None,
                "dots": ...,
                "array": np.array([n - 1, -n]),
                "mask": mask,
            }[kind]
        )
        dim += kind not in ("new", "dots")
    return tuple(items)


def is_apart(index: Sequence[Any]) -> bool:
    """Return whether other items stand between integers and arrays of an index."""
    picks = [k for k, i in enumerate(index) if isinstance(i, int | np.ndarray)]
    both = {type(index[k]) for k in picks} == {int, np.ndarray}
    return both and picks[-1] - picks[0] >= len(picks)
