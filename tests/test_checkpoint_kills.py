"""A job that is killed while it saves loses nothing that was saved."""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from jobs import clean_environment, run

from dtensor.checkpoint import read

SAVES = """
import sys
import numpy as np
from dtensor import Shard, distribute_tensor, init_device_mesh
from dtensor.checkpoint import async_save, save
from dtensor.testing import run_ranks

path, done, ranks, most, start = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])

def go():
    mesh = init_device_mesh("cpu", (ranks,))
    step = start
    while True:
        step += 1
        x = distribute_tensor(np.full((256, 100), float(step)), mesh, [Shard(1)])
        state = {"x": x, "y": np.full(1000, step), "step": step}
        how = async_save if step % 2 else save
        found = how(state, checkpoint_id=path, max_shard_size=most)
        if step % 2:
            found.result()
        if mesh.get_rank() == 0:
            with open(done, "a") as file:
                file.write(f"{step}\\n")

run_ranks(ranks, go)
"""


def kill_while_saving(times, directory, seed):
    """Kill a job at random times while it saves, again and again at one place."""
    rng = random.Random(seed)
    path, done = Path(directory) / "c", Path(directory) / "done"
    done.write_text("0\n")
    for k in range(times):
        start = int(done.read_text().split()[-1])
        most = rng.choice([10**9, 10**5])
        options = [str(path), str(done), "2", str(most), str(start)]
        process = subprocess.Popen(
            [sys.executable, "-c", SAVES, *options],
            env=clean_environment(),
            stderr=subprocess.PIPE,
        )
        begin = time.monotonic()
        while time.monotonic() < begin + 30:  # until it has saved once
            if int(done.read_text().split()[-1]) > start or process.poll() is not None:
                break
            time.sleep(0.01)
        time.sleep(rng.uniform(0, 0.1))
        ended = process.poll() is not None
        process.kill()
        _, errors = process.communicate()
        last = int(done.read_text().split()[-1])
        assert last > start and not ended, errors.decode()
        found = read(path)
        step = found["step"]
        assert step >= last, f"kill {k}: step {last} was saved, {step} is there"
        assert np.all(np.asarray(found["x"]) == step)
        assert np.all(np.asarray(found["y"]) == step)


def test_5_kills_lose_nothing_that_was_saved(tmp_path):
    kill_while_saving(5, tmp_path, 0)


@pytest.mark.validate
def test_200_kills_lose_nothing_that_was_saved(tmp_path):
    kill_while_saving(200, tmp_path, 5)


@pytest.mark.validate
def test_killed_ranks_of_mpi_lose_nothing_that_was_saved():
    """One rank is killed; mpiexec ends the others."""
    script = SAVES.replace("run_ranks(ranks, go)", "go()")
    with tempfile.TemporaryDirectory() as directory:
        path, done = os.path.join(directory, "c"), os.path.join(directory, "done")
        for k in range(10):
            kill = (
                "import os, threading, random, signal\n"
                f"if int(os.environ['OMPI_COMM_WORLD_RANK']) == {k % 3}:\n"
                f"    after = random.Random({k}).uniform(1.0, 2.0)\n"
                "    end = lambda: os.kill(os.getpid(), signal.SIGKILL)\n"
                "    threading.Timer(after, end).start()\n"
            )
            command = [
                sys.executable,
                "-c",
                kill + script,
                path,
                done,
                "3",
                "100000",
                "0",
            ]
            code, output, _ = run(["mpiexec", "-n", "3", *command])
            assert code != 0
            if os.path.exists(done):
                found = read(path)
                assert np.all(np.asarray(found["x"]) == found["step"])
