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


def spans(file: str, *arguments: str) -> list[int]:
    """Return the instructions between each pair of marks of a program."""
    command = [str(valgrind()), "--tool=callgrind", f"--dump-before={MARK}"]
    # A process of its own, that no launcher knows.
    own = ("OMPI_", "PMIX_", "PRTE_", "PMI_")
    env = {k: v for k, v in os.environ.items() if not k.startswith(own)}
    env["PYTHONMALLOC"] = "malloc"  # Python's own takes more where a pool is full
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind"
        command += [f"--callgrind-out-file={out}", sys.executable, file, *arguments]
        subprocess.run(command, env=env, check=True, capture_output=True)
        dumps = sorted(
            (p for p in Path(folder).iterdir() if p.suffix[1:].isdecimal()),
            key=lambda path: int(path.suffix[1:]),
        )
        return [total(path) for path in dumps][1::2]  # what lies between two pairs


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
