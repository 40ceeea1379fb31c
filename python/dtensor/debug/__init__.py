"""Tools that show what a program does, or would do."""

from dtensor.debug._expression import Expression, OperatorPlan, Row
from dtensor.debug.cache_info import CacheInfo, cache_info
from dtensor.debug.comm_mode import CallSite, CommDebugMode
from dtensor.debug.explain import Explanation, Step, explain
from dtensor.debug.logs import set_logs
from dtensor.debug.simulate import Moves, Simulation, simulate
from dtensor.debug.visualize_sharding import visualize_sharding

__all__ = [
    "CacheInfo",
    "CallSite",
    "CommDebugMode",
    "Explanation",
    "Expression",
    "OperatorPlan",
    "Row",
    "Moves",
    "Simulation",
    "Step",
    "cache_info",
    "explain",
    "set_logs",
    "simulate",
    "visualize_sharding",
]
