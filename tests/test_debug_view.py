"""Dumps of CommDebugMode, the page made of them, and the timeline."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser

import pytest
from browsers import console_of, find_browser
from debug_scene import model, rows, step

from dtensor import Shard, nn, tensor
from dtensor.debug import CommDebugMode
from dtensor.debug.__main__ import main
from dtensor.testing import run_ranks


@pytest.fixture
def dump(tmp_path):
    """The file of a run on three ranks."""
    file = tmp_path / "comm_mode_log.json"

    def body():
        step(model()).generate_json_dump(str(file), all_ranks=True)

    run_ranks(3, body)
    return file


# --- the dump -------------------------------------------------------------------------


def test_a_dump_has_the_keys_of_torchs(dump):
    root = json.loads(dump.read_text())
    keys = """fqn module_type parameters children collectives_forward
        collectives_backward operations_forward operations_backward""".split()
    assert set(keys) <= set(root) and root["fqn"] == "Global"
    (mlp,) = root["children"]
    up = mlp["children"][0]
    assert up["fqn"] == "MLP.up" and up["collectives_backward"] == [["all_reduce", 1]]
    assert up["parameters"][0] == ["weight", "(Shard(dim=0),)"]
    keys = (
        "name input_shape input_sharding device_mesh is_bw is_activation_checkpointing"
    )
    operation = next(x for x in up["operations_forward"] if x["name"] == "linear")
    assert set(keys.split()) <= set(operation)
    assert operation["input_shape"] == ["(3, 4)", "(8, 4)", "(8,)"]
    assert operation["input_sharding"] == ["[R]", "[S(0)]", "[S(0)]"]


def test_the_matrix_says_who_has_sent_how_much_to_whom():
    def body():
        x = rows()
        with CommDebugMode() as comm:
            x.redistribute(placements=[Shard(1)])
        return comm, comm._document(3)["matrix"]

    for rank, (comm, matrix) in enumerate(run_ranks(3, body)):
        row = [32] * 3  # two rows times two columns of float64
        row[rank] = 0
        assert matrix == {str(rank): row}
        assert sum(row) == comm.get_comm_bytes().total()


def test_a_dump_of_all_ranks_has_all_rows(dump):
    matrix = json.loads(dump.read_text())["matrix"]
    assert list(matrix) == ["0", "1", "2"]
    assert {len(row) for row in matrix.values()} == {3}
    assert all(matrix[str(k)][k] == 0 for k in range(3))


@pytest.mark.parametrize("level", range(4))
def test_every_level_can_be_viewed(tmp_path, level):
    file, page = tmp_path / "log.json", tmp_path / "log.html"
    run_ranks(1, lambda: step(model()).generate_json_dump(str(file), level))
    assert main(["view", str(file)]) == 0
    assert page.exists()


# --- the page -------------------------------------------------------------------------


class Page(HTMLParser):
    """Tags that are open, and what is referred to."""

    VOID = {"meta", "link"}

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text, self.links = [], set(), "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [v for k, v in attrs if k in ("src", "href")]
        assert not any(k.startswith("on") for k, _ in attrs)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_the_page_is_whole_and_needs_no_network_and_no_script(dump, capsys):
    out = dump.with_name("page.html")
    assert main(["view", str(dump), "-o", str(out)]) == 0
    assert str(out) in capsys.readouterr().out
    page = Page(out.read_text())
    assert page.open == [] and page.links == ["data:,"]
    assert "script" not in page.tags and "url(" not in out.read_text()
    for text in ("MLP.down", "all_reduce", "linear", "Bytes from rank to rank"):
        assert text in page.text


def test_files_of_all_ranks_make_one_page(tmp_path):
    def body():
        comm = step(model())
        file = tmp_path / f"log{comm._rank()[0]}.json"
        comm.generate_json_dump(str(file))
        return str(file)

    files, out = run_ranks(3, body), tmp_path / "page.html"
    assert main(["view", files[0], "-o", str(out)]) == 0
    assert "Of 1 of 3 ranks" in out.read_text()
    assert main(["view", *files, "-o", str(out)]) == 0
    assert "of 3 ranks:" not in out.read_text()


def test_what_is_in_the_file_is_escaped(dump):
    evil = "</summary><script>alert(1)</script>&\"'"
    text = dump.read_text()
    for name in ("MLP", "linear", "all_reduce", "weight", "(Shard(dim=0),)", "[S(0)]"):
        text = text.replace(json.dumps(name), json.dumps(evil))
    dump.write_text(text)
    assert main(["view", str(dump)]) == 0
    page = Page(dump.with_suffix(".html").read_text())
    assert "script" not in page.tags and page.text.count(evil) > 5


DAMAGED = {
    "not JSON": lambda text: text[:-20],
    "is not JSON": lambda text: "[" * 100_000,
    "is not JSON: Exceeds": lambda text: "9" * 5000,
    "not written by CommDebugMode": lambda text: "{}",
    "has format version 9": lambda text: text.replace('"version": 1', '"version": 9'),
    "lacks 'children'": lambda text: text.replace('"children"', '"sons"', 1),
    "rank is str, not int": lambda text: text.replace('"rank": 0', '"rank": "<b>"'),
    "has 3 entries, not 4": lambda text: text.replace('"ranks": 3', '"ranks": 4'),
    "names a rank": lambda text: text.replace('"0": [', '"zero": ['),
    "seconds is nan": lambda text: re.sub(r'seconds": [\d.e-]+', 'seconds": NaN', text),
    "calls is bool": lambda text: text.replace('"calls": 1', '"calls": true'),
}


@pytest.mark.parametrize("message", DAMAGED)
def test_a_file_that_is_not_ours_is_a_clear_error(dump, message, capsys):
    dump.write_text(DAMAGED[message](dump.read_text()))
    assert main(["view", str(dump)]) == 1
    error = capsys.readouterr().err
    assert message in error and str(dump) in error and error.count("\n") == 1
    assert not dump.with_suffix(".html").exists()


def test_a_tree_that_is_too_deep_is_a_clear_error(dump, capsys):
    root = json.loads(dump.read_text())
    node = {**root, "children": []}
    for _ in range(200):
        node = {**node, "children": [node]}
    dump.write_text(json.dumps(node))
    assert main(["view", str(dump)]) == 1
    assert "more than 100 deep" in capsys.readouterr().err


def test_files_of_different_runs_do_not_go_together(dump, tmp_path, capsys):
    other = tmp_path / "other.json"
    run_ranks(1, lambda: step(model()).generate_json_dump(str(other)))
    assert main(["view", str(dump), str(other)]) == 1
    assert "is of 1 ranks" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_a_clear_error(tmp_path, capsys):
    assert main(["view", str(tmp_path / "no.json")]) == 1
    assert "no.json" in capsys.readouterr().err


def test_the_page_is_written_whole_and_not_over_the_dump(dump, capsys):
    text = dump.read_text().replace('"MLP"', r'"\ud800"')  # of no UTF-8 at all
    dump.write_text(text)
    assert main(["view", str(dump)]) == 0
    assert dump.with_suffix(".html").read_text().endswith("</html>\n")
    assert main(["view", str(dump), "-o", str(dump)]) == 1
    assert dump.read_text() == text and "is the dump" in capsys.readouterr().err
    assert main(["view", "."]) == 1


def test_the_command_line_of_the_docs_works(dump):
    command = [sys.executable, "-m", "dtensor.debug", "view", str(dump)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=40)
    assert answer.returncode == 0, answer.stderr
    assert dump.with_suffix(".html").exists()


@pytest.mark.validate
def test_a_browser_shows_the_page_and_says_nothing(dump):
    if find_browser() is None:
        pytest.skip("no chromium")
    assert main(["view", str(dump)]) == 0
    text, complaints = console_of(dump.with_suffix(".html"))
    assert "Bytes from rank to rank" in text and "MLP.down" in text
    assert complaints == []


# --- the timeline ---------------------------------------------------------------------


def trace(tmp_path, fn):
    file = tmp_path / "trace.json"

    def body():
        comm = fn()
        comm.export_chrome_trace(str(file))

    run_ranks(3, body)
    return json.loads(file.read_text())["traceEvents"]


def test_a_timeline_has_one_track_for_each_rank(tmp_path):
    events = trace(tmp_path, lambda: step(model()))
    named = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert named == {0: "rank 0", 1: "rank 1", 2: "rank 2"}
    kinds = {(e["tid"], e.get("cat")) for e in events if e["ph"] != "M"}
    assert kinds == {
        (rank, kind)
        for rank in range(3)
        for kind in ("module", "operator", "collective")
    }
    assert min(e["ts"] for e in events if e["ph"] != "M") == 0
    sent = [e for e in events if e.get("cat") == "collective"]
    assert len(sent) == 6 and all(e["args"]["bytes"] > 0 for e in sent)
    names = {e["name"] for e in events if e.get("cat") == "module"}
    assert {"MLP", "MLP.up", "MLP.up (backward)"} <= names


class Keeping(nn.Module):
    """Takes the memory of frames that have ended."""

    def __init__(self):
        super().__init__()
        self.child = nn.Linear(2, 2)

    def forward(self, x):
        self.kept = [bytes(size) for size in range(1000) for _ in range(9)]
        return self.child(x)


def test_a_module_lasts_until_its_call_ends_whatever_memory_is_used_again(tmp_path):
    def fn():
        with CommDebugMode() as comm:
            Keeping()(tensor([[1.0, 2.0]], dtype="float32"))
        return comm

    names = {e["name"] for e in trace(tmp_path, fn) if e.get("cat") == "module"}
    assert names == {"Keeping", "Keeping.child"}


def test_intervals_of_a_track_lie_in_each_other_or_apart(tmp_path):
    def fn():
        x = rows()
        with CommDebugMode() as comm:
            y = x.redistribute(placements=[Shard(1)], async_op=True)
            z = x @ x
            y.wait()
            z.full_tensor()
        return comm

    events = [e for e in trace(tmp_path, fn) if e["ph"] == "X"]
    for rank in range(3):
        spans = [(e["ts"], e["ts"] + e["dur"]) for e in events if e["tid"] == rank]
        for a, b in spans:
            for c, d in spans:
                assert (
                    d <= a + 1e-3
                    or b <= c + 1e-3
                    or (a <= c and d <= b + 1e-3)
                    or (c <= a and b <= d + 1e-3)
                )


@pytest.mark.mpi
def test_all_ranks_of_mpiexec_write_one_dump_and_one_timeline(world, tmp_path_factory):
    comm = step(model())
    folder = tmp_path_factory.mktemp("dumps") if world.rank == 0 else None
    name = str(folder).encode() if folder else b""
    path = world.share(name)[0].decode()
    comm.generate_json_dump(f"{path}/log.json", all_ranks=True)
    comm.export_chrome_trace(f"{path}/trace.json")
    world.share(b"")  # rank 0 has written
    if folder:
        assert (
            len(json.loads((folder / "log.json").read_text())["matrix"]) == world.size
        )
        events = json.loads((folder / "trace.json").read_text())["traceEvents"]
        assert {e["tid"] for e in events} == set(range(world.size))
