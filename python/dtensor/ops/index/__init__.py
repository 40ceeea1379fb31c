"""Indexing: reading and writing elements by slice, integer array and mask.

Here: parsing NumPy's indices (`terms`), slices (`basic`), arrays as indices
(`pick`), reading, writing and the gradient; `take`, `put`, `nonzero`, `coordinates`.
May use: `_make`, `elementwise`.
Begin with `read`, then `terms`.
"""
