"""Tools that show what happens, and what would."""

from dtensor.debug.comm_mode import CommDebugMode
from dtensor.debug.explain import Explanation, Step, explain

__all__ = ["CommDebugMode", "Explanation", "Step", "explain"]
