"""Programs of operators: recorded from a module, run, printed, saved, transformed."""

from dtensor._export._nodes import Node, Ref, Result
from dtensor._export._program import ExportedProgram
from dtensor._export._record import export

__all__ = ["ExportedProgram", "Node", "Ref", "Result", "export"]
