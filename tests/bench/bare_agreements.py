"""The package with agreements that know neither lineages nor failures of kernels.

It is the rival of what these cost: the same sources but for the edits below, built in
build/bare_agreements.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "bare_agreements"
EDITS = {
    "comm/talk/talk.h": [
        ("uint64_t lineage_min, lineage_max;", ""),
        ("uint64_t fault_min, fault_max;", ""),
    ],
    "comm/talk/agree.c": [
        (".lineage_min = a->traced ? a->call->lineage : UINT64_MAX,", ""),
        (".lineage_max = a->traced ? a->call->lineage : 0,", ""),
        ("a->sum.lineage_min = min_u64(a->sum.lineage_min, in->lineage_min);", ""),
        ("a->sum.lineage_max = max_u64(a->sum.lineage_max, in->lineage_max);", ""),
        ("a->traced = call->traced && check;", "a->traced = false;"),
        (".fault_min = faults,", ""),
        (".fault_max = faults,", ""),
        ("a->sum.fault_min = min_u64(a->sum.fault_min, in->fault_min);", ""),
        ("a->sum.fault_max = max_u64(a->sum.fault_max, in->fault_max);", ""),
        ("if (a->sum.fault_min != a->sum.fault_max)", "if (false)"),
        ("    dt_settle_well(a);\n", ""),
        (
            "if (dt_notes_have(notes, DT_NOTE_SETTLED) && dt_settle_heard(a))",
            "if (false)",
        ),
    ],
    "comm/talk/verdict.c": [
        ("sum->lineage_min < sum->lineage_max;", "false;"),
        ("sum->lineage_min < sum->lineage_max)", "false)"),
    ],
    "comm/run/execute.c": [
        ("run->call.lineage = call->lineage;", ""),
        ("run->call.traced = call->traced;", ""),
        ("run->call.lineage = lineage;", ""),
        ("run->call.traced = traced;", ""),
    ],
    "ext/move/transfer.c": [("    trace(t);\n", "")],
}


def edited() -> Iterator[tuple[Path, str]]:
    """Each file that is edited, by its place in csrc, and its text.

    Raises ValueError for an edit that has not exactly one place.
    """
    for name, edits in EDITS.items():
        text = (ROOT / "csrc" / name).read_text()
        for old, new in edits:
            if text.count(old) != 1:
                raise ValueError(f"csrc/{name} has {text.count(old)} times {old!r}")
            text = text.replace(old, new)
        yield Path(name), text


def compiler_of_mpi() -> list[str]:
    """The option that ./run has given to the build, if any."""
    kept = (ROOT / "build" / "CMakeCache.txt").read_text().splitlines()
    return [f"-D{line}" for line in kept if line.startswith("MPI_C_COMPILER:")]


def build() -> Path:
    """Build it, and return the folder to import it from."""
    source, made, site = BUILD / "source", BUILD / "made", BUILD / "site"
    for folder in (source, site):
        shutil.rmtree(folder, ignore_errors=True)
    # Files keep their times, and what is edited always has the same: little is rebuilt.
    shutil.copytree(ROOT / "csrc", source / "csrc")
    shutil.copy2(ROOT / "CMakeLists.txt", source)
    for name, text in edited():
        file = source / "csrc" / name
        times = file.stat().st_atime_ns, file.stat().st_mtime_ns
        file.write_text(text)
        os.utime(file, ns=times)
    options = [f"-DPython_EXECUTABLE={sys.executable}", *compiler_of_mpi()]
    options += ["-DDTENSOR_DEVELOPER=ON", "-DCMAKE_C_FLAGS=-w"]  # some is unused now
    command = ["cmake", "-G", "Ninja", "-S", str(source), "-B", str(made), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", str(made)], check=True, stdout=subprocess.DEVNULL)
    package = site / "dtensor"
    package.mkdir(parents=True)
    for file in (ROOT / "python" / "dtensor").iterdir():
        if not file.name.startswith("_C.") and file.name != "__pycache__":
            (package / file.name).symlink_to(file)
    (module,) = made.glob("_C.*.so")
    (package / module.name).symlink_to(module)
    return site
