"""The loss of labels whose times are unknown, against sums over paths in NumPy."""

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
import dtensor.torch.nn.functional as F
from dtensor import Shard, distribute_tensor


def likelihood(probs, labels, blank):
    """The sum over all paths of a sample, by dynamic programming."""
    states = [blank]
    for label in labels:
        states += [label, blank]
    reached = np.zeros(len(states))
    reached[0] = 1.0  # before the first time; the first label may begin, too
    for t, row in enumerate(probs):
        before, reached = reached, np.zeros(len(states))
        for s, state in enumerate(states):
            total = before[s]
            if s >= 1 and (t or s == 1):
                total += before[s - 1]
            if t and s >= 2 and state not in (blank, states[s - 2]):
                total += before[s - 2]
            reached[s] = total * row[state]
    if len(probs) == 0:
        return float(len(states) == 1)
    return reached[-1] + (reached[-2] if len(states) > 1 else 0)


def drawn(seed):
    rng = np.random.default_rng(seed)
    times, samples, classes, most = rng.integers((1, 1, 2, 0), (20, 6, 7, 8))
    logits = rng.normal(size=(times, samples, classes))
    blank = int(rng.integers(0, classes))
    targets = (blank + rng.integers(1, classes, (samples, most))) % classes
    lengths = (
        rng.integers(seed % 2, times + 1, samples),
        rng.integers(0, most + 1, samples),
    )
    targets[np.arange(most) >= lengths[1][:, None]] = -1  # what does not count
    return logits, targets, *lengths, blank


@pytest.mark.parametrize("seed", range(20))
def test_a_loss_is_minus_the_logarithm_of_a_sum_over_paths(seed):
    logits, targets, times, lengths, blank = drawn(seed)
    probs = torch.tensor(logits).softmax(2)
    args = (torch.tensor(targets), torch.tensor(times), torch.tensor(lengths), blank)
    with np.errstate(divide="ignore"):
        want = [
            -np.log(likelihood(probs.numpy()[:time, n], targets[n, :length], blank))
            for n, (time, length) in enumerate(zip(times, lengths, strict=True))
        ]
    found = F.ctc_loss(probs.log(), *args, "none")
    np.testing.assert_allclose(found, want, 1e-10, 1e-12)

    def loss(x):
        return F.ctc_loss(x.log_softmax(2), *args, "none", True)

    weights = torch.tensor(np.random.default_rng(seed).normal(size=len(times)))
    x = torch.tensor(logits, requires_grad=True)
    (loss(x) * weights).sum().backward()
    for step in np.random.default_rng(seed).normal(size=(3, *logits.shape)) * 1e-6:
        ends = [loss(torch.tensor(logits + sign * step)) for sign in (1, -1)]
        slope = float(((ends[0] - ends[1]) * weights).sum())
        np.testing.assert_allclose(
            2 * (x.grad.numpy() * step).sum(), slope, 1e-5, 1e-13
        )


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_other_dtypes_are_rounded_once_on_any_layout(ranks, dtype):
    logits, targets, times, lengths, blank = drawn(4)
    given = torch.tensor(logits).log_softmax(2).to(getattr(torch, dtype))
    args = (torch.tensor(targets), torch.tensor(times), torch.tensor(lengths), blank)
    wide = F.ctc_loss(given.double(), *args, "none")

    def body():
        for dim in range(3):
            x = distribute_tensor(given, line(), [Shard(dim)]).requires_grad_()
            found = F.ctc_loss(x, *args, "none")
            assert found.dtype == x.dtype
            whole = found.full_tensor().double().detach().numpy()
            scale = {"float32": 1e-6, "float16": 1e-3, "bfloat16": 1e-2}[dtype]
            np.testing.assert_allclose(whole, wide, scale)
            found.sum().backward()
            assert x.grad.dtype == x.dtype and x.grad.shape == x.shape

    ranks(body)


def test_nothing_to_do_and_labels_that_there_are_not():
    x = torch.zeros(3, 0, 4, requires_grad=True)
    none = torch.zeros((0, 2), dtype=torch.int64)
    found = F.ctc_loss(x, none, [], [], reduction="sum")
    found.backward()
    assert found == 0 and x.grad.shape == x.shape
    x = torch.zeros(2, 2, 3).log_softmax(2)
    found = F.ctc_loss(x, torch.tensor([[9], [1]]), [0, 2], [0, 1], reduction="none")
    np.testing.assert_allclose(found, [0, np.log(3)], 1e-6)
    with pytest.raises(RuntimeError, match="targets must be from 0 to 2, got 1 to 9"):
        F.ctc_loss(x, torch.tensor([[9], [1]]), [2, 2], [1, 1])
