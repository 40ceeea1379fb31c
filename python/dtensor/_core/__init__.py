"""The base of the rest of the package; private, not for use from outside.

Here: starting and ending with MPI, arithmetic of meshes, devices, optional libraries.
It may use `dtensor._C`, NumPy and mpi4py, and no other folder of this package.
Begin with `world`, which every collective call needs; then `geometry` and `submesh`.
"""
