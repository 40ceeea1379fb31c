"""The functions that are the same in PyTorch and here, and those with other names.

They take ``dim`` and ``keepdim`` as well as NumPy's ``axis`` and ``keepdims``.
"""

from typing import Any as _Any

from dtensor import ops
from dtensor.ops.shape.permute import exchanged as _exchanged
from dtensor.torch._returned import typed as _typed
from dtensor.torch._types import keeps as _keeps

_ops: _Any = ops  # type checkers lose some of its names, in a cycle of imports
del ops

# --- elementwise ----------------------------------------------------------------------

abs = absolute = _ops.abs
acos = arccos = _ops.acos
acosh = arccosh = _ops.acosh
add = _ops.METHODS["add"]
asin = arcsin = _ops.asin
asinh = arcsinh = _ops.asinh
atan = arctan = _ops.atan
atan2 = arctan2 = _ops.atan2
atanh = arctanh = _ops.atanh
bitwise_and = _ops.bitwise_and
bitwise_left_shift = _ops.bitwise_left_shift
bitwise_not = _ops.bitwise_not
bitwise_or = _ops.bitwise_or
bitwise_right_shift = _ops.bitwise_right_shift
bitwise_xor = _ops.bitwise_xor
ceil = _ops.ceil
clamp = clip = _ops.clamp
clamp_max = _ops.METHODS["clamp_max"]
clamp_min = _ops.METHODS["clamp_min"]
conj = conj_physical = _ops.conj
copysign = _ops.copysign
cos = _ops.cos
cosh = _ops.cosh
deg2rad = _ops.deg2rad
div = divide = true_divide = _ops.div
eq = _ops.equal
exp = _ops.exp
exp2 = _ops.exp2
expm1 = _ops.expm1
float_power = _ops.float_power
floor = _ops.floor
floor_divide = _ops.floor_divide
fmax = _ops.fmax
fmin = _ops.fmin
fmod = _ops.fmod
frexp = _typed(_ops.frexp, "frexp")
gcd = _ops.gcd
ge = greater_equal = _ops.greater_equal
gt = greater = _ops.greater
heaviside = _ops.heaviside
hypot = _ops.hypot
imag = _ops.imag
isclose = _ops.isclose
isfinite = _ops.isfinite
isin = _keeps(_ops.isin)
isinf = _ops.isinf
isnan = _ops.isnan
isneginf = _ops.isneginf
isposinf = _ops.isposinf
isreal = _ops.isreal
lcm = _ops.lcm
le = less_equal = _ops.less_equal
log = _ops.log
log10 = _ops.log10
log1p = _ops.log1p
log2 = _ops.log2
logaddexp2 = _ops.logaddexp2
logical_and = _ops.logical_and
logical_not = _ops.logical_not
logical_or = _ops.logical_or
logical_xor = _ops.logical_xor
lt = less = _ops.less
maximum = _ops.maximum
minimum = _ops.minimum
mul = multiply = _ops.mul
ne = not_equal = _ops.not_equal
nextafter = _ops.nextafter
pow = _ops.pow
rad2deg = _ops.rad2deg
real = _ops.real
reciprocal = _ops.reciprocal
relu = _ops.relu
remainder = _ops.remainder
round = _ops.round
rsqrt = _ops.rsqrt
sgn = sign = _ops.sign
sigmoid = _ops.sigmoid
signbit = _ops.signbit
sin = _ops.sin
sinc = _ops.sinc
sinh = _ops.sinh
sqrt = _ops.sqrt
sub = subtract = _ops.sub
tan = _ops.tan
tanh = _ops.tanh
trunc = fix = _ops.trunc

# --- along dims -----------------------------------------------------------------------


def logsumexp(input: _Any, dim: _Any, keepdim: bool = False) -> _Any:
    """Return ``log(sum(exp(input)))`` along dims, without overflow."""
    dims = tuple(dim) if isinstance(dim, list) else dim
    return _ops.logsumexp(input, dims, keepdims=keepdim)


# --- products -------------------------------------------------------------------------

inner = _ops.inner
kron = _ops.kron
vdot = _ops.vdot

# --- shapes and elements --------------------------------------------------------------

argwhere = _keeps(_ops.argwhere)
broadcast_to = _ops.METHODS["expand"]
chunk = _ops.chunk
column_stack = _ops.column_stack
dstack = _ops.dstack
hstack = _ops.hstack
index_select = _ops.index_select
movedim = moveaxis = _ops.moveaxis
permute = _ops.permute_dims
ravel = _ops.ravel
reshape = _ops.reshape
split = _ops.METHODS["split"]
t = _ops.METHODS["t"]
tile = _ops.tile
transpose = swapaxes = swapdims = _exchanged
unbind = _ops.unbind
unflatten = _ops.unflatten
unsqueeze = _ops.unsqueeze
vstack = row_stack = _ops.vstack
