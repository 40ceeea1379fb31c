"""New arrays, of which each rank makes its own part.

Here: `arrays` (all names, matrices), `ranges`, `grids`, and arrays `like` others.
May use: all rooms from `_make` to `linalg`.
How a part is made from its indices: `_make/created`.
Begin with `arrays`.
"""
