"""The notebook of the examples runs on MPI engines, from any kernel."""

import os
import re
from pathlib import Path

import nbformat
import pytest
from jobs import PATIENCE
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "notebook.ipynb"
LAUNCHERS = ("OMPI_", "PRTE_", "OPENBLAS_", "OMP_", "VIRTUAL_ENV")


def text_of(cell):
    """What a cell has printed, with the errors of the ranks, and without colours."""
    texts = [
        out.get("text")
        or out.get("data", {}).get("text/plain", "")
        or "\n".join(out.get("traceback", ()))
        for out in cell.outputs
    ]
    return re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(texts))


@pytest.fixture(scope="module")
def cells():
    """The cells after they were run; tagged ones may raise. By tag, or by number."""
    book = nbformat.read(NOTEBOOK, as_version=4)
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(LAUNCHERS)]:
            patch.delenv(name)
        patch.setenv("NO_COLOR", "1")
        NotebookClient(book, timeout=int(PATIENCE), kernel_name="python3").execute()
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    tagged = {tag: cell for cell in code for tag in cell.metadata.get("tags", ())}
    return {**dict(enumerate(code)), **tagged, "last": code[-2]}


def test_every_rank_has_its_part_and_all_train_alike(cells):
    for rank, part in ((0, "[[0.0, 1.0], [4.0, 5.0]]"), (3, "[[10.0, 11.0], [14.0,")):
        assert re.search(rf"\[rank {rank}\]\n.*{re.escape(part)}", text_of(cells[1]))
    assert re.search(r"\[ranks 0-3\]\n[0-9.]+ -> [0-9.]+\n$", text_of(cells[4]))


def test_an_exception_of_one_rank_is_told_once_and_all_live_on(cells):
    assert text_of(cells["all-raise"]).count("must have the same length") == 1
    assert "raised by ranks 0-3" in text_of(cells["all-raise"])
    one = text_of(cells["one-raises"])
    assert one.count("ZeroDivisionError: only on rank 1") == 1
    assert "raised by rank 1" in one and "given up" not in one
    assert text_of(cells["last"]) == "[ranks 0-3]\nall is well\n"


def test_the_notebook_is_kept_without_outputs():
    book = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(book)
    assert not any(cell.get("outputs") for cell in book.cells)
