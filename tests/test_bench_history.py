"""What benchmarks find is kept in files, and shown on a page."""

import json
import socket
import sys
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parent / "bench"
sys.path.insert(0, str(BENCH))

import bare_agreements  # noqa: E402
import history  # noqa: E402
import kept  # noqa: E402

sys.path.remove(str(BENCH))

PAGE = f"# Performance\n\nBefore.\n\n{history.BEGIN}STALE\n{history.END}After.\n"


@pytest.fixture
def docs(tmp_path):
    (tmp_path / "performance.md").write_text(PAGE)
    return tmp_path


@pytest.fixture
def rows(tmp_path, monkeypatch):
    file = tmp_path / "rows.jsonl"
    monkeypatch.setenv(kept.ROWS, str(file))
    monkeypatch.setattr(sys, "argv", ["/somewhere/tests/bench/bench_dispatch.py"])
    kept.keep("a + b", 4.56789e-7, "s", "NumPy", 1.25)
    kept.keep("a + b", 4.56789e-7, "s", "PyTorch", 0.02)
    kept.keep("a @ w", 1e-6, "s", "NumPy", 0.8)
    kept.keep("a + b", 1900, "instructions", "NumPy", 0.6)
    kept.keep("no rival", 1e-6, "s", "PyTorch", float("nan"))
    return file


def saved(rows, docs, times=1):
    for day in range(times):
        run = history.run_of(rows, datetime(2026, 1, 1 + day, 12, 30, tzinfo=UTC))
        path = docs / "benchmarks" / f"2026-01-{1 + day:02}-1230.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(history.text_of(run))
    history.show(docs)
    return run, (docs / "performance.md").read_text()


def test_nothing_is_kept_unless_asked(monkeypatch, tmp_path):
    monkeypatch.delenv(kept.ROWS, raising=False)
    monkeypatch.chdir(tmp_path)
    kept.keep("a", 1.0, "s")
    assert not [*tmp_path.iterdir()]


def test_a_file_has_the_machine_the_versions_and_a_line_for_each_row(rows, docs):
    run, _ = saved(rows, docs)
    text = (docs / "benchmarks" / "2026-01-01-1230.json").read_text()
    assert json.loads(text) == run
    assert run["machine"].keys() == {"processor", "cores", "memory_gib", "blas"}
    assert {"python", "numpy", "mpi", "mpi4py"} <= run["versions"].keys()
    found = run["benches"]["dispatch"]["1"]
    assert found["load"] >= 0 and len(found["rows"]) == 5
    assert found["rows"][0] == {
        "name": "a + b",
        "value": 4.568e-07,
        "unit": "s",
        "rival": "NumPy",
        "ratio": 1.25,
    }
    assert "ratio" not in found["rows"][4]
    assert text.count("\n") < 20


def test_a_file_names_no_machine_and_no_path(rows, docs):
    saved(rows, docs)
    text = (docs / "benchmarks" / "2026-01-01-1230.json").read_text()
    named = [socket.gethostname(), str(Path.home()), "/somewhere", str(BENCH)]
    assert not [name for name in named if len(name) > 3 and name in text]


def test_the_page_shows_the_newest_run_and_keeps_what_is_written_by_hand(rows, docs):
    _, text = saved(rows, docs)
    assert text.startswith("# Performance\n\nBefore.\n") and text.endswith("After.\n")
    assert "STALE" not in text
    mean = "| `./run bench dispatch` | 1 | NumPy | **1.00** | 0.80 (a @ w) |"
    assert mean in text and "| NumPy (instructions) | **0.60** |" in text
    assert "| a + b | 1 | 457 ns | 1.25 of NumPy, 0.02 of PyTorch |" in text


def test_the_picture_has_a_point_for_each_run_and_no_text_upon_another(rows, docs):
    saved(rows, docs, times=3)
    root = ET.fromstring((docs / "performance.svg").read_text())
    drawn = [e.tag.rpartition("}")[2] for e in root.iter()]
    assert drawn.count("circle") == 3 * 3 and drawn.count("g") == 3
    for chart in root.iter("{http://www.w3.org/2000/svg}g"):
        texts = chart.findall("{http://www.w3.org/2000/svg}text")
        places = [(float(t.get("x")), float(t.get("y"))) for t in texts]
        for k, (x, y) in enumerate(places):
            for a, b in places[k + 1 :]:
                assert abs(a - x) > 30 or abs(b - y) >= 10, places


def test_a_page_without_runs_says_how_to_make_one(docs):
    history.show(docs)
    assert "No run is saved" in (docs / "performance.md").read_text()
    assert not (docs / "performance.svg").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "format 2"),
        ({"benches": {"x": {"1": {"load": 0, "rows": [{"name": 1}]}}}}, "is none"),
    ],
)
def test_a_file_that_is_none_is_refused_by_its_name(rows, docs, change, message):
    run, _ = saved(rows, docs)
    (docs / "benchmarks" / "2027.json").write_text(json.dumps(run | change))
    with pytest.raises(SystemExit, match=rf"2027\.json .*{message}"):
        history.show(docs)


def test_the_page_of_this_tree_shows_the_files_of_this_tree(tmp_path):
    page = history.DOCS / "performance.md"
    text = page.read_text()
    shown = text.partition(history.BEGIN)[2].partition(history.END)[0]
    assert shown == history.figures(history.runs_of(history.DOCS)), (
        "./run exec python tests/bench/history.py show"
    )


def test_bare_agreements_can_still_be_made():
    """Every edit of the sources has its place."""
    for name, text in bare_agreements.edited():
        assert "lineage_min" not in text, name
