"""Tools that show what happens, and what would."""

from dtensor.debug.cache_info import CacheInfo, cache_info
from dtensor.debug.comm_mode import CommDebugMode
from dtensor.debug.explain import Explanation, Step, explain

__all__ = [
    "CacheInfo",
    "CommDebugMode",
    "Explanation",
    "Step",
    "cache_info",
    "explain",
]
