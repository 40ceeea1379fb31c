"""Which matrices are so large that they are factored in parts."""

import math

from dtensor._C import Layout
from dtensor.ops._make.kernel import inexact
from dtensor.ops._make.operator import Operand

__all__ = ["is_large"]

# Up to this size a matrix is gathered: all ranks do the whole work.
LEAST_BYTES = 64 << 20


def is_large(a: Operand) -> bool:
    """Return whether a matrix is cut and takes more than 64 MiB."""
    layout = getattr(
        a, "layout", None
    )  # of a tensor in PyTorch's dialect, torch.strided
    if a.ndim != 2 or not isinstance(layout, Layout) or a.dtype.kind == "V":
        return False
    dtype, layout = inexact(a.dtype), layout.settled()
    cutting = {*layout.cut_by(0), *layout.cut_by(1)}
    parts = math.prod(layout.mesh.shape[m] for m in cutting)
    large = math.prod(a.shape) * dtype.itemsize > LEAST_BYTES
    return dtype.char in "fdFD" and parts > 1 and large
