"""Dtypes in which something is not computed, and numbers that are not in them."""

import numpy as np

from dtensor._C import Tensor
from dtensor.torch._types import torch_dtype
from dtensor.torch._words.table import Call, says, texts

__all__ = ["NO_LOOP"]

NO_LOOP = (
    r"No loop matching the specified signature|"
    r"ufunc '\w+' (?:did not contain a loop|not supported for the input types)"
)


@says(NO_LOOP)
def _without_loop(call: Call) -> str | None:
    given = [x.dtype for x in call.args if isinstance(x, Tensor)]
    if not given:
        return None
    name = torch_dtype(np.result_type(*map(np.dtype, given))).legacy
    return f'"{call.name}_cpu" not implemented for {name!r}'


texts(
    {
        r"Python integer -?\d+ out of bounds for (\w+)$": (
            "value cannot be converted to type {0}_t without overflow"
        )
    }
)
