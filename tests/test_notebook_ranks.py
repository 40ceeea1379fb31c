"""Ranks that are threads, and run the cells of a notebook."""

import os
import signal
import sys
import threading
import time
import traceback

import numpy as np
import pytest

from dtensor import notebook
from dtensor.notebook import _shown

BEGIN = """
import time
import numpy as np
from dtensor import Shard, distribute_tensor, init_device_mesh
mesh = init_device_mesh("cpu", (3,))
rank = mesh.get_rank()
x = distribute_tensor(np.arange(6.0), mesh, [Shard(0)])
"""


@pytest.fixture(scope="module")
def three():
    with notebook.start(3) as ranks:
        run(ranks, BEGIN)
        yield ranks


def run(ranks, code, on=None):
    """What is shown of a cell."""
    shown = []
    _shown.show(ranks.run(code, on), shown.append, rich=True)
    return shown


@pytest.fixture
def interrupted():
    """Interrupts the main thread after a moment."""

    def later():
        os.kill(os.getpid(), signal.SIGINT)

    # In the background a shell has its commands ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, later)
    timer.start()
    yield
    timer.join()
    signal.signal(signal.SIGINT, before)


def test_variables_are_kept_and_what_is_alike_is_shown_once(three, capsys):
    assert run(three, "total = x.sum().item()\ntotal") == [{"text/plain": "15.0"}]
    assert capsys.readouterr().out == "[ranks 0-2]\n"
    assert three["total"] == [15.0] * 3 and len(three) == 3
    run(three, "print('a' if rank == 1 else 'b')")
    assert capsys.readouterr().out == "[ranks 0, 2]\nb\n[rank 1]\na\n"
    run(three, "print(rank, end='')", [2])
    assert capsys.readouterr().out == "[rank 2]\n2\n"
    assert run(three, "x;") == []


def test_in_a_terminal_alike_is_what_has_the_same_text(three, capsys):
    shown = []
    said = three.run("x + 0 * rank")
    _shown.show(said, shown.append)
    assert capsys.readouterr().out == "[rank 0]\n[rank 1]\n[rank 2]\n"
    assert ["[2., 3.]" in data["text/plain"] for data in shown] == [False, True, False]


def test_functions_of_a_cell_see_what_later_cells_assign(three, capsys):
    three.push(weight=np.float64(2))
    run(three, "def twice(): return weight * x.sum().item()")
    assert run(three, "weight = weight + 1\ntwice()")[0]["text/plain"].count("45")
    assert capsys.readouterr().out == "[ranks 0-2]\n"


def test_values_are_displayed_as_html_where_they_have_it(three, capsys):
    (shown,) = run(three, "x")  # the picture is the same on all ranks
    assert shown["text/html"].startswith('<div class="dtensor">')
    assert capsys.readouterr().out == "[ranks 0-2]\n"


def test_errors_are_written_once_and_at_once(three, capsys):
    run(three, "import sys; print('half', file=sys.stderr)")
    assert capsys.readouterr().err == "half\n"
    run(three, "print('done' if rank else 'half', file=sys.stderr)")
    assert capsys.readouterr().err == "half\n[ranks 1, 2]\ndone\n"


def test_an_error_of_one_rank_ends_the_cell_and_the_next_one_works(three):
    start = time.monotonic()
    with pytest.raises(ZeroDivisionError) as raised:
        run(three, "if rank == 1: 1 / 0\nx.sum().item()")
    assert raised.value.__notes__ == ["raised by rank 1"]
    assert "if rank == 1: 1 / 0" in "".join(traceback.format_exception(raised.value))
    with pytest.raises(IndexError, match=r"dim=5") as raised:
        run(three, "x.redistribute(placements=[Shard(5)])")
    assert raised.value.__notes__ == ["raised by ranks 0-2"]
    with pytest.raises(KeyError):
        run(three, "{}[rank]", [0])
    assert run(three, "x.sum().item()") == [{"text/plain": "15.0"}]
    assert time.monotonic() - start < 10


def test_different_errors_are_all_told(three, capsys):
    with pytest.raises(ValueError, match="zero"):
        run(three, "raise (ValueError('zero'), KeyError('one'), KeyError('one'))[rank]")
    assert capsys.readouterr().err == "[ranks 1, 2] KeyError: 'one'\n"


@pytest.mark.parametrize(
    "code",
    [
        "while True: time.sleep(0.01)",
        "if rank: x.sum().item()",  # rank 0 has ended
        "while rank == 2: time.sleep(0.01)\nx.sum().item()",
    ],
)
def test_an_interrupt_ends_the_cell_and_the_next_one_works(three, interrupted, code):
    with pytest.raises(KeyboardInterrupt):
        run(three, code)
    assert run(three, "x.sum().item()") == [{"text/plain": "15.0"}]


def test_a_profiler_runs_after_a_cell(three):
    run(three, "1")
    seen = []
    sys.setprofile(lambda frame, event, _: seen.append(event))
    try:  # Python 3.11 stays here for good where an exception is still asked for
        eval(compile("1 + 1", "here", "eval"))
    finally:
        sys.setprofile(None)
    assert "call" in seen


def test_ranks_that_compute_end_the_cell_before_the_next_one(
    three, interrupted, monkeypatch
):
    monkeypatch.setattr("dtensor.notebook._threads._END_SECONDS", 0.1)
    with pytest.raises(KeyboardInterrupt, match="rank 1 did not end"):
        run(three, "if rank == 1: time.sleep(1.5)")
    assert run(three, "x.sum().item()") == [{"text/plain": "15.0"}]


def test_what_is_wrong_in_a_call_is_said(three):
    with pytest.raises(SyntaxError):
        three.run("x = = 1")
    with pytest.raises(ValueError, match="none 3"):
        three.run("x", [0, 3])
    with pytest.raises(ValueError, match="at least 1 rank"):
        notebook.start(0)
    with pytest.raises(ValueError, match="not 'gpu'"):
        notebook.start(2, "gpu")


@pytest.mark.parametrize("on", [None, [0]])
def test_who_waits_for_a_rank_at_the_end_of_its_cell_is_told_at_once(three, on):
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="came to the end of this cell"):
        run(three, "if rank == 0: float(x.max())", on)
    assert time.monotonic() - start < 10
    assert run(three, "x.sum().item()") == [{"text/plain": "15.0"}]


def test_ranks_that_are_late_are_waited_for(three):
    """Also for longer than a wait may take, and while others communicate."""
    pair = "pair = DeviceMesh('cpu', [1, 2])\ny = distribute_tensor(np.ones(4), pair)"
    run(three, f"from dtensor import DeviceMesh\n{pair}")
    worlds = [rank.world for rank in three._ranks]
    for world in worlds:
        world.timeout = 1
    code = "for _ in range(4 if rank else 0): time.sleep(0.8); y.sum().item()\nrank"
    assert [each["text/plain"] for each in run(three, code)] == ["0", "1", "2"]
    for world in worlds:
        world.timeout = 60
    assert run(three, "x.sum().item()") == [{"text/plain": "15.0"}]


def test_a_wait_that_was_in_vain_names_the_limit_that_counts():
    code = "if rank == 0: x.sum().item()\ntime.sleep(2.5 * (rank == 1))"
    limit = "a larger timeout= of dtensor.notebook.start waits longer"
    with notebook.start(2, timeout=1) as ranks:
        run(ranks, BEGIN.replace("(3,)", "(2,)"))
        with pytest.raises(RuntimeError, match=limit):
            run(ranks, code)


def test_the_magic_starts_ranks_and_keeps_them(capsys):
    from IPython.core.error import UsageError
    from IPython.testing.globalipapp import start_ipython

    output = sys.stdout
    shell = start_ipython()
    shell.run_line_magic("load_ext", "dtensor")
    shell.run_cell_magic("ranks", "2", "import dtensor; y = 1")
    first = notebook.running()
    shell.run_cell_magic("ranks", "", "print(y)")
    shell.run_cell_magic("ranks", "2 --on 1", "print(y + 1)")
    assert notebook.running() is first and len(first) == 2
    assert capsys.readouterr().out == "[ranks 0, 1]\n1\n[rank 1]\n2\n"
    shell.run_cell_magic("ranks", "3", "z = 1")
    assert first.stopped and len(notebook.running()) == 3
    told = "[3 new ranks: what cells have assigned on the 2 ranks before is gone]\n"
    assert capsys.readouterr().out == told
    with pytest.raises(RuntimeError, match="have ended"):
        first.run("y")
    for line in ("2 --nodes 3", "two", "0", "--on a,b", "'"):
        with pytest.raises(UsageError, match="usage|quotation"):
            shell.run_cell_magic("ranks", line, "y")
    shell.run_cell("%%ranks two\ny")
    assert capsys.readouterr().err.count("\n") == 1
    assert len(notebook.running()) == 3
    notebook.running().stop()
    assert notebook.running() is None and sys.stdout is output
