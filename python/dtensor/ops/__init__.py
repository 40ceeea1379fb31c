"""The operators, a folder (room) for each family; see docs/operators.md.

Each room uses those before it: `_make`, `elementwise`, `index`, `shape`, `reduce`,
`order`, `linalg`, `create`, `random`, `model`, `methods`. All names are
here in one namespace. Those of numpy.linalg and numpy.fft are in `dtensor.linalg` and
`dtensor.fft`.
"""

from typing import Any

from dtensor import _C
from dtensor.ops._make import (  # noqa: F401
    known as _known,
    signature as _signature,
)
from dtensor.ops.create import (  # noqa: F401
    arrays as _create,
    like as _create_like,
)
from dtensor.ops.elementwise import (  # noqa: F401
    functions as _elementwise,
    pointwise as _pointwise,
    powers as _powers,
    scimath as _scimath,
)
from dtensor.ops.index import (  # noqa: F401
    coordinates as _coordinates,
    copyto as _copyto,
    put as _put,
    take as _take,
)
from dtensor.ops.linalg import (  # noqa: F401
    core_axes as _core_axes,
    decompositions as _linalg,
    einsum as _einsum,
    fft as _fft,
    least_squares as _least_squares,
    matmul as _matmul,
    norms as _linalg_norm,
    polynomial as _polynomial,
    products as _linalg_product,
    relate as _relate,
    triangle as _triangle,
)
from dtensor.ops.methods import (  # noqa: F401
    array_api as _namespace,
    flat as _flat,
    lists as _lists,
    plot as _plot,
    torch as _torch_methods,
    torch_pointwise as _torch_pointwise,
)
from dtensor.ops.model import (  # noqa: F401
    activation as _activation,
    loss as _loss,
    norm as _norm,
    softmax as _softmax,
)
from dtensor.ops.order import (  # noqa: F401
    count as _count,
    interpolate as _interpolate,
    search as _search,
    sets as _sets,
    sort as _sort,
    topk as _topk,
)
from dtensor.ops.random import (  # noqa: F401
    arrays as _random,
)
from dtensor.ops.reduce import (  # noqa: F401
    arg as _arg,
    compare as _compare,
    cumulative as _cumulative,
    nan as _nan,
    quantile as _quantile,
    reductions as _reduce,
    statistics as _statistics,
)
from dtensor.ops.shape import (  # noqa: F401
    bits as _bits,
    called as _called,
    edit as _edit,
    join as _join,
    pad as _pad,
    rearrange as _rearrange,
    sliding as _sliding,
    split as _split,
    turn as _turn,
    view as _view,
    view_writes as _view_writes,
)

# isort: split
# Functions come after all rooms are loaded: one may have a room's name, as `shape`.
from dtensor.ops._make.fallback import FallbackWarning, fallback
from dtensor.ops._make.known import *  # noqa: F403
from dtensor.ops._make.operator import FUNCTIONS, METHODS
from dtensor.ops._make.strict import ImplicitRedistributeError, strict
from dtensor.ops.create.arrays import *  # noqa: F403
from dtensor.ops.create.like import *  # noqa: F403
from dtensor.ops.elementwise.functions import *  # noqa: F403
from dtensor.ops.elementwise.pointwise import *  # noqa: F403
from dtensor.ops.elementwise.powers import *  # noqa: F403
from dtensor.ops.index.coordinates import *  # noqa: F403
from dtensor.ops.index.copyto import *  # noqa: F403
from dtensor.ops.index.put import *  # noqa: F403
from dtensor.ops.index.read import getitem
from dtensor.ops.index.take import *  # noqa: F403
from dtensor.ops.index.write import setitem
from dtensor.ops.linalg.einsum import *  # noqa: F403
from dtensor.ops.linalg.matmul import *  # noqa: F403
from dtensor.ops.linalg.polynomial import *  # noqa: F403
from dtensor.ops.linalg.relate import *  # noqa: F403
from dtensor.ops.linalg.triangle import *  # noqa: F403
from dtensor.ops.methods.array_api import *  # noqa: F403
from dtensor.ops.methods.torch import *  # noqa: F403
from dtensor.ops.methods.torch_pointwise import *  # noqa: F403
from dtensor.ops.methods.ufuncs import ufunc_method
from dtensor.ops.model.activation import *  # noqa: F403
from dtensor.ops.model.loss import *  # noqa: F403
from dtensor.ops.model.norm import *  # noqa: F403
from dtensor.ops.model.softmax import *  # noqa: F403
from dtensor.ops.order.count import *  # noqa: F403
from dtensor.ops.order.interpolate import *  # noqa: F403
from dtensor.ops.order.search import *  # noqa: F403
from dtensor.ops.order.sets import *  # noqa: F403
from dtensor.ops.order.sort import *  # noqa: F403
from dtensor.ops.order.topk import *  # noqa: F403
from dtensor.ops.random.arrays import *  # noqa: F403
from dtensor.ops.reduce.arg import *  # noqa: F403
from dtensor.ops.reduce.compare import *  # noqa: F403
from dtensor.ops.reduce.cumulative import *  # noqa: F403
from dtensor.ops.reduce.nan import *  # noqa: F403
from dtensor.ops.reduce.quantile import *  # noqa: F403
from dtensor.ops.reduce.reductions import *  # noqa: F403
from dtensor.ops.reduce.statistics import *  # noqa: F403
from dtensor.ops.shape.bits import *  # noqa: F403
from dtensor.ops.shape.called import *  # noqa: F403
from dtensor.ops.shape.edit import *  # noqa: F403
from dtensor.ops.shape.join import *  # noqa: F403
from dtensor.ops.shape.pad import *  # noqa: F403
from dtensor.ops.shape.rearrange import *  # noqa: F403
from dtensor.ops.shape.sliding import *  # noqa: F403
from dtensor.ops.shape.split import *  # noqa: F403
from dtensor.ops.shape.turn import *  # noqa: F403
from dtensor.ops.shape.view import *  # noqa: F403

__all__ = ["FallbackWarning", "ImplicitRedistributeError", "strict"]
__all__ += _activation.__all__
__all__ += _arg.__all__
__all__ += _bits.__all__
__all__ += _called.__all__
__all__ += _compare.__all__
__all__ += _coordinates.__all__
__all__ += _copyto.__all__
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
__all__ += _powers.__all__
__all__ += _put.__all__
__all__ += _quantile.__all__
__all__ += _random.__all__
__all__ += _rearrange.__all__
__all__ += _reduce.__all__
__all__ += _polynomial.__all__
__all__ += _relate.__all__
__all__ += _interpolate.__all__
__all__ += _search.__all__
__all__ += _sets.__all__
__all__ += _softmax.__all__
__all__ += _sliding.__all__
__all__ += _sort.__all__
__all__ += _topk.__all__
__all__ += _split.__all__
__all__ += _turn.__all__
__all__ += _statistics.__all__
__all__ += _take.__all__
__all__ += _torch_methods.__all__
__all__ += _torch_pointwise.__all__
__all__ += _triangle.__all__
__all__ += _view.__all__


def _contains(x: Any, value: Any) -> bool:
    """Return ``value in x``."""
    found = x == value
    return isinstance(found, _C.Tensor) and bool(_reduce.any(found))


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
    "power": _powers.raised,
    "getitem": getitem,
    "setitem": setitem,
    "transpose": _view.transpose,
    "matrix_transpose": _view.matrix_transpose,
    "real": _elementwise.real,
    "imag": _elementwise.imag,
    "flat": _flat.Flat,
    "contains": _contains,
}


def _answer(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return fallback(function)(args, kwargs)


import dtensor.autograd  # noqa: E402, F401  # its methods of tensors

_C.install(SLOTS, METHODS, FUNCTIONS, _answer, ufunc_method)
