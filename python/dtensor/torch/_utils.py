"""``torch._utils``: tensors in one vector, for scripts that send them together."""

from collections.abc import Iterable
from typing import Any

from dtensor import ops

__all__: list[str] = []


def _flatten_dense_tensors(tensors: Iterable[Any]) -> Any:
    """Return the elements of tensors as one vector."""
    return ops.concatenate([ops.ravel(x) for x in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Iterable[Any]) -> tuple[Any, ...]:
    """Return the parts of a vector in the shapes of tensors."""
    parts, begin = [], 0
    for x in tensors:
        end = begin + x.numel()
        parts.append(ops.reshape(flat[begin:end], tuple(x.shape)))
        begin = end
    return tuple(parts)


def _take_tensors(tensors: Iterable[Any], size_limit: int) -> Iterable[list[Any]]:
    """Yield lists of tensors that have at most so many bytes together, if several."""
    held: list[Any] = []
    size = 0
    for x in tensors:
        count = x.numel() * x.element_size()
        if held and size + count > size_limit:
            yield held
            held, size = [], 0
        held.append(x)
        size += count
    if held:
        yield held
