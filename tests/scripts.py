"""Scripts that run on four ranks: each in a job of its own, or many in one job.

Most take less time than it takes to start their ranks. In one job they share the
imported modules and the world, so each is also run alone, under `./run validate`.
"""

import json
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from jobs import run

from dtensor._core import world as _world

RANKS = 4


def play(paths: Sequence[Path], folder: Path) -> None:
    """Run scripts one after the other in one job; all must end well on every rank."""
    command = ["mpiexec", "-n", str(RANKS), sys.executable, __file__, str(folder)]
    code, output, _ = run([*command, *map(str, paths)], PYTHONWARNINGS="error")
    assert code == 0, output
    for rank in range(RANKS):
        ended = json.loads((folder / f"rank{rank}.json").read_text())
        assert ended == [str(path) for path in paths], output


def play_alone(path: Path) -> None:
    """Run a script in a job of its own."""
    command = ["mpiexec", "-n", str(RANKS), sys.executable, str(path)]
    code, output, _ = run(command, PYTHONWARNINGS="error")
    assert code == 0, output


def be_rank(folder: Path, paths: Sequence[str]) -> None:
    """Run the scripts on this rank, as Python would; write which have ended well."""
    ended = []
    for path in paths:
        sys.argv, sys.path[0] = [path], str(Path(path).parent)
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit as end:
            if end.code:
                raise
        except BaseException as error:
            error.add_note(f"the script is {path}")
            raise
        ended.append(path)
    (folder / f"rank{_world.current().rank}.json").write_text(json.dumps(ended))


if __name__ == "__main__":
    be_rank(Path(sys.argv[1]), sys.argv[2:])
