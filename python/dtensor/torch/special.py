"""``torch.special``: special functions, of tensors of floating-point numbers.

Integers are taken as numbers of the default floating-point dtype. What is not at
`torch` itself is computed by SciPy, an extra, in float64, and rounded once. Bessel
functions of the first and second kind, polynomials and `airy_ai` have no gradients, as
in PyTorch.
"""

from collections.abc import Callable
from typing import Any

from dtensor import _C, ops as _ops
from dtensor.ops.elementwise.special import SLOPES, SPECIAL
from dtensor.torch import _edges, _errors, _logs, _order, _pointwise, _same, _special
from dtensor.torch._cast import floating, floats_alike
from dtensor.torch._promotion import default_dtype, dtype_for

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports

# What is at torch itself, too.
erf, erfc, exp2 = _pointwise.erf, _pointwise.erfc, _pointwise.FUNCTIONS["exp2"]
expit, logit, xlogy = _pointwise.sigmoid, _pointwise.logit, _pointwise.xlogy
expm1, log1p = _pointwise.FUNCTIONS["expm1"], _pointwise.FUNCTIONS["log1p"]
digamma = psi = _special.digamma
erfinv, i0, polygamma = _special.erfinv, _special.i0, _special.polygamma
gammainc, gammaincc = _special.igamma, _special.igammac
gammaln, multigammaln = _special.lgamma, _special.mvlgamma
round = ops.round


def sinc(input: Any) -> Any:
    """Return ``sin(pi x) / (pi x)``."""
    return ops.sinc(floating(input))


def logsumexp(input: Any, dim: Any, keepdim: bool = False) -> Any:
    """Return the logarithm of the sum of exponentials over dims."""
    return _same.logsumexp(input, dim, keepdim)


def softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """Return exponentials that add up to 1 along a dim."""
    return _order.softmax(input, dim, dtype=dtype)


def log_softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """Return the logarithm of `softmax`, which does not underflow."""
    return _order.log_softmax(input, dim, dtype=dtype)


def xlog1py(input: Any, other: Any) -> Any:
    """Return ``input * log1p(other)``, 0 where the input is 0 unless `other` is NaN."""
    return _logs.xlog1py(*floats_alike(input, other))


def _of_one(name: str) -> Callable[..., Any]:
    function = SPECIAL[name]

    def answer(input: Any) -> Any:
        if not isinstance(input, _C.Tensor):
            raise TypeError(
                f"special_{name}(): argument 'input' must be Tensor, not "
                f"{type(input).__name__}"
            )
        x = floating(input)
        return function(x if name in SLOPES else x.detach())

    answer.__doc__ = (
        f"Return `{name}`, element by element: see `dtensor.torch.special`."
    )
    return answer


def _float(x: Any, dtype: Any, constant: bool) -> Any:
    """Return a tensor in a dtype, detached if it is a constant."""
    if not isinstance(x, _C.Tensor):
        return x
    x = x.detach() if constant else x
    return x if x.dtype == dtype else ops.astype(x, dtype)


def _of_two(name: str) -> Callable[..., Any]:
    function = SPECIAL[name]

    def answer(input: Any, other: Any) -> Any:
        dtype = dtype_for([input, other])
        dtype = dtype if dtype.kind not in "bui" else default_dtype()
        return function(*(_float(x, dtype, name != "zeta") for x in (input, other)))

    answer.__doc__ = (
        f"Return `{name}`, element by element; one of both may be a number. Of a "
        "polynomial the second is the degree."
    )
    return answer


_SAME = """
    digamma erf erfc erfinv exp2 expit expm1 gammainc gammaincc gammaln i0 log1p
    log_softmax logit logsumexp multigammaln polygamma psi round sinc softmax xlog1py
    xlogy
""".split()
for _name in SPECIAL:
    _two = "polynomial" in _name or _name == "zeta"
    _made = (_of_two if _two else _of_one)(_name)
    _made.__name__ = _made.__qualname__ = _name
    globals()[_name] = _edges.placed(_made)
__all__ = [*_SAME, *SPECIAL]  # noqa: PLE0604
_edges.mend(globals())
for _name in __all__:
    globals()[_name] = _edges.writes(globals()[_name])
_errors.speak(globals(), __all__)
