"""Ranks that cannot have all the shared memory that they want get the same values."""

import os
import re
import sys
from pathlib import Path

import pytest
from jobs import run

pytestmark = pytest.mark.validate

HERE = Path(__file__).parent
RANKS = 3
PATIENCE = 120
START = ["mpiexec", "-n", str(RANKS)]
PROGRAM = [sys.executable, str(HERE / "refused.py")]
GROUPS = Path("/sys/fs/cgroup")
LEFT = 8 << 20  # bytes that a job does not need: the arena leaves more to others


def values(command, **environment):
    """What each rank of a job has got, and how often its shared memory has grown."""
    code, output, _ = run(command, PATIENCE, **environment)
    assert code == 0, output
    found = dict(re.findall(r"rank (\d) CRC (\d+)", output))
    assert len(found) == RANKS, output
    return found, [int(times) for times in re.findall(r"grown (\d+) times", output)]


@pytest.fixture(scope="module")
def expected():
    """Values without shared memory."""
    return values([*START, *PROGRAM], DTENSOR_ARENA="0")[0]


@pytest.fixture(scope="module")
def refusing(tmp_path_factory):
    """The beginning of a job whose ranks are refused what REFUSE says."""
    library = str(tmp_path_factory.mktemp("refuse") / "refuse.so")
    compile_it = ["mpicc", "-shared", "-fPIC", "-o", library, str(HERE / "refuse.c")]
    code, output, _ = run(compile_it)
    assert code == 0, output
    return [*START, "env", f"LD_PRELOAD={library}", *PROGRAM]


@pytest.mark.parametrize("rank", [{}, {"REFUSE_RANK": "1"}], ids=["all", "one"])
@pytest.mark.parametrize("what", ["memfd", "readv"])
def test_values_are_the_same_where_the_system_refuses(refusing, expected, what, rank):
    found, times = values(refusing, REFUSE=what, **rank)
    assert found == expected
    with_memory = {"memfd": RANKS - 1 if rank else 0, "readv": RANKS}
    assert len(times) == with_memory[what]


def test_values_are_the_same_whichever_growth_of_shared_memory_fails(
    refusing, expected
):
    found, times = values(refusing)
    assert found == expected and len(times) == RANKS
    for k in range(1, max(times) + 1):
        rank = {} if k % 4 == 3 else {"REFUSE_RANK": str(k % 4)}
        found, fewer = values(refusing, REFUSE=str(k), **rank)
        assert found == expected, f"growth {k}"
        assert len(fewer) == RANKS


@pytest.mark.parametrize("arena", ["1", "0"])
def test_a_fork_while_moves_are_pending_changes_nothing(expected, arena):
    """The child writes into the arrays that other ranks are to read."""
    assert values([*START, *PROGRAM, "fork"], DTENSOR_ARENA=arena)[0] == expected


# --- a control group ------------------------------------------------------------------


class Group:
    """A control group for memory, below that of this process."""

    def __init__(self):
        lines = Path("/proc/self/cgroup").read_text().split()
        own = {line.split(":", 2)[1]: line.split(":", 2)[2] for line in lines}
        first = GROUPS / "memory"
        top = first if "memory" in own else GROUPS
        names = ("memory.limit_in_bytes", "memory.max_usage_in_bytes")
        self.limit, self.peak = names if top == first else ("memory.max", "memory.peak")
        path = own.get("memory", own.get("", "/"))
        self.path = top / path.lstrip("/") / f"dtensor-{os.getpid()}"

    def make(self):
        """Make it; a sentence says why it cannot be made."""
        try:
            self.path.mkdir()
        except OSError as error:
            return f"no control group for memory can be made: {error}"
        if (
            not (self.path / self.limit).exists()
            or not (self.path / self.peak).exists()
        ):
            self.path.rmdir()
            return "control groups do not limit memory here"
        return ""

    def start(self, command):
        """The command, in the group."""
        enter = f'echo $$ >"{self.path}/cgroup.procs" && exec "$@"'
        return ["/bin/sh", "-c", enter, "sh", *command]


@pytest.fixture
def group():
    found = Group()
    if os.geteuid() != 0:
        pytest.skip("a control group needs root")
    if why := found.make():
        pytest.skip(why)
    yield found
    found.path.rmdir()


def test_values_are_the_same_in_a_group_with_too_little_memory(
    refusing, expected, group
):
    """The arena leaves memory to others: it stops growing before the group is full."""
    found, often = values(group.start(refusing))
    assert found == expected
    used = int((group.path / group.peak).read_text())
    (group.path / group.limit).write_text(str(used + LEFT))
    found, seldom = values(group.start(refusing))
    assert found == expected
    assert sum(seldom) < sum(often), f"{used} bytes were used before"
