"""The bench of operators on one rank has a row for every function of NumPy's."""

import ast
import sys
from pathlib import Path

import numpy as np

BENCH = Path(__file__).resolve().parent / "bench"
sys.path.insert(0, str(BENCH))

from operator_rows_more import FEW, MORE  # noqa: E402

sys.path.remove(str(BENCH))

FILES = [BENCH / "operator_rows.py", BENCH / "operator_rows_more.py"]


def functions():
    """The names of NumPy's functions that tensors may answer, under all their names."""
    found = {}
    for module in (np, np.linalg, np.fft):
        for name, function in vars(module).items():
            if type(function).__name__ == "_ArrayFunctionDispatcher":
                found.setdefault(function, set()).add(name)
    return found


def test_every_function_has_a_row_or_computes_with_few_elements():
    used = {
        node.attr
        for file in FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute)
    }
    known = functions()
    assert [names for names in known.values() if not names & (used | FEW)] == []
    assert not FEW - set().union(*known.values())
    ufuncs = {f.__name__ for f in vars(np).values() if isinstance(f, np.ufunc)}
    rows = {name.removeprefix("ufunc ") for name in MORE}
    assert ufuncs - rows - used == {"isnat"}
