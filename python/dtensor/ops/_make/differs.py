"""Numbers and plain arrays that differ between ranks on purpose."""

from types import TracebackType
from typing import Self

from dtensor import _C

__all__ = ["differs"]


class differs:
    """Say that numbers and plain arrays differ between the ranks.

    The ranks compare what the values of DTensors were made of, so that ranks whose
    programs have parted get an error instead of a wrong answer. A number that an
    operator is called with, and a plain array of up to 64 bytes, is part of that.
    Inside the block they are left out; the calls themselves are still compared. All
    ranks of the mesh enter it. Nothing is sent.

    Examples
    --------
    >>> import numpy as np
    >>> from dtensor.testing import run_ranks
    >>> from dtensor import Partial, init_device_mesh, ones
    >>> def scaled():
    ...     mesh = init_device_mesh("cpu", (2,))
    ...     x = ones(3, device_mesh=mesh)
    ...     with differs():
    ...         y = x * (mesh.get_rank() + 1)  # differs: no longer replicated
    ...     return y.to_local().sum().item()
    >>> run_ranks(2, scaled)
    [3.0, 6.0]
    """

    def __init__(self) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> Self:
        self._before.append(_C.set_differs(True))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _C.set_differs(self._before.pop())
