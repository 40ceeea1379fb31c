"""PyTorch's DTensor for NumPy arrays: one array, spread over the ranks of an MPI job.

The names, arguments and placements are those of ``torch.distributed.tensor``.
"""

import functools as _functools
import importlib as _importlib

# The extension needs the MPI library to be loaded first.
try:
    from dtensor._core import world as _world  # noqa: F401
except (ImportError, RuntimeError) as _error:
    from dtensor._core import no_mpi as _no_mpi

    raise _no_mpi.end(_error) from _error

# isort: split
# The operators give tensors their methods, which the modules below may use.
from dtensor import ops  # noqa: F401

# isort: split
from dtensor import _C
from dtensor._C import MPIError
from dtensor._core.costs import set_costs
from dtensor._core.fused import fuse, fused
from dtensor._core.resync import resync
from dtensor._core.threads import get_num_threads, set_num_threads
from dtensor.abstract import abstract
from dtensor.api import (
    DTensor,
    Layout,
    Tensor,
    as_tensor,
    distribute_tensor,
    empty,
    from_callback,
    full,
    get_default_dtype,
    ones,
    redistribute,
    set_default_dtype,
    tensor,
    zeros,
)
from dtensor.device_mesh import DeviceMesh, init_device_mesh
from dtensor.dlpack import from_dlpack
from dtensor.ops import *  # noqa: F403
from dtensor.ops._make.differs import differs
from dtensor.ops._make.fallback import FallbackWarning
from dtensor.ops._make.strict import (
    GatherWarning,
    ImplicitRedistributeError,
    set_gather_bytes,
    strict,
)
from dtensor.ops.methods.plot import plot
from dtensor.ops.random.arrays import rand, randn
from dtensor.placement_types import Partial, Placement, Replicate, Shard

# isort: split
from dtensor import array_api, autograd, fft, linalg, random  # built on operators
from dtensor.autograd import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)

# isort: split
from dtensor import _einops, _later
from dtensor._core.device import device

# PyTorch's methods of tensors are made when they are first needed.
_C.set_torch(_functools.partial(_importlib.import_module, "dtensor.torch"))
_einops.watch()
__getattr__ = _later.load

__all__ = [
    "DTensor",
    "DeviceMesh",
    "FallbackWarning",
    "GatherWarning",
    "ImplicitRedistributeError",
    "Layout",
    "MPIError",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "Tensor",
    "abstract",
    "array_api",
    "as_tensor",
    "autograd",
    "distribute_tensor",
    "device",
    "differs",
    "empty",
    "enable_grad",
    "fft",
    "from_callback",
    "from_dlpack",
    "full",
    "fuse",
    "fused",
    "get_default_dtype",
    "get_num_threads",
    "inference_mode",
    "init_device_mesh",
    "is_grad_enabled",
    "linalg",
    "no_grad",
    "ones",
    "plot",
    "rand",
    "randn",
    "random",
    "redistribute",
    "resync",
    "set_costs",
    "set_default_dtype",
    "set_gather_bytes",
    "set_grad_enabled",
    "set_num_threads",
    "strict",
    "tensor",
    "zeros",
]
__all__ += _later.HOMES
__all__ += [name for name in ops.__all__ if name not in __all__]


def load_ipython_extension(ipython: object) -> None:
    """Give IPython the magic ``%%ranks``: ``%load_ext dtensor`` calls it."""
    _importlib.import_module("dtensor.notebook._magic").register(ipython)


def __dir__() -> list[str]:
    """Return the public names, and those of modules."""
    public = (n for n in globals() if n[:1] != "_" or n[:2] == n[-2:] == "__")
    return sorted({*public, *_later.HOMES, *_later.ROOMS})


__version__ = "0.1.0"
_later.begin()
