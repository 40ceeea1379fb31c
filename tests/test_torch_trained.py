"""Modules and optimizers under dtensor.torch compute what PyTorch's compute.

Samples and configurations are those of PyTorch's own tests. What differs stands in a
table of docs/torch_parity.md, with a reason: what it says may differ, nothing else.
"""

import pickle
import subprocess

import numpy as np
import pytest
import torch_trained
from test_torch_compared import DATA, reasons

pytestmark = [
    pytest.mark.validate,
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def records(torch_python, tmp_path_factory):
    """What PyTorch's modules and optimizers give."""
    file = tmp_path_factory.mktemp("modules") / "records"
    script = DATA / "torch_modules.py"
    subprocess.run([torch_python, script, file, "6"], check=True, timeout=3000)
    return pickle.loads(file.read_bytes())


def test_modules_and_optimizers_compute_what_pytorchs_do(records, tell):
    counts, wrong = {}, {}
    judges = torch_trained.of_module, torch_trained.of_optimizer
    for each, judge in zip(records, judges, strict=True):
        with np.errstate(all="ignore"):
            compared, found = torch_trained.compared(each, judge)
        counts |= compared
        wrong |= {name: sorted(set(rows))[:4] for name, rows in found.items()}
    missing = {name for name, rows in wrong.items() if rows[0][-1] == "missing"}
    here = {name: counts[name] for name in counts if name not in missing}
    tell(
        f"{len(missing)} are missing: {sorted(missing)}; {sum(counts.values())} samples"
    )
    known = {*reasons("Modules and optimizers")}
    tell(f"{len(here) - len(wrong) + len(missing)} of {len(here)} are equal")
    assert len(here) > 120 and len(missing) < 5
    assert {name: wrong[name] for name in set(wrong) - known - missing} == {}
    assert known & set(here) <= set(wrong), "have a reason, and are equal"
