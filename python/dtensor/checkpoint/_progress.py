"""A progress bar, shown on rank 0."""

import importlib
from typing import Any

__all__ = ["Progress"]


class Progress:
    """Counts bytes; with `shown`, in a tqdm bar.

    Parameters
    ----------
    what : str
    total : int
        Bytes.
    shown : bool

    Raises
    ------
    ImportError
        If `shown` is True and tqdm is not installed.
    """

    def __init__(self, what: str, total: int, shown: bool) -> None:
        self._bar: Any = None
        if shown:
            try:
                tqdm = importlib.import_module("tqdm.auto").tqdm
            except ImportError as error:
                raise ImportError(
                    "progress=True needs the package tqdm: "
                    "pip install dtensor-mpi[tqdm]"
                ) from error
            self._bar = tqdm(
                total=total, desc=what, unit="B", unit_scale=True, unit_divisor=1024
            )

    def add(self, done: int) -> None:
        """Count some more bytes."""
        if self._bar is not None:
            self._bar.update(done)

    def close(self) -> None:
        """Close the bar, and leave it on the screen."""
        if self._bar is not None:
            self._bar.close()
