"""Sparse matrices that are cut by rows, times DTensors (extra ``scipy``).

Each rank has a block of rows as a ``scipy.sparse`` array. In a product it gets from the
others the entries that its columns name, and no more; who asks for what is found once.
Begin in `matrix`; `_pattern` sends entries.
"""

from dtensor.sparse.matrix import SparseMatrix, distribute, rows

__all__ = ["SparseMatrix", "distribute", "rows"]
