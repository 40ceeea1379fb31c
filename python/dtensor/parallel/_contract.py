"""The interface of parallel styles."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from dtensor._C import DTensor
from dtensor._core.keywords import suggesting
from dtensor.device_mesh import DeviceMesh
from dtensor.nn import Module
from dtensor.parallel._chain import follow
from dtensor.placement_types import Placement

__all__ = ["ParallelStyle", "Prepare", "place"]

Prepare = Callable[[Any, DeviceMesh], Any]


class ParallelStyle(ABC):
    """How one module is parallelized: what `parallelize_module` calls.

    A user's own style defines `_apply`, and may define `_check`.

    Parameters
    ----------
    _prepare_input, _prepare_output : callable, optional
        Functions as in PyTorch 2.0's styles. They take the module's inputs, or outputs,
        and the mesh.

    Attributes
    ----------
    src_data_rank : int or None
        What `parallelize_module` was given, for `distribute_tensor`.
    """

    src_data_rank: int | None = 0
    _prepare_input: Prepare | None
    _prepare_output: Prepare | None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__:
            cls.__init__ = suggesting(cls.__init__)  # type: ignore[method-assign]

    @suggesting
    def __init__(
        self,
        _prepare_input: Prepare | None = None,
        _prepare_output: Prepare | None = None,
    ) -> None:
        self._prepare_input = _prepare_input
        self._prepare_output = _prepare_output

    @abstractmethod
    def _apply(self, module: Module, device_mesh: DeviceMesh) -> Module:
        """Parallelize `module`, and return it or the module that replaces it."""

    def _check(  # noqa: B027
        self, module: Module, device_mesh: DeviceMesh
    ) -> None:
        """Raise what `_apply` would, without changing anything.

        `parallelize_module` calls it for all modules of a plan before it begins, so
        that nothing has moved if it raises.
        """

    def _describe(self, *names: str) -> str:
        """Return the style as the call that makes it."""
        values = (f"{name}={getattr(self, name)}" for name in names)
        return f"{type(self).__name__}({', '.join(values)})"


def place(
    x: Any,
    device_mesh: DeviceMesh,
    layouts: Sequence[Placement],
    desired: Sequence[Placement],
    layer: Module | None = None,
) -> DTensor:
    """Return `x`, a DTensor or this rank's part of one in `layouts`, as `desired`: the
    input of a layer."""
    if isinstance(x, DTensor):
        whole = x
    else:
        whole = DTensor.from_local(x, device_mesh, layouts, run_check=False)
        whole = whole if layer is None else follow(layer, whole)
    return whole.redistribute(placements=desired)
