"""``torch.nn.parameter``: `dtensor.nn.parameter`, in PyTorch's dialect."""

from dtensor.nn.lazy import (
    UninitializedBuffer as UninitializedBuffer,
    UninitializedParameter as UninitializedParameter,
)
from dtensor.torch.nn._modules import Buffer as Buffer, Parameter as Parameter
