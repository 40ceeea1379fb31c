"""Tensors in PyTorch's dialect promote as PyTorch's do, in all pairs of dtypes."""

import itertools
import operator
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest

import dtensor
import dtensor.torch as torch

DATA = Path(__file__).parent / "data"
sys.path.insert(0, str(DATA))
import torch_promotion as program  # noqa: E402

STORED = dict(
    line.split(": ") for line in (DATA / "torch_promotion.txt").read_text().splitlines()
)


def fits(found, wanted, both):
    """PyTorch's complex32 is complex64 here, where more is defined for it."""
    return found == wanted or wanted == "c" or (wanted == "!" and both == {2, 3})


def kind(of):
    if "torch" not in str(type(of)):
        return 3 if isinstance(of, complex) else 0
    return {"float16": 2, "complex64": 3, "complex128": 3}.get(of.dtype.name, 0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", program.OPERATIONS)
def test_all_pairs_promote_as_in_torch(name):
    pytest.importorskip("ml_dtypes")
    with np.errstate(all="ignore"):
        found = program.letters(torch, program.OPERATIONS[name])
    right = [*program.operands(torch, program.DTYPES), *program.NUMBERS]
    pairs = [(x, y) for x in program.operands(torch, program.DTYPES) for y in right]
    wrong = [
        (x, y, got, wanted)
        for (x, y), got, wanted in zip(pairs, found, STORED[name], strict=True)
        if not fits(got, wanted, {kind(x), kind(y)})
    ]
    assert wrong == []


@pytest.mark.validate
def test_the_stored_table_is_what_torch_does(tmp_path):
    venv.create(tmp_path, with_pip=True)
    python = tmp_path / "bin" / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "-q", "torch==2.13.0", "numpy"], check=True
    )
    run = subprocess.run(
        [python, DATA / "torch_promotion.py"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout == (DATA / "torch_promotion.txt").read_text()


def test_functions_of_numpys_names_promote_as_numpy_and_give_torchs_tensors():
    x, n = torch.ones(3), torch.arange(3)
    for found, want in [
        (np.multiply(x, n), "float64"),
        (np.true_divide(n, n + 1), "float64"),
        (np.mean(n), "float64"),
        (np.std(n), "float64"),
        (np.sqrt(n), "float64"),
    ]:
        assert found.dtype == want and isinstance(found, torch.Tensor)
    assert (x * n).dtype is torch.float32 and torch.sqrt(n).dtype is torch.float32
    assert np.transpose(torch.zeros(2, 3, 4), (2, 0, 1)).shape == (4, 2, 3)


def test_the_default_dtype_counts_at_once():
    n = torch.arange(3)
    assert (n * 2.5).dtype == torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert (n * 2.5).dtype == (n / n).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert (n * 2.5).dtype == torch.float32


def test_numpys_dialect_promotes_as_numpy():
    x, n = dtensor.tensor(np.ones(3, "f4")), dtensor.tensor(np.arange(3))
    assert (x * n).dtype == "float64" and (n / n).dtype == "float64"
    assert (n.as_torch() / n).dtype == torch.float32


STATEMENTS = {
    "add_": operator.iadd,
    "sub_": operator.isub,
    "mul_": operator.imul,
    "div_": operator.itruediv,
    "pow_": operator.ipow,
    "bitwise_and_": operator.iand,
}


def stored(change, x, y):
    """What a tensor has then, or the type of the exception."""
    x = x.clone()
    try:
        assert change(x, y) is x
    except (RuntimeError, TypeError) as error:
        return type(error)
    return x.dtype, x.tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_store_what_methods_store(name):
    pytest.importorskip("ml_dtypes")
    xs = [torch.ones(2, dtype=getattr(torch, dtype)) for dtype in program.DTYPES]
    for x, y in itertools.product(xs, [*xs, *program.NUMBERS]):
        statement = stored(STATEMENTS[name], x, y)
        assert statement == stored(lambda a, b: getattr(a, name)(b), x, y), (x, y)


def test_a_product_of_matrices_leaves_the_first_one_alone():
    x = y = torch.ones(2, 2)
    y @= torch.ones(2, 2)
    assert (x == 1).all() and (y == 2).all()


NARROW = {
    "u * 300": (lambda u: u * 300, [44, 96, 52]),
    "256 - u": (lambda u: 256 - u, [255, 56, 249]),
    "u.add_(-1)": (lambda u: u.clone().add_(-1), [0, 199, 6]),
    "u & -1": (lambda u: u & -1, [1, 200, 7]),
    "u % 300": (lambda u: u % 300, [1, 24, 7]),
    "int8 * -129": (lambda u: u.to(torch.int8) * -129, [127, 56, 121]),
    "int32 + 2**33": (lambda u: u.to(torch.int32) + 2**33, [1, 200, 7]),
}


@pytest.mark.parametrize("name", NARROW)
def test_integers_go_round_in_narrow_dtypes(name):
    call, wanted = NARROW[name]
    assert call(torch.tensor([1, 200, 7], dtype=torch.uint8)).tolist() == wanted


def test_integers_to_negative_powers_in_a_tensor():
    x, y = torch.tensor([2, 3, 1, -1, -1, 0]), torch.tensor([-1, 2, -2, -3, -2, 3])
    assert (x**y).tolist() == x.clone().pow_(y).tolist() == [0, 9, 1, -1, 1, 0]
    assert (2**y).tolist() == [0, 4, 0, 0, 0, 8]
    with pytest.raises(RuntimeError, match="negative integer powers"):
        x**-1
