"""``torch.autograd.profiler``: `torch.profiler`."""

from dtensor.torch.profiler import (
    profile as profile,
    record_function as record_function,
)
