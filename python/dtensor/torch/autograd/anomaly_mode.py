"""``torch.autograd.anomaly_mode``: backward looks for no anomalies, in one thread."""

from typing import Any

__all__ = ["detect_anomaly", "set_detect_anomaly", "set_multithreading_enabled"]


class set_detect_anomaly:  # noqa: N801
    """Accept the setting, also for a block: it has no effect."""

    def __init__(self, mode: bool = True, check_nan: bool = True) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, *exception: Any) -> None:
        """Do nothing."""


class detect_anomaly(set_detect_anomaly):  # noqa: N801
    """Accept the setting for a block: it has no effect."""

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__(True, check_nan)


class set_multithreading_enabled(set_detect_anomaly):  # noqa: N801
    """Accept the setting, also for a block: backward runs in the thread that calls."""

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)
