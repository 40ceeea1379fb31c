"""A dtype is given by name, bfloat16 too; a package that lacks is named."""

import subprocess
import sys

import numpy as np
import pytest
from meshes import line

import dtensor
import dtensor.nn as nn
from dtensor import Shard, distribute_tensor

CALLS = {
    "astype": "x.astype('bfloat16')",
    "to": "x.to('bfloat16')",
    "numpy.astype": "np.astype(x, 'bfloat16')",
    "sum": "x.sum(dtype='bfloat16')",
    "add": "np.add(x, x, dtype='bfloat16', casting='unsafe')",
    "arange": "dtensor.arange(3, dtype='bfloat16', device_mesh=x.device_mesh)",
    "zeros": "dtensor.zeros(3, dtype='bfloat16', device_mesh=x.device_mesh)",
    "full": "dtensor.full((3,), 1, dtype='bfloat16', device_mesh=x.device_mesh)",
    "tensor": "dtensor.tensor([1, 2], dtype='bfloat16')",
    "zeros_like": "np.zeros_like(x, dtype='bfloat16')",
    "cumsum": "np.cumsum(x, dtype='bfloat16')",
    "concatenate": "np.concatenate([x, x], dtype='bfloat16')",
    "mean": "np.mean(x, dtype='bfloat16')",
    "prod": "np.prod(x, dtype='bfloat16')",
    "module": "nn.Linear(2, 2).bfloat16().weight",
    "module.to": "nn.Linear(2, 2).to('bfloat16').weight",
}
START = """
import numpy as np, dtensor, dtensor.nn as nn
from dtensor import distribute_tensor, init_device_mesh, Shard
x = distribute_tensor(np.ones(4, np.float32), init_device_mesh('cpu', (1,)), [Shard(0)])
"""


def test_bfloat16_is_a_name_of_a_dtype(ranks):
    def body():
        names = {"x": distribute_tensor(np.ones(4, np.float32), line(), [Shard(0)])}
        for call in CALLS.values():
            made = eval(call, {"np": np, "dtensor": dtensor, "nn": nn, **names})
            assert made.dtype.name == "bfloat16", call

    ranks(body)


@pytest.mark.parametrize("installed", [True, False])
def test_bfloat16_is_found_or_its_package_named_before_anybody_imports_it(installed):
    hide = "" if installed else "import sys; sys.modules['ml_dtypes'] = None\n"
    lines = [
        f"try:\n    print({call}.dtype)\nexcept Exception as e:\n"
        "    print(type(e).__name__, e)"
        for call in list(CALLS.values())[: 1 if installed else None]
    ]
    code = hide + START + "\n".join(lines)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    said = done.stdout.splitlines()
    assert len(said) == len(lines)
    for line_ in said:
        assert ("bfloat16" if installed else "dtensor-mpi[ml_dtypes]") in line_, line_
