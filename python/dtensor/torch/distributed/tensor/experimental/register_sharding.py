"""PyTorch's ``tensor.experimental.register_sharding``, as its documentation has it."""

from dtensor.torch.ops import register_sharding as register_sharding
