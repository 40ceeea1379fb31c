"""Spectra of short pieces of signals, and signals of these: ``torch.stft``."""

from typing import Any

import numpy as np

from dtensor import fft as _fft, ops as _ops
from dtensor._core.caller import warn
from dtensor.nn import functional as F
from dtensor.torch._types import torch_dtype

ops: Any = _ops  # type checkers lose some of its names, in a cycle of imports
fft: Any = _fft

__all__ = ["istft", "stft"]


def _is_complex(x: Any) -> bool:
    return x is not None and np.dtype(x.dtype).kind == "c"


def _window(window: Any, length: int, n_fft: int, dtype: Any) -> Any:
    """Return a window with zeros on both sides, n_fft long; None for ones."""
    if window is None and length == n_fft:
        return None
    if window is None:
        window = np.ones(length, np.dtype(dtype).type(0).real.dtype)
    left = (n_fft - length) // 2
    return ops.pad(window, ((left, n_fft - length - left),))


def _refused(name: str, what: str, x: Any, **given: Any) -> RuntimeError:
    kind = f"{torch_dtype(x.dtype).legacy}Tensor{list(x.shape)}"
    words = ", ".join(f"{key}={value}" for key, value in given.items())
    return RuntimeError(f"{name}({kind}, {words}) : {what}")


def stft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    """Return Fourier transforms of pieces of a signal.

    Parameters
    ----------
    input : Tensor, shape (length,) or (batch, length)
        Of a DTensor the batch stays cut; a length that is cut is gathered.
    n_fft : int
        The length of a piece.
    hop_length : int, optional
        From one piece to the next; default: ``n_fft // 4``.
    win_length : int, optional
        The length of the window, which is put in the middle; default: `n_fft`.
    window : Tensor, shape (win_length,), optional
        What pieces are multiplied by; default: ones.
    center : bool, default True
        Whether pieces are about the times 0, hop_length, ...: then the signal is padded
        on both sides by ``n_fft // 2``, in the mode `pad_mode`.
    normalized : bool, default False
        Whether to divide by the root of `n_fft`.
    onesided : bool, optional
        Whether to return half of the frequencies; default: of real numbers.
    return_complex : bool, optional
        Whether the result is complex, or has real and imaginary parts in a last dim. It
        must be given for real numbers.
    align_to_window : bool, optional
        Whether the first window, and not the first piece, begins at time 0; only if not
        `center`.

    Returns
    -------
    Tensor, shape ([batch,] frequencies, times)

    Raises
    ------
    RuntimeError
        If arguments do not fit together.
    """
    hop = n_fft // 4 if hop_length is None else hop_length
    length = n_fft if win_length is None else win_length
    is_complex = _is_complex(input) or _is_complex(window)
    if return_complex is None:
        if not is_complex:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, "
                "and will further require that return_complex=True in a future PyTorch "
                "release."
            )
        return_complex = True
    if center and align_to_window is not None:
        raise RuntimeError(
            "stft align_to_window should only be set when center = false"
        )
    given = {"n_fft": n_fft, "hop_length": hop, "win_length": length}
    if np.dtype(input.dtype).kind in "bui":
        what = "expected a tensor of floating point or complex values"
        raise _refused("stft", what, input, **given)
    if input.ndim not in (1, 2):
        raise _refused("stft", "expected a 1D or 2D tensor", input, **given)
    x = input if input.ndim == 2 else ops.expand_dims(input, 0)
    if center:
        half = int(n_fft) // 2
        x = F.pad(ops.expand_dims(x, 1), (half, half), pad_mode)[:, 0]
    if not 0 < n_fft <= x.shape[1]:
        what = f"expected 0 < n_fft < {x.shape[1]}, but got n_fft={n_fft}"
        raise _refused("stft", what, input, **given)
    if hop <= 0:
        what = f"expected hop_length > 0, but got hop_length={hop}"
        raise _refused("stft", what, input, **given)
    if not 0 < length <= n_fft:
        what = f"expected 0 < win_length <= n_fft, but got win_length={length}"
        raise _refused("stft", what, input, **given)
    if window is not None and tuple(window.shape) != (length,):
        what = (
            f"expected a 1D window tensor of size equal to win_length={length}, but "
            f"got window with size {list(window.shape)}"
        )
        raise _refused("stft", what, input, **given)
    if onesided and is_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if align_to_window and length < n_fft:
        side = (n_fft - length) // 2
        x = ops.pad(x, ((0, 0), (side, side)))
    starts = np.arange(0, x.shape[1] - n_fft + 1, hop)
    pieces = ops.getitem(x, (slice(None), starts[:, None] + np.arange(n_fft)))
    shape = _window(window, length, n_fft, input.dtype)
    if shape is not None:
        pieces = pieces * shape
    half_only = not is_complex if onesided is None else onesided
    transform = fft.rfft if half_only else fft.fft
    found = transform(pieces, axis=-1, norm="ortho" if normalized else None)
    found = ops.swapaxes(found, 1, 2)
    found = found if input.ndim == 2 else ops.squeeze(found, 0)
    return found if return_complex else ops.stack([found.real, found.imag], -1)


def _added(pieces: Any, hop: int) -> Any:
    """Return sums of pieces, each `hop` after the last: (batch, times, n) -> (batch,
    n + hop * (times - 1))."""
    if _is_complex(pieces):
        return _added(pieces.real, hop) + 1j * _added(pieces.imag, hop)
    times, n = pieces.shape[1:]
    whole = (1, int(n + hop * (times - 1)))
    columns = ops.swapaxes(pieces, 1, 2)
    return F.fold(columns, whole, (1, int(n)), stride=(1, int(hop)))[:, 0, 0]


def istft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Any:
    """Return the signal of which `stft` gives spectra: their least squares.

    Parameters
    ----------
    input : Tensor of complex numbers, shape ([batch,] frequencies, times)
    n_fft, hop_length, win_length, window, center, normalized, onesided
        As for `stft`.
    length : int, optional
        To which the signal is cut, or padded with zeros.
    return_complex : bool, default False
        Whether the signal is complex.

    Raises
    ------
    RuntimeError
        If arguments do not fit together, or the windows leave out a part; on all ranks.
    """
    hop = n_fft // 4 if hop_length is None else hop_length
    wide = n_fft if win_length is None else win_length
    given = {"n_fft": n_fft, "hop_length": hop, "win_length": wide}
    if not _is_complex(input):
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from "
            "stft with return_complex=True."
        )
    if input.numel() == 0:
        raise _refused("istft", "input tensor cannot be empty.", input, **given)
    if input.ndim not in (2, 3):
        what = f"expected a tensor with 3 or 4 dimensions, but got {input.ndim + 1}"
        raise _refused("istft", what, input, **given)
    x = input if input.ndim == 3 else ops.expand_dims(input, 0)
    count = int(x.shape[1])
    half_only = count != n_fft if onesided is None else onesided
    if count != (n_fft // 2 + 1 if half_only else n_fft):
        match = "n_fft / 2 + 1 when onesided=True" if half_only else "n_fft when"
        match += "" if half_only else " onesided=False"
        what = (
            "expected the frequency dimension (3rd to the last) of the input tensor to "
            f"match {match}, but got {count}"
        )
        raise _refused("istft", what, input, **given)
    if not 0 < hop <= wide:
        what = "expected 0 < hop_length <= win_length"
        raise _refused("istft", what, input, **given)
    if not 0 < wide <= n_fft:
        what = "expected 0 < win_length <= n_fft"
        raise _refused("istft", what, input, **given)
    if window is not None and tuple(window.shape) != (wide,):
        what = "Invalid window shape. window has to be 1D and length of `win_length`"
        raise _refused("istft", what, input, **given)
    if not return_complex and _is_complex(window):
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    if return_complex and half_only:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    spectra, norm = ops.swapaxes(x, 1, 2), "ortho" if normalized else None
    if return_complex:
        pieces = fft.ifft(spectra, axis=-1, norm=norm)
    else:
        half = spectra if half_only else spectra[..., : n_fft // 2 + 1]
        pieces = fft.irfft(half, n_fft, axis=-1, norm=norm)
    shape = _window(window, wide, n_fft, input.dtype)
    times = int(pieces.shape[1])
    weights = ops.ones_like(pieces.detach(), shape=(1, times, n_fft))
    if shape is not None:
        pieces, weights = pieces * shape, weights * shape * shape
    return _signal(
        _added(pieces, hop), _added(weights, hop), input, n_fft, center, length
    )


def _signal(
    total: Any, weight: Any, input: Any, n_fft: int, center: bool, length: int | None
) -> Any:
    """Return the part of the sums that is meant, divided by what windows add up to."""
    start = n_fft // 2 if center else 0
    end = int(total.shape[1])
    if length is not None:
        end = start + length
    elif center:
        end -= n_fft // 2
    total, weight = total[:, start:end], weight[:, start:end]
    if not bool(ops.all(ops.greater(ops.abs(weight.detach()), 1e-11))):
        what = "window overlap add min: 1"
        raise _refused("istft", what, input, n_fft=n_fft, center=center, length=length)
    found = total / weight
    short = end - start - int(found.shape[1])
    if short > 0:
        warn(
            "The length of signal is shorter than the length parameter. Result is "
            "being padded with zeros in the tail. Please check your center and "
            "hop_length settings."
        )
        found = ops.pad(found, ((0, 0), (0, short)))
    return found if input.ndim == 3 else ops.squeeze(found, 0)
