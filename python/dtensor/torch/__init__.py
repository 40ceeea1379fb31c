"""The names that a script written for PyTorch uses: ``import dtensor.torch as torch``.

Functions and methods have PyTorch's arguments and meaning: ``max(x, dim)`` returns
values and indices, ``x.transpose(0, 1)`` swaps two dims, ``std(x)`` divides by n - 1.
So have dtypes and type promotion. Tensors that are made here are `torch.Tensor`, in
PyTorch's dialect, and so are results of operations on them; NumPy's functions take
NumPy's arguments for them, too. ``x.as_numpy()`` has NumPy's methods. Modules have
PyTorch's paths:
``from dtensor.torch.distributed.tensor import DTensor``.
"""

import importlib
from typing import Any

import dtensor.torch._launched as _launched  # noqa: F401  for what it sets
from dtensor import _C
from dtensor.amp import GradScaler as GradScaler, autocast as autocast
from dtensor.amp.autocast_mode import is_autocast_enabled as is_autocast_enabled
from dtensor.autograd import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    is_grad_enabled as is_grad_enabled,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from dtensor.dlpack import from_dlpack as from_dlpack
from dtensor.random import (
    Generator as Generator,
    default_generator as _default_generator,
    initial_seed as initial_seed,
    manual_seed as manual_seed,
    seed as seed,
    set_rng_state as set_rng_state,
)
from dtensor.torch._alike import *  # noqa: F403
from dtensor.torch._create import *  # noqa: F403
from dtensor.torch._dtypes import *  # noqa: F403
from dtensor.torch._index import *  # noqa: F403
from dtensor.torch._order import *  # noqa: F403
from dtensor.torch._questions import *  # noqa: F403
from dtensor.torch._reduce import *  # noqa: F403
from dtensor.torch._same import *  # noqa: F403
from dtensor.torch._scatter import *  # noqa: F403

# isort: split
from dtensor.torch._pointwise import *  # noqa: F403
from dtensor.torch._products import *  # noqa: F403
from dtensor.torch._shape import *  # noqa: F403

# isort: split
from dtensor.torch._draws import *  # noqa: F403
from dtensor.torch._layers import *  # noqa: F403
from dtensor.torch._lu import *  # noqa: F403
from dtensor.torch._matrix import *  # noqa: F403
from dtensor.torch._matrix import _grouped_mm as _grouped_mm
from dtensor.torch._recurrent import *  # noqa: F403
from dtensor.torch._reflected import *  # noqa: F403
from dtensor.torch._scans import *  # noqa: F403
from dtensor.torch._seldom import *  # noqa: F403
from dtensor.torch._settings import *  # noqa: F403
from dtensor.torch._settings import _assert as _assert
from dtensor.torch._special import *  # noqa: F403
from dtensor.torch._spectra import *  # noqa: F403

# isort: split
from dtensor.torch.distributed import _dialect

# isort: split
from dtensor.torch import (
    _edges,
    _errors,
    _foreach,
    _layers,
    _legacy,
    _measures,
    _methods,
    _types,
    _utils as _utils,
    accelerator as accelerator,
    amp as amp,
    autograd as autograd,
    backends as backends,
    compiler as compiler,
    cpu as cpu,
    cuda as cuda,
    distributed as distributed,
    fft as fft,
    func as func,
    fx as fx,
    hub as hub,
    jit as jit,
    linalg as linalg,
    multiprocessing as multiprocessing,
    nn as nn,
    ops as ops,
    optim as optim,
    profiler as profiler,
    random as random,
    serialization as serialization,
    signal as signal,
    sparse as sparse,
    special as special,
    testing as testing,
    types as types,
    utils as utils,
    version as version,
)
from dtensor.torch._errors import OutOfMemoryError as OutOfMemoryError
from dtensor.torch._print import set_printoptions as set_printoptions
from dtensor.torch.compiler import compile as compile
from dtensor.torch.func import vmap as vmap
from dtensor.torch.random import get_rng_state as get_rng_state
from dtensor.torch.serialization import load as load, save as save
from dtensor.torch.version import __version__ as __version__

_edges.mend(globals(), out=True)
_errors.speak(globals())
_measures.direct(globals())
Tensor = _C.TorchTensor
FloatTensor = _legacy.legacy("float32")
DoubleTensor = _legacy.legacy("float64")
HalfTensor = _legacy.legacy("float16")
LongTensor = _legacy.legacy("int64")
IntTensor = _legacy.legacy("int32")
ShortTensor = _legacy.legacy("int16")
CharTensor = _legacy.legacy("int8")
ByteTensor = _legacy.legacy("uint8")
BoolTensor = _legacy.legacy("bool")

globals().update(_foreach.FUNCTIONS)

_methods.install(_legacy.constructor, {"from_local": staticmethod(_dialect.from_local)})


for _name in _layers.METHODS:  # they have the arguments of the methods
    globals()[_name].__wrapped__ = getattr(Tensor, _name)


# Modules that are loaded when they are first asked for.
_LATER = set("_dynamo _inductor distributions futures library mps overrides".split())
_LATER |= {"return_types", "storage", "xpu"}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "bfloat16":  # it needs another package
        return _types.torch_dtype(name)
    if name == "default_generator":  # that of this thread
        return _default_generator()
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}; what there is: "
        "docs/torch_parity.md"
    )
