"""Tools that show what happens, and what would."""

from dtensor.debug.explain import Explanation, Step, explain

__all__ = ["Explanation", "Step", "explain"]
