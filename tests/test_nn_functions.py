"""Functions of layers refuse what PyTorch refuses, and take what is unusual."""

import numpy as np
import pytest
from layer_rows import CLASSES, IMAGE, INDICES, LINES, SIGNS, X
from meshes import line

from dtensor import Shard, distribute_tensor, nn, tensor

F = nn.functional
x, image, lines = tensor(X), tensor(IMAGE), tensor(LINES)
long = np.int64

REFUSED = {
    "margin_ranking_loss": (
        RuntimeError,
        "should have same dimension",
        lambda: F.margin_ranking_loss(x, x[0], x),
    ),
    "no reduction": (
        ValueError,
        "is not a valid value",
        lambda: F.soft_margin_loss(x, x, reduction="all"),
    ),
    "cosine_embedding_loss": (
        RuntimeError,
        "0D or 1D target",
        lambda: F.cosine_embedding_loss(x, x, x),
    ),
    "a negative variance": (
        ValueError,
        "var has negative",
        lambda: F.gaussian_nll_loss(x, x, -abs(x) - 1),
    ),
    "a variance of other shape": (
        ValueError,
        "var is of incorrect size",
        lambda: F.gaussian_nll_loss(x, x, abs(x[:, :3])),
    ),
    "a margin of 0": (ValueError, "greater than 0", lambda: nn.TripletMarginLoss(0)),
    "triplets": (
        RuntimeError,
        "same number of dim",
        lambda: F.triplet_margin_loss(x, x, x[0]),
    ),
    "p": (ValueError, "only p == 1 and p == 2", lambda: nn.MultiMarginLoss(3)),
    "no such class": (
        RuntimeError,
        "target out of range",
        lambda: F.multi_margin_loss(x, tensor(CLASSES + 5)),
    ),
    "no such label": (
        RuntimeError,
        "'target' is out of range",
        lambda: F.multilabel_margin_loss(x, tensor(np.full(X.shape, -2))),
    ),
    "too few classes": (
        RuntimeError,
        "inconsistent target size",
        lambda: F.multi_margin_loss(x, tensor(CLASSES[:3])),
    ),
    "reflect": (
        RuntimeError,
        "Padding size should be less",
        lambda: F.pad(lines, (7, 0), "reflect"),
    ),
    "circular": (
        RuntimeError,
        "wrapping around more than once",
        lambda: F.pad(lines, (8, 0), "circular"),
    ),
    "CircularPad2d": (
        ValueError,
        r"expected 3D or 4D input \(got 2D",
        lambda: nn.CircularPad2d(1)(x),
    ),
    "pixel_shuffle": (
        RuntimeError,
        "divisible by the square",
        lambda: F.pixel_shuffle(image, 3),
    ),
    "pixel_unshuffle": (
        RuntimeError,
        "expects height to be divisible",
        lambda: F.pixel_unshuffle(image, 3),
    ),
    "channel_shuffle": (
        RuntimeError,
        "divisible by groups",
        lambda: F.channel_shuffle(image, 3),
    ),
    "Softmax2d": (ValueError, "3D or 4D, got 2D", lambda: nn.Softmax2d()(x)),
    "instance_norm": (
        ValueError,
        "more than 1 spatial",
        lambda: F.instance_norm(lines[..., :1]),
    ),
    "no running means": (
        RuntimeError,
        "to be defined",
        lambda: F.instance_norm(lines, use_input_stats=False),
    ),
    "InstanceNorm1d": (
        ValueError,
        "to match num_features",
        lambda: nn.InstanceNorm1d(5, affine=True)(lines),
    ),
    "local_response_norm": (
        ValueError,
        "3D or higher",
        lambda: F.local_response_norm(x, 2),
    ),
    "corners": (
        ValueError,
        "align_corners option",
        lambda: F.interpolate(image, 2, align_corners=True),
    ),
    "size and factor": (
        ValueError,
        "only one of size",
        lambda: F.interpolate(image, 2, 2),
    ),
    "neither": (ValueError, "either size or", lambda: F.interpolate(image)),
    "two sizes for one dim": (
        ValueError,
        "same number of spatial",
        lambda: F.interpolate(lines, (2, 3)),
    ),
    "a mode of images": (
        NotImplementedError,
        "Got 3D input, but bilinear mode needs 4D",
        lambda: F.interpolate(lines, 3, mode="bilinear"),
    ),
    "no such mode": (
        NotImplementedError,
        r"\(got cubic\)",
        lambda: F.interpolate(image, 3, mode="cubic"),
    ),
    "a size of 0": (
        RuntimeError,
        "greater than 0",
        lambda: F.interpolate(image, (0, 3)),
    ),
    "integers": (
        NotImplementedError,
        "not implemented for int64",
        lambda: F.interpolate(tensor(np.ones((1, 1, 4), long)), 2),
    ),
    "smooth lines": (
        ValueError,
        "Anti-alias",
        lambda: F.interpolate(lines, 2, mode="linear", antialias=True),
    ),
    "no offsets": (
        ValueError,
        "offsets has to be a 1D",
        lambda: F.embedding_bag(tensor(INDICES), x),
    ),
    "an offset of 1": (
        RuntimeError,
        "has to be 0",
        lambda: F.embedding_bag(tensor(INDICES), x, tensor([1])),
    ),
    "an offset behind the end": (
        RuntimeError,
        "can not be greater",
        lambda: F.embedding_bag(tensor(INDICES), x, tensor([0, 9])),
    ),
    "no such row": (
        RuntimeError,
        "not in the valid range",
        lambda: F.embedding_bag(tensor(INDICES + 9), x, tensor([0])),
    ),
    "weights for a mean": (
        NotImplementedError,
        "only supported for mode='sum'",
        lambda: F.embedding_bag(
            tensor(CLASSES[None] % 4), x, per_sample_weights=x[:1, :4]
        ),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_torch_refuses_is_refused(name):
    kind, words, call = REFUSED[name]
    with pytest.raises(kind, match=words):
        call()


def test_a_wrong_class_is_refused_on_all_ranks(ranks):
    def body():
        mesh = line()
        scores = distribute_tensor(X, mesh, [Shard(0)])
        wrong = distribute_tensor(np.where(SIGNS == 1, CLASSES, 6), mesh, [Shard(0)])
        with pytest.raises(RuntimeError, match="target out of range"):
            F.multi_margin_loss(scores, wrong)
        with pytest.raises(RuntimeError, match="not in the valid range"):
            F.embedding_bag(wrong[:, None], scores, mode="sum")

    ranks(body)


def test_unusual_arguments():
    one = F.multi_margin_loss(x[0], tensor(1), reduction="none")
    assert one.shape == () and one == F.multi_margin_loss(x[:1], tensor([1]))
    assert F.multi_margin_loss(x[0], tensor([1]), reduction="none").shape == (1,)
    assert F.multilabel_margin_loss(x[0], tensor([1] * 6)).shape == ()
    assert F.gaussian_nll_loss(x, x, 1.0) == 0
    empty = tensor(np.zeros(0, long))
    assert F.embedding_bag(empty, x, empty).shape == (0, 6)
    assert not np.asarray(F.embedding_bag(empty, x, tensor([0, 0]))).any()
    assert np.array_equal(F.interpolate(image, (4, 6), mode="bilinear"), image)
    byte = tensor(np.arange(4, dtype=np.uint8)[None, None])
    assert F.interpolate(byte, scale_factor=2).tolist() == [[[0, 0, 1, 1, 2, 2, 3, 3]]]
    assert F.local_response_norm(lines[:0], 3).shape == (0, 4, 7)
    bag = nn.EmbeddingBag.from_pretrained(x, mode="sum")
    assert bag.weight.requires_grad is False
    assert np.array_equal(bag(tensor([[0, 2]]))[0], x[0] + x[2])


def test_a_row_of_bags_is_counted_as_often_as_it_is_named():
    table = tensor(np.arange(8.0).reshape(4, 2), requires_grad=True)
    numbers, starts = tensor([0, 1, 1, 3, 1]), tensor([0, 3])
    options = {"mode": "sum", "scale_grad_by_freq": True, "padding_idx": 3}
    out = F.embedding_bag(numbers, table, starts, **options)
    assert out.tolist() == [[4.0, 7.0], [2.0, 3.0]]
    out.sum().backward()
    assert table.grad[:, 0].tolist() == [1.0, 1.0, 0.0, 0.0]
    F.embedding_bag(numbers, table, starts, max_norm=1.0)
    norms = np.linalg.norm(np.asarray(table.detach()), axis=1)
    np.testing.assert_allclose(norms, [1, 1, norms[2], 1], 1e-6)


def test_running_averages_of_instances():
    array = np.sin(np.arange(60.0)).reshape(3, 4, 5)
    layer = nn.InstanceNorm1d(4, track_running_stats=True, momentum=0.3).double()
    layer(tensor(array))
    mean, var = array.mean(2).mean(0), array.var(2, ddof=1).mean(0)
    np.testing.assert_allclose(layer.running_mean, 0.3 * mean, 1e-12)
    np.testing.assert_allclose(layer.running_var, 0.7 + 0.3 * var, 1e-12)
    want = (array - 0.3 * mean[:, None]) / np.sqrt(0.7 + 0.3 * var + 1e-5)[:, None]
    np.testing.assert_allclose(layer.eval()(tensor(array)), want, 1e-12)
