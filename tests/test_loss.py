"""Losses: what torch's options mean, layouts and traffic, and what is refused.

Values are compared with NumPy's in tests/samples_loss.py, for all placements."""

import math

import numpy as np
import pytest
from gradcheck import check
from meshes import line, square

import dtensor
from dtensor import DTensor, Partial, Replicate, Shard, distribute_tensor, tensor
from dtensor.debug import CommDebugMode
from dtensor.ops import cross_entropy, nll_loss
from dtensor.ops.model.softmax import log_softmax
from dtensor.parallel.loss import loss_parallel

R, S0, S1, P = Replicate(), Shard(0), Shard(1), Partial()
N, C = 13, 50  # no number of ranks divides both
RNG = np.random.default_rng(5)
LOGITS = RNG.standard_normal((N, C)) * 3
TARGETS = RNG.integers(0, C, N)
TARGETS[[2, 7]] = -100
WEIGHT = RNG.uniform(0.5, 2, C)


def placed(array, mesh, *placements):
    return distribute_tensor(array, mesh, placements, src_data_rank=None)


def expected(reduction="mean", weight=None, smoothing=0.0):
    """The loss of LOGITS and its gradient."""
    logs = LOGITS - np.log(np.exp(LOGITS).sum(1, keepdims=True))
    valid = TARGETS >= 0
    w = np.ones(C) if weight is None else weight
    one = np.zeros((N, C))
    one[valid, TARGETS[valid]] = 1
    share = ((1 - smoothing) * one + smoothing / C * valid[:, None]) * w
    total = (one * w).sum() if reduction == "mean" else 1
    losses = -(share * logs).sum(1)
    grad = (share.sum(1, keepdims=True) * np.exp(logs) - share) / total
    return (losses if reduction == "none" else losses.sum() / total), grad


def close(got, wanted):
    got = got.detach()
    got = got.full_tensor() if isinstance(got, DTensor) else got
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-13)


# --- classes --------------------------------------------------------------------------


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_a_loss_is_that_of_one_process_however_it_is_cut(
    ranks, reduction, weight, smoothing
):
    loss, grad = expected(reduction, weight, smoothing)

    def body():
        mesh = square()
        for places in ([S0, S1], [S1, S0], [R, S1], [S1, S1], [S0, S0], [R, R]):
            x = placed(LOGITS, mesh, *places).requires_grad_()
            options = {"reduction": reduction, "label_smoothing": smoothing}
            y = cross_entropy(x, TARGETS, weight, **options)
            close(y, loss)
            y.backward(placed(np.ones(N), mesh, R, R) if reduction == "none" else None)
            close(x.grad, grad)
            assert x.grad.placements == tuple(places)

    ranks(body)


def test_a_mean_of_uneven_batches_is_that_of_all_rows(ranks):
    def body():
        mesh = line()
        x = placed(LOGITS, mesh, S0).requires_grad_()
        t = placed(TARGETS, mesh, S0)
        with CommDebugMode() as comm:
            y = cross_entropy(x, t)
        sent = {"all_reduce": 1} if mesh.size() > 1 else {}
        assert comm.get_comm_counts() == sent, "the number of rows that count"
        loss, grad = expected()
        close(y, loss)
        with CommDebugMode() as comm:
            y.backward()
        assert comm.get_total_counts() == 0
        close(x.grad, grad)

    ranks(body)


def loss_bytes(comm):
    return sum(entry.bytes for entry in comm.get_comm_details().values())


@pytest.mark.parametrize("inside", [False, True])
def test_two_numbers_of_each_row_are_all_reduced_and_no_logits(ranks, inside):
    def body():
        mesh = line()
        x = placed(LOGITS, mesh, S1).requires_grad_()
        with loss_parallel() if inside else dtensor.enable_grad():
            with CommDebugMode() as comm:
                y = cross_entropy(x, TARGETS)
            counts = comm.get_comm_counts()
            assert set(counts) <= {"all_reduce"}
            assert counts["all_reduce"] == (2 + inside if mesh.size() > 1 else 0)
            with CommDebugMode() as comm:
                y.backward()
            assert comm.get_total_counts() == 0
        loss, grad = expected()
        close(y, loss)
        close(x.grad, grad)
        assert x.grad.placements == (S1,)
        if inside:
            assert y.placements == (R,)

    ranks(body)


def test_loss_parallel_takes_rank_local_targets_and_ends_with_its_block(ranks):
    def body():
        mesh = line()
        x = placed(LOGITS, mesh, S1)
        targets, weight = tensor(TARGETS), tensor(WEIGHT)
        with loss_parallel():
            close(cross_entropy(x, targets, weight), expected(weight=WEIGHT)[0])
            logs = log_softmax(x, 1)
            assert logs.placements == (S1,)
            close(nll_loss(logs, targets), expected()[0])
        with pytest.raises(RuntimeError, match="got mixed Tensor and DTensor"):
            cross_entropy(x, targets)
        with pytest.raises(KeyError), loss_parallel():
            raise KeyError
        with pytest.raises(RuntimeError, match="got mixed Tensor and DTensor"):
            cross_entropy(x, targets)

    ranks(body)


def test_loss_parallel_refuses_what_torch_refuses(ranks):
    def body():
        mesh = square()
        with loss_parallel():
            for places in ([S0, R], [R, R], [S1, S1]):
                with pytest.raises(ValueError, match="exactly one mesh dim to shard"):
                    cross_entropy(placed(LOGITS, mesh, *places), TARGETS)
            both = placed(LOGITS, mesh, S0, S1)
            with pytest.raises(ValueError, match="requires a DTensor"):
                cross_entropy(both, tensor(TARGETS))
            close(cross_entropy(both, TARGETS), expected()[0])

    ranks(body)


def test_addends_of_logits_are_moved_once(ranks):
    def body():
        mesh = line()
        x = DTensor.from_local(LOGITS / mesh.size(), mesh, [P])
        with CommDebugMode() as comm:
            y = cross_entropy(x, TARGETS, reduction="sum")
        sent = {"reduce_scatter": 1} if mesh.size() > 1 else {}
        assert comm.get_comm_counts() == sent
        close(y, expected("sum")[0])

    ranks(body)


def test_rows_that_do_not_count_add_nothing():
    x = tensor(LOGITS[:3], requires_grad=True)
    none = np.full(3, 7)
    assert math.isnan(cross_entropy(x, none, ignore_index=7).item())
    y = cross_entropy(x, none, ignore_index=7, reduction="sum")
    assert y.item() == 0
    y.backward()
    assert not np.asarray(x.grad).any()
    assert math.isnan(cross_entropy(x[:0], none[:0], ignore_index=7).item())


def test_a_single_row_and_rows_of_images_are_right():
    logs = np.log(np.array([0.25, 0.5, 0.25]))
    close(cross_entropy(logs, np.array(1)), math.log(2))
    close(cross_entropy(logs, np.array(1), reduction="none"), math.log(2))
    image = np.moveaxis(np.broadcast_to(logs, (2, 4, 5, 3)), -1, 1)
    close(cross_entropy(image, np.ones((2, 4, 5), int)), math.log(2))


def test_probabilities_are_targets_too():
    p = np.exp(LOGITS[::-1] / 3)
    p /= p.sum(1, keepdims=True)
    logs = LOGITS - np.log(np.exp(LOGITS).sum(1, keepdims=True))
    close(cross_entropy(LOGITS, p), -(p * logs).sum() / N)
    close(cross_entropy(LOGITS, p, WEIGHT), -(p * logs * WEIGHT).sum() / N)
    smooth = p * 0.9 + 0.1 / C
    close(cross_entropy(LOGITS, p, label_smoothing=0.1), -(smooth * logs).sum() / N)
    check(lambda x, t: cross_entropy(x, t), "d3,4 d3,4:unit")


@pytest.mark.parametrize("dtype", "efdg")
def test_dtypes_are_those_of_the_logits(dtype):
    x = tensor(LOGITS.astype(dtype), requires_grad=True)
    y = cross_entropy(x, TARGETS.astype("i4"))
    y.backward()
    assert y.dtype == x.grad.dtype == dtype
    loss, grad = expected()
    eps = max(np.finfo(dtype).eps, np.finfo("d").eps)
    np.testing.assert_allclose(y.item(), loss, rtol=20 * eps)
    np.testing.assert_allclose(np.asarray(x.grad).astype("d"), grad, atol=20 * eps)


def test_a_target_that_is_no_class_is_an_error_on_every_rank(ranks):
    def body():
        mesh = line()
        wrong = np.where(TARGETS < 0, 0, TARGETS)
        wrong[-1] = C
        x = placed(LOGITS, mesh, S0)
        with pytest.raises(IndexError, match=f"Target {C} is out of bounds"):
            cross_entropy(x, placed(wrong, mesh, S0))
        close(cross_entropy(x, TARGETS), expected()[0])

    ranks(body)


def test_what_does_not_fit_is_refused():
    x, t = LOGITS, np.zeros(N, int)
    with pytest.raises(ValueError, match=r"batch_size \(13\) to match .* \(4\)"):
        cross_entropy(x, t[:4])
    with pytest.raises(RuntimeError, match="Expected target size"):
        cross_entropy(np.ones((2, 3, 4)), np.zeros((2, 5), int))
    with pytest.raises(RuntimeError, match="all 50 classes or no classes"):
        cross_entropy(x, t, np.ones(4))
    with pytest.raises(ValueError, match="median is not a valid value for reduction"):
        cross_entropy(x, t, reduction="median")
    with pytest.raises(RuntimeError, match="label_smoothing must be between"):
        cross_entropy(x, t, label_smoothing=1.5)
    with pytest.raises(RuntimeError, match="expected integer targets"):
        cross_entropy(x, t.astype("d"))
    with pytest.raises(RuntimeError, match="ignore_index is not supported for float"):
        cross_entropy(x, x, ignore_index=1)
    weight = tensor(np.ones(C), requires_grad=True)
    with pytest.raises(NotImplementedError, match="derivative for 'weight'"):
        cross_entropy(x, t, weight, reduction="sum").backward()


def test_older_arguments_are_understood():
    for older, reduction in (
        ({"size_average": False}, "sum"),
        ({"reduce": False}, "none"),
        ({"size_average": True}, "mean"),
    ):
        with pytest.warns(UserWarning, match=f"use reduction='{reduction}'"):
            close(cross_entropy(LOGITS, TARGETS, **older), expected(reduction)[0])


# --- numbers --------------------------------------------------------------------------


def test_the_mean_of_cut_numbers_is_partial_and_sends_nothing(ranks):
    def body():
        mesh = line()
        x = placed(LOGITS, mesh, S0).requires_grad_()
        t = placed(LOGITS * 0.5, mesh, S0)
        with CommDebugMode() as comm:
            y = dtensor.mse_loss(x, t)
            y.backward()
        assert comm.get_total_counts() == 0
        close(y, np.mean((LOGITS / 2) ** 2))
        close(x.grad, LOGITS / LOGITS.size)

    ranks(body)


def test_gradients_of_probabilities_are_those_of_differences():
    for reduction in ("none", "sum", "mean"):

        def bce(x, t, r=reduction):
            return dtensor.binary_cross_entropy(abs(x), t, reduction=r)

        check(bce, "d4,3:unit d4,3:unit", second=reduction != "sum")
    check(
        lambda x, t, w: dtensor.binary_cross_entropy(abs(x), t, w),
        "d4,3:unit d4,3:unit d4,3:pos",
    )
    check(lambda x, t: dtensor.kl_div(x, abs(t), reduction="sum"), "d4,3 d4,3:unit")


def test_logarithms_of_0_are_limited():
    x, t = np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0, 0.0])
    y = dtensor.binary_cross_entropy(x, t, reduction="none")
    assert np.asarray(y).tolist() == [0, 0, 100, 100]
    y = dtensor.kl_div(np.zeros(2), np.array([0.0, 1.0]), reduction="sum")
    assert y.item() == 0


def test_numbers_are_broadcast_with_a_warning():
    with pytest.warns(UserWarning, match="different to the input size"):
        y = dtensor.mse_loss(LOGITS, WEIGHT)
    close(y, np.mean((LOGITS - WEIGHT) ** 2))
    with pytest.raises(ValueError, match="is deprecated. Please ensure"):
        dtensor.binary_cross_entropy(LOGITS, WEIGHT)
    with pytest.raises(ValueError, match="must be the same as input size"):
        dtensor.binary_cross_entropy_with_logits(LOGITS, WEIGHT)
    with pytest.raises(ValueError, match="Weights and input must have the same size"):
        dtensor.l1_loss(LOGITS, LOGITS, weight=WEIGHT)


def test_weights_divide_a_mean_of_squares_and_not_of_hubers():
    w = np.abs(LOGITS) + 1
    y = dtensor.mse_loss(LOGITS, 0 * LOGITS, weight=w)
    close(y, np.average(LOGITS**2, weights=w))
    y = dtensor.huber_loss(LOGITS, 0 * LOGITS, delta=100.0, weight=w)
    close(y, np.mean(LOGITS**2 / 2 * w))


def test_the_mean_of_kl_div_warns_and_batchmean_does_not(recwarn):
    p = np.full((2, 4), 0.25)
    close(dtensor.kl_div(np.log(p) - 1, p, reduction="batchmean"), 1)
    assert not recwarn
    with pytest.warns(UserWarning, match="'batchmean' divides only by the batch size"):
        close(dtensor.kl_div(np.log(p) - 1, p), 0.25)


def test_widths_that_make_no_sense_are_refused():
    x = np.ones(3)
    with pytest.raises(RuntimeError, match="does not support negative values for beta"):
        dtensor.smooth_l1_loss(x, x, beta=-1.0)
    with pytest.raises(RuntimeError, match="non-positive values for delta"):
        dtensor.huber_loss(x, x, delta=0.0)
    close(dtensor.smooth_l1_loss(x, 3 * x, beta=0.0), 2)
    with pytest.raises(TypeError, match="not defined for complex numbers"):
        dtensor.mse_loss(x + 1j, x)
    assert math.isnan(dtensor.mse_loss(x[:0], x[:0]).item())
