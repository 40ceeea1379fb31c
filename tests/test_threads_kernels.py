"""Kernels whose loops threads share have the same bits as with one thread."""

import numpy as np
import pytest
from meshes import line
from threads import COLUMNS, ROWS, SEED, SHAPE, bits, repeated

import dtensor
import dtensor.nn.functional as F

ACTIVATIONS = (
    "relu gelu silu mish elu softplus logsigmoid hardswish tanh sigmoid".split()
)
LOSSES = "mse_loss l1_loss smooth_l1_loss huber_loss".split()


def attention(heads):
    def run(x):
        q = x[:160, :960].reshape(2, 80, 12, 80).transpose(0, 2, 1, 3)
        k = q[:, :heads]
        return F.scaled_dot_product_attention(q, k, k, enable_gqa=True)

    return run


def loss(function, reduction="none"):
    return lambda x: function(x, x * 0.5, reduction=reduction)


KERNELS = {
    **{name: getattr(F, name) for name in ACTIVATIONS},
    **{name: loss(getattr(F, name)) for name in LOSSES},
    **{f"{name} of all": loss(getattr(F, name), "mean") for name in LOSSES},
    "softmax": lambda x: F.softmax(x, -1),
    "softmax of columns": lambda x: F.softmax(x, 0),
    "log_softmax": lambda x: F.log_softmax(x, -1),
    "logsumexp": lambda x: dtensor.logsumexp(x, -1),
    "layer_norm": lambda x: F.layer_norm(x, (COLUMNS,), x[0], x[1]),
    "rms_norm": lambda x: F.rms_norm(x, (COLUMNS,), x[0]),
    "group_norm": lambda x: F.group_norm(
        x[:, :1000].reshape(ROWS, 20, 50), 4, x[0, :20], x[1, :20]
    ),
    "batch_norm": lambda x: F.batch_norm(x, None, None, x[0], x[1], training=True),
    "batch_norm of images": lambda x: F.batch_norm(
        x[:, :1000].reshape(ROWS, 20, 50), None, None, x[0, :20], x[1, :20], True
    ),
    "cross_entropy": lambda x: F.cross_entropy(x, np.arange(ROWS), reduction="none"),
    "cross_entropy of images": lambda x: F.cross_entropy(
        x[:, :1000].reshape(ROWS, 10, 100),
        np.arange(ROWS * 100).reshape(ROWS, 100) % 10,
        reduction="none",
        label_smoothing=0.1,
    ),
    "attention": attention(12),
    "attention of groups": attention(4),
    "depthwise": lambda x: F.conv2d(
        x[:, :1008].reshape(1, ROWS, 28, 36),
        x[:, :9].reshape(ROWS, 1, 3, 3),
        padding=1,
        groups=ROWS,
    ),
    "interpolate": lambda x: F.interpolate(
        x[:, :1008].reshape(1, ROWS, 28, 36), (19, 60), mode="bilinear"
    ),
    "embedding": lambda x: F.embedding(np.arange(3 * ROWS) % ROWS, x),
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_and_its_gradient_have_the_same_bits(threads, name, dtype):
    x = np.random.default_rng(SEED).standard_normal(SHAPE).astype(dtype)

    def step():
        leaf = dtensor.tensor(x, requires_grad=True)
        out = KERNELS[name](leaf)
        weight = np.linspace(-1, 1, out.size).reshape(out.shape).astype(out.dtype)
        (out * weight).sum().backward()
        return bits([out.detach(), leaf.grad])

    threads(1)
    alone = step()
    for count in (2, 3):
        threads(count)
        assert repeated(step) == alone


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("kind", ["AdamW", "Adam", "SGD"])
def test_a_step_of_an_optimizer_has_the_same_bits(threads, kind, dtype):
    start = np.random.default_rng(SEED).standard_normal(SHAPE).astype(dtype)
    options = {"momentum": 0.9} if kind == "SGD" else {"amsgrad": True}

    def steps(count):
        threads(count)
        p = dtensor.nn.Parameter(dtensor.tensor(start))
        optimizer = getattr(dtensor.optim, kind)([p], lr=0.1, **options)
        for _ in range(3):
            p.grad = dtensor.tensor(start) * 0.5
            optimizer.step()
        return bits(p.detach())

    assert steps(1) == steps(2) == steps(3)


DRAWS = {
    "random": lambda: dtensor.random.default_rng(SEED).random(SHAPE),
    "normal": lambda: dtensor.random.default_rng(SEED).standard_normal(SHAPE),
    "exponential": lambda: dtensor.random.default_rng(SEED).exponential(size=SHAPE),
    "integers": lambda: dtensor.random.default_rng(SEED).integers(0, 1000, SHAPE),
    "dropout": lambda: F.dropout(dtensor.tensor(np.ones(SHAPE, "f4")), 0.3),
}


@pytest.mark.parametrize("name", DRAWS)
def test_what_is_drawn_has_the_same_bits(threads, name):
    def draw(count):
        threads(count)
        dtensor.random.manual_seed(SEED)
        return bits(DRAWS[name]())

    with line():
        assert draw(1) == draw(2) == draw(3)
