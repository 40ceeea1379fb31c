"""Products of bfloat16: sums in float32, rounded once, whatever the processor has."""

import ml_dtypes
import numpy as np
import pytest
from meshes import line

import dtensor
from dtensor import Replicate, Shard, distribute_tensor
from dtensor.nn import functional as F

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
SHAPES = [
    ((3, 4), (4, 5)),
    ((1, 70), (70, 1)),
    ((40, 600), (600, 33)),
    ((0, 4), (4, 5)),
    ((3, 0), (0, 5)),
    ((3, 4), (4, 0)),
    ((2, 3, 40, 20), (20, 50)),
    ((2, 1, 40, 20), (3, 20, 50)),
    ((40, 20), (2, 3, 20, 50)),
    ((2, 0, 4, 3), (3, 4)),
    ((4,), (4, 3)),
    ((2, 3, 4), (4,)),
]
VIEWS = {
    "whole": lambda x: x,
    "transposed": lambda x: x.mT.copy().mT if x.ndim > 1 else x,
    "reversed": lambda x: x[..., ::-1].copy()[..., ::-1],
    "stepped": lambda x: np.repeat(x, 2, -1)[..., ::2],
    "rows of many": lambda x: np.repeat(x, 3, 0)[::3],
}


def integers(seed, shape):
    """Numbers whose products, added up, float32 has exactly."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(BFLOAT16)


def numbers(seed, shape):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape).astype(BFLOAT16)


def exact(a, b, bias=0):
    """The product in float64, rounded once."""
    product = a.astype(float) @ b.astype(float) + np.asarray(bias).astype(float)
    return np.asarray(product).astype(BFLOAT16)


def check(found, wanted):
    assert found.dtype == BFLOAT16
    np.testing.assert_array_equal(
        np.asarray(found).astype(float), wanted.astype(float), strict=True
    )


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_sums_of_integers_are_exact(shapes, view, level, threads):
    threads(1 + level % 2)
    a, b = (VIEWS[view](integers(k, shape)) for k, shape in enumerate(shapes))
    check(dtensor.as_tensor(a) @ dtensor.as_tensor(b), exact(a, b))


@pytest.mark.parametrize("shape", [(5, 40), (2, 7, 40), (300, 40), (0, 40)], ids=str)
def test_a_bias_is_added_before_the_sum_is_rounded(shape, level, threads):
    threads(1 + level % 2)
    x, weight, bias = integers(0, shape), integers(1, (70, 40)), integers(2, 70)
    found = F.linear(*map(dtensor.as_tensor, (x, weight, bias)))
    check(found, exact(x, weight.T, bias))
    twice = exact(x, weight.T).astype(float) + bias.astype(float)
    if x.size:  # the case is none if that makes no difference
        assert (twice.astype(BFLOAT16) != np.asarray(found)).any()


def test_gradients_of_products(level):
    a, b, bias = integers(0, (6, 5, 40)), integers(1, (33, 40)), integers(2, 33)
    grad = integers(3, (6, 5, 33))
    x, weight, shift = (dtensor.tensor(v, requires_grad=True) for v in (a, b, bias))
    F.linear(x, weight, shift).backward(dtensor.tensor(grad))
    rows, flat = a.reshape(30, 40), grad.reshape(30, 33)
    check(x.grad, exact(flat, b).reshape(a.shape))
    check(weight.grad, exact(flat.T, rows))
    x, y = (dtensor.tensor(v, requires_grad=True) for v in (rows, rows.T.copy()))
    (x @ y).backward(dtensor.tensor(integers(4, (30, 30))))
    check(x.grad, exact(integers(4, (30, 30)), rows))
    check(y.grad, exact(rows.T, integers(4, (30, 30))))


CONTRACTIONS = [
    ("ij,jk->ik", (5, 40), (40, 33)),
    ("ij,jk->ki", (5, 40), (40, 33)),
    ("bhqd,bhkd->bhqk", (2, 3, 17, 20), (2, 3, 33, 20)),
    ("bhqk,bhkd->qbhd", (2, 3, 17, 20), (2, 3, 20, 7)),
    ("bnd,hdk->bhnk", (2, 9, 20), (3, 20, 7)),
    ("i,j->ij", (7,), (5,)),
    ("i,i->", (70,), (70,)),
    ("...ij,...jk", (2, 3, 4), (2, 4, 5)),
    ("bij,bjk->ik", (3, 4, 5), (3, 5, 6)),
    ("ij,jk->ik", (5, 0), (0, 3)),
    ("ii,ij->j", (5, 5), (5, 3)),  # the last three are no products of matrices
    ("ij,kl->il", (5, 4), (3, 6)),
    ("bij,bjk->bik", (1, 4, 5), (3, 5, 6)),
]


@pytest.mark.parametrize("text, of_a, of_b", CONTRACTIONS)
def test_contractions_are_products(text, of_a, of_b, level):
    a, b = integers(0, of_a), integers(1, of_b)
    wanted = np.einsum(text, a.astype(float), b.astype(float)).astype(BFLOAT16)
    check(np.einsum(text, dtensor.as_tensor(a), dtensor.as_tensor(b)), wanted)


@pytest.mark.parametrize("axes", [0, 1, 2, ((0,), (2,)), ((2, 0), (0, 1))], ids=str)
def test_products_over_pairs_of_dims(axes, level):
    lengths = {0: (3, 4, 5), 1: (5, 2, 3), 2: (4, 5, 2)}
    shape = lengths.get(axes, (5, 3, 3)) if isinstance(axes, int) else (5, 3, 3)
    a, b = integers(0, (3, 4, 5)), integers(1, shape)
    x, y = dtensor.as_tensor(a), dtensor.as_tensor(b)
    wanted = np.tensordot(a.astype(float), b.astype(float), axes)
    check(np.tensordot(x, y, axes), wanted.astype(BFLOAT16))
    for function in (np.dot, np.inner):
        a, b = integers(0, (3, 4, 5)), integers(1, (2, 5, 5))
        wanted = function(a.astype(float), b.astype(float)).astype(BFLOAT16)
        check(function(dtensor.as_tensor(a), dtensor.as_tensor(b)), wanted)


CONVOLUTIONS = [  # x, weight, stride, padding, dilation, groups
    ((2, 9, 11), (16, 9, 3), 1, 1, 1, 1),
    ((2, 8, 9, 10), (16, 8, 3, 3), 1, 1, 1, 1),
    ((2, 8, 9, 10), (16, 8, 3, 3), 2, 0, 2, 1),
    ((3, 16, 7, 7), (20, 8, 3, 2), 1, 1, 1, 2),
    ((2, 16, 7, 7), (24, 16, 1, 1), 1, 0, 1, 1),
    ((2, 8, 4, 5, 6), (9, 8, 2, 2, 2), 1, 1, 1, 1),
    ((2, 8, 9, 10), (8, 1, 3, 3), 1, 1, 1, 8),  # the last two are computed in float32
    ((2, 8, 9, 10), (4, 2, 3, 3), 1, 1, 1, 4),
]


@pytest.mark.parametrize("case", CONVOLUTIONS, ids=str)
def test_convolutions_and_their_gradients_are_rounded_once(case, level):
    of_x, of_weight, *options = case
    convolve = getattr(F, f"conv{len(of_x) - 2}d")
    a, b, c = integers(0, of_x), integers(1, of_weight), integers(2, of_weight[0])
    found, wanted = [], []
    for dtype, into in ((BFLOAT16, found), (np.dtype(float), wanted)):
        xs = [dtensor.tensor(v.astype(dtype), requires_grad=True) for v in (a, b, c)]
        y = convolve(*xs, *options)
        y.backward(dtensor.tensor(integers(3, y.shape).astype(dtype)))
        into += [y.detach(), *(x.grad for x in xs)]
    for x, y in zip(found, wanted, strict=True):
        check(x, np.asarray(y).astype(BFLOAT16))


def test_threads_change_no_bit(threads):
    for m, n in ((700, 90), (90, 700), (1, 2000)):
        a, b = numbers(0, (m, 600)), numbers(1, (600, n))
        x, y = dtensor.as_tensor(a), dtensor.as_tensor(b)
        found = []
        for count in (1, 2, 3):
            threads(count)
            found.append(np.asarray(x @ y).tobytes())
        assert found[0] == found[1] == found[2]
        wanted = a.astype(float) @ b.astype(float)
        np.testing.assert_allclose(
            np.frombuffer(found[0], BFLOAT16).astype(float), wanted.ravel(), 8e-3, 1e-3
        )


def test_a_cut_of_rows_or_columns_changes_no_bit(ranks):
    def body():
        mesh = line()
        a, b = numbers(0, (2, 37, 300)), numbers(1, (300, 41))
        bias = numbers(2, 41)
        whole = np.asarray(dtensor.as_tensor(a) @ dtensor.as_tensor(b))
        affine = np.asarray(F.linear(*map(dtensor.as_tensor, (a, b.T, bias))))
        layouts = [(Shard(d), Replicate()) for d in range(2)] + [
            (Replicate(), Shard(1))
        ]
        for of_a, of_b in layouts:
            x = distribute_tensor(a, mesh, [of_a])
            y = distribute_tensor(b, mesh, [of_b])
            weight = distribute_tensor(
                b.T.copy(), mesh, [Shard(0) if of_b == Shard(1) else Replicate()]
            )
            shift = distribute_tensor(bias, mesh, [Replicate()])
            assert (x @ y).full_tensor().tobytes() == whole.tobytes()
            found = F.linear(x, weight, shift).full_tensor()
            assert found.tobytes() == affine.tobytes()

    ranks(body)
