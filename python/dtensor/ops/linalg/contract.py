"""Sums of products of two arrays as one stack of products of matrices.

NumPy's einsum and tensordot do so for the dtypes that BLAS has; this is for bfloat16.
"""

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C

__all__ = ["contract", "is_product"]

Array = npt.NDArray[Any]
Labels = Sequence[Hashable]


def is_product(a: Labels, b: Labels, out: Labels) -> bool:
    """Return whether every label is there once, and in two of the three at least: none
    is a diagonal, or summed over in one operand alone."""
    terms = (a, b, out)
    return all(len({*term}) == len(term) for term in terms) and all(
        sum(label in term for term in terms) > 1 for label in {*a, *b, *out}
    )


def contract(a: Array, b: Array, of_a: Labels, of_b: Labels, out: Labels) -> Array:
    """Return the product of two arrays whose dims have labels, summed over those that
    the result has not; labels of both have one length. See `is_product`."""
    stacked = [x for x in of_a if x in of_b and x in out]
    summed = [x for x in of_a if x in of_b and x not in out]
    rows = [x for x in of_a if x not in of_b]
    columns = [x for x in of_b if x not in of_a]
    lengths = dict(zip((*of_a, *of_b), (*a.shape, *b.shape), strict=True))

    def arranged(x: Array, labels: Labels, *groups: list[Hashable]) -> Array:
        wanted = [labels.index(label) for group in groups for label in group]
        sizes = [math.prod(lengths[label] for label in group) for group in groups[1:]]
        stack = [lengths[label] for label in stacked]
        return np.transpose(x, wanted).reshape(*stack, *sizes)

    product = _C.product(
        arranged(a, of_a, stacked, rows, summed),
        arranged(b, of_b, stacked, summed, columns),
    )
    found = [*stacked, *rows, *columns]
    whole = product.reshape([lengths[label] for label in found])
    return np.transpose(whole, [found.index(label) for label in out])
