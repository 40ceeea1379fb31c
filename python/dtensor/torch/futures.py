"""``torch.futures``: values that are set later, by this rank; nothing is sent."""

import sys
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")
S = TypeVar("S")

__all__ = ["Future", "collect_all", "wait_all"]


class Future(Generic[T]):
    """A value that a thread of this process sets later.

    Parameters
    ----------
    devices : list, optional
        Ignored: there is one device.
    """

    def __init__(self, *, devices: Any = None) -> None:
        self._ready = threading.Condition()
        self._done = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[], None]] = []

    def done(self) -> bool:
        """Return whether there is a value, or an exception."""
        return self._done

    def wait(self) -> T:
        """Wait for the value and return it, or raise the exception. Not collective."""
        with self._ready:
            self._ready.wait_for(self.done)
        return self.value()

    def value(self) -> T:
        """Return the value, or raise the exception, without waiting.

        Raises
        ------
        RuntimeError
            If there is neither so far.
        """
        if not self._done:
            raise RuntimeError("the Future is not completed: call wait() first")
        if self._error is not None:
            raise self._error
        return cast(T, self._value)

    def set_result(self, result: Any) -> None:
        """Set the value.

        Raises
        ------
        RuntimeError
            If it is set already.
        """
        self._end(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Set an exception, which `wait` and `value` raise."""
        if not isinstance(result, Exception):
            raise AssertionError(
                f"{result} is of type {type(result)}, not an Exception."
            )
        self._end(None, result)

    def _end(self, value: Any, error: BaseException | None) -> None:
        with self._ready:
            if self._done:
                raise RuntimeError(
                    "Attempting to mark a completed Future as complete again. Note "
                    "that a Future can only be marked completed once."
                )
            self._value, self._error, self._done = value, error, True
            called, self._callbacks = self._callbacks, []
            self._ready.notify_all()
        for callback in called:
            callback()

    def _at_end(self, callback: Callable[[], None]) -> None:
        with self._ready:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback()

    def add_done_callback(self, callback: Callable[["Future[T]"], None]) -> None:
        """Call ``callback(future)`` when it is done, or at once if it is.

        What the callback raises is printed, and not raised.
        """

        def call() -> None:
            try:
                callback(self)
            except Exception as error:
                print(
                    f"Got the following error when running the callback: {error!r}",
                    file=sys.stderr,
                )

        self._at_end(call)

    def then(self, callback: Callable[["Future[T]"], S]) -> "Future[S]":
        """Return a future of ``callback(future)``, which is called when it is done."""
        after: Future[S] = Future()

        def call() -> None:
            try:
                after.set_result(callback(self))
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
                after.set_exception(
                    RuntimeError(
                        f"Got the following error when running the callback: {said}"
                    )
                )

        self._at_end(call)
        return after


def collect_all(futures: list[Future[Any]]) -> Future[list[Future[Any]]]:
    """Return a future of the list, which is done when all of them are.

    It raises the first exception among them, in their order.
    """
    whole: Future[list[Future[Any]]] = Future()
    left, lock = [len(futures)], threading.Lock()

    def one() -> None:
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            finish()

    def finish() -> None:
        errors = [f._error for f in futures if f._error is not None]
        if errors:
            whole._end(None, errors[0])
        else:
            whole.set_result(list(futures))

    if not futures:
        finish()
    for future in futures:
        future._at_end(one)
    return whole


def wait_all(futures: list[Future[Any]]) -> list[Any]:
    """Wait for all of them and return their values, or raise the first exception."""
    return [future.wait() for future in collect_all(futures).wait()]
