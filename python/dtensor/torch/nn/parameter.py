"""``torch.nn.parameter``: `dtensor.nn.parameter`, in PyTorch's dialect."""

from dtensor.torch.nn._modules import Buffer as Buffer, Parameter as Parameter
