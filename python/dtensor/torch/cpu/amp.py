"""The older names of ``torch.amp``: those of one kind of device."""

from typing import Any

from dtensor.amp import GradScaler as GradScaler, autocast as _autocast

__all__ = ["GradScaler", "autocast"]


class autocast(_autocast):
    """`dtensor.amp.autocast`, by default in bfloat16."""

    def __init__(
        self, enabled: bool = True, dtype: Any = None, cache_enabled: bool = True
    ) -> None:
        super().__init__("cpu", dtype, enabled, cache_enabled)
