"""``torch.storage``: the memory of tensors; see ``Tensor.untyped_storage``."""

from dtensor.torch._attributes import UntypedStorage as UntypedStorage

__all__ = ["UntypedStorage"]
