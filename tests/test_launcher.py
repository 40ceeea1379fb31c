"""Launchers of jobs that cannot end are ended: dtensor/_core/launcher.py."""

import os
import signal
import subprocess
import sys
import time

import pytest

from dtensor._core import launcher

STUBBORN = """
import signal, subprocess, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "60"])
print(child.pid, flush=True)
time.sleep(60)
"""


@pytest.fixture
def quick(monkeypatch):
    """Signals that follow each other sooner."""
    steps = [(number, seconds / 10) for number, seconds in launcher.STEPS]
    monkeypatch.setattr(launcher, "STEPS", steps)


def start(*command):
    """Start a process that counts as a launcher."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    return process, launcher._look(process.pid)


def test_a_launcher_that_does_not_end_is_ended_with_what_it_has_started(quick):
    process, found = start(sys.executable, "-c", STUBBORN)
    child = int(process.stdout.readline())
    launcher.end(found)
    assert process.wait(5) == -signal.SIGKILL
    until = time.monotonic() + 5
    while launcher._look(child) is not None and time.monotonic() < until:
        time.sleep(0.01)
    assert launcher._look(child) is None
    process.stdout.close()


def test_a_launcher_that_ends_is_left_alone(quick):
    process, found = start("sleep", "0.2")
    launcher.end(found)
    assert process.wait(5) == 0
    process.stdout.close()


def test_another_process_of_the_same_number_is_not_ended(quick):
    process, found = start("sleep", "60")
    launcher.end(found._replace(started="0"))
    assert process.poll() is None
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_job_of_one_node_and_a_daemon_of_several_jobs_are_not_watched(monkeypatch):
    def never(*arguments, **options):
        raise AssertionError("a watching process was started")

    monkeypatch.setattr(subprocess, "Popen", never)
    own = launcher._look(os.getpid())
    monkeypatch.setattr(launcher, "NAMES", {launcher._look(own.parent).name})
    for name in ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"):
        monkeypatch.setenv(name, "4")
    monkeypatch.setenv("PMIX_NAMESPACE", "prterun-node-1@1")
    launcher.watch()
    monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "2")
    with pytest.raises(AssertionError):
        launcher.watch()
    monkeypatch.setenv("PMIX_NAMESPACE", "prte-node-1@1")
    launcher.watch()
