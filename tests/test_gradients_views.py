"""Gradients of products, views, indices, sorts, decompositions and transforms.

What they are tried on: gradients_shape.py, gradients_index.py, gradients_linalg.py."""

from collections.abc import Callable
from typing import Any

import gradients_index
import gradients_linalg
import gradients_shape
import numpy as np
import pytest
from gradcheck import check, values
from gradients_cases import Case
from gradients_index import CHOSEN

import dtensor
from dtensor import (
    DeviceMesh,
    Placement,
    Replicate,
    Shard,
    distribute_tensor,
    init_device_mesh,
)
from dtensor.autograd import grad
from dtensor.debug import CommDebugMode
from dtensor.testing import run_ranks

ALL = [*gradients_shape.ROWS, *gradients_index.ROWS, *gradients_linalg.ROWS]


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_gradient_is_that_of_differences(case: Case) -> None:
    check(case.fn, case.words, second=case.second, most=3)


@pytest.mark.validate
@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")
@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_gradient_is_that_of_differences_on_any_mesh(case: Case) -> None:
    meshes = ((3,), (2, 2), (2, 3))
    check(case.fn, case.words, second=case.second, meshes=meshes, most=40)


# --- what they send -------------------------------------------------------------------

R, S0, S1, S2 = Replicate(), Shard(0), Shard(1), Shard(2)
# Operands are cut so, and so is the gradient of the result (None: as the result is).
SILENT: list[tuple[str, Callable[..., Any], str, list[Placement], Placement | None]] = [
    ("columns of a weight", np.matmul, "d8,4 d4,6", [R, S1], S1),
    ("rows of a weight", np.matmul, "d8,4 d4,6", [S1, S0], R),
    ("a batch", np.matmul, "d8,3,4 d4,6", [S0, R], S0),
    ("a sequence", np.matmul, "d3,8,4 d4,6", [S1, R], S1),
    ("columns, a batch", np.matmul, "d3,8,4 d4,6", [R, S1], S2),
    ("rows, a batch", np.matmul, "d3,8,4 d4,6", [S2, S0], R),
    ("heads", np.matmul, "d2,4,5,4 d2,4,4,6", [S1, S1], S1),
    (
        "einsum",
        lambda x, w: np.einsum("bsd,dhe->bshe", x, w),
        "d4,3,4 d4,2,6",
        [R, S1],
        S2,
    ),
    ("slice", lambda x: x[1:5], "d8,4", [S0], None),
    ("every other", lambda x: x[1::2], "d8,4", [S0], None),
    ("slice of another dim", lambda x: x[:, 1:3], "d8,4", [S0], S0),
    ("row", lambda x: x[5], "d8,4", [S0], R),
    ("rows", lambda x: x[CHOSEN], "d8,4", [S0], R),
    ("rows in order", lambda x: x[np.sort(CHOSEN)], "d8,4", [S0], None),
    ("mask", lambda x: x[x.detach() > 0], "d8,4", [S0], None),
    ("concatenate", lambda x, y: np.concatenate((x, y)), "d8,4 d4,4", [S0, S0], S0),
    ("split", lambda x: np.split(x, 2), "d8,6", [S0], None),
    ("heads of columns", lambda x: x.reshape(8, 6, 2), "d8,12", [S1], S1),
    ("broadcast", lambda x: np.broadcast_to(x, (4, 8, 6)), "d8,6", [S0], S1),
    ("repeat", lambda x: np.repeat(x, 2, 0), "d8,6", [S0], S0),
    ("sort", lambda x: np.sort(x, 1), "d8,6", [S0], S0),
    ("pad", lambda x: np.pad(x, ((1, 1), (0, 0))), "d8,6", [S0], None),
    ("norm", np.linalg.norm, "d8,6", [S0], R),
    ("rfft", np.fft.rfft, "d8,6", [S0], S0),
]


@pytest.mark.parametrize(
    "name, fn, words, cuts, cut", SILENT, ids=lambda x: str(x)[:20]
)
def test_gradients_of_what_is_cut_send_nothing(name, fn, words, cuts, cut):
    def body() -> dict[str, int]:
        mesh = init_device_mesh("cpu", (2,))
        arrays = [values(word, k) for k, word in enumerate(words.split())]
        operands = [
            placed(a, mesh, p).requires_grad_()
            for a, p in zip(arrays, cuts, strict=True)
        ]
        results = fn(*operands)
        results = list(results) if isinstance(results, list) else [results]
        grads = [placed(np.ones(y.shape, y.dtype), mesh, R) for y in results]
        grads = [
            g.redistribute(placements=y.layout if cut is None else [cut])
            for g, y in zip(grads, results, strict=True)
        ]
        with CommDebugMode() as comm:
            grad(results, operands, grads)
        return comm.get_comm_counts()

    assert run_ranks(2, body) == [{}, {}]


def placed(array: np.ndarray, mesh: DeviceMesh, placement: Placement) -> Any:
    return distribute_tensor(array, mesh, [placement], src_data_rank=None)


# --- where formulas are not enough ----------------------------------------------------


def gradient(fn: Callable[..., Any], array: Any) -> list[Any]:
    x = dtensor.tensor(np.asarray(array, float), requires_grad=True)
    fn(x).sum().backward()
    found: list[Any] = x.grad.tolist()
    return found


@pytest.mark.parametrize("order", [0.5, 1, 2, 3, np.inf])
def test_the_gradient_of_a_norm_is_zero_where_all_is_zero(order):
    def norm(x: Any) -> Any:
        return np.linalg.vector_norm(x, ord=order, axis=1)

    assert gradient(norm, np.zeros((2, 3))) == [[0] * 3] * 2


def test_the_determinant_of_a_singular_matrix_has_a_gradient():
    found = gradient(np.linalg.det, [[1, 2, 3], [2, 4, 6], [1, 0, 1]])
    np.testing.assert_allclose(found, [[4, 4, -4], [-2, -2, 2], [0, 0, 0]], atol=1e-12)
    assert gradient(np.linalg.det, np.zeros((3, 3))) == [[0] * 3] * 3


def test_equal_eigenvalues_do_not_spoil_the_gradient_of_their_sum():
    for values_of in (np.linalg.eigvalsh, lambda x: np.linalg.eigh(x)[0]):
        np.testing.assert_allclose(gradient(values_of, np.eye(3)), np.eye(3))
    np.testing.assert_allclose(gradient(np.linalg.svdvals, np.eye(3)), np.eye(3))


def test_what_is_not_linear_in_the_elements_is_not_padded_with_a_gradient():
    for mode in ("maximum", "minimum", "median"):
        with pytest.raises(NotImplementedError, match=f"pad in mode '{mode}'"):
            gradient(lambda x, mode=mode: np.pad(x, 2, mode), np.arange(4))


def test_the_gradient_of_a_view_as_integers_is_refused():
    x = dtensor.tensor(np.ones(4), requires_grad=True)
    assert not x.view("i8").requires_grad
    with pytest.raises(NotImplementedError, match="seen as float32"):
        x.view("f4").sum().backward()


def test_a_write_is_recorded_and_one_into_a_leaf_refused():
    x = dtensor.tensor(np.ones(4), requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        np.put(x, [1], 2.0)
    with dtensor.no_grad():
        np.put(x, [1], 2.0)
        x.masked_fill_(np.array([True, False, False, False]), 5.0)
    assert x.tolist() == [5, 2, 1, 1]
    y = x * x
    np.put_along_axis(y, np.array([0]), 3.0, 0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z = np.exp(y)
        z[0] = 0
        z.sum().backward()
