"""PyTorch's sentences for NumPy's: `in_words` finds the one for an exception.

The first row that has an answer counts: those of `types`, for any function, come last.
"""

from dtensor.torch._words import memory, places, products, shapes, types
from dtensor.torch._words.table import Call, in_words

__all__ = ["Call", "in_words", "memory", "places", "products", "shapes", "types"]
