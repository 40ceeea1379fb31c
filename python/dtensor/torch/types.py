"""``torch.types``: the types of arguments."""

import builtins
import os
from typing import IO, Any

from dtensor import _C
from dtensor.torch._attributes import UntypedStorage
from dtensor.torch._types import Size as Size, dtype as _dtype

Number = builtins.int | builtins.float | builtins.bool
Device = Any
Tensor = _C.TorchTensor
_int, _float, _bool = builtins.int, builtins.float, builtins.bool
_size = Size | list[int] | tuple[int, ...]
_TensorOrTensors = Any
FileLike = str | os.PathLike[str] | IO[bytes]
Storage = UntypedStorage
_dtype = _dtype
