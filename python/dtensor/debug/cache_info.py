"""Statistics of the caches of operator calls and plans."""

from typing import NamedTuple

from dtensor import _C

__all__ = ["CacheInfo", "cache_info"]


class CacheInfo(NamedTuple):
    """Counts since the process started; `entries` are those in the caches now."""

    operator_hits: int
    operator_misses: int
    operator_entries: int
    operator_capacity: int
    plan_hits: int
    plan_misses: int
    plan_entries: int
    layouts: int
    meshes: int


def cache_info() -> CacheInfo:
    """Return how often operator calls and moves were found in the caches.

    The key of an operator call is its arguments: layouts, dtypes of numbers, and the
    values of constants such as `axis`. A miss takes about 20 us longer than a hit. The
    most recently used entries are kept, up to a capacity. Not collective.

    Returns
    -------
    CacheInfo
        The counts of this process.

    Examples
    --------
    >>> before = cache_info()
    >>> cache_info().operator_hits - before.operator_hits
    0
    """
    operators, plans = _C.operator_cache_info(), _C.cache_info()
    return CacheInfo(
        operators["hits"],
        operators["misses"],
        operators["entries"],
        operators["capacity"],
        plans["hits"],
        plans["misses"],
        plans["plans"],
        plans["layouts"],
        plans["meshes"],
    )
