"""The kind of a tensor: a layer's output is a tensor of the kind that its input is."""

from typing import TypeVar

from dtensor._C import DTensor, Tensor, TorchDTensor, TorchTensor

__all__ = ["T"]

T = TypeVar("T", TorchDTensor, TorchTensor, DTensor, Tensor)
