"""``torch.signal.windows``: windows of a length, symmetric or periodic.

Options are those of ``torch.empty``.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dtensor.torch._create import in_order

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]

Array = npt.NDArray[Any]


def _made(
    name: str,
    M: int,  # noqa: N803
    sym: bool,
    formula: Callable[[Array, int], Any],
    options: dict[str, Any],
) -> Any:
    """Return the window of a formula, of places and the last place of its period."""
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    dtype = options.get("dtype")
    if dtype is not None and not dtype.is_floating_point:
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    last = M - 1 if sym else M
    if M <= 1:
        return in_order(np.ones(M), **options)
    return in_order(np.asarray(formula(np.arange(M), last)), **options)


def general_cosine(
    M: int,  # noqa: N803
    *,
    a: Sequence[float],
    sym: bool = True,
    **options: Any,
) -> Any:
    """Return a sum of cosines with weights `a`, of alternating signs.

    Parameters
    ----------
    M : int
        The length.
    a : sequence of float
    sym : bool, default True
        Whether the window is symmetric; else it is a period of one.
    **options
        As of ``torch.empty``.

    Raises
    ------
    ValueError
        If the length is negative, or there are no weights.
    """
    if not len(a):
        raise ValueError("Coefficients cannot be empty")

    def formula(n: Array, last: int) -> Any:
        terms = enumerate(a)
        return sum((-1) ** k * w * np.cos(2 * np.pi * k * n / last) for k, w in terms)

    return _made("general_cosine", M, sym, formula, options)


def general_hamming(
    M: int,  # noqa: N803
    *,
    alpha: float = 0.54,
    sym: bool = True,
    **options: Any,
) -> Any:
    """Return ``alpha - (1 - alpha) cos``: see `general_cosine`."""
    return general_cosine(M, a=[alpha, 1 - alpha], sym=sym, **options)


def hamming(M: int, *, sym: bool = True, **options: Any) -> Any:  # noqa: N803
    """Return the Hamming window: see `general_cosine`."""
    return general_hamming(M, sym=sym, **options)


def hann(M: int, *, sym: bool = True, **options: Any) -> Any:  # noqa: N803
    """Return the Hann window: see `general_cosine`."""
    return general_hamming(M, alpha=0.5, sym=sym, **options)


def blackman(M: int, *, sym: bool = True, **options: Any) -> Any:  # noqa: N803
    """Return the Blackman window: see `general_cosine`."""
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, **options)


def nuttall(M: int, *, sym: bool = True, **options: Any) -> Any:  # noqa: N803
    """Return the minimum four-term window of Nuttall: see `general_cosine`."""
    weights = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
    return general_cosine(M, a=weights, sym=sym, **options)


def bartlett(M: int, *, sym: bool = True, **options: Any) -> Any:  # noqa: N803
    """Return a triangle from 0 to 0: see `general_cosine`."""
    return _made(
        "bartlett", M, sym, lambda n, last: 1 - np.abs(2 * n / last - 1), options
    )


def cosine(M: int, *, sym: bool = True, **options: Any) -> Any:  # noqa: N803
    """Return half a wave of the sine: see `general_cosine`."""
    return _made(
        "cosine",
        M,
        sym,
        lambda n, last: np.sin(np.pi * (n + 0.5) / (last + 1)),
        options,
    )


def exponential(
    M: int,  # noqa: N803
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    **options: Any,
) -> Any:
    """Return ``exp(-|n - center| / tau)``: see `general_cosine`.

    Raises
    ------
    ValueError
        If `tau` is not positive, or there is a center and `sym`.
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")

    def formula(n: Array, last: int) -> Any:
        middle = last / 2 if center is None else center
        return np.exp(-np.abs(n - middle) / tau)

    return _made("exponential", M, sym, formula, options)


def gaussian(
    M: int,  # noqa: N803
    *,
    std: float = 1.0,
    sym: bool = True,
    **options: Any,
) -> Any:
    """Return ``exp(-(n - center)**2 / (2 std**2))``: see `general_cosine`.

    Raises
    ------
    ValueError
        If the deviation is not positive.
    """
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return _made(
        "gaussian",
        M,
        sym,
        lambda n, last: np.exp(-(((n - last / 2) / std) ** 2) / 2),
        options,
    )


def kaiser(
    M: int,  # noqa: N803
    *,
    beta: float = 12.0,
    sym: bool = True,
    **options: Any,
) -> Any:
    """Return Kaiser's window, by the Bessel function `i0`: see `general_cosine`.

    Raises
    ------
    ValueError
        If `beta` is negative.
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def formula(n: Array, last: int) -> Any:
        inside = np.clip(1 - (2 * n / last - 1) ** 2, 0, None)
        return np.i0(beta * np.sqrt(inside)) / np.i0(np.float64(beta))

    return _made("kaiser", M, sym, formula, options)
