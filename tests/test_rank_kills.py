"""A rank is killed while others read its memory: they end, and leave nothing behind."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from divergences import seed
from jobs import clean_environment

PROGRAM = str(Path(__file__).with_name("killed_reader.py"))
RANKS = 3
STARTS_WITHIN = 300  # seconds
OTHERS_END_WITHIN = 2.0  # seconds after the kill


def begin(path, mark):
    """Start a job. Returns it and the processes of its ranks, which move data."""
    with path.open("w") as file:
        job = subprocess.Popen(
            ["mpiexec", "-n", str(RANKS), sys.executable, PROGRAM],
            env={**clean_environment(), "DTENSOR_TEST_JOB": mark},
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    until = time.monotonic() + STARTS_WITHIN
    while path.read_text().count("under way") < RANKS:
        if job.poll() is not None or time.monotonic() > until:
            job.kill()
            pytest.fail(path.read_text())
        time.sleep(0.01)
    words = path.read_text().split()
    return job, [int(words[i + 1]) for i, word in enumerate(words) if word == "way"]


def shared_by(processes):
    """The files that these processes share memory by: device and number."""
    found = set()
    for process in processes:
        with contextlib.suppress(OSError):  # it has ended
            for fd in Path(f"/proc/{process}/fd").iterdir():
                if os.readlink(fd).startswith("/memfd:dtensor"):
                    file = fd.stat()
                    found.add((file.st_dev, file.st_ino))
    return found


def everyone():
    return [int(entry) for entry in os.listdir("/proc") if entry.isdecimal()]


def lives(process):
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return text.rsplit(")", 1)[1].split()[0] != "Z"


def left(mark):
    """Processes of the job that was started with this mark."""
    word, found = f"DTENSOR_TEST_JOB={mark}".encode(), []
    for process in everyone():
        with contextlib.suppress(OSError):
            if word in Path(f"/proc/{process}/environ").read_bytes().split(b"\0"):
                found.append(process)
    return found


def kill(rng, directory, k):
    """Kill one rank of a job. Returns the seconds after which the others had ended."""
    mark = f"{os.getpid()}-{k}"
    job, ranks = begin(directory / "output", mark)
    files = shared_by(ranks)
    assert len(files) == 2 * RANKS  # of each its memory, and its page of counters
    time.sleep(rng.uniform(0, 0.2))
    assert all(map(lives, ranks)), (directory / "output").read_text()
    start = time.monotonic()
    os.kill(rng.choice(ranks), signal.SIGKILL)
    while any(map(lives, ranks)) and time.monotonic() < start + 30:
        time.sleep(0.005)
    seconds = time.monotonic() - start
    try:
        assert job.wait(30) != 0
    finally:
        job.kill()
    assert left(mark) == []
    assert not shared_by(everyone()) & files
    return seconds


@pytest.mark.parametrize("times", [2, pytest.param(200, marks=pytest.mark.validate)])
def test_when_a_rank_is_killed_the_others_end_and_nothing_is_left(times, tmp_path):
    rng = random.Random(seed())
    seconds = [kill(rng, tmp_path, k) for k in range(times)]
    assert max(seconds) < OTHERS_END_WITHIN, sorted(seconds)[-5:]
