"""`SparseMatrix`, and the functions that make one."""

import struct
from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from dtensor import _C
from dtensor._core import world
from dtensor._core.given import given_mesh
from dtensor._core.require import require
from dtensor._core.told import told
from dtensor.api import DTensor
from dtensor.checkpoint._dtypes import raw_bytes
from dtensor.device_mesh import DeviceMesh
from dtensor.functional_collectives._moves import together
from dtensor.ops._make.parts import inside, make, parts_of, place, plain
from dtensor.ops._make.routes import part_number
from dtensor.ops.shape.borders import resized
from dtensor.placement_types import Replicate, Shard
from dtensor.sparse._blocks import Blocks, compressed

__all__ = ["SparseMatrix", "distribute", "rows"]


class SparseMatrix:
    """A sparse matrix of which each rank has a block of rows; or its transpose.

    `rows` and `distribute` make one. ``A @ x`` takes a DTensor of one or two dims and
    of any layout, or an array that all ranks have. ``A.T @ x`` and ``A.H @ x`` need no
    other matrix: each rank multiplies by its rows and sends the results where they
    belong. Products have gradients with respect to `x`. The matrix cannot be changed.

    Notes
    -----
    A product is collective over the mesh. ``A @ x`` is one exchange: a rank gets the
    entries of `x` that columns of its rows name and others have, each once, and holds
    them until it has multiplied. The result is cut as the rows are. `x` that is
    replicated, or cut along its first dim by all mesh dims at any points, is used as it
    is; other layouts are moved first. Of a vector that is cut in a new way, the ranks
    ask each other once for the entries that they need; a matrix remembers eight ways.

    ``A.T @ x`` sends as many elements the other way. Its result is cut as the rows if
    the matrix is square, else as `torch.chunk` does. `x` is moved to the cuts of the
    rows.

    Dtypes are those of scipy's CSR format on one process. So are elements: bit for bit
    for ``A @ x``, but for the order of sums for ``A.T @ x``.
    """

    __array_ufunc__ = None  # an array @ this is for __rmatmul__
    ndim = 2

    def __init__(
        self, blocks: Blocks, transposed: bool = False, conjugated: bool = False
    ) -> None:
        self._blocks = blocks
        self._transposed, self._conjugated = transposed, conjugated

    @property
    def shape(self) -> tuple[int, int]:
        """Of the whole matrix; (0, 0) on ranks outside the mesh."""
        rows, columns = self._blocks.rows.shape[0], self._blocks.columns.shape[0]
        return (columns, rows) if self._transposed else (rows, columns)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the stored elements."""
        return self._blocks.rows.dtype

    @property
    def nnz(self) -> int:
        """How many elements are stored, on all ranks together."""
        return self._blocks.nnz

    @property
    def device_mesh(self) -> DeviceMesh:
        """The mesh, along all of whose dims the rows are cut."""
        return self._blocks.rows.mesh

    @property
    def T(self) -> "SparseMatrix":
        """The transpose; nothing is copied or sent."""
        return SparseMatrix(self._blocks, not self._transposed, self._conjugated)

    @property
    def H(self) -> "SparseMatrix":
        """The conjugate transpose."""
        return self.T.conj()

    def conj(self) -> "SparseMatrix":
        """Return the complex conjugate, made in products."""
        return SparseMatrix(self._blocks, self._transposed, not self._conjugated)

    def __repr__(self) -> str:
        return (
            f"SparseMatrix({self.shape[0]} x {self.shape[1]}, {self.dtype}, "
            f"nnz={self.nnz}, on {self.device_mesh})"
        )

    def __matmul__(self, x: Any) -> DTensor:
        """Return the product with a vector, or with a matrix of columns.

        Raises
        ------
        ValueError
            If the shapes do not fit, or `x` is of another mesh. On all ranks.
        TypeError
            If scipy does not multiply the dtypes. On all ranks.
        """
        mesh, ranks = self.device_mesh, inside(self._blocks.rows)
        if not isinstance(x, DTensor):
            array = plain("sparse @", x)
            everywhere = [Replicate()] * mesh.ndim
            x = place(array, _C.Layout(mesh, everywhere, array.shape, array.dtype))
        if x.device_mesh != mesh:
            raise ValueError(f"sparse @: the matrix is on {mesh}, x on {x.device_mesh}")
        if x.ndim not in (1, 2) or (ranks and x.shape[0] != self.shape[1]):
            raise ValueError(
                f"sparse @: a matrix of shape {self.shape} does not multiply an array "
                f"of shape {tuple(x.shape)}"
            )
        found: DTensor = self._blocks.product(x, self._transposed, self._conjugated)
        return found

    def __rmatmul__(self, x: Any) -> Any:
        """Return the product of a vector, or a matrix of rows, with this matrix."""
        if np.ndim(x) != 2:
            return self.T @ x
        product: Any = self.T @ np.transpose(x)
        found: Any = np.transpose(product)
        return found

    def diagonal(self) -> DTensor:
        """Return the main diagonal, cut as the rows are; nothing is sent."""
        rows, length = self._blocks.rows, min(self.shape)
        spans = parts_of(rows, 0) or ()
        sizes = [max(0, min(count, length - start)) for start, count in spans]
        cut = resized(rows, 0, sizes)
        if not inside(rows):
            return make((), cut)
        start, count = spans[part_number(rows, 0)][0], cut.local_shape()[0]
        found = self._blocks.whole().diagonal(start) if count else ()
        found = np.asarray(found, rows.dtype)
        found = found.conj() if self._conjugated else found  # of bool it is bool
        how = "sparse.diagonal", self._blocks.name, self._conjugated
        return _C.made_of(make(found, cut), *how)

    def to_local(self) -> Any:
        """Return this rank's rows as a new ``scipy.sparse.csr_array``; of a transpose,
        its columns, as a ``csc_array``."""
        block = self._blocks.whole()
        block = block.conj() if self._conjugated else block.copy()
        return block.T if self._transposed else block

    def to_scipy(self) -> Any:
        """Return the whole matrix on every rank, as ``scipy.sparse.csr_array``.

        Collective over the mesh; all elements and their columns are sent to all.
        """
        block = self._blocks.whole()
        mesh = self.device_mesh
        cut = [Shard(0)] * mesh.ndim
        how = "sparse.to_scipy", self._blocks.name, self._transposed, self._conjugated
        parts = (
            block.data,
            block.indices.astype(np.int64),
            np.diff(block.indptr).astype(np.int64),
        )
        data, indices, counts = (
            _C.made_of(DTensor.from_local(part, mesh, cut), *how).full_tensor().numpy()
            for part in parts
        )
        shape = (self._blocks.rows.shape[0], self._blocks.columns.shape[0])
        starts = np.concatenate([[0], np.cumsum(counts)])
        whole = type(block)((data, indices, starts), shape)
        whole = whole.conj() if self._conjugated else whole
        return whole.T.tocsr() if self._transposed else whole


@told
def rows(A_local: Any, device_mesh: DeviceMesh | None = None) -> SparseMatrix:
    """Make a matrix of blocks of rows, one from each rank.

    Collective over the mesh. The ranks tell each other the sizes of their blocks and
    how many entries they need of whom, and ask for these by their indices; elements are
    not sent. A rank holds its block as CSR, the indices of the entries that it needs,
    and those of the entries that others need of it.

    Parameters
    ----------
    A_local : scipy.sparse array or matrix
        This rank's rows, in any format, with all columns. Blocks may have different
        numbers of rows, also none. Their order is that of the ranks in the mesh, the
        last mesh dim fastest. The data of a CSR block are not copied.
    device_mesh : DeviceMesh, optional
        Default: that of the innermost ``with mesh:``.

    Returns
    -------
    SparseMatrix

    Raises
    ------
    TypeError
        If a block is not a sparse matrix, or the dtypes differ. On all ranks.
    ValueError
        If the blocks do not have the same number of columns. On all ranks.
    ModuleNotFoundError
        If scipy is not installed (extra ``scipy``).

    Examples
    --------
    >>> import scipy.sparse
    >>> import dtensor.sparse
    >>> A = dtensor.sparse.rows(scipy.sparse.csr_array([[2.0, 0.0], [1.0, 0.0]]), mesh)
    >>> (A @ np.array([1.0, 5.0])).full_tensor().numpy()
    array([2., 1.])
    >>> A.shape, A.nnz
    ((2, 2), 2)
    """
    return _matrix("sparse.rows", device_mesh, lambda mesh: _as_csr(A_local))


@told
def distribute(A: Any, device_mesh: DeviceMesh | None = None) -> SparseMatrix:
    """Make a matrix of one that all ranks have; each keeps its rows.

    Collective over the mesh. Rows are cut as `torch.chunk` does. Otherwise as `rows`.

    Parameters
    ----------
    A : scipy.sparse array or matrix
        The same on all ranks; that is not compared.
    device_mesh : DeviceMesh, optional
        Default: that of the innermost ``with mesh:``.

    Returns
    -------
    SparseMatrix

    Examples
    --------
    >>> import scipy.sparse
    >>> import dtensor.sparse
    >>> A = dtensor.sparse.distribute(scipy.sparse.eye_array(3), mesh)
    >>> A.diagonal().full_tensor().numpy()
    array([1., 1., 1.])
    """

    def mine(mesh: DeviceMesh) -> Any:
        block = _as_csr(A)
        layout = _C.Layout(mesh, [Shard(0)] * mesh.ndim, block.shape[0], block.dtype)
        (start,), (count,) = layout.boxes()[0]
        return block[start : start + count]

    return _matrix("sparse.distribute", device_mesh, mine)


def _as_csr(block: Any) -> Any:
    sparse = require("scipy", "scipy.sparse")
    if not sparse.issparse(block) or block.ndim != 2:
        raise TypeError(
            f"expected a scipy.sparse matrix or array of two dims, not "
            f"{type(block).__name__}"
        )
    return sparse.csr_array(block)


def _matrix(
    name: str, device_mesh: DeviceMesh | None, block_of: Callable[[DeviceMesh], Any]
) -> SparseMatrix:
    """Return the matrix of everybody's blocks."""
    mesh = given_mesh(name, device_mesh)
    if mesh.get_coordinate() is None:
        return SparseMatrix(_outside(mesh))

    ranks = world.current()

    def prepare() -> tuple[Any, Any, int]:
        block = block_of(mesh)
        kept = compressed(block)
        return block, kept, _digest(block) if ranks.check else 0

    block, kept, digest = together(name, mesh, prepare)
    mine = struct.pack("<4q", *block.shape, block.nnz, digest)
    all_of = ranks.share(mine + block.dtype.str.encode(), mesh, name)
    sizes = np.array([struct.unpack("<4q", each[:32]) for each in all_of])
    dtypes = sorted({each[32:].decode() for each in all_of})
    if len(dtypes) > 1:
        raise TypeError(f"{name}: the blocks have different dtypes: {dtypes}")
    if len({*sizes[:, 1]}) > 1:
        raise ValueError(
            f"{name}: the blocks must have the same number of columns, not "
            f"{sizes[:, 1].tolist()}"
        )
    cut = [Shard(0)] * mesh.ndim
    cuts = (0, *accumulate(sizes[:, 0].tolist()))
    by_rows = _C.Layout(mesh, cut, cuts[-1], block.dtype, cuts={0: cuts})
    width = int(sizes[0, 1])
    square = width == cuts[-1]
    columns = by_rows if square else _C.Layout(mesh, cut, width, block.dtype)
    token = f"{name} {_C.crc32c(b''.join(all_of)):08x}"
    return SparseMatrix(Blocks(by_rows, columns, kept, int(sizes[:, 2].sum()), token))


def _digest(block: Any) -> int:
    """Return a checksum of elements and their places."""
    crc = 0
    for array in (block.data, block.indices, block.indptr):
        crc = _C.crc32c(raw_bytes(np.ascontiguousarray(array)).data, crc)
    return crc


def _outside(mesh: DeviceMesh) -> Blocks:
    """Return what a rank outside the mesh has: nothing."""
    empty = _C.Layout(mesh, [Shard(0)] * mesh.ndim, 0, np.float64)
    block = require("scipy", "scipy.sparse").csr_array((0, 0))
    return Blocks(empty, empty, compressed(block), 0, "")
