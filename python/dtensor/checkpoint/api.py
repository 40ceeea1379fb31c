"""The exception for a save or load that failed on some rank."""

import builtins
import json
from typing import Any

__all__ = ["CheckpointException"]

TOLD = 3  # failures that a message lists, at most


class CheckpointException(RuntimeError):
    """A save or load failed on some rank; raised on all of them.

    If all failures are of one class, and this is ValueError, TypeError,
    NotImplementedError or a kind of OSError, the exception is also of this class. So
    ``except FileNotFoundError`` catches a missing checkpoint.

    Parameters
    ----------
    msg : str
        The call.
    failures : dict of int to BaseException
        The failures by rank. Those of other ranks are recreated from class and message.

    Notes
    -----
    PyTorch's is a BaseException, which ``except Exception`` does not catch.
    """

    def __new__(cls, msg: str, failures: dict[int, BaseException]) -> Any:
        kinds = {type(error) for error in failures.values()}
        kind: type[BaseException] = kinds.pop() if len(kinds) == 1 else RuntimeError
        maker = OSError if issubclass(kind, OSError) else RuntimeError
        return maker.__new__(_also(kind) if cls is CheckpointException else cls)

    def __init__(self, msg: str, failures: dict[int, BaseException]) -> None:
        super().__init__(_sentence(msg, failures))
        self._failures = failures

    @property
    def failures(self) -> dict[int, BaseException]:
        """The failures, by rank."""
        return self._failures


def _also(kind: type[BaseException]) -> type[BaseException]:
    """Return the class that derives from CheckpointException and from `kind`."""
    own = getattr(builtins, kind.__name__, None) is kind
    if not own or kind not in _PLAIN and not issubclass(kind, OSError):
        return CheckpointException
    if kind not in _KINDS:
        _KINDS[kind] = type("CheckpointException", (CheckpointException, kind), {})
    return _KINDS[kind]


_PLAIN = (NotImplementedError, TypeError, ValueError)  # each takes just a text
_KINDS: dict[type[BaseException], type[BaseException]] = {}


def _sentence(msg: str, failures: dict[int, BaseException]) -> str:
    ranks: dict[str, list[int]] = {}
    for rank, error in sorted(failures.items()):
        ranks.setdefault(f"{type(error).__name__}: {error}", []).append(rank)
    told = [
        f"on rank{'s' if len(where) > 1 else ''} {', '.join(map(str, where))}: {text}"
        for text, where in list(ranks.items())[:TOLD]
    ]
    more = [f"and {len(ranks) - TOLD} others"] if len(ranks) > TOLD else []
    return f"{msg}: " + "; ".join(told + more)


def described(error: BaseException) -> bytes:
    """Return an exception as bytes, for other ranks."""
    return json.dumps([type(error).__name__, str(error)]).encode()


def remade(description: bytes) -> BaseException:
    """Return the exception of another rank, or the closest possible one."""
    name, text = json.loads(description)
    kind = getattr(builtins, name, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        try:
            return kind(text)
        except TypeError:  # its class needs more than a text
            pass
    return RuntimeError(f"{name}: {text}")
