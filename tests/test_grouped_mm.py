"""Products in groups are products of each group's matrices."""

import gradcheck
import numpy as np
import pytest
from meshes import line

import dtensor.nn.functional as F
import dtensor.torch as torch
from dtensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_tensor,
    strict,
    tensor,
)
from dtensor.debug import CommDebugMode

ENDS = np.array([3, 3, 8], np.int32)  # one group is empty; 2 of 10 rows are in none
R, S0, S1, S2 = Replicate(), Shard(0), Shard(1), Shard(2)
SHAPES = {
    "rows": ((10, 4), (3, 4, 6)),
    "columns": ((3, 6, 4), (4, 10)),
    "sums": ((4, 10), (10, 6)),
}


def expected(a, b, ends=ENDS):
    firsts = [0, *ends[:-1]]
    groups = list(enumerate(zip(firsts, ends, strict=True)))
    if a.ndim == b.ndim:
        return np.stack([a[:, i:j] @ b[i:j] for _, (i, j) in groups])
    if b.ndim == 2:
        return expected(b.T, a.swapaxes(1, 2), ends).T
    out = np.zeros((len(a), b.shape[2]), np.result_type(a, b))
    for k, (i, j) in groups:
        out[i:j] = a[i:j] @ b[k]
    return out


def operands(name, dtype="d"):
    rng = np.random.default_rng(5)
    return [rng.standard_normal(shape).astype(dtype) for shape in SHAPES[name]]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("name", SHAPES)
def test_each_group_has_its_matrix(name, dtype):
    a, b = operands(name, dtype)
    out = np.asarray(F.grouped_mm(tensor(a), tensor(b), offs=ENDS))
    wide = expected(a.astype("d"), b.astype("d"))
    error = {"float64": 1e-13, "float32": 1e-5, "float16": 2e-3}[dtype]
    assert out.dtype == dtype
    np.testing.assert_allclose(out, wide, error, error)


@pytest.mark.parametrize("name", SHAPES)
def test_gradients_of_first_and_second_order_are_those_of_differences(name):
    words = {"rows": "d10,2 d3,2,3", "columns": "d3,2,3 d3,10", "sums": "d2,10 d10,3"}

    def product(a, b):
        return F.grouped_mm(a, b, offs=ENDS)

    gradcheck.check(product, words[name], meshes=((2,), (2, 2)), most=4, second=True)


@pytest.mark.parametrize(
    "name, a, b, out",
    [
        ("rows", R, S2, S1),
        ("rows", S1, S1, Partial()),
        ("columns", S1, R, S0),
        ("columns", S2, S0, Partial()),
        ("sums", S0, R, S1),
        ("sums", R, S1, S2),
        ("sums", Partial(), R, Partial()),
    ],
)
def test_dims_that_are_not_in_groups_stay_cut(ranks, name, a, b, out):
    given = operands(name)

    def body():
        mesh = line()
        x, y = (distribute_tensor(g, mesh, [R]) for g in given)
        if a.is_partial():
            part = given[0] if mesh.get_local_rank() == 0 else given[0] * 0
            x = DTensor.from_local(part, mesh, [a])
        else:
            x = distribute_tensor(given[0], mesh, [a])
        y = distribute_tensor(given[1], mesh, [b])
        with strict(), CommDebugMode() as comm:
            made = F.grouped_mm(x, y, offs=ENDS)
        assert comm.get_total_counts() == 0
        assert mesh.size() == 1 or list(made.placements) == [out]
        np.testing.assert_allclose(made.full_tensor(), expected(*given), 1e-12, 1e-12)

    ranks(body)


def test_groups_that_are_cut_are_brought_together(ranks):
    given = operands("rows")

    def body():
        mesh = line()
        x, y = (distribute_tensor(g, mesh, [S0]) for g in given)
        ends = distribute_tensor(ENDS, mesh, [S0])
        made = F.grouped_mm(x, y, offs=ends)
        np.testing.assert_allclose(made.full_tensor(), expected(*given), 1e-12, 1e-12)

    ranks(body)


def test_matrices_of_three_dims_are_multiplied_as_always():
    a, b = np.ones((2, 3, 4)), np.ones((2, 4, 5))
    assert np.array_equal(np.asarray(F.grouped_mm(a, b)), a @ b)


def test_pytorchs_older_name_is_there():
    a, b = map(torch.tensor, operands("rows", "f"))
    ends = torch.tensor(ENDS)
    out = torch._grouped_mm(a, b, ends, out_dtype=torch.float32)
    assert torch.equal(out, torch.nn.functional.grouped_mm(a, b, offs=ends))


A, B = np.ones((10, 4)), np.ones((3, 4, 6))
WRONG = [
    ((A[0], B, ENDS), {}, "mat_a has to be 2 or 3d"),
    ((A, B[0, 0], ENDS), {}, "mat_b has to be 2 or 3d"),
    ((A, B, None), {}, "Have to provide offsets"),
    ((B.swapaxes(1, 2), B, ENDS), {}, "Have to provide offsets"),
    ((A[:, 1:], B, ENDS), {}, "contraction dimension of mat_a and mat_b must match"),
    ((A.astype("f"), B, ENDS), {}, "float32 and float64"),
    ((A.astype(int), B.astype(int), ENDS), {}, "int64 and int64"),
    ((A, B, ENDS.astype(int)), {}, "Offsets have to be int32"),
    ((A, B, ENDS[None]), {}, "offs has to be 1D"),
    ((A, B, ENDS[:2]), {}, "matrix batch sizes have to match"),
    ((B.swapaxes(1, 2)[:2], B, None), {}, "batched dimension has to match"),
    ((A, B, ENDS), {"bias": np.ones(6)}, "Bias not supported yet"),
    ((A, B, ENDS), {"out_dtype": np.float32}, "output dtype must match"),
]


@pytest.mark.parametrize("args, options, words", WRONG)
def test_what_does_not_go_together_is_refused(args, options, words):
    with pytest.raises(RuntimeError, match=words):
        F.grouped_mm(*args[:2], offs=args[2], **options)
