"""Arithmetic of meshes: dimensions as modes, and checks of users' arguments.

A dimension of a mesh is a list of modes, outermost first: (length, stride), where the
stride counts positions in the row-major order of the root mesh. A dimension of the root
has one mode; a joined dimension has several.

    root (2, 3, 4)            ((2, 12),) ((3, 4),) ((4, 1),)
    dimensions 0 and 2 joined ((2, 12), (4, 1))
"""

import math
import operator
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Modes = tuple[tuple[int, int], ...]
Dims = tuple[Modes, ...]


def dims_of(shape: Sequence[int]) -> Dims:
    """Return the dimensions of a root of this shape."""
    return tuple(((n, math.prod(shape[d + 1 :])),) for d, n in enumerate(shape))


def length(modes: Modes) -> int:
    """Return the length of a dimension."""
    return math.prod(n for n, _ in modes)


def join(dims: Dims) -> Modes:
    """Return several dimensions as one, with modes that continue each other merged."""
    modes: list[tuple[int, int]] = []
    for n, stride in (mode for dim in dims for mode in dim):
        if n == 1 and modes:
            continue
        if modes and (modes[-1][0] == 1 or modes[-1][1] == n * stride):
            modes[-1] = (modes[-1][0] * n, stride)
        else:
            modes.append((n, stride))
    return tuple(modes)


def split(modes: Modes, sizes: Sequence[int]) -> Dims:
    """Split a dimension into several of these lengths.

    Raises ValueError if a length would span two modes.
    """
    rest = list(modes)
    dims: list[Modes] = []
    for size in reversed(sizes):
        dim: list[tuple[int, int]] = []
        need = size
        while need > 1:
            n, stride = rest.pop()
            taken = math.gcd(n, need)
            if taken not in (n, need):
                raise ValueError(f"a dimension {modes} cannot be split as {sizes}")
            if taken < n:
                rest.append((n // taken, stride * taken))
            dim.insert(0, (taken, stride))
            need //= taken
        dims.insert(0, tuple(dim) or ((1, 1),))
    return tuple(dims)


def offsets(dims: Dims) -> npt.NDArray[np.int64]:
    """Return the position of every coordinate, relative to the first."""
    total = np.zeros((1,), np.int64)
    for n, stride in (mode for dim in dims for mode in dim):
        total = (total[:, None] + np.arange(n, dtype=np.int64) * stride).ravel()
    return total


def places(dims: Dims, place: int) -> npt.NDArray[np.int64]:
    """Return the root positions of the mesh over `dims` that contains `place`."""
    modes = [mode for dim in dims for mode in dim]
    first = place - sum(place // stride % n * stride for n, stride in modes)
    return first + offsets(dims)


def distinct(dims: Dims) -> bool:
    """Return whether no place is there twice."""
    total = offsets(dims)
    return bool(np.unique(total).size == total.size)


def descending(dims: Dims) -> bool:
    """Return whether the dimensions are in the order of the root, outermost first."""
    strides = [stride for dim in dims for n, stride in dim if n > 1]
    return strides == sorted(strides, reverse=True) and distinct(dims)


def strides_of(dims: Dims) -> tuple[object, ...]:
    """Return the strides as torch prints them: a tuple where modes are several."""
    return tuple(
        modes[0][1] if len(modes) == 1 else tuple(stride for _, stride in modes)
        for modes in dims
    )


# --- what users give ------------------------------------------------------------------


def short(value: object) -> str:
    """Return a repr of one short line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def grid(
    mesh_shape: Sequence[int] | int, names: Sequence[str] | None, world_size: int
) -> npt.NDArray[np.int64]:
    """Return the ranks 0, 1, 2, ... in a shape."""
    if isinstance(mesh_shape, int):
        mesh_shape = (mesh_shape,)
    shape = tuple(operator.index(n) for n in mesh_shape)
    if any(n < 1 for n in shape):
        raise ValueError(f"a mesh of shape {shape} has a dimension of length below 1")
    if names is not None and len(names) != len(shape):
        raise RuntimeError(
            "mesh_shape and mesh_dim_names should have same length! Found "
            f"len(mesh_dim_names): {len(names)} and len(mesh_shape):{len(shape)}."
        )
    check_size(math.prod(shape), world_size)
    return np.arange(math.prod(shape)).reshape(shape)


def check_size(size: int, world_size: int) -> None:
    """Return the RuntimeError for a mesh with more ranks than the world has."""
    if size > world_size:
        sentence = (
            f"Mesh should not be bigger than default world size {world_size}, but "
            f"found {size} ranks!"
        )
        if world_size == 1:  # most likely a script without a launcher
            sentence += (
                f" This is a job of one rank: start it with mpiexec -n {size} python "
                f"... (or ./run ranks {size} python ...)"
            )
        raise RuntimeError(sentence)


def check_ranks(mesh: npt.ArrayLike, world_size: int) -> npt.NDArray[np.int64]:
    """Return a grid of ranks as an array."""
    ranks = np.asarray(mesh)
    if ranks.dtype.kind not in "iu":
        raise TypeError(f"a mesh is made of integer ranks, not of {ranks.dtype}")
    if ranks.size == 0:
        raise ValueError(f"a mesh needs at least one rank, got shape {ranks.shape}")
    check_size(ranks.size, world_size)
    if ranks.min() < 0 or ranks.max() >= world_size:
        raise ValueError(
            f"the mesh {short(ranks.tolist())} names a rank outside the world of "
            f"{world_size} ranks (0 to {world_size - 1})"
        )
    return ranks.astype(np.int64)


def check_names(names: Sequence[str] | None, ndim: int) -> tuple[str, ...] | None:
    """Return names of dimensions as a tuple."""
    if names is None:
        return None
    if isinstance(names, str):
        names = (names,)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"mesh_dim_names are strings, got {short(names)}")
    if len(set(names)) != len(names):
        raise RuntimeError(
            "Each mesh_dim_name must be unique. Found repeated mesh_dim_name in "
            f"mesh_dim_names {tuple(names)}"
        )
    if len(names) != ndim:
        raise RuntimeError(
            "mesh_dim_names must have one name for each mesh dimension: found "
            f"len(mesh_dim_names): {len(names)} and a mesh of {ndim} dimensions"
        )
    return tuple(names)


def check_labels(
    device_type: str,
    backend_override: Mapping[int | str, object] | None,
    names: tuple[str, ...] | None,
    ndim: int,
) -> None:
    """Check arguments that have no effect here, as torch does."""
    if not isinstance(device_type, str):
        raise TypeError(f"device_type is a string, not {type(device_type).__name__}")
    if not device_type.isalpha():
        raise RuntimeError(
            f"Device type with index is not supported but got {device_type}. If you "
            "maintained a device object, it's recommended to pass in its type."
        )
    dims: list[int] = []
    for key in backend_override or ():
        if isinstance(key, str) and key in (names or ()):
            dims.append((names or ()).index(key))
        elif isinstance(key, int) and 0 <= key < ndim:
            dims.append(key)
        else:
            raise RuntimeError(
                f"Found invalid keys in backend_override: got {key!r}, expected "
                f"integers in range [0, {ndim}) or one of {names}"
            )
    if len(set(dims)) != len(dims):
        raise RuntimeError(
            f"Found redundant dim index and name in backend_override {backend_override}"
        )
