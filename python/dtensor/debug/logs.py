"""Log messages about what the library does on its own, through Python's `logging`.

``DTENSOR_LOGS``, or torch's ``TORCH_LOGS``, sets the level:

=========== ======= =================================================================
value       level   what is logged
=========== ======= =================================================================
``+dtensor``  DEBUG  every operator with its layouts, every move with its plan
``dtensor``   INFO   operands that are moved because a rule requires it; gathers for
                     functions without a rule; with the line of the program, and bytes
``-dtensor``  WARNING  only warnings
=========== ======= =================================================================
"""

import logging
import os
import sys
from collections.abc import Sequence

from dtensor import _C
from dtensor._core.caller import warn
from dtensor.debug._units import duration, size
from dtensor.debug._watch import Call, Record, unwatch, watch

__all__ = ["set_logs"]

LOGGER = logging.getLogger("dtensor")
_LEVELS = {"+": logging.DEBUG, "": logging.INFO, "-": logging.WARNING}


def rank_here() -> int:
    """Return the rank of this thread, even before there is a world."""
    world = _C.World.current()
    if world is not None:
        return world.rank
    for name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"):
        if os.environ.get(name, "").isdecimal():
            return int(os.environ[name])
    return 0


def _with_rank(record: logging.LogRecord) -> bool:
    record.rank = rank_here()
    return True


class _ToStderr(logging.Handler):
    """Writes whole lines to the current ``sys.stderr``."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(self.format(record) + "\n")
        except Exception:
            self.handleError(record)


_handler = _ToStderr()
_handler.setFormatter(
    logging.Formatter("[rank%(rank)d] %(levelname)s %(name)s: %(message)s")
)
LOGGER.addFilter(_with_rank)
_watching = False


def set_logs(dtensor: int | None = None) -> None:
    """Set the level from which the library logs what it does. Not collective.

    Records go to the logger ``dtensor``, and have the attribute `rank`. They are
    printed to stderr unless that logger already has a handler.

    Parameters
    ----------
    dtensor : int, optional
        ``logging.DEBUG``, ``INFO`` or ``WARNING``; None turns logging off.

    Examples
    --------
    >>> import logging
    >>> set_logs(dtensor=logging.INFO)
    >>> logging.getLogger("dtensor").level == logging.INFO
    True
    >>> set_logs()
    """
    global _watching
    wanted = dtensor is not None and dtensor <= logging.INFO
    LOGGER.setLevel(logging.NOTSET if dtensor is None else dtensor)
    if _handler in LOGGER.handlers:
        LOGGER.removeHandler(_handler)
    if dtensor is not None and not LOGGER.handlers:
        LOGGER.addHandler(_handler)
    LOGGER.propagate = _handler not in LOGGER.handlers
    if wanted != _watching:
        (watch if wanted else unwatch)(_tell, everywhere=True)
        _watching = wanted


def _tell(record: Record, _call: Call | None) -> None:
    plans, unplanned = _plans(record)
    sends = any(step[0] != "local" for _, _, steps in plans for step in steps)
    told = _TOLD.get(record.kind) if sends else None
    if told is None and not LOGGER.isEnabledFor(logging.DEBUG):
        return
    before, after = _names(record.sources), _names(record.targets)
    costs = [*map(_cost, plans), *["by an unknown plan"] * unplanned]
    cost = "; ".join(costs) or "nothing to move"
    if told is not None:
        LOGGER.info(told, record.name, before, after, cost, record.site)
    elif record.kind == "operator":
        LOGGER.debug("%s(%s) = %s", record.name, before, _names(record.results))
    else:
        LOGGER.debug("%s %s -> %s: %s", record.name, before, after, cost)


# Moves that the program did not request, by the kind of the record.
_TOLD = {
    "fallback": "%s has no rule: its arguments are gathered %s -> %s: %s; at %s",
    "implicit": "%s moves %s -> %s: %s; at %s",
    "operator": "%s moves its operands %s -> %s: %s; at %s",
}


def _names(layouts: Sequence[_C.Layout | str]) -> str:
    return ", ".join(map(str, layouts))


_Step = tuple[str, tuple[int, ...], str, str, int, int, int, int, str, str]
_Plan = tuple[float, int, list[_Step]]


def _plans(record: Record) -> tuple[list[_Plan], int]:
    """Return the plans of the moves, and how many have layouts unknown to Python."""
    pairs = zip(record.sources, record.targets, strict=True)
    plans, unplanned = [], 0
    for old, new in pairs:
        if isinstance(old, _C.Layout) and isinstance(new, _C.Layout):
            plans += [_C._explain(old, new)] if old != new else []
        else:
            unplanned += 1
    return plans, unplanned


def _cost(plan: _Plan) -> str:
    """Return a plan's steps, the bytes that this rank sends, and the time."""
    seconds, _, steps = plan
    names = ", ".join(step[0] for step in steps) or "nothing"
    sent = size(sum(step[4] for step in steps))
    return f"{names} of {sent}, predicted {duration(seconds)}"


def _read(text: str, strict: str = "") -> int | None:
    """Return the level that the variable's value names; of several, the last one."""
    level = None
    for word in filter(None, (part.strip() for part in text.split(","))):
        sign = word[0] if word[0] in "+-" else ""
        if word[len(sign) :] in ("dtensor", "all"):
            level = _LEVELS[sign]
        elif strict:
            warn(
                f'{strict}={text[:80]!r}: {word[:40]!r} is none of "+dtensor", '
                '"dtensor" and "-dtensor"'
            )
    return level


def _begin() -> None:
    """Set the level from the environment: DTENSOR_LOGS, else TORCH_LOGS."""
    level = _read(os.environ.get("DTENSOR_LOGS", ""), "DTENSOR_LOGS")
    if level is None:
        level = _read(os.environ.get("TORCH_LOGS", ""))
    if level is not None:
        set_logs(level)


_begin()
