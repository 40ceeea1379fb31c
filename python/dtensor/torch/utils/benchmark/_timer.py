"""Timers: a statement is run in a loop, as `timeit` does."""

import enum
import time
import timeit
from collections.abc import Callable
from typing import Any

from dtensor.torch import _settings
from dtensor.torch.utils.benchmark._measurement import Measurement, TaskSpec

__all__ = ["Language", "Timer", "set_torch_threads", "timer"]

timer = time.perf_counter


class Language(enum.Enum):
    """What a statement is written in; only Python can be run."""

    PYTHON = 0
    CPP = 1


class set_torch_threads:  # noqa: N801
    """Set the number of threads for a block; see ``torch.set_num_threads``."""

    def __init__(self, n: int) -> None:
        self._wanted = n

    def __enter__(self) -> None:
        self._before = _settings.get_num_threads()
        _settings.set_num_threads(self._wanted)

    def __exit__(self, *error: object) -> None:
        _settings.set_num_threads(self._before)


class Timer:
    """A statement whose time is measured, on this rank.

    If it is collective, every rank must run it equally often: call `timeit`. The other
    methods choose how often by the clock of each rank.

    Parameters
    ----------
    stmt : str, default "pass"
        The statement, of several lines perhaps.
    setup : str, default "pass"
        What runs before it, once for each measurement.
    global_setup : str, default ""
        Accepted if empty: of C++.
    timer : callable, default `time.perf_counter`
        Returns the time in seconds.
    globals : dict, optional
        The names that the statement uses.
    label, sub_label, description, env : str, optional
        See `TaskSpec`.
    num_threads : int, default 1
        How many threads kernels have meanwhile.
    language : Language or str, default Language.PYTHON
        No other is run.

    Raises
    ------
    ValueError
        For another name of a language.
    NotImplementedError
        For C++.

    Examples
    --------
    >>> import dtensor.torch as torch
    >>> from dtensor.torch.utils.benchmark import Timer
    >>> found = Timer("x.sum()", globals={"x": torch.ones(4)}).timeit(10)
    >>> found.number_per_run, len(found.times)
    (10, 1)
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if language in (Language.CPP, "cpp", "c++"):
            raise NotImplementedError(
                "Timer(language='c++'): only Python statements are timed"
            )
        if language not in (Language.PYTHON, "py", "python"):
            raise ValueError(f"Invalid language `{language}`.")
        if global_setup:
            raise ValueError("global_setup is only of C++")
        stmt, setup = _even(stmt), _even(setup)
        names = (label, sub_label, description, env)
        self._task_spec = TaskSpec(stmt, setup, global_setup, *names, num_threads)
        self._clock = timer
        self._timer = timeit.Timer(stmt, setup, timer, dict(globals or {}))

    def _seconds(self, number: int) -> float:
        with set_torch_threads(self._task_spec.num_threads):
            return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number: int = 1000000) -> Measurement:
        """Return one measurement of so many runs, after a few that do not count.

        Collective if the statement is.
        """
        self._seconds(max(number // 100, 2))
        return Measurement(number, [self._seconds(number)], self._task_spec)

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """Raise NotImplementedError, as PyTorch does: call `timeit`."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Any = None) -> None:
        """Raise NotImplementedError, as PyTorch does: call `blocked_autorange`."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _block(self, least: float) -> int:
        """Return how often the statement runs in a block, whose clock costs little."""
        clock = min(self._seconds_of_clock() for _ in range(5))
        number = 1
        while True:
            seconds = self._seconds(number)
            if clock / seconds <= 1e-4 and seconds >= least / 1000:
                return number
            if seconds > least:
                return number
            number *= 10

    def _seconds_of_clock(self) -> float:
        return max(timeit.Timer("pass", timer=self._clock).timeit(1), 0.0)

    def blocked_autorange(
        self,
        callback: Callable[[int, float], Any] | None = None,
        min_run_time: float = 0.2,
    ) -> Measurement:
        """Return measurements of blocks of runs, for at least so many seconds.

        Not for collective statements: each rank looks at its own clock.

        Parameters
        ----------
        callback : callable, optional
            ``callback(number, seconds)`` is called after each block.
        min_run_time : float, default 0.2
        """
        number = self._block(min_run_time)
        times: list[float] = []
        while not times or sum(times) < min_run_time:
            times.append(self._seconds(number))
            if callback is not None:
                callback(number, times[-1])
        return Measurement(number, times, self._task_spec)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """Return measurements of blocks of runs, until they vary by less than a part.

        Not for collective statements: each rank looks at its own clock.

        Parameters
        ----------
        threshold : float, default 0.1
            What `Measurement.meets_confidence` asks for.
        min_run_time, max_run_time : float
            For how many seconds they run at least, and at most.
        callback : callable, optional
            ``callback(number, seconds)`` is called after each block.
        """
        number = self._block(0.05)
        times: list[float] = []
        while True:
            times.append(self._seconds(number))
            if callback is not None:
                callback(number, times[-1])
            found = Measurement(number, times, self._task_spec)
            total = sum(times)
            steady = len(times) > 3 and found.meets_confidence(threshold)
            if total >= max_run_time or (total >= min_run_time and steady):
                return found

    def collect_callgrind(self, *args: Any, **options: Any) -> None:
        """Raise NotImplementedError: instructions are not counted."""
        raise NotImplementedError(
            "collect_callgrind: instructions are not counted; "
            "run the script under valgrind --tool=callgrind"
        )


def _even(text: str) -> str:
    """Return lines without the indentation that they have in common."""
    lines = text.rstrip().splitlines() or ["pass"]
    while len(lines) > 1 and not lines[0].strip():
        lines.pop(0)
    used = [line for line in lines if line.strip()]
    depth = min((len(line) - len(line.lstrip()) for line in used), default=0)
    return "\n".join(line[depth:] for line in lines)
