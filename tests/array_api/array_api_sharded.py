"""`dtensor.array_api`, but new arrays lie on all ranks in all sorts of layouts.

What is in an array decides how it lies, so that the ranks agree, a failure comes again,
and operands of one shape lie differently. The mesh has two dimensions where the number
of ranks allows it.
"""

import functools
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import (
    DTensor,
    Layout,
    Partial,
    Placement,
    Replicate,
    Shard,
    array_api,
    init_device_mesh,
)
from dtensor._core import world as _world


def _mesh_shape(size: int) -> tuple[int, ...]:
    rows = max(n for n in range(1, size + 1) if size % n == 0 and n * n <= size)
    return (rows, size // rows) if rows > 1 else (size,)


MESH = init_device_mesh("cpu", _mesh_shape(_world.current().size))
MESH.__enter__()  # for good: arrays are made everywhere in the suite


def placements_of(x: DTensor, content: bytes) -> list[Placement]:
    """Return placements for an array, most of them cut where it has dims."""
    seed = zlib.crc32(content, zlib.crc32(repr((x.shape, x.dtype)).encode()))
    ways = [Replicate(), *(Shard(dim) for dim in range(x.ndim) for _ in range(2))]
    if x.dtype.kind != "c":  # complex numbers have no order
        ways.append(Partial("max" if seed & 1 else "min"))
    return [ways[(seed >> 8 * k) % len(ways)] for k in range(MESH.ndim)]


def laid(x: DTensor, placements: list[Placement]) -> DTensor:
    """Return the array with placements, among which may be Partial ones."""
    layout = Layout(MESH, placements, x.shape, x.dtype)
    part = np.empty(layout.local_shape(MESH.get_coordinate()), x.dtype)
    result = DTensor(part, layout, requires_grad=False)
    np.copyto(result, x)
    return result


def spread(create: Callable[..., Any], contents: bool = True) -> Callable[..., Any]:
    """Return a function of the namespace that cuts the arrays that it makes.

    Without `contents` an array's elements do not matter, for they differ by rank.
    """

    @functools.wraps(create)
    def created(*args: Any, **kwargs: Any) -> Any:
        x = create(*args, **kwargs)
        if args and isinstance(args[0], DTensor):
            return x  # stays where it is
        content = np.asarray(x).tobytes() if contents else b""
        return laid(x, placements_of(x, content))

    return created


arange = spread(array_api.arange)
asarray = spread(array_api.asarray)
empty = spread(array_api.empty, contents=False)
eye = spread(array_api.eye)
full = spread(array_api.full)
linspace = spread(array_api.linspace)
ones = spread(array_api.ones)
zeros = spread(array_api.zeros)


def __getattr__(name: str) -> Any:
    return getattr(array_api, name)
