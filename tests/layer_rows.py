"""Layers and functions that are tried on every layout, and what PyTorch gives for them.

``python tests/layer_rows.py`` under a Python that has PyTorch writes the numbers that
are compared: for results and gradients, the sum of all elements, each times another
weight.
"""

import json
import math
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data" / "torch_layers.json"


def drawn(*shape):
    size = math.prod(shape)
    return np.random.default_rng(size).standard_normal(shape)


def seed_of(out):
    """What the sum of a result is weighted with."""
    return np.cos(np.arange(math.prod(out.shape))).reshape(out.shape)


SIGNS = np.array([1, -1, -1, 1])
CLASSES = np.array([2, 0, 5, 3])
LABELS = np.array(
    [[3, 0, -1, 1, 2, 4], [-1] * 6, [5, 4, 3, 2, 1, 0], [2, 2] + [-1] * 4]
)
MANY = np.stack([SIGNS, SIGNS[::-1], -SIGNS, SIGNS, SIGNS, -SIGNS], 1)
X, Y, Z = drawn(4, 6), drawn(6, 4).T + 0.5, drawn(24)[::-1].reshape(4, 6)
INDICES = np.array([4, 2, 0, 1, 1, 3, 2])
BAGS = np.array([[0, 2, 1], [4, 2, 0], [1, 1, 1]])
STARTS = np.array([0, 3, 3, 5])


# name -> a function of the namespace of modules that gives one, or a function;
# and the arrays that it is called with.
LOSSES = {
    "PoissonNLLLoss": (lambda nn: nn.PoissonNLLLoss(full=True), X, abs(Y) * 3),
    "PoissonNLLLoss of means": (
        lambda nn: nn.PoissonNLLLoss(log_input=False, reduction="sum"),
        abs(X) + 0.1,
        abs(Y) * 3,
    ),
    "GaussianNLLLoss": (lambda nn: nn.GaussianNLLLoss(full=True), X, Y, abs(Z) + 0.1),
    "GaussianNLLLoss of rows": (
        lambda nn: nn.GaussianNLLLoss(reduction="none"),
        X,
        Y,
        abs(Z[:, 0]) + 0.1,
    ),
    "HingeEmbeddingLoss": (lambda nn: nn.HingeEmbeddingLoss(0.8), X, MANY),
    "MarginRankingLoss": (lambda nn: nn.MarginRankingLoss(0.3), *X.T[:2], SIGNS),
    "CosineEmbeddingLoss": (lambda nn: nn.CosineEmbeddingLoss(-0.2), X, Y, SIGNS),
    "SoftMarginLoss": (lambda nn: nn.SoftMarginLoss(), X, MANY),
    "MultiLabelMarginLoss": (
        lambda nn: nn.MultiLabelMarginLoss(reduction="none"),
        X,
        LABELS,
    ),
    "MultiLabelSoftMarginLoss": (
        lambda nn: nn.MultiLabelSoftMarginLoss(reduction="none"),
        X,
        (MANY + 1) // 2,
    ),
    "MultiMarginLoss": (lambda nn: nn.MultiMarginLoss(2, 0.7), X, CLASSES),
    "MultiMarginLoss with weights": (
        lambda nn: (
            lambda x, y, by: nn.functional.multi_margin_loss(
                x, y, weight=by.double(), reduction="sum"
            )
        ),
        X,
        CLASSES,
        np.array([1, 2, 1, 3, 4, 1]),
    ),
    "TripletMarginLoss": (lambda nn: nn.TripletMarginLoss(swap=True), X, Y, Z),
    "TripletMarginLoss of rows": (
        lambda nn: nn.TripletMarginLoss(0.5, p=3, reduction="none"),
        X,
        Y,
        Z,
    ),
    "TripletMarginWithDistanceLoss": (
        lambda nn: nn.TripletMarginWithDistanceLoss(
            distance_function=lambda x, y: 1 - nn.functional.cosine_similarity(x, y)
        ),
        X,
        Y,
        Z,
    ),
}
ACTIVATIONS = {
    "Hardshrink": (lambda nn: nn.Hardshrink(0.3), X),
    "Softshrink": (lambda nn: nn.Softshrink(0.3), X),
    "Tanhshrink": (lambda nn: nn.Tanhshrink(), X),
    "Threshold": (lambda nn: nn.Threshold(0.1, -2.0), X),
    "RReLU outside training": (lambda nn: nn.RReLU(0.1, 0.5).eval(), X),
    "Softmin": (lambda nn: nn.Softmin(1), X),
    "Softmax2d": (lambda nn: nn.Softmax2d(), drawn(2, 3, 4, 2)),
    "CosineSimilarity": (lambda nn: nn.CosineSimilarity(0), X, Y),
    "PairwiseDistance": (lambda nn: nn.PairwiseDistance(3, keepdim=True), X, Y),
}

IMAGE, LINES, VOLUME = drawn(2, 8, 4, 6), drawn(3, 4, 7), drawn(2, 2, 3, 4, 5)

PADS = {
    f"{kind}Pad{array.ndim - 2}d": (
        lambda nn, name=f"{kind}Pad{array.ndim - 2}d", by=by: getattr(nn, name)(by),
        array,
    )
    for kind in ("Zero", "Reflection", "Replication", "Circular")
    for array, by in ((LINES, (2, 1)), (IMAGE, (2, 0, 1, 3)), (VOLUME, 1))
}
PADS |= {
    "ConstantPad1d": (lambda nn: nn.ConstantPad1d((-1, 2), 1.5), LINES),
    "ConstantPad2d": (lambda nn: nn.ConstantPad2d(2, 1.5), IMAGE),
    "ConstantPad3d": (lambda nn: nn.ConstantPad3d((1, -1, 0, 2, 1, 1), 1.5), VOLUME),
    "PixelShuffle": (lambda nn: nn.PixelShuffle(2), IMAGE),
    "PixelUnshuffle": (lambda nn: nn.PixelUnshuffle(2), IMAGE),
    "ChannelShuffle": (lambda nn: nn.ChannelShuffle(4), IMAGE),
}

NORMS = {
    "InstanceNorm1d": (lambda nn: nn.InstanceNorm1d(4, affine=True), LINES),
    "InstanceNorm2d": (lambda nn: nn.InstanceNorm2d(8), IMAGE),
    "InstanceNorm3d": (lambda nn: nn.InstanceNorm3d(2, affine=True), VOLUME),
    "InstanceNorm1d of a sample": (lambda nn: nn.InstanceNorm1d(3), LINES[:, 0]),
    "LocalResponseNorm": (lambda nn: nn.LocalResponseNorm(3, 0.5), IMAGE),
    "LocalResponseNorm of lines": (lambda nn: nn.LocalResponseNorm(4, 2.0, 0.5), LINES),
    "BatchNorm3d": (lambda nn: nn.BatchNorm3d(2), VOLUME),
}


def resized(*args, **options):
    return lambda nn: lambda x: nn.functional.interpolate(x, *args, **options)


SIZES = {
    "nearest": resized(9),
    "nearest by factors": resized(scale_factor=(1.6, 0.7), mode="nearest"),
    "nearest-exact": resized((7, 3), mode="nearest-exact"),
    "bilinear": resized((7, 4), mode="bilinear"),
    "bilinear with corners": resized((3, 11), mode="bilinear", align_corners=True),
    "bilinear by a factor": resized(scale_factor=1.7, mode="bilinear"),
    "bilinear, recomputed": resized(
        scale_factor=1.7, mode="bilinear", recompute_scale_factor=True
    ),
    "bicubic": resized((9, 5), mode="bicubic"),
    "bicubic with corners": resized((3, 9), mode="bicubic", align_corners=True),
    "area": resized((3, 8), mode="area"),
    "bilinear, smooth": resized((3, 4), mode="bilinear", antialias=True),
    "bicubic, smooth": resized((2, 9), mode="bicubic", antialias=True),
}
SIZES = {f"interpolate {name}": (make, IMAGE) for name, make in SIZES.items()}
SIZES |= {
    "interpolate linear": (resized(11, mode="linear"), LINES),
    "interpolate trilinear": (resized((5, 3, 8), mode="trilinear"), VOLUME),
    "interpolate volumes by area": (resized((2, 5, 3), mode="area"), VOLUME),
    "interpolate volumes": (resized((4, 2, 9)), VOLUME),
    "Upsample": (lambda nn: nn.Upsample(scale_factor=2), LINES),
    "UpsamplingNearest2d": (lambda nn: nn.UpsamplingNearest2d((5, 9)), IMAGE),
    "UpsamplingBilinear2d": (lambda nn: nn.UpsamplingBilinear2d(scale_factor=2), IMAGE),
}

BAGGED = {
    **{
        f"EmbeddingBag, {mode}": (
            lambda nn, mode=mode: nn.EmbeddingBag(5, 3, mode=mode),
            BAGS,
        )
        for mode in ("sum", "mean", "max")
    },
    **{
        f"EmbeddingBag with offsets, {mode}": (
            lambda nn, mode=mode: nn.EmbeddingBag(5, 3, mode=mode, padding_idx=1),
            INDICES,
            STARTS,
        )
        for mode in ("sum", "mean", "max")
    },
    "EmbeddingBag to the last offset": (
        lambda nn: nn.EmbeddingBag(5, 3, include_last_offset=True, mode="sum"),
        INDICES,
        np.append(STARTS, 7),
    ),
    "embedding_bag with weights": (
        lambda nn: (
            lambda w, x, s, by: nn.functional.embedding_bag(
                x, w, s, mode="sum", per_sample_weights=by
            )
        ),
        drawn(5, 3),
        INDICES,
        STARTS,
        drawn(7),
    ),
}
ROWS = LOSSES | ACTIVATIONS | PADS | NORMS | SIZES | BAGGED


def called(nn, made):
    """A module that is what a row makes."""
    if isinstance(made, nn.Module):
        return made

    class Called(nn.Module):
        def forward(self, *args):
            return made(*args)

    return Called()


def write():
    """Store what PyTorch gives."""
    import torch

    found = {}
    for name, (make, *arrays) in ROWS.items():
        layer = called(torch.nn, make(torch.nn)).double()
        rng = np.random.default_rng(0)
        for parameter in layer.parameters():
            parameter.data = torch.tensor(rng.standard_normal(parameter.shape))
        inputs = [torch.tensor(np.array(a)) for a in arrays]
        for x in inputs:
            x.requires_grad_(x.is_floating_point())
        out = layer(*inputs)
        (out * torch.tensor(seed_of(out))).sum().backward()
        grads = [x.grad for x in (*inputs, *layer.parameters()) if x.requires_grad]
        given = [np.asarray(x.detach()) for x in (out, *grads)]
        found[name] = [[*x.shape, float((x * seed_of(x)).sum())] for x in given]
    lines = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in found.items()]
    DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    write()
