"""How many instructions a call takes, counted by callgrind in a process of its own.

Run by itself inside valgrind it calls every row of dispatch_rows.py many times, with a
mark before and after: a call of getpriority(2), at which callgrind is told to write
down what it has counted.
"""

import gc
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import repeat
from pathlib import Path

CALLS = 100
WARM = 50  # until Python has specialized its own instructions
MARK = "getpriority"


def valgrind() -> str | None:
    """Where it is."""
    return shutil.which("valgrind")


def mark() -> None:
    os.getpriority(os.PRIO_PROCESS, 0)


def counted(text: str, names: dict[str, object]) -> None:
    """Call a text often between two marks."""
    loop: dict[str, object] = {**names, "mark": mark, "repeat": repeat}
    source = (
        f"def run(count):\n for _ in repeat(None, count):\n  {text}\n"
        f"run({WARM})\nmark()\nrun({CALLS})\nmark()\n"
    )
    gc.collect()
    gc.disable()  # it would run in one row or another
    exec(source, loop)
    gc.enable()


def job_environment(path: str = "") -> dict[str, str]:
    """The environment of a process or job of its own, that no launcher knows.

    Packages are imported from `path` first.
    """
    own = ("OMPI_", "PMIX_", "PRTE_", "PMI_")
    kept = ("OMPI_ALLOW", "OMPI_MCA_rmaps", "OMPI_MCA_plm", "PRTE_ALLOW", "PRTE_MCA")
    env = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(own) or k.startswith(kept)
    }
    if path:
        env["PYTHONPATH"] = path
    return env


@contextmanager
def dumps_of(
    launcher: Sequence[str], name: str, path: str, file: str, *arguments: str
) -> Iterator[list[Path]]:
    """What callgrind writes between each pair of marks of a program.

    `name` is that of the output, without a dot.
    """
    env = job_environment(path)
    env["PYTHONMALLOC"] = "malloc"  # Python's own takes more where a pool is full
    command = [*launcher, str(valgrind()), "--tool=callgrind"]
    with tempfile.TemporaryDirectory() as folder:
        out = f"--callgrind-out-file={folder}/{name}"
        command += [f"--dump-before={MARK}", out, sys.executable, file, *arguments]
        subprocess.run(
            command,
            env=env,
            check=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        dumps = sorted(
            (p for p in Path(folder).glob("0.*") if p.suffix[1:].isdecimal()),
            key=lambda path: int(path.suffix[1:]),
        )
        yield dumps[1::2]  # what lies between two pairs


def dumps_of_job(
    ranks: int, path: str, file: str, *arguments: str
) -> AbstractContextManager[list[Path]]:
    """The same of rank 0 of a job."""
    launcher = ["mpiexec", "-n", str(ranks)]
    return dumps_of(launcher, "%q{OMPI_COMM_WORLD_RANK}", path, file, *arguments)


def spans(file: str, *arguments: str) -> list[int]:
    """Return the instructions between each pair of marks of a program."""
    with dumps_of([], "0", "", file, *arguments) as dumps:
        return [total(path) for path in dumps]


def spans_of_job(ranks: int, path: str, file: str, *arguments: str) -> list[int]:
    """The same of rank 0 of a job that imports packages from `path` first."""
    with dumps_of_job(ranks, path, file, *arguments) as dumps:
        return [total(path) for path in dumps]


def per_call(rows: list[str]) -> dict[str, tuple[int, int]]:
    """Return, for each row, the instructions of our call and of NumPy's."""
    empty, *calls = spans(__file__, *rows)
    each = [round((span - empty) / CALLS) for span in calls]
    return {name: (each[2 * k], each[2 * k + 1]) for k, name in enumerate(rows)}


def total(path: Path) -> int:
    """The instructions of one dump."""
    found = re.search(r"^(?:totals|summary): (\d+)", path.read_text(), re.MULTILINE)
    return int(found[1]) if found else 0


def main() -> None:
    # Only here: what counts instructions must not be needed to time.
    from dispatch_rows import ROWS
    from dispatch_sides import numpy_side, our_side

    ours, numpy = our_side(1), numpy_side()
    counted("pass", {})
    for name in sys.argv[1:]:
        for side in (ours, numpy):
            counted(ROWS[name].text(side.side) or "", side.names)


if __name__ == "__main__":
    main()
