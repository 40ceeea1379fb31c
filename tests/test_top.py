"""python -m dtensor.top: what ranks of other jobs do, and for whom they wait."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time

import pytest
import rich.box
import rich.console
import rich.table
import rich.text
from jobs import PATIENCE, clean_environment, run

from dtensor import Shard, init_device_mesh, ones, top
from dtensor._core import require as _require
from dtensor.testing import run_ranks

PROGRAM = """
import sys, time
from pathlib import Path
from dtensor import Shard, init_device_mesh, ones

mesh = init_device_mesh("cpu", (2,))
x = ones((512, 8), device_mesh=mesh, placements=[Shard(0)])
x.full_tensor()
while mesh.get_rank() == 1 and not Path(sys.argv[1]).exists():
    time.sleep(0.05)
x.redistribute(placements=[Shard(1)])
print("moved", flush=True)
while not Path(sys.argv[2]).exists():
    time.sleep(0.05)
"""


def rank_of(number, **changes):
    fields = {
        "job": "job",
        "pid": 100 + number,
        "rank": number,
        "ranks": 4,
        "counters": {"all_gather": (2, 96, 3), "local": (7, 0, 0)},
        "ticks": 10,
        "memory": 1 << 20,
        "time": 50.0,
        "since": 0.0,
        "call": (1, 5),
        "members": (0, 1, 2, 3),
        "what": "redistribute",
    }
    return top.Rank(**(fields | changes))


@contextlib.contextmanager
def job(tmp_path):
    """Two ranks, of which rank 0 waits for rank 1 until a file is there."""
    go, leave = tmp_path / "go", tmp_path / "leave"
    script = tmp_path / "waits.py"
    script.write_text(PROGRAM)
    process = subprocess.Popen(
        ["mpiexec", "-n", "2", sys.executable, str(script), str(go), str(leave)],
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield go, leave, process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def seen(process, when):
    """The ranks of the job, as soon as `when` holds for them."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        mine = {int(p) for p in descendants(process.pid)}
        for ranks in top.jobs().values():
            ranks = [rank for rank in ranks if rank.pid in mine]
            if len(ranks) == 2 and when(ranks):
                return ranks
        assert process.poll() is None
        time.sleep(0.05)
    pytest.fail("it was not seen")


def descendants(pid):
    """A process and all that it has started."""
    tasks = f"/proc/{pid}/task"
    with contextlib.suppress(OSError):
        yield pid
        for task in os.listdir(tasks):
            with open(f"{tasks}/{task}/children") as file:
                for child in file.read().split():
                    yield from descendants(int(child))


def test_a_rank_that_waits_says_for_whom_and_in_which_call(tmp_path):
    with job(tmp_path) as (go, leave, process):
        first, second = seen(process, lambda ranks: ranks[0].since > 0)
        assert (first.rank, second.rank, first.ranks) == (0, 1, 2)
        assert top.waited_for(first, [first, second]) == [1] and second.since == 0
        assert first.what.startswith("redistribute(") and "S(1)" in first.what
        assert first.time - first.since >= 0.03 and first.memory > 1 << 20
        assert first.counters["all_gather"] == second.counters["all_gather"]
        assert first.sent[:2] == (1, 512 * 8 * 4 // 2)

        code, output, _ = run([sys.executable, "-m", "dtensor.top", "--once"])
        assert code == 0
        lines = [line.split() for line in output.splitlines()]
        (line,) = [words for words in lines if words[1:2] == [str(first.pid)]]
        assert line[0] == "0" and " for rank 1 in redistribute(" in " ".join(line)
        assert f"{second.pid}" in output and "2 of 2 ranks" in output

        go.touch()
        ranks = seen(process, lambda ranks: all(r.sent[0] == 2 for r in ranks))
        assert [rank.since for rank in ranks] == [0, 0]
        leave.touch()
        assert process.wait(PATIENCE) == 0
        alive = {rank.pid for ranks in top.jobs().values() for rank in ranks}
        assert not alive & {first.pid, second.pid}


def test_ranks_that_are_threads_and_jobs_of_one_process_are_no_job():
    def body():
        mesh = init_device_mesh("cpu", (2,))
        ones((4, 4), device_mesh=mesh, placements=[Shard(0)]).full_tensor()
        return os.getpid() in {r.pid for ranks in top.jobs().values() for r in ranks}

    assert run_ranks(2, body) == [False, False]


def test_who_waits_elsewhere_is_waited_for_and_who_waits_here_is_not():
    ranks = [
        rank_of(0, since=40.0),
        rank_of(1, since=45.0),
        rank_of(2, since=45.0, call=(2, 5)),
        rank_of(3),
    ]
    assert top.waited_for(ranks[0], ranks) == [2, 3]
    assert top.waited_for(ranks[0], ranks[:2]) == []  # the others are on other nodes
    assert top.waited_for(ranks[3], ranks) == []
    assert ranks[0].sent == (2, 96, 3)


def test_rates_are_those_between_two_pictures():
    old = rank_of(0)
    new = rank_of(
        0, time=52.0, ticks=210, counters={"all_gather": (4, 96 + 4096, 5)}, since=51.5
    )
    console = rich.console.Console(width=160, record=True, file=open(os.devnull, "w"))
    console.print(top.picture({"job": [new]}, {"job": [old]}, rich))
    text = console.export_text()
    share = 100 * 200 / os.sysconf("SC_CLK_TCK") / 2
    words = " ".join(text.split())
    assert f"0 100 {share:.0f} % 1.0 MiB 4 4.1 KiB 5 2.0 KiB 500.0 ms in red" in words


def test_without_jobs_it_says_so(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(top, "PROC", tmp_path)
    assert top.main(["--once"]) == 0
    assert "No job of several processes" in capsys.readouterr().out


def test_a_page_that_is_none_is_passed_over(monkeypatch, tmp_path):
    for pid, content in [(7, b"x"), (8, b"\0" * 9000), (9, b"dtboard1" + b"\xff" * 40)]:
        (tmp_path / str(pid) / "fd").mkdir(parents=True)
        os.symlink("/memfd:dtensor-board (deleted)", tmp_path / str(pid) / "fd" / "3")
        (tmp_path / f"{pid}.page").write_bytes(content)
    pages = iter([*tmp_path.glob("*.page")] * 2)
    monkeypatch.setattr(top, "PROC", tmp_path)
    monkeypatch.setattr(
        type(tmp_path), "read_bytes", lambda _: next(pages).open("rb").read()
    )
    assert top.jobs() == {}


def test_without_rich_the_error_names_the_extra(monkeypatch):
    def missing(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name.split(".")[0])

    monkeypatch.setattr(_require.importlib, "import_module", missing)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'dtensor-mpi\[rich\]'"):
        top.main(["--once"])


@pytest.mark.parametrize("given", ["0", "-1", "x", "nan"])
def test_an_interval_that_is_none_is_refused(given, capsys):
    with pytest.raises(SystemExit, match="2"):
        top.main(["--interval", given])
    assert re.search(r"--interval|interval", capsys.readouterr().err)
