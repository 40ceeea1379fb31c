"""What the rest of the package stands on, and nobody imports by name from outside.

Here: starting and ending with MPI, meshes taken apart, modules and optional libraries.
It may use `dtensor._C`, NumPy and mpi4py, and no other folder of this package.
Begin with `world`, which every collective call needs; then `geometry` and `submesh`.
"""
