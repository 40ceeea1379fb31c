"""PyTorch's ``tensor.experimental.register_sharding``, as documented."""

from dtensor.torch.ops import register_sharding as register_sharding
