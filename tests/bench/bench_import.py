# ranks: 1
"""What `import dtensor` costs beside numpy and mpi4py: processor time and memory."""

import os
import subprocess
import sys

import numpy as np
from kept import keep

BASE, OURS = "import numpy, mpi4py.MPI", "import dtensor"
TIMES = 15
SECONDS, MEGABYTES = 0.10, 12.0  # the aims: more than the base takes
PROBE = """
import resource
used = resource.getrusage(resource.RUSAGE_SELF)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""


def cost(program: str) -> list[float]:
    """Return the seconds of processor time and the MB of a new Python."""
    command = [sys.executable, "-c", program + PROBE]
    clean = {k: v for k, v in os.environ.items() if k[:5] not in ("OMPI_", "PMIX_")}
    out = subprocess.run(command, capture_output=True, check=True, text=True, env=clean)
    return [float(word) for word in out.stdout.split()]


def main() -> None:
    # In turn; the least of some, since other work only ever adds time.
    rows = np.array([[cost(BASE), cost(OURS)] for _ in range(TIMES)])
    (base, base_mb), (ours, ours_mb) = rows.min(0)
    print(f"load {os.getloadavg()[0]:.1f}; least of {TIMES}, in turn")
    print(f"{BASE:28}{base:7.3f} s {base_mb:6.1f} MB")
    print(f"{OURS:28}{ours:7.3f} s {ours_mb:6.1f} MB")
    print(
        f"{'more':28}{ours - base:7.3f} s {ours_mb - base_mb:6.1f} MB "
        f"(aims {SECONDS:.2f} s, {MEGABYTES:.0f} MB)"
    )
    keep("import dtensor", ours, "s", "numpy, mpi4py", ours / base)
    keep(
        "memory of the import", ours_mb * 2**20, "B", "numpy, mpi4py", ours_mb / base_mb
    )


if __name__ == "__main__":
    main()
