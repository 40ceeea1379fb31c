"""Meshes made from other meshes: sliced by name, joined, split. Nothing is sent."""

import math
import os
from collections.abc import Sequence
from functools import partial
from typing import Self

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core import geometry, world as _world
from dtensor._core.told import told

__all__ = ["Grid"]


class Grid(_C.Mesh):
    """A mesh that knows the mesh it was sliced from: the base class of DeviceMesh.

    Ranks that are threads may share an object, so it stores no rank: its methods ask
    for the rank of their caller.
    """

    device_type: str
    _parent: Self | None  # the mesh that it was sliced from; None for a root
    _dims: geometry.Dims
    _flattened: dict[str, geometry.Modes]  # of a root: the names given by _flatten

    @classmethod
    def _make(
        cls,
        device_type: str,
        shape: tuple[int, ...],
        ranks: npt.NDArray[np.int64] | None,
        names: tuple[str, ...] | None,
        world: int,
    ) -> Self:
        self = _C.Mesh.__new__(cls, shape, ranks, names, world)
        self.device_type = device_type
        self._parent = None
        self._dims = geometry.dims_of(shape)
        self._flattened = {}
        return self

    def get_rank(self) -> int:
        """Return the rank of the caller in its world, inside the mesh or not.

        Not collective.

        Raises
        ------
        RuntimeError
            If the mesh has no ranks, or ranks of another world.
        """
        if self.world == 0:
            raise RuntimeError("DeviceMesh process groups not initialized!")
        world = _world.current()
        if world.number != self.world:
            raise RuntimeError(f"{self!r} belongs to other ranks than the caller's")
        return world.rank

    @property
    def mesh(self) -> npt.NDArray[np.int64]:
        """The ranks in the shape of the mesh."""
        return self.ranks

    @property
    def mesh_dim_names(self) -> tuple[str, ...] | None:
        """The names of the dimensions, or None."""
        return self.names

    def size(self, mesh_dim: int | str | None = None) -> int:
        """Return the number of ranks, or the length of one dimension."""
        return self._size if mesh_dim is None else self.shape[self._index_of(mesh_dim)]

    def get_coordinate(self) -> list[int] | None:
        """Return the coordinate of this rank; None outside the mesh."""
        at = None if self.world == 0 else self.coordinate(self.get_rank())
        return None if at is None else list(at)

    def _sym_get_coordinate(self, index: int) -> int:
        """Return one element of the coordinate of this rank."""
        at = self.get_coordinate()
        if at is None:
            raise RuntimeError(f"this rank is not part of {self!r}")
        return at[index]

    def _is_current_rank_part_of_mesh(self) -> bool:
        """Return whether this rank has a coordinate."""
        return self.get_coordinate() is not None

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """Return the position of this rank along a dimension; -1 outside the mesh.

        Raises
        ------
        RuntimeError
            If the mesh has several dimensions and none is given, or has no ranks.
        KeyError
            If the mesh has no dimension of this name.
        """
        if mesh_dim is None and self.ndim > 1:
            raise RuntimeError(
                f"Found the DeviceMesh have {self.ndim} dimensions. Optional kwarg "
                "`mesh_dim` needs to be specified when device_mesh.ndim > 1."
            )
        at = self.coordinate(self.get_rank())
        dim = self._index_of(0 if mesh_dim is None else mesh_dim)
        return -1 if at is None else at[dim]

    def __repr__(self) -> str:
        shape = str(self.shape)
        if self.names is not None:
            pairs = zip(self.names, self.shape, strict=True)
            shape = f"({', '.join(f'{name}={n}' for name, n in pairs)})"
        stride = geometry.strides_of(self._dims)
        text = f"DeviceMesh({shape}, {self.device_type!r}, stride={stride}"
        if os.environ.get("TORCH_DISTRIBUTED_DEBUG") == "DETAIL":
            text += f", Mesh: {self.ranks.tolist()}"
        return text + ")"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        ranks = None if self.world == 0 else self.ranks
        return self._restore, (self.device_type, self.shape, ranks, self.names)

    @classmethod
    def _restore(
        cls,
        device_type: str,
        shape: tuple[int, ...],
        ranks: npt.NDArray[np.int64] | None,
        names: tuple[str, ...] | None,
    ) -> Self:
        world = 0 if ranks is None else _world.current().number
        return cls._make(device_type, shape, ranks, names, world)

    def _index_of(self, mesh_dim: int | str) -> int:
        if isinstance(mesh_dim, str):
            return self._get_mesh_dim_by_name(mesh_dim)
        if not -self.ndim <= mesh_dim < self.ndim:
            raise IndexError(
                f"mesh dimension {mesh_dim} is out of range for a mesh of "
                f"{self.ndim} dimensions"
            )
        return mesh_dim % self.ndim

    def _get_mesh_dim_by_name(self, mesh_dim_name: str) -> int:
        """Return the index of the dimension of this name, or raise KeyError."""
        if self.names is None:
            raise KeyError("No `mesh_dim_names` found.")
        if mesh_dim_name not in self.names:
            raise KeyError(
                f"Mesh dimension '{mesh_dim_name}' does not exist. Available mesh "
                f"dimensions are: mesh_dim_names={self.names}"
            )
        return self.names.index(mesh_dim_name)

    def _get_root_mesh(self) -> Self:
        """Return the mesh that this one was sliced from; a root returns itself."""
        return self if self._parent is None else self._parent

    def _get_root_mesh_dim(self) -> int | None:
        """Return the dimension of the root that a one-dimensional mesh is, or None."""
        root = self._get_root_mesh()
        if self.ndim != 1 or self is root or self._dims[0] not in root._dims:
            return None
        if self.names is not None and self.names[0] in (root.names or ()):
            return root._get_mesh_dim_by_name(self.names[0])
        return root._dims.index(self._dims[0])

    @partial(told, name="DeviceMesh")
    def _cut(self, dims: geometry.Dims, names: tuple[str, ...] | None) -> Self:
        """Return the mesh of the root's dimensions `dims` that this rank is in."""
        root = self._get_root_mesh()
        place = 0 if root.world == 0 else max(root.index(self.get_rank()), 0)
        ranks = root.ranks.ravel()[geometry.places(dims, place)]
        return self._below(dims, ranks, names)

    def _below(
        self,
        dims: geometry.Dims,
        ranks: npt.NDArray[np.int64],
        names: tuple[str, ...] | None,
    ) -> Self:
        shape = tuple(geometry.length(modes) for modes in dims)
        mesh = self._make(self.device_type, shape, ranks, names, self.world)
        mesh._parent, mesh._dims = self._get_root_mesh(), dims
        return mesh

    def __getitem__(self, mesh_dim_names: str | Sequence[str]) -> Self:
        """Return the part of the mesh that varies along these dimensions only.

        Not collective. There are several such meshes; a rank gets the one that it is in
        (a rank outside: the first). A root also knows names given by `_flatten`.

        Raises
        ------
        RuntimeError
            If the mesh has no names.
        TypeError
            If an argument is not a name, such as an index.
        KeyError
            If a name is unknown, or the names are not in the order of the dimensions.
        """
        if self.names is None:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        given = mesh_dim_names
        if not isinstance(given, Sequence):
            raise TypeError(
                f"a mesh is sliced by names, not by {given!r}: "
                + " or ".join(f"mesh[{name!r}]" for name in self.names)
            )
        names = (given,) if isinstance(given, str) else tuple(given)
        if names == self.names:
            return self
        known = dict(zip(self.names, self._dims, strict=True)) | self._flattened
        if not names or not all(name in known for name in names):
            raise KeyError(
                f"Invalid mesh_dim_names {names} specified. Valid mesh_dim_names are "
                f"{list(known)}."
            )
        dims = tuple(known[name] for name in names)
        order = [self.names.index(name) for name in names if name in self.names]
        if order != sorted(set(order)) or not geometry.descending(dims):
            raise KeyError(
                f"Invalid mesh_dim_names {names} specified. Mesh dim indices should be "
                "in ascending order."
            )
        return self._cut(dims, names)

    def _get_all_submeshes(self, mesh_dim_name: str) -> list[Self]:
        """Return all meshes along one dimension, not only that of this rank."""
        dim = self._get_mesh_dim_by_name(mesh_dim_name)
        rows = np.moveaxis(self.ranks, dim, -1).reshape(-1, self.shape[dim])
        return [self._below((self._dims[dim],), row, (mesh_dim_name,)) for row in rows]

    def _flatten(
        self, mesh_dim_name: str | None = None, backend_override: object = None
    ) -> Self:
        """Return the same ranks as one dimension, registered with the root by name.

        Not collective. The default name is the dimensions' names joined by "_".

        Raises
        ------
        RuntimeError
            If the mesh has no names.
        ValueError
            If the root has another dimension of this name.
        """
        if self.names is None:
            raise RuntimeError("Cannot flatten a DeviceMesh without mesh_dim_names!")
        root = self._get_root_mesh()
        name = "_".join(self.names) if mesh_dim_name is None else mesh_dim_name
        if self.ndim == 1 and name == self.names[0]:
            return self
        if name in (root.names or ()):
            raise ValueError(
                f"{name} already exists for submesh of the {root}. The mesh_dim_names "
                f"of submesh and flattened mesh are {root.names}. Please specify "
                "another valid mesh_dim_name."
            )
        modes = geometry.join(self._dims)
        if root._flattened.setdefault(name, modes) != modes:
            raise ValueError(
                f"Flatten mesh with mesh_dim_name {name} has been created before, "
                "Please specify another valid mesh_dim_name."
            )
        return self._cut((modes,), (name,))

    def _unflatten(
        self,
        dim: int | str,
        mesh_sizes: Sequence[int],
        mesh_dim_names: Sequence[str],
        backend_override: object = None,
    ) -> Self:
        """Return the same ranks with one dimension split into several.

        Not collective.

        Raises
        ------
        ValueError
            If the mesh has no such dimension, or the product of the sizes is not
            its length.
        RuntimeError
            If there are more or fewer names than sizes.
        """
        if isinstance(dim, str):
            if dim not in (self.names or ()):
                raise ValueError(
                    f"dim {dim} specified in `_unflatten` is not in {self.names}"
                )
            at = self._get_mesh_dim_by_name(dim)
        elif 0 <= dim < self.ndim:
            at = dim
        else:
            raise ValueError(
                f"dim {dim} specified in `_unflatten` is out of range {self.ndim}"
            )
        if len(mesh_sizes) != len(mesh_dim_names):
            raise RuntimeError(
                "mesh_dim_names must have same length as mesh_sizes in _unflatten!"
            )
        if math.prod(mesh_sizes) != self.shape[at]:
            raise ValueError(
                f"The product of mesh_sizes={tuple(mesh_sizes)} is "
                f"{math.prod(mesh_sizes)}, but the original dimension at dim={dim} has "
                f"size {self.shape[at]}. These must be equal for unflatten to work "
                "correctly."
            )
        dims = geometry.split(self._dims[at], mesh_sizes)
        names = self.names or tuple(f"dim_{d}" for d in range(self.ndim))
        return self._cut(
            self._dims[:at] + dims + self._dims[at + 1 :],
            names[:at] + tuple(mesh_dim_names) + names[at + 1 :],
        )

    @staticmethod
    def _concatenate(meshes: "Sequence[Grid]") -> "Grid":
        """Return the mesh with the dimensions of all of these, sliced from one root.

        Not collective.

        Raises
        ------
        RuntimeError
            If they come from different roots, or a rank would occur twice.
        """
        roots = [mesh._get_root_mesh() for mesh in meshes]
        if not roots or any(root != roots[0] for root in roots):
            raise RuntimeError(
                "Cannot concatenate DeviceMeshes derived from different device meshes"
            )
        dims = tuple(modes for mesh in meshes for modes in mesh._dims)
        if not geometry.distinct(dims):
            raise RuntimeError(f"Cannot concatenate overlapping meshes: {list(meshes)}")
        names = [name for mesh in meshes for name in mesh.names or ()]
        return meshes[0]._cut(dims, tuple(names) if len(names) == len(dims) else None)
