"""What ranks of all kinds have in common: cells, and what comes of them."""

import abc
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Ranks", "Said", "is_given_up"]


@dataclass
class Said:
    """What one rank has said in a cell.

    Attributes
    ----------
    rank : int
    out, err : str
        What it has printed.
    shown : list of dict
        What it has displayed, the value of the last line too: texts by MIME type.
    error : BaseException or None
        What it has raised.
    given_up : bool
        Whether it raised only because the cell had failed on another rank.
    is_live : bool
        Whether what it writes to `err`, such as bars of progress, is seen at once.
    """

    rank: int
    out: str = ""
    err: str = ""
    shown: list[dict[str, Any]] = field(default_factory=list)
    error: BaseException | None = None
    given_up: bool = False
    is_live: bool = False


def is_given_up(error: BaseException) -> bool:
    """Return whether a rank raised only because another one is in `resync`."""
    return "was given up: " in str(error)


class Ranks(abc.ABC):
    """Ranks that run cells: `dtensor.notebook.start` makes them.

    ``ranks["x"]`` is what each rank has under a name, in order; ``len(ranks)`` how many
    ranks there are. It is a context manager, which stops them at its end.
    """

    are_processes = False

    def __init__(self, n: int) -> None:
        self.n = n
        self.stopped = False

    def __len__(self) -> int:
        return self.n

    @abc.abstractmethod
    def run(self, code: str, on: Iterable[int] | None = None) -> list[Said]:
        """Run code on ranks.

        After a cell that failed on some rank all ranks are brought back in step, as by
        `dtensor.resync`: a rank that waits for one that has failed raises within a
        second. So are ranks that are threads after a cell that some end a second before
        others, which may wait for them: a move that a cell begins with
        ``async_op=True`` should be waited for in that cell. Ctrl-C raises
        KeyboardInterrupt on all ranks, and here.

        Parameters
        ----------
        code : str
            Python. The value of its last line is displayed, as in a cell.
        on : iterable of int, optional
            The ranks; default: all.

        Returns
        -------
        list of Said
            By rank: what it has printed, displayed and raised. Nothing of this is
            printed or raised here: `show` does so.
        """

    @abc.abstractmethod
    def __getitem__(self, name: str) -> list[Any]: ...

    @abc.abstractmethod
    def push(self, **values: Any) -> None:
        """Give all ranks variables.

        Parameters
        ----------
        **values
            By name. Ranks that are threads share the objects; engines get copies.
        """

    @abc.abstractmethod
    def stop(self) -> None:
        """End the ranks: their variables are gone. Nothing if they have ended."""

    def chosen(self, on: Iterable[int] | None) -> Sequence[int]:
        """Return ranks, sorted; an exception if one is not there, or all have ended."""
        if self.stopped:
            raise RuntimeError("these ranks have ended: start new ones")
        ranks = range(self.n) if on is None else sorted({*on})
        wrong = [rank for rank in ranks if rank not in range(self.n)]
        if wrong:
            raise ValueError(f"there are ranks 0 to {self.n - 1}, but none {wrong[0]}")
        return ranks

    def __enter__(self) -> "Ranks":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
