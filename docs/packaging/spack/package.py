"""Spack's recipe: a folder packages/py-dtensor-mpi of a Spack repository holds it.

The source has no public address here: `spack develop --path CLONE` names a clone.
"""

# ruff: noqa: F403, F405
from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class PyDtensorMpi(PythonPackage):
    """PyTorch's DTensor for NumPy arrays: one array, spread over the ranks of a job."""

    license("BSD-3-Clause")

    version("0.1.0")

    depends_on("c", type="build")
    depends_on("mpi@3.1:")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-numpy@2.2:2", type=("build", "run"))
    depends_on("py-mpi4py@4:", type=("build", "run"))
    depends_on("py-scikit-build-core@1:", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")

    def config_settings(self, spec, prefix):
        return {"cmake.define.MPI_C_COMPILER": spec["mpi"].mpicc}
