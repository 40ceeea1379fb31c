"""``torch.export``: `dtensor.export`."""

from dtensor._export import ExportedProgram as ExportedProgram, export as export
