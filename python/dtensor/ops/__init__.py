"""The operators, a file for each family; how one is written: docs/operators.md."""

from typing import Any

from dtensor import _C
from dtensor.ops import (  # noqa: F401
    activation as _activation,
    arg as _arg,
    compare as _compare,
    coordinates as _coordinates,
    count as _count,
    create as _create,
    create_like as _create_like,
    cumulative as _cumulative,
    edit as _edit,
    einsum as _einsum,
    elementwise as _elementwise,
    fft,
    join as _join,
    known as _known,
    linalg,
    linalg_norm,
    linalg_product,
    loss as _loss,
    matmul as _matmul,
    namespace as _namespace,
    nan as _nan,
    norm as _norm,
    pad as _pad,
    pointwise as _pointwise,
    put as _put,
    quantile as _quantile,
    random as _random,
    rearrange as _rearrange,
    reduce as _reduce,
    relate as _relate,
    sets as _sets,
    softmax as _softmax,
    sort as _sort,
    split as _split,
    statistics as _statistics,
    take as _take,
    torch_methods as _torch_methods,
    torch_pointwise as _torch_pointwise,
    triangle as _triangle,
    view as _view,
)
from dtensor.ops._operator import FUNCTIONS, METHODS
from dtensor.ops.activation import *  # noqa: F403
from dtensor.ops.arg import *  # noqa: F403
from dtensor.ops.compare import *  # noqa: F403
from dtensor.ops.coordinates import *  # noqa: F403
from dtensor.ops.count import *  # noqa: F403
from dtensor.ops.create import *  # noqa: F403
from dtensor.ops.create_like import *  # noqa: F403
from dtensor.ops.cumulative import *  # noqa: F403
from dtensor.ops.edit import *  # noqa: F403
from dtensor.ops.einsum import *  # noqa: F403
from dtensor.ops.elementwise import *  # noqa: F403
from dtensor.ops.fallback import FallbackWarning, fallback
from dtensor.ops.index import getitem
from dtensor.ops.index_write import setitem
from dtensor.ops.join import *  # noqa: F403
from dtensor.ops.known import *  # noqa: F403
from dtensor.ops.loss import *  # noqa: F403
from dtensor.ops.matmul import *  # noqa: F403
from dtensor.ops.namespace import *  # noqa: F403
from dtensor.ops.nan import *  # noqa: F403
from dtensor.ops.norm import *  # noqa: F403
from dtensor.ops.pad import *  # noqa: F403
from dtensor.ops.pointwise import *  # noqa: F403
from dtensor.ops.put import *  # noqa: F403
from dtensor.ops.quantile import *  # noqa: F403
from dtensor.ops.random import *  # noqa: F403
from dtensor.ops.rearrange import *  # noqa: F403
from dtensor.ops.reduce import *  # noqa: F403
from dtensor.ops.relate import *  # noqa: F403
from dtensor.ops.sets import *  # noqa: F403
from dtensor.ops.softmax import *  # noqa: F403
from dtensor.ops.sort import *  # noqa: F403
from dtensor.ops.split import *  # noqa: F403
from dtensor.ops.statistics import *  # noqa: F403
from dtensor.ops.strict import ImplicitRedistributeError, strict
from dtensor.ops.take import *  # noqa: F403
from dtensor.ops.torch_methods import *  # noqa: F403
from dtensor.ops.torch_pointwise import *  # noqa: F403
from dtensor.ops.triangle import *  # noqa: F403
from dtensor.ops.ufunc_methods import ufunc_method
from dtensor.ops.view import *  # noqa: F403

__all__ = [
    "FUNCTIONS",
    "METHODS",
    "FallbackWarning",
    "ImplicitRedistributeError",
    "fallback",
    "getitem",
    "setitem",
    "strict",
    "ufunc_method",
]
__all__ += _activation.__all__
__all__ += _arg.__all__
__all__ += _compare.__all__
__all__ += _coordinates.__all__
__all__ += _count.__all__
__all__ += _create.__all__
__all__ += _create_like.__all__
__all__ += _cumulative.__all__
__all__ += _edit.__all__
__all__ += _einsum.__all__
__all__ += _elementwise.__all__
__all__ += _join.__all__
__all__ += _known.__all__
__all__ += _loss.__all__
__all__ += _matmul.__all__
__all__ += _namespace.__all__
__all__ += _nan.__all__
__all__ += _norm.__all__
__all__ += _pad.__all__
__all__ += _pointwise.__all__
__all__ += _put.__all__
__all__ += _quantile.__all__
__all__ += _random.__all__
__all__ += _rearrange.__all__
__all__ += _reduce.__all__
__all__ += _relate.__all__
__all__ += _sets.__all__
__all__ += _softmax.__all__
__all__ += _sort.__all__
__all__ += _split.__all__
__all__ += _statistics.__all__
__all__ += _take.__all__
__all__ += _torch_methods.__all__
__all__ += _torch_pointwise.__all__
__all__ += _triangle.__all__
__all__ += _view.__all__

# What Python's own operators call.
SLOTS = {
    name: getattr(_pointwise, name)
    for name in (
        "add subtract multiply true_divide floor_divide remainder divmod "
        "left_shift right_shift bitwise_and bitwise_or bitwise_xor negative positive "
        "absolute invert less less_equal equal not_equal greater greater_equal"
    ).split()
}
SLOTS |= {
    "matmul": _matmul.matmul,
    "power": _pointwise.raised,
    "getitem": getitem,
    "setitem": setitem,
    "transpose": _view.transpose,
    "matrix_transpose": _view.matrix_transpose,
    "real": _elementwise.real,
    "imag": _elementwise.imag,
    "contains": lambda x, value: bool(_reduce.any(x == value)),
}


def _answer(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return fallback(function)(args, kwargs)


import dtensor.autograd  # noqa: E402, F401  # its methods of tensors

_C.install(SLOTS, METHODS, FUNCTIONS, _answer, ufunc_method)
