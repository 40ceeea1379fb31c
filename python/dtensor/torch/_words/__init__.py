"""PyTorch's sentences for NumPy's: `in_words` finds the one for an exception."""

from dtensor.torch._words import dtypes, memory, places, products, shapes
from dtensor.torch._words.table import Call, in_words

__all__ = ["Call", "dtypes", "in_words", "memory", "places", "products", "shapes"]
