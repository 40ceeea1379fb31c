"""The rows of a sparse matrix that a rank has, and products of them."""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.device import is_meta
from dtensor._core.require import require
from dtensor.ops._make.composite import as_dtype, within
from dtensor.ops._make.parts import inside, local, make, move, parts_of
from dtensor.sparse._pattern import Pattern

__all__ = ["Blocks", "compressed"]

Array = npt.NDArray[Any]
PATTERNS = 8  # of vectors that are cut in different ways; the oldest is forgotten


class Blocks:
    """A matrix of which each rank has a block of rows.

    Parameters
    ----------
    rows : Layout
        Of a vector that is cut as the rows are; its dtype is the matrix's.
    columns : Layout
        Of a vector that is cut as transposed products are.
    block : tuple of scipy.sparse.csr_array and ndarray
        This rank's rows, as from `compressed`.
    nnz : int
        Stored elements of all blocks.
    name : str
        The same on all ranks, another one for other matrices.
    """

    def __init__(
        self, rows: _C.Layout, columns: _C.Layout, block: Any, nnz: int, name: str
    ) -> None:
        self.rows, self.columns, self.nnz, self.name = rows, columns, nnz, name
        self.block, self.indices = block
        self.patterns: dict[Any, Pattern] = {}
        if inside(rows):
            self.pattern("sparse.rows", columns)

    def whole(self) -> Any:
        """Return this rank's rows with the columns of the whole matrix."""
        block = self.block
        made = (block.data, self.indices[block.indices], block.indptr)
        shape = (block.shape[0], self.columns.shape[0])
        return type(block)(made, shape)

    def pattern(self, name: str, vector: _C.Layout) -> Pattern:
        """Return which entries of a vector go where. Collective where it is new."""
        key = parts_of(vector, 0)
        if key not in self.patterns:
            found = Pattern(name, _like(vector, (), vector.dtype), self.indices)
            if len(self.patterns) == PATTERNS:
                del self.patterns[next(iter(self.patterns))]
            self.patterns[key] = found
        return self.patterns[key]

    # --- products ---------------------------------------------------------------------

    def product(
        self,
        x: Any,
        transposed: bool,
        conjugated: bool,
        columns: _C.Layout | None = None,
    ) -> Any:
        """Return A @ x, A.T @ x, A.conj() @ x or A.H @ x, with its gradient.

        Of a transposed product `columns` says how the result is cut."""
        name = f"sparse.{'H' if conjugated else 'T'} @" if transposed else "sparse @"
        rest, own = x.shape[1:], x.layout
        dtype = _dtype(self.rows.dtype, x.dtype)
        columns = _like(columns or self.columns, rest, dtype)
        rows = _like(self.rows, rest, dtype)
        if not inside(own):  # this rank knows no shapes
            result, to = own.with_dtype(dtype), own
        elif transposed:
            result, to = columns, rows.with_dtype(x.dtype)
        else:
            result, to = rows, self._as_it_is(own) or columns.with_dtype(x.dtype)
        with within(name, x, self.name, transposed, conjugated):
            part = move(name, x.detach(), to)
            if is_meta(x):
                found = _C.without_data(result)
            elif not inside(result):
                found = make((), result)
            else:
                factor = self.block.conj() if conjugated else self.block
                multiply = self._transposed if transposed else self._forward
                vector = columns if transposed else to
                found = make(multiply(name, factor, local(part), vector), result)

        def back(grad: Any) -> Any:
            cut = None if transposed or to.is_replicated else to
            given = self.product(grad, not transposed, not conjugated, cut)
            is_real = given.dtype.kind == "c" and own.dtype.kind != "c"
            return as_dtype(np.real(given) if is_real else given, own.dtype)

        found = _C.into_torch(found) if _C.is_torch(x) else found
        _C.record_function(name, back, (x,), (found,))
        return found

    @staticmethod
    def _as_it_is(layout: _C.Layout) -> _C.Layout | None:
        """Return the layout of an operand whose entries can be taken as they lie."""
        if layout.is_replicated:
            return layout
        if layout.is_partial or not layout.is_cut(0):
            return None
        return (
            layout if _like(layout, layout.shape[1:], layout.dtype) == layout else None
        )

    def _forward(self, name: str, factor: Any, part: Array, vector: _C.Layout) -> Array:
        if vector.is_replicated:
            return np.asarray(factor @ part[self.indices])
        pattern = self.pattern(name, vector)
        return np.asarray(factor @ pattern.needed(name, part))

    def _transposed(
        self, name: str, factor: Any, part: Array, vector: _C.Layout
    ) -> Array:
        pattern = self.pattern(name, vector)
        return pattern.added(name, np.asarray(factor.T @ part))


def compressed(block: Any) -> tuple[Any, Array]:
    """Return a CSR array without empty columns, and the indices of those it has."""
    indices, where = np.unique(block.indices, return_inverse=True)
    made = (block.data, where.reshape(-1), block.indptr)
    return type(block)(made, (block.shape[0], len(indices))), indices


def _like(vector: _C.Layout, rest: tuple[int, ...], dtype: npt.DTypeLike) -> _C.Layout:
    """Return the layout of a vector, or of a matrix of such columns."""
    cuts = {0: (vector.cuts or {})[0]} if 0 in (vector.cuts or {}) else None
    shape = (vector.shape[0], *rest)
    mesh = vector.mesh
    return _C.Layout(mesh, [_C.Shard(0)] * mesh.ndim, shape, dtype, cuts=cuts)


@lru_cache(256)
def _dtype(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a product, or raise scipy's error."""
    matrix, vector = (np.ones(1, dtype) for dtype in dtypes)
    sparse = require("scipy", "scipy.sparse")
    found: np.dtype[Any] = (sparse.csr_array(matrix[None]) @ vector).dtype
    return found
