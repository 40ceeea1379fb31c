"""Special functions of arrays of float64, with NumPy: error functions, Bessel functions.

Small arguments are summed by series, or by the trapezoidal rule over a period, which
converges faster than any power for periodic integrands; large ones by asymptotic series.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["FUNCTIONS"]

Array = npt.NDArray[Any]
_BLOCK = 4096  # elements that are computed at once, by rules of many points
_NEAR = 25.0  # up to here by the trapezoidal rule, from here on asymptotically
_EULER = 0.5772156649015329
_complement: Callable[..., Any] = np.vectorize(math.erfc, otypes="d")

# --- error functions ------------------------------------------------------------------


def erfcx(x: Array) -> Array:
    """Return ``exp(x * x) * erfc(x)``."""
    small = np.clip(np.abs(x), 0, _NEAR)
    near = np.exp(small * small) * _complement(small)
    far = np.maximum(np.abs(x), _NEAR)
    step: Any = 0.5 / (far * far)
    series = 1 - step * (1 - 3 * step * (1 - 5 * step * (1 - 7 * step)))
    found = np.where(np.abs(x) < _NEAR, near, series / (far * math.sqrt(math.pi)))
    found = np.where(x < 0, 2 * np.exp(x * x) - found, found)
    return np.where(np.isnan(x), np.nan, found)


def ndtr(x: Array) -> Array:
    """Return P(X <= x) of the normal distribution."""
    return np.asarray(_complement(-x / math.sqrt(2)) / 2)


def log_ndtr(x: Array) -> Array:
    """Return the logarithm of `ndtr`, which does not underflow."""
    low = np.minimum(x, -1)
    tail = np.log(erfcx(-low / math.sqrt(2)) / 2) - low * low / 2
    rest = np.log1p(-_complement(np.maximum(x, -1) / math.sqrt(2)) / 2)
    return np.where(x < -1, tail, rest)


def ndtri(p: Array) -> Array:
    """Return x with ``ndtr(x) == p``: a first guess, then Newton's steps of log_ndtr."""
    inside = (p > 0) & (p < 1)
    side = np.where(inside, np.minimum(p, 1 - p), 0.25)
    far = np.sqrt(-2 * np.log(side))  # Abramowitz and Stegun, 26.2.22
    x = (2.30753 + 0.27061 * far) / (1 + far * (0.99229 + 0.04481 * far)) - far
    for _ in range(4):
        ratio = math.sqrt(2 / math.pi) / erfcx(-x / math.sqrt(2))  # of pdf and ndtr
        x = x - (log_ndtr(x) - np.log(side)) / ratio
    x = np.where(p > 0.5, -x, x)
    x = np.where(p == 0.5, 0.0, x)
    return np.where(inside, x, np.select([p == 0, p == 1], [-np.inf, np.inf], np.nan))


def entr(x: Array) -> Array:
    """Return ``-x * log(x)``: 0 for 0, minus infinity below."""
    found = -x * np.log(np.where(x > 0, x, 1))
    return np.where(x < 0, -np.inf, np.where(np.isnan(x), np.nan, found))


# --- modified Bessel functions --------------------------------------------------------

_ANGLES = (np.arange(64) + 0.5) * (math.pi / 64)


def _hankel(order: int, x: Array, sign: int) -> tuple[Array, Array]:
    """Return the even and the odd terms of Hankel's asymptotic series."""
    sums: list[Any] = [1.0, 0.0]
    term: Any = np.ones_like(x)
    for k in range(1, 20):
        term = term * ((4 * order * order - (2 * k - 1) ** 2) / (8 * k)) / x
        even = sign if k // 2 % 2 else 1
        sums[k % 2] = sums[k % 2] + even * term
    return np.asarray(sums[0]), np.asarray(sums[1])


def i0e(x: Array) -> Array:
    """Return ``exp(-abs(x)) * I0(x)``."""
    size = np.abs(x)
    near, total = np.minimum(size, _NEAR), 0.0
    for wave in np.cos(_ANGLES).tolist():
        total = total + np.exp(near * (wave - 1)) / len(_ANGLES)
    far = np.maximum(size, _NEAR)
    even, odd = _hankel(0, far, 1)
    return np.where(
        size <= _NEAR, total, (even - odd) / np.sqrt(2 * math.pi * far)
    ) + np.where(np.isnan(x), np.nan, 0)


def i1e(x: Array) -> Array:
    """Return ``exp(-abs(x)) * I1(x)``."""
    size = np.abs(x)
    near, total = np.minimum(size, _NEAR), 0.0
    for wave in np.cos(_ANGLES[:32]).tolist():
        total = total + np.sinh(near * wave) * (wave / 32)
    far = np.maximum(size, _NEAR)
    even, odd = _hankel(1, far, 1)
    found = np.where(
        size <= _NEAR,
        total * np.exp(-near),
        (even - odd) / np.sqrt(2 * math.pi * far),
    )
    return np.where(np.isnan(x), np.nan, np.copysign(found, x))


def _exponential(scaled: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda x: np.exp(np.abs(x)) * scaled(x)


def _decaying(order: int) -> Callable[[Array], Array]:
    """Return the function that computes ``exp(x) * K(x)``."""

    def small(x: Array) -> Array:
        """Return K(x) by its power series."""
        square, term = x * x / 4, np.ones_like(x)
        harmonic, total, part = 0.0, np.zeros_like(x), np.ones_like(x)
        for k in range(1, 24):
            number = harmonic - _EULER if order == 0 else harmonic - _EULER + 0.5 / k
            total = total + number * part
            harmonic += 1 / k
            term = term * square / (k * k)
            part = term if order == 0 else term / (k + 1)
        log = np.log(x / 2)
        if order == 0:
            return np.asarray(total - log * i0e(x) * np.exp(x))
        return np.asarray(1 / x + log * i1e(x) * np.exp(x) - x / 2 * total)

    def large(x: Array) -> Array:
        """Return exp(x) K(x), an integral over exp(x (1 - cosh(t)))."""
        end = np.arccosh(1 + 745 / x)
        total: Any = 0.5
        for k in range(1, 129):
            t = end * (k / 128)
            weight = 1.0 if order == 0 else np.cosh(t)
            total = total + np.exp(x * (1 - np.cosh(t))) * weight
        return np.asarray(total * end / 128)

    def found(x: Array) -> Array:
        near, far = np.clip(x, 1e-300, 2), np.clip(x, 2, 1e300)
        value = np.where(x <= 2, small(near) * np.exp(near), large(far))
        value = np.where(x == 0, np.inf, np.where(np.isinf(x), 0.0, value))
        return np.where(x < 0, np.nan, value + np.where(np.isnan(x), np.nan, 0))

    return found


def _plain(scaled: Callable[[Array], Array]) -> Callable[[Array], Array]:
    def found(x: Array) -> Array:
        return np.asarray(scaled(x) * np.exp(-np.maximum(x, 0)))

    return found


# --- Bessel functions -----------------------------------------------------------------


def _blocks(x: Array) -> Iterator[tuple[slice, Array]]:
    for start in range(0, x.size, _BLOCK):
        yield slice(start, start + _BLOCK), x[start : start + _BLOCK]


def _all_orders(x: Array) -> Array:
    """Return J0(x), ..., J63(x) in columns, for x up to `_NEAR`: Bessel's integral."""
    waves = np.sin(np.arange(128) * (math.tau / 128))
    return np.asarray(np.fft.fft(np.exp(1j * x[:, None] * waves), axis=1).real / 128)


def _far(order: int, shift: float, x: Array) -> Array:
    """Return J, or Y where `shift` is a quarter period more, for large x."""
    even, odd = _hankel(order, x, -1)
    phase = x - (order / 2 + 0.25) * math.pi - shift
    wave = even * np.cos(phase) - odd * np.sin(phase)
    return np.asarray(np.sqrt(2 / (math.pi * x)) * wave)


def _of_blocks(x: Array, near: Callable[[Array], Array]) -> Array:
    flat = x.ravel()
    found = np.empty_like(flat)
    for at, part in _blocks(flat):
        found[at] = near(part)
    return found.reshape(x.shape)


def _first_kind(order: int) -> Callable[[Array], Array]:
    def found(x: Array) -> Array:
        size = np.abs(x)
        near = np.minimum(size, _NEAR)
        inner = _of_blocks(np.nan_to_num(near), lambda y: _all_orders(y)[:, order])
        outer = _far(order, 0.0, np.clip(size, _NEAR, 1e300))
        value = np.where(size <= _NEAR, inner, np.where(np.isinf(x), 0.0, outer))
        value = value if order == 0 else np.where(x < 0, -value, value)
        return np.where(np.isnan(x), np.nan, value)

    return found


def _second_kind(order: int) -> Callable[[Array], Array]:
    k = np.arange(1, 30)
    weights = (-1.0) ** k * (order + 2 * k) / (k * (order + k))

    def near(x: Array) -> Array:  # Neumann's series: Abramowitz and Stegun, 9.1.88
        orders = _all_orders(x)
        total = (orders[:, order + 2 * k] * weights).sum(1)
        log = np.log(x / 2) + _EULER - (1.0 if order else 0.0)
        head = 2 / x * orders[:, 0] if order else 0.0
        return np.asarray((2 * (log * orders[:, order] - total) - head) / math.pi)

    def found(x: Array) -> Array:
        inner = _of_blocks(np.clip(np.nan_to_num(x), 1e-300, _NEAR), near)
        outer = _far(order, math.pi / 2, np.clip(x, _NEAR, 1e300))
        value = np.where(x <= _NEAR, inner, np.where(np.isinf(x), 0.0, outer))
        value = np.where(x == 0, -np.inf, np.where(x < 0, np.nan, value))
        return np.where(np.isnan(x), np.nan, value)

    return found


def spherical_j0(x: Array) -> Array:
    """Return ``sin(x) / x``."""
    return np.where(np.isinf(x), 0.0, np.sinc(x / math.pi))


def airy(x: Array) -> Array:
    """Return Ai(x): its power series, and the asymptotic ones from 8 and -8 on."""
    inner = np.clip(np.nan_to_num(x), -8, 2)
    first, second = np.ones_like(inner), inner
    sums, cube = [first, second], inner**3
    for k in range(1, 60):
        first = first * cube / ((3 * k - 1) * (3 * k))
        second = second * cube / ((3 * k) * (3 * k + 1))
        sums = [sums[0] + first, sums[1] + second]
    value = sums[0] * 0.3550280538878172 - sums[1] * 0.2588194037928068
    outer = np.maximum(np.abs(x), 2)
    zeta = 2 / 3 * outer**1.5
    end = np.arccosh(1 + 745 / zeta)
    total: Any = 0.5  # of exp(zeta) K(zeta), of order 1 / 3
    for k in range(1, 129):
        t = end * (k / 128)
        total = total + np.exp(zeta * (1 - np.cosh(t))) * np.cosh(t / 3)
    above = np.exp(-zeta) * total * end / 128 * np.sqrt(outer / 3) / math.pi
    even, odd, term = 0.0, 0.0, np.ones_like(zeta)
    for k in range(12):
        sign = -1.0 if k // 2 % 2 else 1.0
        even, odd = (even, odd + sign * term) if k % 2 else (even + sign * term, odd)
        rise = (6 * k + 1) * (6 * k + 3) * (6 * k + 5) / (216 * (k + 1) * (2 * k + 1))
        term = term * rise / zeta
    turn = zeta + math.pi / 4
    below = (np.sin(turn) * even - np.cos(turn) * odd) / (math.sqrt(math.pi))
    value = np.where(x > 2, above, np.where(x < -8, below / outer**0.25, value))
    lost = np.isneginf(x) | np.isnan(x)
    return np.where(np.isposinf(x), 0.0, np.where(lost, np.nan, value))


# --- sums and polynomials -------------------------------------------------------------

_EVEN = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


def zeta(x: Array, q: Array) -> Array:
    """Return the sum of ``(q + k) ** -x`` over k: Hurwitz's zeta function."""
    x, q = np.broadcast_arrays(x, q)
    whole = np.floor(q) == q
    wrong = (x < 1) | ((q <= 0) & ~whole & (np.floor(x) != x))
    pole = (x == 1) | ((q <= 0) & whole)
    power = np.where(wrong | pole, 2.0, x)
    at = np.where(wrong | pole | ~np.isfinite(q), 1.0, q)
    steps = 10 + max(0, math.ceil(-float(at.min(initial=0.0))))
    total = np.zeros_like(at)
    for k in range(steps):
        total = total + (at + k) ** -power
    last = at + steps
    total = total + last ** (1 - power) / (power - 1) + 0.5 * last**-power
    factor = power * last ** (-power - 1)
    for k, number in enumerate(_EVEN, 1):
        total = total + number / math.factorial(2 * k) * factor
        factor = factor * (power + 2 * k - 1) * (power + 2 * k) / last**2
    total = np.where(np.isposinf(q), 0.0, total)
    found = np.where(wrong & ~(x == 1), np.nan, np.where(pole, np.inf, total))
    return found + np.where(np.isnan(x) | np.isnan(q), np.nan, 0)


def _polynomial(
    first: Callable[[Array], Array],
    step: Callable[[float, Array, Array, Array], Array],
    shifted: bool = False,
) -> Callable[[Array, Array], Array]:
    """Return a polynomial of degree n, by the first two and a recurrence."""

    def found(x: Array, n: Array) -> Array:
        x, n = np.broadcast_arrays(x, np.trunc(n))
        x = 2 * x - 1 if shifted else x
        before, now = np.ones_like(x), first(x)
        value = np.where(n == 0, before, np.where(n == 1, now, 0.0))
        for k in range(2, int(n.max(initial=0)) + 1):
            before, now = now, step(float(k), x, now, before)
            value = np.where(n == k, now, value)
        return np.asarray(value)

    return found


def _twice(k: float, x: Array, now: Array, before: Array) -> Array:
    return 2 * x * now - before


FUNCTIONS: dict[str, Callable[..., Any]] = {
    f.__name__: f for f in (entr, erfcx, i0e, i1e, log_ndtr, ndtr, ndtri, zeta)
}
FUNCTIONS |= {"airy_ai": airy, "spherical_bessel_j0": spherical_j0}
FUNCTIONS |= {"i1": _exponential(i1e)}
for _k in (0, 1):
    _scaled = _decaying(_k)
    FUNCTIONS[f"bessel_j{_k}"] = _first_kind(_k)
    FUNCTIONS[f"bessel_y{_k}"] = _second_kind(_k)
    FUNCTIONS[f"modified_bessel_i{_k}"] = _exponential((i0e, i1e)[_k])
    FUNCTIONS[f"scaled_modified_bessel_k{_k}"] = _scaled
    FUNCTIONS[f"modified_bessel_k{_k}"] = _plain(_scaled)
_FIRST: dict[str, Callable[[Array], Array]] = {
    "t": lambda x: x,
    "u": lambda x: 2 * x,
    "v": lambda x: 2 * x - 1,
    "w": lambda x: 2 * x + 1,
}
for _name, _first in _FIRST.items():
    _of = f"chebyshev_polynomial_{_name}"
    FUNCTIONS[_of] = _polynomial(_first, _twice)
    FUNCTIONS[f"shifted_{_of}"] = _polynomial(_first, _twice, True)
FUNCTIONS |= {
    "hermite_polynomial_h": _polynomial(
        lambda x: 2 * x, lambda k, x, p, q: 2 * x * p - 2 * (k - 1) * q
    ),
    "hermite_polynomial_he": _polynomial(
        lambda x: x, lambda k, x, p, q: x * p - (k - 1) * q
    ),
    "laguerre_polynomial_l": _polynomial(
        lambda x: 1 - x, lambda k, x, p, q: ((2 * k - 1 - x) * p - (k - 1) * q) / k
    ),
    "legendre_polynomial_p": _polynomial(
        lambda x: x, lambda k, x, p, q: ((2 * k - 1) * x * p - (k - 1) * q) / k
    ),
}
