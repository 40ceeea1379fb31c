"""What other libraries do with DTensors, and that docs/interop.md says so."""

import json
import os
import pickle
import re
import sys
from pathlib import Path

import interop
import ml_dtypes
import numpy as np
import pytest
import scipy.special
from interop import ROWS
from jobs import run
from meshes import line

import dtensor
import dtensor.array_api as xp
from dtensor import DeviceMesh, Layout, Shard, tensor

PAGE = Path(__file__).resolve().parents[1] / "docs" / "interop.md"
BEGIN, END = "<!-- outcomes -->\n", "<!-- end of outcomes -->\n"
CUT = "call x.full_tensor() to gather it on every rank, or x.to_local()"
# Of what a library cannot do, the sentence is its own.
SENTENCES = (
    CUT,
    "cannot pickle a DTensor",
    "DLPack only supports",
    "must use the same",
)
SENTENCES += (
    "unsupported operand type(s)",
    "Failed in nopython mode",
    "the result is distributed, out= is an array",
)
WORDS = {
    (True, True): "works",
    (True, False): "one rank only",
    (False, False): "refused",
}


def played(switch):
    """What comes of the rows in a process with the switch of SciPy so."""
    environment = {"SCIPY_ARRAY_API": "1"} if switch else {}
    folder = os.environ.get("DTENSOR_INTEROP", "")
    code, output, _ = run(
        [sys.executable, interop.__file__], 300, DTENSOR_INTEROP=folder, **environment
    )
    assert code == 0, output
    return json.loads(output.splitlines()[-1])


def told():
    """The rows of the page: outcome by library, call and switch."""
    text = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    return [
        tuple(cell.strip() for cell in line.split(" | "))
        for line in re.findall(r"^\| (.*) \|$", text, re.MULTILINE)[2:]
    ]


def name_of(row):
    switched = ", `SCIPY_ARRAY_API=1`" if row.switch else ""
    return row.module.partition(".")[0] + switched


def check(switch):
    """All that can be played here comes out as the page says; returns how many."""
    found, page = played(switch), {(name, text): how for name, text, how, _ in told()}
    for key, outcomes in found.items():
        for said in outcomes:
            right = said == "works" or any(words in said for words in SENTENCES)
            assert right, (key, said)
        row = next(r for r in ROWS if f"{r.module}|{r.text}|{r.switch}" == key)
        works = tuple(said == "works" for said in outcomes)
        assert page[name_of(row), row.text] == WORDS[works], (key, outcomes)
    return len(found)


@pytest.mark.parametrize("switch", [False, True])
def test_what_is_installed_does_what_the_page_says(switch):
    assert check(switch) >= (20 if not switch else 12)


@pytest.mark.validate
@pytest.mark.parametrize("switch", [False, True])
def test_all_libraries_do_what_the_page_says(switch, tmp_path, monkeypatch):
    named = "xarray scikit-learn numba pandas opt_einsum einops".split()
    pip = [sys.executable, "-m", "pip", "install", "--target", str(tmp_path)]
    pins = [
        f"numpy=={np.__version__}",
        f"scipy=={scipy.__version__}",
    ]
    code, output, _ = run([*pip, "--prefer-binary", *pins, *named], 900)
    if code != 0:
        pytest.skip(f"pip finds no {', '.join(named)} here: {output[-300:]}")
    folders = [str(tmp_path), *torch_folder()]
    monkeypatch.setenv("DTENSOR_INTEROP", os.pathsep.join(folders))
    rows = [row for row in ROWS if row.module != "torch" or len(folders) > 1]
    assert check(switch) == sum(row.switch in (None, switch) for row in rows)


def torch_folder():
    """Where PyTorch is, if it is there for this version of Python."""
    python = os.environ.get("DTENSOR_TORCH_PYTHON", sys.executable)
    code, output, _ = run([python, "-c", "import torch; print(torch.__file__)"])
    version = f"python3.{sys.version_info.minor}"
    if code != 0 or version not in output:
        return []
    return [str(Path(output.splitlines()[-1]).parents[1])]


def test_every_row_is_on_the_page_once_and_says_what_to_do_instead():
    rows = [(name, text) for name, text, _, _ in told()]
    assert rows == [(name_of(row), row.text) for row in ROWS]
    assert all(how == "works" or instead for _, _, how, instead in told())


def test_special_functions_do_not_get_worse_by_the_switch():
    page = {(name, text): how for name, text, how, _ in told()}
    for (name, text), how in page.items():
        if name == "scipy" and how == "works":
            assert page["scipy, `SCIPY_ARRAY_API=1`", text] == "works"


# --- what is there for them -----------------------------------------------------------


def test_a_layout_is_pickled_with_its_order_and_its_cut_points():
    mesh = DeviceMesh.abstract((2, 3), mesh_dim_names=("a", "b"))
    for options in (
        {},
        {"shard_order": {0: (1, 0)}},
        {"cuts": {0: (0, 1, 1, 4, 5, 6, 8)}},
    ):
        layout = Layout(mesh, [Shard(0), Shard(0)], (8, 6), "float32", **options)
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            assert pickle.loads(pickle.dumps(layout, protocol)) == layout


def test_names_beyond_the_standard_are_asked_for_and_not_listed():
    assert xp.pad is not None and "pad" not in vars(xp) and "special" not in vars(xp)
    assert xp.special.erf is scipy.special._ufuncs.erf
    for missing in ("errstate", "no_such_function", "__path__"):
        assert not hasattr(xp.special, missing)
    with pytest.raises(AttributeError, match="no attribute 'spam'"):
        _ = xp.spam


def test_ctypes_is_that_of_the_array_or_a_sentence(ranks):
    x = tensor(np.arange(6.0).reshape(2, 3))
    assert x.ctypes.data == np.asarray(x).ctypes.data
    with pytest.raises(AttributeError, match=r"x\.contiguous\(\) has them so"):
        _ = x.T.ctypes

    def body():
        x = dtensor.ones((8, 2), device_mesh=line(), placements=[Shard(0)])
        return hasattr(x, "ctypes"), x.full_tensor().ctypes.data != 0

    for cut, whole in ranks(body):
        assert whole and cut in (True, False)


def test_dlpack_of_bfloat16_is_refused_by_a_sentence():
    with pytest.raises(BufferError, match="DLPack"):
        dtensor.from_dlpack(tensor(np.ones(3, ml_dtypes.bfloat16)))
