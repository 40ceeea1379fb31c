"""The context in which operators compute in a narrower dtype than they are given."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from dtensor import _C
from dtensor._core.dtype import dtype_of
from dtensor._core.nested import mapped
from dtensor.ops._make.autocast import state
from dtensor.ops._make.copies import astype
from dtensor.ops._make.halves import is_half

__all__ = [
    "autocast",
    "custom_bwd",
    "custom_fwd",
    "get_autocast_dtype",
    "is_autocast_available",
    "is_autocast_enabled",
]

F = TypeVar("F", bound=Callable[..., Any])


class autocast:
    """Compute products in a 16-bit dtype and losses in float32. A context, a decorator.

    Within it ``@``, linear, einsum, attention and convolutions round their operands of
    float32 to `dtype`, add up in float32 and round the result once; losses, norms of
    `linalg`, ``prod`` and ``trace`` compute in float32. Everything else computes in the
    dtypes that it gets. Parameters stay as they are, and so do their gradients.

    Local to this thread. Not collective, but all ranks must use it alike. Backward
    belongs outside of it.

    Parameters
    ----------
    device_type : str
        ``"cpu"``, or what the script calls its device: there is one.
    dtype : dtype_like, optional
        bfloat16 (needs ml_dtypes) or float16. Default: float16 for ``"cuda"``, else
        bfloat16, as in torch.
    enabled : bool, default True
        False: everything computes in the dtypes that it gets, again.
    cache_enabled : bool, default True
        Whether a parameter that is used several times is rounded once.

    Raises
    ------
    RuntimeError
        For another dtype.

    Examples
    --------
    >>> import dtensor
    >>> from dtensor.amp import autocast
    >>> x = dtensor.tensor([[0.1, 0.2]], "float32")
    >>> with autocast("cpu", dtype="float16"):
    ...     y = x @ x.T
    >>> y.dtype
    dtype('float16')
    """

    def __init__(
        self,
        device_type: str,
        dtype: npt.DTypeLike | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(
                f"Expected `device_type` of type `str`, got: `{type(device_type)}`"
            )
        self.device = device_type
        usual = get_autocast_dtype(device_type) if dtype is None and enabled else None
        self.fast_dtype = usual if dtype is None else dtype_of(dtype)
        if enabled and not is_half(self.fast_dtype):
            raise RuntimeError(
                "autocast computes in bfloat16 or float16, not in "
                f"{self.fast_dtype}; enabled=False computes in what it gets"
            )
        self._enabled = bool(enabled)
        self._cache_enabled = cache_enabled is not False
        self._before: list[tuple[bool, Any, bool]] = []

    def __enter__(self) -> "autocast":
        casts = _C.set_autocast(self._enabled)
        self._before.append((casts, state.dtype, state.caches))
        if self._enabled:
            state.dtype = self.fast_dtype
        state.caches = self._cache_enabled
        state.depth += 1
        return self

    def __exit__(self, *error: object) -> None:
        casts, state.dtype, state.caches = self._before.pop()
        _C.set_autocast(casts)
        state.depth -= 1
        if state.depth == 0:
            state.kept.clear()

    def __call__(self, function: F) -> F:
        """Return a function that runs within the context."""

        @functools.wraps(function)
        def within(*args: Any, **kwargs: Any) -> Any:
            with _like(self):  # one for each call: threads may call at once
                return function(*args, **kwargs)

        return cast(F, within)


def _like(context: autocast) -> autocast:
    return autocast(
        context.device,
        context.fast_dtype,
        context._enabled,
        context._cache_enabled,
    )


def present() -> autocast:
    """Return a context like the one that this thread is in now."""
    return autocast("cpu", state.dtype, _C.is_autocast(), state.caches)


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Return whether this thread is within an `autocast` that is enabled."""
    return _C.is_autocast()


def get_autocast_dtype(device_type: str = "cpu") -> np.dtype[Any]:
    """Return the dtype of `autocast` now, or what it would be by default."""
    if _C.is_autocast() and state.dtype is not None:
        return state.dtype
    return dtype_of("float16" if device_type == "cuda" else "bfloat16")


def is_autocast_available(device_type: str) -> bool:
    """Return True: every device is this machine's processor."""
    return True


# --- for autograd.Function ------------------------------------------------------------


def custom_fwd(
    fwd: Any = None, *, device_type: str = "cpu", cast_inputs: Any = None
) -> Any:
    """Decorate ``forward`` of an `autograd.Function` that autocast is to respect.

    Parameters
    ----------
    fwd : callable, optional
        Without it, a decorator is returned.
    device_type : str
        Ignored: there is one.
    cast_inputs : dtype_like, optional
        Within autocast floating-point tensors come in this dtype, and ``forward`` runs
        without autocast.
    """
    if fwd is None:
        return functools.partial(
            custom_fwd, device_type=device_type, cast_inputs=cast_inputs
        )

    @functools.wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        casts = cast_inputs is not None and _C.is_autocast()
        ctx._autocast = autocast("cpu", enabled=False) if casts else present()
        if not casts:
            return fwd(ctx, *args, **kwargs)
        to = dtype_of(cast_inputs)

        def change(x: Any) -> Any:
            floats = x.dtype == np.float32 or is_half(x.dtype)
            return astype(x, to) if floats and x.dtype != to else x

        args, kwargs = mapped((args, kwargs), _C.Tensor, change)
        with ctx._autocast:
            return fwd(ctx, *args, **kwargs)

    return forward


def custom_bwd(bwd: Any = None, *, device_type: str = "cpu") -> Any:
    """Decorate ``backward`` of such a function: it runs as ``forward`` did."""
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with _like(ctx._autocast):
            return bwd(ctx, *args, **kwargs)

    return backward
