"""The array API standard, version 2024.12, over DTensors.

``import dtensor.array_api as xp`` or ``xp = x.__array_namespace__()``: the functions of
https://data-apis.org/array-api/2024.12 with the extensions `linalg` and `fft`. They
compute what the operators of the same name do, in the same layouts. Functions that make
arrays make float64 by default, and take ``device_mesh=`` and ``placements=``. Arrays
have one device, "cpu".

The functions are collective only if they move data. ``bool``, ``int`` and ``float`` of
an array are collective.
"""

import math
import sys

import numpy as np

from dtensor.array_api import (
    _creation,
    _dtypes,
    _functions,
    _info,
    fft as fft,
    linalg as linalg,
)
from dtensor.array_api._answer import answer
from dtensor.array_api._beyond import beyond as __getattr__  # noqa: F401
from dtensor.ops.methods.array_api import VERSIONS, offer

__array_api_version__ = VERSIONS[-1]
__array_namespace_info__ = _info.namespace_info

# --- constants and dtypes -------------------------------------------------------------

e = math.e
inf = math.inf
nan = math.nan
newaxis = None
pi = math.pi

bool = np.bool
int8 = np.int8
int16 = np.int16
int32 = np.int32
int64 = np.int64
uint8 = np.uint8
uint16 = np.uint16
uint32 = np.uint32
uint64 = np.uint64
float32 = np.float32
float64 = np.float64
complex64 = np.complex64
complex128 = np.complex128

# --- dtypes of arrays -----------------------------------------------------------------

can_cast = _dtypes.can_cast
finfo = _dtypes.finfo
iinfo = _dtypes.iinfo
isdtype = _dtypes.isdtype
result_type = _dtypes.result_type
astype = _functions.astype

# --- making arrays --------------------------------------------------------------------

arange = _creation.arange
asarray = _creation.asarray
empty = _creation.empty
empty_like = _creation.empty_like
eye = _creation.eye
from_dlpack = _creation.from_dlpack
full = _creation.full
full_like = _creation.full_like
linspace = _creation.linspace
ones = _creation.ones
ones_like = _creation.ones_like
zeros = _creation.zeros
zeros_like = _creation.zeros_like
meshgrid = _functions.meshgrid
tril = answer(np.tril)
triu = answer(np.triu)

# --- elementwise ----------------------------------------------------------------------

abs = answer(np.abs)
acos = answer(np.acos)
acosh = answer(np.acosh)
add = answer(np.add)
asin = answer(np.asin)
asinh = answer(np.asinh)
atan = answer(np.atan)
atan2 = answer(np.atan2)
atanh = answer(np.atanh)
bitwise_and = answer(np.bitwise_and)
bitwise_invert = answer(np.bitwise_invert)
bitwise_left_shift = answer(np.bitwise_left_shift)
bitwise_or = answer(np.bitwise_or)
bitwise_right_shift = answer(np.bitwise_right_shift)
bitwise_xor = answer(np.bitwise_xor)
ceil = answer(np.ceil)
clip = _functions.clip
conj = answer(np.conj)
copysign = answer(np.copysign)
cos = answer(np.cos)
cosh = answer(np.cosh)
divide = answer(np.divide)
equal = answer(np.equal)
exp = answer(np.exp)
expm1 = answer(np.expm1)
floor = answer(np.floor)
floor_divide = answer(np.floor_divide)
greater = answer(np.greater)
greater_equal = answer(np.greater_equal)
hypot = answer(np.hypot)
imag = answer(np.imag)
isfinite = answer(np.isfinite)
isinf = answer(np.isinf)
isnan = answer(np.isnan)
less = answer(np.less)
less_equal = answer(np.less_equal)
log = answer(np.log)
log10 = answer(np.log10)
log1p = answer(np.log1p)
log2 = answer(np.log2)
logaddexp = answer(np.logaddexp)
logical_and = answer(np.logical_and)
logical_not = answer(np.logical_not)
logical_or = answer(np.logical_or)
logical_xor = answer(np.logical_xor)
maximum = answer(np.maximum)
minimum = answer(np.minimum)
multiply = answer(np.multiply)
negative = answer(np.negative)
nextafter = answer(np.nextafter)
not_equal = answer(np.not_equal)
positive = answer(np.positive)
pow = answer(np.pow)
real = answer(np.real)
reciprocal = answer(np.reciprocal)
remainder = answer(np.remainder)
round = answer(np.round)
sign = answer(np.sign)
signbit = answer(np.signbit)
sin = answer(np.sin)
sinh = answer(np.sinh)
sqrt = answer(np.sqrt)
square = answer(np.square)
subtract = answer(np.subtract)
tan = answer(np.tan)
tanh = answer(np.tanh)
trunc = answer(np.trunc)

# --- reductions -----------------------------------------------------------------------

all = answer(np.all)
any = answer(np.any)
argmax = answer(np.argmax)
argmin = answer(np.argmin)
count_nonzero = answer(np.count_nonzero)
max = answer(np.max)
mean = answer(np.mean)
min = answer(np.min)
prod = answer(np.prod)
std = answer(np.std)
sum = answer(np.sum)
var = answer(np.var)

# --- cumulative -----------------------------------------------------------------------

cumulative_prod = answer(np.cumulative_prod)
cumulative_sum = answer(np.cumulative_sum)
diff = _functions.diff

# --- products -------------------------------------------------------------------------

matmul = answer(np.matmul)
matrix_transpose = answer(np.matrix_transpose)
tensordot = answer(np.tensordot)
vecdot = answer(np.vecdot)

# --- shapes ---------------------------------------------------------------------------

broadcast_arrays = _functions.broadcast_arrays
broadcast_to = answer(np.broadcast_to)
concat = answer(np.concat)
expand_dims = answer(np.expand_dims)
flip = answer(np.flip)
moveaxis = answer(np.moveaxis)
permute_dims = answer(np.permute_dims)
repeat = answer(np.repeat)
reshape = answer(np.reshape)
roll = answer(np.roll)
squeeze = answer(np.squeeze)
stack = answer(np.stack)
tile = answer(np.tile)
unstack = answer(np.unstack)

# --- elements -------------------------------------------------------------------------

argsort = _functions.argsort
nonzero = answer(np.nonzero)
searchsorted = answer(np.searchsorted)
sort = _functions.sort
take = answer(np.take)
take_along_axis = answer(np.take_along_axis)
unique_all = answer(np.unique_all)
unique_counts = answer(np.unique_counts)
unique_inverse = answer(np.unique_inverse)
unique_values = _functions.unique_values
where = answer(np.where)

offer(sys.modules[__name__])

del VERSIONS, answer, math, np, offer, sys
