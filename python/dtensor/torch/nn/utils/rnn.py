"""``torch.nn.utils.rnn``: `dtensor.nn.utils.rnn`, whose tensors are in PyTorch's
dialect."""

import functools
from collections.abc import Callable
from typing import Any

from dtensor import _C
from dtensor._core.nested import leaves, with_leaves
from dtensor.nn.utils import rnn
from dtensor.nn.utils.rnn import PackedSequence as PackedSequence


def _spoken(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*args: Any, **named: Any) -> Any:
        found = function(*args, **named)
        each = [x.as_torch() if isinstance(x, _C.Tensor) else x for x in leaves(found)]
        return with_leaves(found, each)

    return run


invert_permutation = _spoken(rnn.invert_permutation)
pack_padded_sequence = _spoken(rnn.pack_padded_sequence)
pack_sequence = _spoken(rnn.pack_sequence)
pad_packed_sequence = _spoken(rnn.pad_packed_sequence)
pad_sequence = _spoken(rnn.pad_sequence)
unpack_sequence = _spoken(rnn.unpack_sequence)
unpad_sequence = _spoken(rnn.unpad_sequence)
