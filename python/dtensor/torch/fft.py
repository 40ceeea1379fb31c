"""``torch.fft``: `dtensor.fft` with PyTorch's arguments.

Integers are taken as numbers of the default floating-point dtype.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from dtensor import ops as _ops
from dtensor._C import Tensor
from dtensor.ops.linalg import fft as _fft
from dtensor.torch import _edges, _errors
from dtensor.torch._cast import floating
from dtensor.torch._create import in_order

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports

_NORMS = {None: "forward", "backward": "forward", "forward": "backward"}


def _along(name: str) -> Callable[..., Any]:
    transform = getattr(_fft, name)

    def answer(
        input: Any, n: int | None = None, dim: int = -1, norm: str | None = None
    ) -> Any:
        return transform(floating(input), n, dim, norm)

    return _named(answer, name, "along a dim")


def _over(name: str, dims: tuple[int, int] | None) -> Callable[..., Any]:
    transform = getattr(_fft, f"{name[:-1]}n")

    def answer(input: Any, s: Any = None, dim: Any = dims, norm: Any = None) -> Any:
        return transform(floating(input), *_lengths(input, s, dim), norm)

    return _named(answer, name, "over several dims")


def _lengths(input: Any, s: Any, dim: Any) -> tuple[Any, Any]:
    """Return the lengths that are given, and all dims."""
    s = (s,) if isinstance(s, int) else s
    if dim is None:
        dim = range(-(input.ndim if s is None else len(s)), 0)
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if s is not None and len(s) > input.ndim:
        raise RuntimeError(
            f"Got shape with {len(s)} values but input tensor only has {input.ndim} "
            "dimensions."
        )
    if len({d % max(input.ndim, 1) for d in dims}) < len(dims):
        raise RuntimeError("FFT dims must be unique")
    if s is not None:
        if len(s) != len(dims):
            raise RuntimeError(
                "When given, dim and shape arguments must have the same length"
            )
        s = [input.shape[d] if n == -1 else n for n, d in zip(s, dims, strict=True)]
    return s, dims


def _named(answer: Callable[..., Any], name: str, how: str) -> Callable[..., Any]:
    answer.__name__ = answer.__qualname__ = name
    answer.__doc__ = f"Return what `dtensor.fft.{name}` does, {how}."
    return _edges.writes(_errors.refuses(name, answer))


fft, ifft, rfft, irfft = (_along(name) for name in ("fft", "ifft", "rfft", "irfft"))
hfft, ihfft = _along("hfft"), _along("ihfft")
_LAST = (-2, -1)
fft2, ifft2 = _over("fft2", _LAST), _over("ifft2", _LAST)
rfft2, irfft2 = _over("rfft2", _LAST), _over("irfft2", _LAST)
fftn, ifftn = _over("fftn", None), _over("ifftn", None)
rfftn, irfftn = _over("rfftn", None), _over("irfftn", None)


def hfftn(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Any:
    """Return the transform of a Hermitian signal over several dims: real numbers."""
    return irfftn(ops.conj(floating(input)), s, dim, _NORMS.get(norm, norm))


def ihfftn(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Any:
    """Return the inverse of `hfftn`."""
    return ops.conj(rfftn(input, s, dim, _NORMS.get(norm, norm)))


def hfft2(input: Any, s: Any = None, dim: Any = _LAST, norm: Any = None) -> Any:
    """Return `hfftn` over two dims."""
    return hfftn(input, s, dim, norm)


def ihfft2(input: Any, s: Any = None, dim: Any = _LAST, norm: Any = None) -> Any:
    """Return `ihfftn` over two dims."""
    return ihfftn(input, s, dim, norm)


def fftshift(input: Any, dim: Any = None) -> Any:
    """Return the elements with the frequency 0 in the middle of dims."""
    return _fft.fftshift(input, dim)


def ifftshift(input: Any, dim: Any = None) -> Any:
    """Return the inverse of `fftshift`."""
    return _fft.ifftshift(input, dim)


def fftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """Return the frequencies of `fft`, for `n` samples `d` apart; see `torch.zeros`."""
    return in_order(np.fft.fftfreq(n, d), **options)


def rfftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """Return the frequencies of `rfft`: see `fftfreq`."""
    return in_order(np.fft.rfftfreq(n, d), **options)


__all__ = """
    fft fft2 fftfreq fftn fftshift hfft hfft2 hfftn ifft ifft2 ifftn ifftshift ihfft
    ihfft2 ihfftn irfft irfft2 irfftn rfft rfft2 rfftfreq rfftn
""".split()
