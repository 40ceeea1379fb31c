"""Processes that tests start, and that cannot outlive them."""

import os
import signal
import subprocess
import time

import pytest

# Seconds after which a job is killed: before the test is.
PATIENCE = float(os.environ.get("DTENSOR_TEST_SECONDS", 60)) * 2 / 3


def run(command, patience=PATIENCE, **environment):
    """Exit code, output and seconds of a command; it is killed if it hangs."""
    start = time.monotonic()
    process = subprocess.Popen(
        command,
        env={**clean_environment(), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        pytest.fail(f"it hung; its output:\n{output}")
    return process.returncode, output, time.monotonic() - start


def clean_environment():
    """This one's, without what a launcher has put there."""
    launcher = ("OMPI_COMM_", "PMIX_", "PMI_", "OMPI_APP", "OMPI_UNIVERSE", "PRTE_LAUN")
    return {k: v for k, v in os.environ.items() if not k.startswith(launcher)}
