"""New arrays: each rank makes its own part.

Here: `arrays` (all names, matrices), `ranges`, `grids`, and arrays `like` others.
May use: all rooms from `_make` to `linalg`.
`_make/created` makes a part from its indices.
Begin with `arrays`.
"""
