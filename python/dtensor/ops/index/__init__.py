"""``x[index]`` and its kin: elements by slice, number and mask, read and written.

Here: NumPy's indices taken apart (`terms`), slices (`basic`), arrays as indices
(`pick`), reading, writing and the gradient; `take`, `put`, `nonzero`, `coordinates`.
May use: `_make`, `elementwise`.
Begin with `read`, then `terms`.
"""
