"""Worlds: what ranks tell each other, and how one rank's error becomes everybody's."""

import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from dtensor import _C, MPIError, testing
from dtensor._core import world as _world
from dtensor.testing import run_ranks


def caught(call, *args):
    """The exception of a call."""
    with pytest.raises(BaseException) as info:
        call(*args)
    return info.value


def mesh_of(*ranks):
    return _C.Mesh((len(ranks),), ranks, None, _world.current().number)


# --- under any number of ranks --------------------------------------------------------


def test_share_gives_everybody_the_bytes_of_all_in_the_order_of_ranks(ranks):
    def body():
        world = _world.current()
        for size in (0, 1, 1000):
            mine = bytes([world.rank]) * (size * world.rank)
            everybody = [bytes([r]) * (size * r) for r in range(world.size)]
            assert world.share(mine) == everybody
            assert world.share(memoryview(bytearray(mine))) == everybody

    ranks(body)


def test_share_over_a_mesh_is_in_its_order_and_leaves_the_other_ranks_out(ranks):
    def body():
        world = _world.current()
        chosen = [*range(0, world.size, 2)][::-1]
        got = world.share(b"%d" % world.rank, mesh_of(*chosen))
        inside = world.rank in chosen
        assert got == ([b"%d" % r for r in chosen] if inside else [])

    ranks(body)


def test_different_tokens_are_shown_to_all(ranks):
    def body():
        world = _world.current()
        world.agree(b"same", "a call")
        if world.size == 1:
            return
        wrong = world.rank == world.size - 1
        error = caught(world.agree, b"%d" % wrong, f"call({wrong})")
        assert type(error) is RuntimeError
        assert "call(True)" in str(error) and "call(False)" in str(error)
        world.agree(b"same", "a call")

    ranks(body)


class Special(ValueError):
    """A class that the other ranks do not know."""


@pytest.mark.parametrize(
    "make, others, text",
    [
        (lambda: ValueError("a"), ValueError, "a"),
        (lambda: TypeError("a"), TypeError, "a"),
        (lambda: IndexError("a"), IndexError, "a"),
        (lambda: KeyError("a"), KeyError, "a"),
        (lambda: RuntimeError("a"), RuntimeError, "a"),
        (lambda: AssertionError("a"), AssertionError, "a"),
        (lambda: NotImplementedError("a"), NotImplementedError, "a"),
        (lambda: MemoryError(), MemoryError, "MemoryError"),
        (lambda: SystemError("a"), SystemError, "a"),
        (lambda: Special("a"), ValueError, "a"),
        (lambda: OSError(28, "full"), OSError, "[Errno 28] full"),
        (lambda: LookupError("a"), RuntimeError, "LookupError: a"),
        (lambda: KeyboardInterrupt(), RuntimeError, "KeyboardInterrupt"),
        (lambda: ValueError("ä" * 5000), ValueError, "ä"),
    ],
)
def test_the_error_of_one_rank_is_raised_by_all(ranks, make, others, text):
    def body():
        world = _world.current()
        fails = world.size - 1
        own = make() if world.rank == fails else None
        error = caught(world.agree, b"", "a call", own)
        if own is not None:
            assert error is own
        else:
            assert type(error) is others
            assert f"rank {fails}: {text}" in str(error)
        world.agree(b"", "a call")

    ranks(body)


def test_after_an_error_of_mpi_nothing_is_certain():
    def body():
        world = _world.current()
        own = MPIError("broken pipe") if world.rank == 1 else None
        for _ in range(2):
            with pytest.raises(RuntimeError, match="broken pipe"):
                world.agree(b"", "a call", own)

    run_ranks(2, body)


def test_of_several_errors_the_lowest_rank_is_heard():
    def body():
        world = _world.current()
        own = [None, ValueError("one"), TypeError("two")][world.rank]
        return own, caught(world.agree, b"", "a call", own)

    (_, first), (one, second), (two, third) = run_ranks(3, body)
    assert second is one
    for error in (first, third):
        assert type(error) is ValueError and str(error) == "rank 1: one"
    assert third.__context__ is two


def test_a_rank_without_memory_tells_the_others(ranks):
    def body():
        world = _world.current()
        _C._fault_at("array", world.rank == 0)
        try:
            made, error = mesh_of(0).ranks, None
        except MemoryError as failure:
            made, error = None, failure
        assert (made is None) is (error is not None) is (world.rank == 0)
        assert isinstance(caught(world.agree, b"", "a call", error), MemoryError)

    ranks(body)


def test_counters_name_every_kind_of_communication(ranks):
    def body():
        counters = _world.current().counters()
        assert {"all_gather", "all_reduce", "reduce_scatter", "exchange"} <= {*counters}
        assert all(len(row) == 3 for row in counters.values())

    ranks(body)


def test_a_world_describes_itself(ranks):
    def body():
        world = _world.current()
        assert 0 <= world.rank < world.size
        assert re.fullmatch(r"World\(rank=\d+, size=\d+\)", repr(world))
        assert world.check and world.timeout > 0 and not world.closed
        assert isinstance(world.shared_memory, bool)
        assert _C.World.mpi_version() == _C.mpi_library_version() != ""
        for wrong in (0, -1, float("nan")):
            with pytest.raises(ValueError, match="positive"):
                world.timeout = wrong
        for wrong in (7, "x" * 64):
            with pytest.raises(ValueError, match="limit must be a str of at most 63"):
                world.limit = wrong

    ranks(body)


def test_meshes_that_are_not_of_this_world_are_refused(ranks):
    def body():
        world = _world.current()
        n = world.size
        wrong = {
            _C.Mesh((1,)): "abstract",
            _C.Mesh((1,), None, None, 77): "another world",
            _C.Mesh((n + 1,), None, None, world.number): f"than default world size {n}",
            _C.Mesh((1,), [n], None, world.number): f"rank {n} does not exist",
        }
        for mesh, words in wrong.items():
            assert re.search(words, str(caught(world.share, b"", mesh)))
        with pytest.raises(TypeError, match="mesh"):
            world.share(b"", 3)
        with pytest.raises(TypeError, match="exception"):
            world.agree(b"", "", 3)

    ranks(body)


# --- one process ----------------------------------------------------------------------


def test_a_world_of_threads_is_used_by_who_activates_it():
    first, second = _C.World.threads(2)
    with pytest.raises(RuntimeError, match="activate"):
        first.share(b"")
    other = threading.Thread(target=second.activate)
    other.start()
    first.activate()
    other.join()
    try:
        assert _C.World.current() is first
        assert first.number == second.number == 1
    finally:
        first.close()
        second.close()
    assert first.closed and _C.World.current() is not first
    first.close()
    for call in (first.activate, first.counters, lambda: first.share(b"")):
        with pytest.raises(RuntimeError, match="closed"):
            call()


def pair():
    """Both ends of a world; the second one's thread has met the first and is gone."""
    ends = _C.World.threads(2)
    other = threading.Thread(target=ends[1].activate)
    other.start()
    ends[0].activate()
    other.join()
    return ends


def test_a_thread_that_comes_while_another_waits_gets_an_error():
    waiting, absent = pair()
    waiting.timeout = 1
    assert waiting.limit == "DTENSOR_TIMEOUT"
    waiting.limit = "patience= of this test"
    errors = []
    thread = threading.Thread(target=lambda: errors.append(caught(waiting.share, b"")))
    thread.start()
    time.sleep(0.3)
    with pytest.raises(RuntimeError, match="rank 0 is in the middle of another call"):
        waiting.share(b"")
    with pytest.raises(RuntimeError, match="another call"):
        waiting.close()
    thread.join()
    assert "rank 1 did not come" in str(errors[0])
    assert "; a larger patience= of this test waits longer" in str(errors[0])
    waiting.close()
    absent.close()


def test_abort_ends_the_waiting_of_all_ranks():
    waiting, failing = pair()
    threading.Timer(0.2, failing.abort, ["rank 1 has had enough"]).start()
    for world in (waiting, failing, waiting):
        with pytest.raises(RuntimeError, match="rank 1 has had enough"):
            world.share(b"")
    waiting.close()
    failing.close()


def test_a_signal_handler_ends_a_wait_with_its_exception():
    waiting, absent = pair()

    def handler(number, frame):
        with pytest.raises(RuntimeError, match="another call"):
            waiting.share(b"")
        raise ZeroDivisionError("from the handler")

    old = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        start = time.monotonic()
        with pytest.raises(ZeroDivisionError, match="from the handler"):
            waiting.share(b"")
        assert time.monotonic() - start < 5
    finally:
        signal.signal(signal.SIGALRM, old)
        waiting.close()
        absent.close()


def test_a_world_cannot_be_closed_while_its_rank_waits_for_the_others_to_begin():
    first, second = _C.World.threads(2)
    errors = []
    thread = threading.Thread(target=lambda: errors.append(caught(first.activate)))
    thread.start()
    time.sleep(0.3)
    for call in (first.close, first.activate):
        with pytest.raises(RuntimeError, match="rank 0 is in the middle of another"):
            call()
    second.abort("rank 1 does not come")
    thread.join()
    assert "rank 1 does not come" in str(errors[0])
    first.close()
    second.close()


@pytest.fixture
def interrupt():
    """Has SIGALRM come in so many seconds, as Ctrl-C comes."""

    def handler(number, frame):
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, handler)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, old)


@pytest.mark.parametrize("seconds", [0.001, 0.01, 0.3])
def test_an_interrupt_ends_ranks_that_are_threads(interrupt, seconds):
    def body():
        while True:
            _world.current().share(b"x")

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        interrupt(seconds)
        run_ranks(4, body)
    assert threading.active_count() == before


def test_an_interrupt_leaves_a_rank_that_computes_its_world(interrupt, monkeypatch):
    monkeypatch.setattr(testing, "_END_SECONDS", 0.1)
    errors, computed = [], threading.Event()

    def body():
        if _world.current().rank == 1:
            computed.wait()
        errors.append(caught(_world.current().share, b"x"))

    with pytest.raises(KeyboardInterrupt):
        interrupt(0.3)
        run_ranks(2, body)
    assert len(errors) == 1
    computed.set()
    while len(errors) < 2:
        time.sleep(0.01)
    assert "KeyboardInterrupt" in str(errors[0]) and "Keyboard" in str(errors[1])


def test_threads_needs_a_rank_at_least():
    for n in (0, -1):
        with pytest.raises(ValueError, match=f"not {n}"):
            _C.World.threads(n)
    with pytest.raises(TypeError):
        _C.World()


def test_the_count_limit_is_what_was_set():
    limit = _C._get_count_limit()
    try:
        _C._set_count_limit(5)
        assert _C._get_count_limit() == 5
    finally:
        _C._set_count_limit(limit)
    for wrong in (0, 2**31):
        with pytest.raises(ValueError, match=str(wrong)):
            _C._set_count_limit(wrong)


def test_bfloat16_without_ml_dtypes_says_what_to_install():
    code = """
import sys
sys.modules["ml_dtypes"] = None
from dtensor import DeviceMesh, Layout
try:
    Layout(DeviceMesh.abstract((1,)), None, 3, "bfloat16")
except ImportError as error:
    print(error)
"""
    out = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert "pip install dtensor-mpi[ml_dtypes]" in out


@pytest.mark.mpi
def test_a_world_of_mpi_hears_nothing_of_one_that_was_closed(world):
    """MPI would give what is under way in a world to the next one."""

    def opened():
        made = _C.World.mpi(_world.MPI.COMM_WORLD.py2f())
        made.activate()
        return made

    def call(made, k):
        made.agree(b"", f"call {k}")

    try:
        for turn in range(8):
            old = opened()
            call(old, 0)
            old.timeout = 0.1
            if world.rank == turn % world.size and world.size > 1:
                with pytest.raises(RuntimeError, match="given up|ended"):
                    call(old, 1)  # alone
            old.close()
            new = opened()
            new.timeout = 5.0
            for k in range(20):
                call(new, k)
            new.close()
    finally:
        world.activate()
