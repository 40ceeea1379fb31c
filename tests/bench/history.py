"""The figures of saved runs, docs/benchmarks/*.json, and the page that shows them.

    python tests/bench/history.py save ROWS    a run's file of what its benches kept
    python tests/bench/history.py show         the page's figures and picture, anew

A file has no name of a machine or a person, and no path of one.
"""

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from history_picture import picture
from mpi4py import MPI
from timing import blas_kernel, mean, size_text, time_text

DOCS = Path(__file__).resolve().parents[2] / "docs"
FORMAT = 1
BEGIN, END = "<!-- figures: ./run bench --save -->\n", "<!-- end of figures -->\n"
KEYS = {"name", "value", "unit"}, {"name", "value", "unit", "rival", "ratio"}

# What the page shows of each bench beside the means: rows that users ask about.
SHOWN = {
    "dispatch": [
        "a + b",
        "a @ w",
        "a.sum(0)",
        "a[:, 1:3]",
        "np.sin(a)",
        "10 operators",
    ],
    "redistribute": [f"S(0) -> R, {s}" for s in ("64 KiB", "1 MiB", "16 MiB")],
    "training": ["a step, one", "a step, tp", "a step, fsdp", "peak memory, fsdp"],
    "collectives": ["P -> R, 16 B", "S0 -> R, 16 B", "S0 -> S1, 4 KiB"],
    "along": ["matmul 3000", "solve 3000", "qr 3000", "sort 1e7", "fftn 256^3"],
}

Run = dict[str, Any]


# --- saving ---------------------------------------------------------------------------


def machine() -> Run:
    """The processor, how many of its cores may be used, and the memory."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    names = [s.partition(":")[2].strip() for s in lines if s.startswith("model name")]
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": names[0] if names else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(pages / 2**30, 1),
        "blas": blas_kernel(),
    }


def versions() -> dict[str, str]:
    """What ran, and what it was compared with."""
    vendor, numbers = MPI.get_vendor()
    found = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "mpi": f"{vendor} {'.'.join(map(str, numbers))}",
        "mpi4py": importlib.metadata.version("mpi4py"),
    }
    asked = "import importlib.metadata as m; print(m.version('torch'))"
    python = os.environ.get("DTENSOR_TORCH_PYTHON", sys.executable)
    if torch := output(python, "-c", asked):
        found["torch"] = torch
    if commit := output("git", "rev-parse", "--short=10", "HEAD"):
        changed = output("git", "status", "--porcelain", "csrc", "python")
        found["dtensor"] = commit + " and changes" * bool(changed)
    return found


def output(*command: str) -> str:
    """What a command prints, or nothing if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=DOCS.parent)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def run_of(rows: Path, now: datetime) -> Run:
    """All that is saved of a run."""
    benches: dict[str, Any] = {}
    for line in rows.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        name, ranks, load = (row.pop(key) for key in ("bench", "ranks", "load"))
        found = benches.setdefault(name, {}).setdefault(str(ranks), {"load": load})
        found.setdefault("rows", []).append(row)
    if not benches:
        raise SystemExit(f"{rows.name} has no rows: nothing to save")
    return {
        "format": FORMAT,
        "date": now.strftime("%Y-%m-%d %H:%M"),
        "machine": machine(),
        "versions": versions(),
        "benches": benches,
    }


def text_of(run: Run) -> str:
    """JSON with a line for each row."""
    head = {key: value for key, value in run.items() if key != "benches"}
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in head.items()]
    benches = []
    for name, numbers in run["benches"].items():
        sizes = []
        for ranks, found in numbers.items():
            rows = ",\n".join(json.dumps(row) for row in found["rows"])
            sizes.append(f'"{ranks}": {{"load": {found["load"]}, "rows": [\n{rows}]}}')
        benches.append(f"{json.dumps(name)}: {{{', '.join(sizes)}}}")
    lines.append('"benches": {\n' + ",\n".join(benches) + "}")
    return "{" + ",\n".join(lines) + "}\n"


def save(rows: Path, docs: Path) -> Path:
    """Write the file of a run, and the page that shows it."""
    now = datetime.now(UTC)
    run = run_of(rows, now)
    path = docs / "benchmarks" / f"{now:%Y-%m-%d-%H%M}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text_of(run), encoding="utf-8")
    return path


# --- reading --------------------------------------------------------------------------


def runs_of(docs: Path) -> list[Run]:
    """All runs that are saved, oldest first."""
    runs = []
    for path in sorted((docs / "benchmarks").glob("*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))
        if run["format"] != FORMAT:
            raise SystemExit(f"{path.name} is of format {run['format']}, not {FORMAT}")
        for row in (row for _, _, found in groups(run) for row in found["rows"]):
            if set(row) not in KEYS:
                raise SystemExit(f"{path.name} has a row that is none: {row}")
        runs.append(run)
    return runs


def groups(run: Run) -> list[tuple[str, int, Run]]:
    """Name, ranks and rows of each bench of a run."""
    return [
        (name, int(ranks), found)
        for name, numbers in run["benches"].items()
        for ranks, found in numbers.items()
    ]


def ratios(rows: list[Run]) -> dict[str, list[tuple[float, str]]]:
    """The ratios to each rival, those of times apart from those of all else."""
    found: dict[str, list[tuple[float, str]]] = {}
    for row in rows:
        if row.get("ratio", 0) > 0:
            what = {"s": "", "B": " (bytes)"}.get(row["unit"], f" ({row['unit']})")
            found.setdefault(row["rival"] + what, []).append(
                (row["ratio"], row["name"])
            )
    return found


def newest(runs: list[Run]) -> dict[tuple[str, int], tuple[Run, Run]]:
    """The last run of each bench on each number of ranks, with what it found."""
    last = {}
    for run in runs:
        for name, ranks, found in groups(run):
            last[name, ranks] = run, found
    return dict(sorted(last.items()))


def courses(runs: list[Run]) -> dict[str, list[tuple[int, float]]]:
    """For each bench and rival: (number of the run, mean ratio) of all runs."""
    found: dict[str, list[tuple[int, float]]] = {}
    for number, run in enumerate(runs):
        for name, ranks, bench in groups(run):
            for rival, pairs in ratios(bench["rows"]).items():
                title = f"{name}, {ranks} {'ranks' if ranks > 1 else 'rank'} / {rival}"
                point = number, mean(ratio for ratio, _ in pairs)
                found.setdefault(title, []).append(point)
    return found


# --- the page -------------------------------------------------------------------------


def value_text(row: Run) -> str:
    texts = {"s": time_text, "B": lambda count: size_text(round(count))}
    known = texts.get(row["unit"])
    return known(row["value"]) if known else f"{row['value']:g} {row['unit']}"


def ratio_text(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def figures(runs: list[Run]) -> str:
    """The figures of the page: where they are from, means, rows, and the picture."""
    if not runs:
        return "\nNo run is saved in this tree. `./run bench --save` makes one.\n\n"
    lines = ["", *sources(runs), "", *means(runs), "", *chosen(runs), ""]
    lines += [
        "![Mean ratios of all saved runs](performance.svg)",
        "",
        "The mean ratio of each bench in all saved runs, oldest to the left; the line",
        "is at 1, where both take the same time.",
        "",
    ]
    return "\n".join(lines) + "\n"


def sources(runs: list[Run]) -> list[str]:
    """Where the newest figures are from."""
    lines = ["| run | machine | versions |", "| --- | --- | --- |"]
    used = {run["date"]: run for run, _ in newest(runs).values()}
    for date, run in sorted(used.items()):
        m = run["machine"]
        what = (
            f"{m['processor']}, {m['cores']} cores, {m['memory_gib']} GiB, {m['blas']}"
        )
        tools = ", ".join(f"{name} {v}" for name, v in run["versions"].items())
        lines.append(f"| {date} UTC | {what} | {tools} |")
    return lines


def means(runs: list[Run]) -> list[str]:
    lines = [
        "| command | ranks | beside | mean ratio | least | most | rows | load |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for (name, ranks), (_, found) in newest(runs).items():
        for rival, pairs in ratios(found["rows"]).items():
            low, high = min(pairs), max(pairs)
            cells = [
                f"`./run bench {name}`",
                str(ranks),
                rival,
                f"**{ratio_text(mean(ratio for ratio, _ in pairs))}**",
                f"{ratio_text(low[0])} ({low[1]})",
                f"{ratio_text(high[0])} ({high[1]})",
                str(len(pairs)),
                f"{found['load']:.1f}",
            ]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def chosen(runs: list[Run]) -> list[str]:
    """Single rows that users ask about, where they were measured."""
    told: dict[tuple[str, int, str], list[str]] = {}
    for (name, ranks), (_, found) in newest(runs).items():
        for row in found["rows"]:
            if row["name"] in SHOWN.get(name, ()) and row["unit"] in "sB":
                ratios_told = told.setdefault((row["name"], ranks, value_text(row)), [])
                if "ratio" in row:
                    ratios_told.append(f"{ratio_text(row['ratio'])} of {row['rival']}")
    lines = ["| what | ranks | here | which is |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {name} | {ranks} | {value} | {', '.join(ratios_told)} |"
        for (name, ranks, value), ratios_told in told.items()
    ]
    return lines if told else []


def show(docs: Path) -> None:
    """Put the figures into the page, and draw the picture."""
    page, runs = docs / "performance.md", runs_of(docs)
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"{page.name} has no place for figures: {BEGIN.strip()}")
    page.write_text(before + BEGIN + figures(runs) + END + after, encoding="utf-8")
    drawn = docs / "performance.svg"
    if runs:
        dates = [run["date"][:10] for run in runs]
        drawn.write_text(picture(courses(runs), dates), encoding="utf-8")
    else:
        drawn.unlink(missing_ok=True)


def main(words: list[str]) -> None:
    match words:
        case ["save", rows]:
            print(f"saved in {save(Path(rows), DOCS).relative_to(DOCS.parent)}")
            show(DOCS)
        case ["show"]:
            show(DOCS)
        case _:
            raise SystemExit("usage: history.py save ROWS, or history.py show")


if __name__ == "__main__":
    main(sys.argv[1:])
