"""Names, arguments, defaults and values under dtensor.torch are those of PyTorch.

What differs stands in the tables of docs/torch_parity.md, with a reason: what these
say, and nothing else, may differ. Samples are those of PyTorch's own tests.
"""

import json
import pickle
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch_argued
import torch_compared
from meshes import line

from dtensor.testing import run_ranks

pytestmark = [
    pytest.mark.validate,
    pytest.mark.filterwarnings("ignore"),
]
DATA = Path(__file__).parent / "data"
PARITY = Path(__file__).parents[1] / "docs" / "torch_parity.md"
LEAST = 0.97  # of the names that are here, in values and in arguments


def reasons(title):
    """The names that a table of docs/torch_parity.md gives a reason for, and whether
    they always differ: what PyTorch rounds depends on its kernels for a processor."""
    _, text = PARITY.read_text().split(f"\n### {title}\n")
    rows = re.findall(r"^\| (`.*?) \| (.+) \|$", re.split(r"\n##", text)[0], re.M)
    return {
        name: not why.startswith("on some processors")
        for names, why in rows
        for name in re.findall(r"`([^`]+)`", names)
    }


@pytest.fixture(scope="module")
def records(torch_python, tmp_path_factory):
    """What PyTorch gives for samples."""
    file = tmp_path_factory.mktemp("samples") / "records"
    script = DATA / "torch_samples.py"
    subprocess.run([torch_python, script, file, "6"], check=True, timeout=3000)
    return pickle.loads(file.read_bytes())


@pytest.fixture(scope="module")
def arguments(torch_python, tmp_path_factory):
    """The arguments of PyTorch's functions."""
    file = tmp_path_factory.mktemp("arguments") / "arguments.json"
    script = DATA / "torch_arguments.py"
    subprocess.run([torch_python, script, file], check=True, timeout=600)
    return json.loads(file.read_text())


def check(compared, wrong, title, tell):
    """All that is wrong has a reason, and what has one is wrong."""
    known = reasons(title)
    tell(f"{title}: {len(compared) - len(wrong)} of {len(compared)} names are equal")
    more = {name: wrong[name] for name in wrong if name not in known}
    assert more == {}, "without a reason"
    always = {name for name in compared if known.get(name)}
    assert always <= set(wrong), "have a reason, and are equal"
    assert len(wrong) <= (1 - LEAST) * len(compared), sorted(wrong)


def test_arguments_are_those_of_pytorch(arguments, tell):
    compared, wrong = torch_argued.argued(arguments)
    assert len(compared) > 1200
    check(compared, wrong, "Arguments", tell)


def test_values_are_those_of_pytorch_in_all_dtypes(records, tell):
    counts, wrong = torch_compared.compared(records)
    missing = {name for name, rows in wrong.items() if rows[0][-1] == "missing"}
    here = [name for name in counts if name not in missing]
    assert len(here) > 940 and len(records) > 10_000
    texts = {
        name: sorted({(dtype, text) for _, dtype, text in rows})[:4]
        for name, rows in wrong.items()
        if name not in missing
    }
    check(here, texts, "Values", tell)


@pytest.mark.parametrize("layout", torch_compared.LAYOUTS)
@pytest.mark.parametrize("count", [2, 3])
def test_values_are_those_of_pytorch_in_each_layout(records, count, layout, tell):
    chosen = torch_compared.few(records, ("float32", "int64"), 3)

    def body():
        make = torch_compared.placed(layout, line())
        with np.errstate(all="ignore"):
            counts, wrong = torch_compared.compared(chosen, make, first=True)
        return dict(counts), {name: rows[:3] for name, rows in wrong.items()}

    counts, wrong = run_ranks(count, body)[0]
    wrong = {name: rows for name, rows in wrong.items() if rows[0][-1] != "missing"}
    tell(f"{layout} on {count} ranks: {len(counts) - len(wrong)} of {len(counts)}")
    known = reasons("Values") | reasons("Layouts")
    assert {name: wrong[name] for name in wrong if name not in known} == {}
