"""The layouts that a computation would produce, without data and without ranks."""

from collections.abc import Callable
from typing import Any

from dtensor import _C
from dtensor._core.nested import mapped
from dtensor.device_mesh import DeviceMesh

__all__ = ["abstract"]


def abstract(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the layouts of what ``fn(*args, **kwargs)`` would return.

    Nothing is computed, nothing is sent, and no rank is needed. Not collective.

    Parameters
    ----------
    fn : callable
        An operator, or any function of tensors that does not look at their values.
    *args, **kwargs
        Its arguments, with a `Layout` (or a DTensor, whose layout is used) for
        each tensor, also in lists, tuples and dicts. All must be on one mesh.

    Returns
    -------
    Layout, or what `fn` returns with a Layout for each tensor
        Shape, dtype, placements and cut points of the results.

    Raises
    ------
    RuntimeError
        If `fn` reads the values of a tensor.
    Exception
        Whatever the operators raise for invalid shapes, dtypes or axes.

    Examples
    --------
    >>> import numpy as np
    >>> mesh = DeviceMesh.abstract((4,))
    >>> x = Layout(mesh, [Shard(0)], (8, 6), "float32")
    >>> print(abstract(np.sum, x, axis=0))
    [P(sum)]
    """
    meshes: dict[_C.Mesh, DeviceMesh] = {}

    def enter(layout: _C.Layout) -> Any:
        mesh = layout.mesh
        if mesh.world != 0:
            empty = DeviceMesh.abstract(mesh.shape, mesh_dim_names=mesh.names)
            meshes[empty] = mesh
            layout = _on(layout, empty)
        return _C.without_data(layout)

    def leave(tensor: _C.DTensor) -> _C.Layout:
        mesh = meshes.get(tensor.device_mesh)
        return tensor.layout if mesh is None else _on(tensor.layout, mesh)

    def enter_any(value: Any) -> Any:
        return enter(value if isinstance(value, _C.Layout) else value.layout)

    args, kwargs = mapped((args, kwargs), (_C.Layout, _C.DTensor), enter_any)
    return mapped(fn(*args, **kwargs), _C.DTensor, leave)


def _on(layout: _C.Layout, mesh: _C.Mesh) -> _C.Layout:
    return _C.Layout(
        mesh,
        layout.placements,
        layout.shape,
        layout.dtype,
        shard_order=dict(layout.shard_order),
        cuts=layout.cuts,
    )
