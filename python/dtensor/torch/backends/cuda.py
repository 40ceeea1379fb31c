"""``torch.backends.cuda``: settings that are kept, and have no effect."""

import contextlib
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

__all__ = [
    "cudnn_sdp_enabled",
    "enable_cudnn_sdp",
    "enable_flash_sdp",
    "enable_math_sdp",
    "enable_mem_efficient_sdp",
    "flash_sdp_enabled",
    "is_built",
    "math_sdp_enabled",
    "matmul",
    "mem_efficient_sdp_enabled",
    "preferred_linalg_library",
    "sdp_kernel",
]

matmul = SimpleNamespace(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
    allow_fp16_accumulation=False,
    fp32_precision="none",
)
_allowed = dict.fromkeys(("flash", "mem_efficient", "math", "cudnn"), True)


def is_built() -> bool:
    """Return False: there is no CUDA."""
    return False


def _questions(name: str) -> tuple[Callable[[], bool], Callable[[bool], None]]:
    def asked() -> bool:
        return _allowed[name]

    def put(enabled: bool) -> None:
        _allowed[name] = bool(enabled)

    asked.__doc__ = f"Return whether PyTorch's kernel {name!r} is allowed: no effect."
    put.__doc__ = f"Allow or forbid PyTorch's kernel {name!r}: no effect."
    return asked, put


flash_sdp_enabled, enable_flash_sdp = _questions("flash")
mem_efficient_sdp_enabled, enable_mem_efficient_sdp = _questions("mem_efficient")
math_sdp_enabled, enable_math_sdp = _questions("math")
cudnn_sdp_enabled, enable_cudnn_sdp = _questions("cudnn")


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[dict[str, Any]]:
    """Allow kernels of attention for a block: no effect. Not collective."""
    before = dict(_allowed)
    _allowed.update(
        flash=enable_flash,
        math=enable_math,
        mem_efficient=enable_mem_efficient,
        cudnn=enable_cudnn,
    )
    try:
        yield {}
    finally:
        _allowed.update(before)


def preferred_linalg_library(backend: Any = None) -> str:
    """Return "default": there is one library, that of NumPy."""
    return "default"
