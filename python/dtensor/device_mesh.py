"""DeviceMesh: a grid of ranks with named dimensions."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core import geometry, open_meshes, world as _world
from dtensor._core.submesh import Grid

__all__ = ["DeviceMesh", "init_device_mesh"]

Names = Sequence[str] | None
Override = Mapping[int | str, Any] | None
M = TypeVar("M", bound="DeviceMesh")


def _agreed(what: str, build: Callable[[_C.World], M], compare: bool = True) -> M:
    """Make a mesh that is the same on all ranks of the world, or raise on all."""
    world = _world.current()
    if not compare:
        return build(world)
    mesh, token, failure = None, b"", None
    try:
        mesh = build(world)
        token = mesh._token()
    except Exception as error:
        failure = error
    world.agree(token, what, failure)
    if mesh is None:
        raise failure or RuntimeError(f"{what} failed")
    return mesh


class DeviceMesh(Grid):
    """A grid of ranks. Pure geometry: it holds neither a rank nor a communicator.

    Collective over all ranks of the job, including those outside the mesh: the ranks
    compare their arguments, and all of them raise if these differ. Meshes that describe
    the same grid compare equal and have the same hash, however they were made.

    Parameters
    ----------
    device_type : str
        A label only: arrays are always NumPy's. An index ("cpu:0") is refused.
    mesh : array_like of int
        The ranks, in the shape of the mesh: each at most once, not necessarily all.
    mesh_dim_names : sequence of str, optional
        A name for every dimension.
    backend_override : mapping, optional
        Checked as torch checks it, then ignored: there is only one backend.
    _init_backend : bool
        If False, the ranks do not compare their arguments.
    _rank : int, optional
        Ignored: a mesh always uses the rank of its caller.

    Attributes
    ----------
    device_type : str
        The label.
    shape : tuple of int
        Lengths of the dimensions.
    ndim : int
        Number of dimensions.

    Raises
    ------
    RuntimeError
        If the mesh is bigger than the world, a name appears twice, there are more or
        fewer names than dimensions, the device type has an index, or the ranks ask for
        different meshes. Raised on every rank.
    ValueError
        If a rank is not in the world, or appears twice. Raised on every rank.
    TypeError
        If the mesh is not made of integers. Raised on every rank.

    See Also
    --------
    init_device_mesh : The mesh of ranks 0, 1, 2, ... in a shape.

    Examples
    --------
    >>> DeviceMesh("cpu", [[0]], mesh_dim_names=("dp", "tp"))
    DeviceMesh((dp=1, tp=1), 'cpu', stride=(1, 1))
    """

    _groups: Sequence[_world.MPI.Comm] = ()  # those that from_group was given

    def __new__(
        cls,
        device_type: str,
        mesh: npt.ArrayLike,
        *,
        mesh_dim_names: Names = None,
        backend_override: Override = None,
        _init_backend: bool = True,
        _rank: int | None = None,
    ) -> Self:
        what = f"DeviceMesh({device_type!r}, {geometry.short(mesh)}, "
        return _agreed(
            what + f"mesh_dim_names={mesh_dim_names!r})",
            lambda world: cls._of(
                geometry.check_ranks(mesh, world.size),
                device_type,
                mesh_dim_names,
                backend_override,
                world,
            ),
            _init_backend,
        )

    @classmethod
    def _of(
        cls,
        ranks: npt.NDArray[np.int64],
        device_type: str,
        mesh_dim_names: Names,
        backend_override: Override,
        world: _C.World,
    ) -> Self:
        names = geometry.check_names(mesh_dim_names, ranks.ndim)
        geometry.check_labels(device_type, backend_override, names, ranks.ndim)
        return cls._make(device_type, ranks.shape, ranks, names, world.number)

    def _token(self) -> bytes:
        head = repr((self.device_type, self.shape, self.names))
        return head.encode() + self.ranks.tobytes()

    @classmethod
    def abstract(cls, shape: Sequence[int], mesh_dim_names: Names = None) -> Self:
        """Return a mesh of any size that has no processes behind it, for planning.

        Not collective. Layouts can be made and explained on it, arrays cannot.

        Parameters
        ----------
        shape : sequence of int
            Lengths of the dimensions.
        mesh_dim_names : sequence of str, optional
            A name for every dimension.

        Returns
        -------
        DeviceMesh
            Its ranks are 0, 1, 2, ... in row-major order.

        Raises
        ------
        ValueError
            If a length is below 1.
        RuntimeError
            If a name appears twice, or there is not one name for every dimension.

        Examples
        --------
        >>> DeviceMesh.abstract((64, 32, 32)).size()
        65536
        """
        lengths = tuple(int(n) for n in shape)
        names = geometry.check_names(mesh_dim_names, len(lengths))
        return cls._make("cpu", lengths, None, names, 0)

    @classmethod
    def from_group(
        cls,
        group: _world.MPI.Comm | Sequence[_world.MPI.Comm],
        device_type: str,
        mesh: npt.ArrayLike | None = None,
        *,
        mesh_dim_names: Names = None,
    ) -> Self:
        """Return a mesh over the processes of the user's own communicators.

        Collective over the ranks of the mesh. `get_group` returns these communicators;
        the library itself sends nothing through them.

        Parameters
        ----------
        group : mpi4py communicator, or sequence of them
            One communicator gives a mesh of one dimension, with its processes in their
            order. Several: one for each dimension of `mesh`, over this rank's row.
        device_type : str
            As in `DeviceMesh`.
        mesh : array_like of int, optional
            The ranks; needed with several communicators.
        mesh_dim_names : sequence of str, optional
            A name for every dimension; needed with several communicators.

        Returns
        -------
        DeviceMesh
            The mesh.

        Raises
        ------
        ValueError
            If `mesh` does not match the processes of the communicators, or is needed
            and not given. Raised on every rank that makes the call.
        TypeError
            If `group` is not a communicator.
        RuntimeError
            If the ranks are not MPI processes, or ask for different meshes.
        """
        one = isinstance(group, _world.MPI.Comm)
        groups = [group] if isinstance(group, _world.MPI.Comm) else list(group)
        if not groups:
            raise ValueError("Expects at least one ProcessGroup to be passed")
        if not all(isinstance(comm, _world.MPI.Comm) for comm in groups):
            raise TypeError("DeviceMesh.from_group takes mpi4py communicators")
        if not one and mesh is None:
            raise ValueError("Must pass mesh if passing multiple ProcessGroups")
        if not one and mesh_dim_names is None:
            raise ValueError(
                "Must pass mesh_dim_names if passing multiple ProcessGroups"
            )
        rows = [_world.ranks_of(comm, "from_group") for comm in groups]
        grid = np.asarray(rows[0] if mesh is None else mesh)
        if grid.ndim != len(groups):
            raise ValueError(
                "Expects mesh with ndim equal to number of ProcessGroups but got mesh "
                f"{grid.tolist()} and {len(groups)} ProcessGroups"
            )
        world = _world.current()
        ranks = geometry.check_ranks(grid, world.size)
        self = cls._of(ranks, device_type, mesh_dim_names, None, world)
        failure = None
        for dim, row in enumerate(rows):
            if self._row(dim).ranks.tolist() != row:
                failure = ValueError(
                    f"Invalid mesh {grid.tolist()} for ProcessGroup with ranks {row}"
                )
        what = f"DeviceMesh.from_group(..., mesh={geometry.short(grid.tolist())})"
        world.agree(self._token(), what, failure, self)
        if failure is not None:  # this rank is outside its own mesh
            raise failure
        self._groups = tuple(groups)
        return self

    def _row(self, mesh_dim: int | str | None) -> Self:
        if isinstance(mesh_dim, str) and mesh_dim in self._flattened:
            return self[mesh_dim]
        at = self._index_of(0 if mesh_dim is None else mesh_dim)
        return self._cut((self._dims[at],), None)

    def get_group(self, mesh_dim: int | str | None = None) -> _world.MPI.Comm:
        """Return a communicator over this rank's row of the mesh.

        The first call makes it, and is collective over the row; later calls return the
        same one. The library itself does not use it. On a rank outside the mesh it is
        ``COMM_NULL``.

        Parameters
        ----------
        mesh_dim : int or str, optional
            The dimension, by index or by name (also one that `_flatten` gave); needed
            if the mesh has several.

        Returns
        -------
        mpi4py.MPI.Comm
            The communicator.

        Raises
        ------
        RuntimeError
            If the mesh has several dimensions and `mesh_dim` is not given, or its ranks
            are not MPI processes.
        KeyError
            If the mesh has no dimension of this name.
        """
        if self.world == 0:
            raise RuntimeError("DeviceMesh process groups not initialized!")
        if mesh_dim is None and self.ndim > 1:
            raise RuntimeError(
                f"Found the DeviceMesh have {self.ndim} dimensions. Optional kwarg "
                "`mesh_dim` needs to be specified when device_mesh.ndim > 1. If you "
                "want to get the list of all the ProcessGroups in the DeviceMesh, "
                "please use `get_all_groups()` instead."
            )
        row = self._row(mesh_dim)
        if self._groups and mesh_dim not in self._flattened:
            return self._groups[0 if mesh_dim is None else self._index_of(mesh_dim)]
        return _world.row(row, "get_group")

    def get_all_groups(self) -> list[_world.MPI.Comm]:
        """Return `get_group` of every dimension."""
        return [self.get_group(dim) for dim in range(self.ndim)]

    def close(self) -> None:
        """Free the communicators that `get_group` made over rows of this mesh.

        Every rank of the mesh must call it. Otherwise they live as long as the job.
        """
        for dim in range(self.ndim):
            _world.free_row(self._row(dim))

    def __enter__(self) -> Self:
        open_meshes.enter(self)
        return self

    def __exit__(self, *error: object) -> None:
        open_meshes.leave()


def init_device_mesh(
    device_type: str,
    mesh_shape: Sequence[int],
    *,
    mesh_dim_names: Names = None,
    backend_override: Override = None,
) -> DeviceMesh:
    """Return a mesh of the ranks 0, 1, 2, ... in row-major order.

    Collective over all ranks of the job, even if the mesh has fewer: the ranks compare
    their arguments, and all of them raise if these differ.

    Parameters
    ----------
    device_type : str
        A label only: arrays are always NumPy's. An index ("cpu:0") is refused.
    mesh_shape : sequence of int
        Lengths of the dimensions; their product may be less than the number of ranks.
    mesh_dim_names : sequence of str, optional
        A name for every dimension, by which `mesh["name"]` cuts the mesh.
    backend_override : mapping, optional
        Checked as torch checks it, then ignored: there is only one backend.

    Returns
    -------
    DeviceMesh
        The mesh.

    Raises
    ------
    RuntimeError
        If the mesh is bigger than the world, a name appears twice, there are more or
        fewer names than dimensions, the device type has an index, or the ranks ask for
        different meshes. Raised on every rank.
    ValueError
        If a length is below 1. Raised on every rank.

    Examples
    --------
    >>> init_device_mesh("cpu", (1, 1), mesh_dim_names=("dp", "tp"))
    DeviceMesh((dp=1, tp=1), 'cpu', stride=(1, 1))
    """
    what = f"init_device_mesh({device_type!r}, {geometry.short(mesh_shape)}, "
    return _agreed(
        what + f"mesh_dim_names={mesh_dim_names!r})",
        lambda world: DeviceMesh._of(
            geometry.grid(mesh_shape, mesh_dim_names, world.size),
            device_type,
            mesh_dim_names,
            backend_override,
            world,
        ),
    )
