"""The notebook of the examples runs on engines of ipyparallel with MPI."""

import re
from pathlib import Path

import nbformat
import pytest
from jobs import PATIENCE
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "notebook.ipynb"
CELL_SECONDS = int(PATIENCE)


def text_of(cell):
    """What a cell has printed, with the errors of the engines, and without colours."""
    texts = [
        out.get("text") or out.get("data", {}).get("text/plain", "")
        for out in cell.outputs
    ]
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(texts))


@pytest.fixture(scope="module")
def cells():
    """The cells after they were run; tagged ones may raise. By tag, or by number."""
    book = nbformat.read(NOTEBOOK, as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DTENSOR_TIMEOUT", "3")
        patch.setenv("NO_COLOR", "1")
        NotebookClient(book, timeout=CELL_SECONDS, kernel_name="python3").execute()
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    tagged = {tag: cell for cell in code for tag in cell.metadata.get("tags", ())}
    return {**dict(enumerate(code)), **tagged, "last": code[-2]}


def test_every_engine_has_its_part_and_all_train_alike(cells):
    assert cells[0].outputs[-1]["data"]["text/plain"] == "[0, 1, 2, 3]"
    for part in ("[[0.0, 1.0], [4.0, 5.0]]", "[[10.0, 11.0], [14.0, 15.0]]"):
        assert part in text_of(cells[1])
    losses = re.findall(r"[0-9.]+ -> [0-9.]+", text_of(cells[4]))
    assert len(losses) == 4 and len(set(losses)) == 1


def test_an_exception_of_one_engine_reaches_all_and_they_live_on(cells):
    assert text_of(cells["all-raise"]).count("must have the same length") >= 4
    one = text_of(cells["one-raises"])
    assert one.count("ZeroDivisionError: only on rank 1") == 1
    assert one.count("rank 1 did not come") == 3
    assert text_of(cells["last"]).count("all is well on rank") == 4


def test_the_notebook_is_kept_without_outputs():
    book = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(book)
    assert not any(cell.get("outputs") for cell in book.cells)
