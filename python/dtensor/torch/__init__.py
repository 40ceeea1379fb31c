"""The names that a script written for PyTorch uses: ``import dtensor.torch as torch``.

Functions have PyTorch's arguments and meaning: ``max(x, dim)`` returns values and
indices, ``transpose(x, 0, 1)`` swaps two dims, ``std(x)`` divides by n - 1,
``randn(3)`` is a `Tensor` of this rank. Methods of tensors have NumPy's meaning where
the two differ: ``x.transpose(...)`` is a permutation, ``x.max(dim=0)`` returns only the
values. Dtypes and type promotion are NumPy's. Modules have PyTorch's paths:
``from dtensor.torch.distributed.tensor import DTensor``.
"""

from typing import Any, NoReturn

from dtensor import _C
from dtensor.amp import autocast as autocast
from dtensor.amp.autocast_mode import (
    get_autocast_dtype as get_autocast_dtype,
    is_autocast_enabled as is_autocast_enabled,
)
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
    get_rng_state as get_rng_state,
    initial_seed as initial_seed,
    manual_seed as manual_seed,
    seed as seed,
    set_rng_state as set_rng_state,
)
from dtensor.torch._create import *  # noqa: F403
from dtensor.torch._dtypes import *  # noqa: F403
from dtensor.torch._index import *  # noqa: F403
from dtensor.torch._order import *  # noqa: F403
from dtensor.torch._products import *  # noqa: F403
from dtensor.torch._questions import *  # noqa: F403
from dtensor.torch._reduce import *  # noqa: F403
from dtensor.torch._same import *  # noqa: F403

# isort: split
from dtensor.torch._pointwise import *  # noqa: F403
from dtensor.torch._shape import *  # noqa: F403

# isort: split
from dtensor.torch.distributed import _dialect

# isort: split
from dtensor.torch import (
    _create,
    _methods,
    _types,
    accelerator as accelerator,
    amp as amp,
    autograd as autograd,
    cpu as cpu,
    cuda as cuda,
    distributed as distributed,
    fft as fft,
    linalg as linalg,
    nn as nn,
    ops as ops,
    optim as optim,
    random as random,
    testing as testing,
    utils as utils,
)

Tensor = _C.TorchTensor
FloatTensor = _create.legacy("float32")
DoubleTensor = _create.legacy("float64")
HalfTensor = _create.legacy("float16")
LongTensor = _create.legacy("int64")
IntTensor = _create.legacy("int32")
ShortTensor = _create.legacy("int16")
CharTensor = _create.legacy("int8")
ByteTensor = _create.legacy("uint8")
BoolTensor = _create.legacy("bool")

_methods.install(
    _create.constructor, {"from_local": staticmethod(_dialect.from_local)}
)

def compile(model: Any = None, **options: Any) -> Any:
    """Return the module or function unchanged; without one, a decorator for it."""
    return (lambda given: given) if model is None else model


def save(obj: Any, f: Any, *args: Any, **options: Any) -> NoReturn:
    """Raise NotImplementedError: dtensor does not use pickle files."""
    raise NotImplementedError(
        "torch.save writes pickle files, which dtensor does not use: save tensors with "
        "dtensor.checkpoint.save"
    )


def load(f: Any, *args: Any, **options: Any) -> NoReturn:
    """Raise NotImplementedError: dtensor does not use pickle files."""
    raise NotImplementedError(
        "torch.load reads pickle files, which dtensor does not use: load tensors with "
        "dtensor.checkpoint.load"
    )


def __getattr__(name: str) -> Any:
    if name == "bfloat16":  # it needs another package
        return _types.torch_dtype(name)
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}; what there is: "
        "docs/torch_parity.md"
    )
