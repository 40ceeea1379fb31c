"""Jobs of several nodes, which are network namespaces of this machine: tests/nodes."""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jobs import clean_environment, run

pytestmark = [
    pytest.mark.validate,
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("ip") is None,
        reason="nodes are network namespaces: they need root and iproute2",
    ),
]

ROOT = Path(__file__).parents[1]
NODES = ROOT / "tests" / "nodes"
LOCK = Path("/tmp/dtensor-nodes.lock")  # as in ./run
SHAPES = {"2x2": (2, 2), "1x4": (1, 4), "4x1": (4, 1)}  # nodes, ranks of each
PATIENCE = 600
TIMEOUT = 10  # DTENSOR_TIMEOUT of jobs that are in trouble
MORE = 10  # seconds after it in which a job must have ended
RANK_TESTS = [
    "test_redistribute.py",
    "test_sums.py",
    "test_resync.py",
    "test_lineage.py",
    "test_functional_collectives.py",
]
EXAMPLES = ["demo.py", "mlp.py", "uneven.py", "from_callback.py", "checkpoint.py"]
BLAS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def up(shape, *rate):
    """Make nodes. Returns what starts a job on them, one rank a slot."""
    nodes, ranks = SHAPES[shape]
    subprocess.run([NODES / "up", str(nodes), *rate], check=True, timeout=60)
    hosts = ",".join(f"dtnode{i + 1}:{ranks}" for i in range(nodes))
    return [str(NODES / "run"), "-n", str(nodes * ranks), "-H", hosts, sys.executable]


@pytest.fixture
def nodes():
    """Makes nodes, which do not outlive the test. The machine has them once."""
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield up
        subprocess.run([NODES / "down"], check=True, timeout=60)


@pytest.mark.parametrize("shape", SHAPES)
def test_rank_tests_pass_on_nodes(nodes, shape):
    """Moves, sums, ranks in step, lineage and collectives."""
    files = [str(ROOT / "tests" / name) for name in RANK_TESTS]
    marked = ["-q", "-m", "mpi and not validate"]
    pytest_of_ranks = ["-m", "mpi4py", "-m", "pytest", *marked, *files]
    slow = {"DTENSOR_TIMEOUT": "60", "DTENSOR_TEST_SECONDS": "240"}
    code, output, _ = run([*nodes(shape), *pytest_of_ranks], 1800, **slow)
    assert code == 0, output[-5000:]


def test_values_do_not_depend_on_nodes_or_on_the_speed_of_their_network(nodes):
    program = str(ROOT / "tests" / "same_program.py")
    found = set()
    for where in [("1x4",), ("2x2",), ("4x1",), ("2x2", "1gbit")]:
        code, output, _ = run([*nodes(*where), program], PATIENCE, **BLAS)
        assert code == 0 and "CRC " in output, output
        found.add(output[output.index("CRC ") :].split()[1])
    assert len(found) == 1


@pytest.mark.parametrize("shape", SHAPES)
def test_the_doctor_measures_links_between_nodes(nodes, shape):
    command = [*nodes(shape), "-m", "dtensor.doctor", "--measure"]
    code, output, _ = run(command, PATIENCE)
    assert code == 0, output
    assert ("nodes_latency=" in output) == (SHAPES[shape][0] > 1)


@pytest.mark.parametrize("where", [("2x2",), ("2x2", "1gbit")])
def test_examples_run_on_nodes(nodes, where, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    start = nodes(*where)
    for name in EXAMPLES:
        command = [*start, str(ROOT / "examples" / name)]
        code, output, _ = run(command, PATIENCE, **BLAS)
        assert code == 0, output


@pytest.mark.parametrize("where", [("2x2",), ("4x1",), ("2x2", "1gbit")])
def test_a_model_trains_on_nodes(nodes, where, tmp_path):
    script = str(ROOT / "examples" / "train_transformer.py")
    options = ["--steps", "4", "--sample", "10", "--plot", str(tmp_path / "loss.png")]
    code, output, _ = run([*nodes(*where), script, *options], PATIENCE, **BLAS)
    assert code == 0, output


def test_nodes_write_and_read_checkpoints_of_one_directory(nodes, tmp_path):
    program = str(NODES / "saved.py")
    for what, shape in [("save", "2x2"), ("load", "4x1"), ("load", "1x4")]:
        command = [*nodes(shape), program, what, str(tmp_path / "saved")]
        code, output, _ = run(command, PATIENCE)
        assert code == 0 and output.count("done") == 4, output


def trouble(start, what, **environment):
    """Exit code, output and seconds of a job with a rank that makes trouble."""
    program = str(NODES / "trouble.py")
    return run([*start, program, what], DTENSOR_TIMEOUT=str(TIMEOUT), **environment)


def named(shape, text, ranks):
    """How a sentence names ranks, with their hosts where there are several."""
    nodes, size = SHAPES[shape]
    hosts = sorted({f"dtnode{rank // size + 1}" for rank in ranks})
    word = "host" if len(hosts) == 1 else "hosts"
    return text if nodes == 1 else f"{text} (on {word} {', '.join(hosts)})"


@pytest.mark.parametrize("shape", SHAPES)
def test_ranks_of_all_nodes_report_that_one_makes_another_call(nodes, shape):
    code, output, _ = trouble(nodes(shape), "another")
    assert code != 0
    among, one = named(shape, "ranks 0-2", [0, 1, 2]), named(shape, "rank 3", [3])
    assert output.count(f"ranks are in different calls: {among} are in ") == 4
    assert output.count(f", {one} is in ") == 4


@pytest.mark.parametrize("shape", SHAPES)
def test_ranks_of_all_nodes_report_one_that_is_late(nodes, shape):
    code, output, seconds = trouble(nodes(shape), "late")
    assert code != 0
    late = named(shape, "rank 3", [3])
    assert f"was given up after {TIMEOUT} s: {late} did not come" in output
    assert seconds < TIMEOUT + MORE


@pytest.mark.parametrize("shape", SHAPES)
def test_a_killed_rank_ends_the_job(nodes, shape):
    """It is mpiexec that says so, or Open MPI in a rank that has lost its peer."""
    code, output, seconds = trouble(nodes(shape), "killed")
    assert code != 0
    assert "prterun" in output or "mpirun" in output
    assert seconds < TIMEOUT + MORE


@pytest.mark.parametrize("shape", ["2x2", "4x1"])
def test_where_open_mpi_tolerates_faults_ranks_say_which_one_was_killed(nodes, shape):
    code, output, seconds = trouble(nodes(shape), "killed", OMPI_MCA_mpi_ft_enable="1")
    killed = named(shape, "rank 3", [3])
    assert code != 0
    assert re.search(rf"dtensor.MPIError: .*{re.escape(killed)}: MPI_ERR_PROC_", output)
    assert seconds < TIMEOUT + MORE


def of_node(node):
    """The processes of a node."""
    return subprocess.check_output(["ip", "netns", "pids", node], text=True).split()


def nothing_is_left(shape, until):
    """Whether the processes of all nodes end by then."""
    names = [f"dtnode{i + 1}" for i in range(SHAPES[shape][0])]
    while any(map(of_node, names)):
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


@pytest.mark.parametrize("shape", ["2x2", "4x1"])
def test_a_job_ends_that_loses_a_node(nodes, shape, tmp_path):
    """Its ranks and its daemon are killed. mpiexec says so, though its status is 0."""
    node = f"dtnode{SHAPES[shape][0]}"
    start = [*nodes(shape), str(NODES / "trouble.py"), "wait"]
    process, output = begin(start, tmp_path / "output")
    try:
        until = time.monotonic() + TIMEOUT + MORE
        subprocess.run(["kill", "-KILL", *of_node(node)], check=False)
        process.wait(TIMEOUT + MORE)
        assert node in output.read_text()
        assert nothing_is_left(shape, until)
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("shape", ["2x2", "4x1"])
def test_a_job_whose_link_is_cut_names_who_is_missing_and_ends(nodes, shape, tmp_path):
    """On both sides of the cut nothing is left of it."""
    start = [*nodes(shape), str(NODES / "trouble.py"), "wait"]
    process, output = begin(start, tmp_path / "output")
    link = ["link", "set", f"port{SHAPES[shape][0]}", "down"]
    until = time.monotonic() + TIMEOUT + MORE
    try:
        subprocess.run(["ip", "-n", "dtswitch", *link], check=True)
        assert process.wait(TIMEOUT + MORE) != 0
        if shape == "2x2":
            missed = named(shape, "ranks 2, 3", [2, 3])
        else:
            missed = named(shape, "rank 3", [3])
        assert (
            f"was given up after {TIMEOUT} s: {missed} did not " in output.read_text()
        )
        assert nothing_is_left(shape, until)
    finally:
        process.kill()
        process.wait()


# How soon mpiexec and its daemons notice that a node has gone without a word.
ALIVE = {
    "PRTE_MCA_oob_tcp_keepalive_time": "3",
    "PRTE_MCA_oob_tcp_keepalive_intvl": "1",
    "PRTE_MCA_oob_tcp_keepalive_probes": "3",
}


@pytest.mark.parametrize("shape", ["2x2", "4x1"])
def test_mpiexec_that_watches_its_links_ends_the_job_and_names_the_node(
    nodes, shape, tmp_path
):
    start = [*nodes(shape), str(NODES / "trouble.py"), "wait"]
    process, output = begin(start, tmp_path / "output", **ALIVE)
    last = SHAPES[shape][0]
    try:
        link = ["link", "set", f"port{last}", "down"]
        subprocess.run(["ip", "-n", "dtswitch", *link], check=True)
        process.wait(TIMEOUT + MORE)
        assert f"dtnode{last}" in output.read_text()
    finally:
        process.kill()
        process.wait()


def begin(command, path, **environment):
    """Start a job, and wait until its ranks are under way."""
    with path.open("w") as file:
        process = subprocess.Popen(
            command,
            env={**clean_environment(), "DTENSOR_TIMEOUT": str(TIMEOUT), **environment},
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    until = time.monotonic() + 60
    while "under way" not in path.read_text():
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            pytest.fail(path.read_text())
        time.sleep(0.1)
    return process, path
