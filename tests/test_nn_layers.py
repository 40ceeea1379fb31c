"""Layers and their gradients give on every mesh and layout what one rank gives."""

import functools
import json
import math

import numpy as np
import pytest
from gradcheck import differences
from layer_rows import DATA, ROWS, called, drawn, seed_of
from meshes import line

from dtensor import (
    DTensor,
    Replicate,
    Shard,
    as_tensor,
    distribute_tensor,
    nn,
    no_grad,
    tensor,
)

F = nn.functional
R, S0, S1 = Replicate(), Shard(0), Shard(1)


IDS = np.array([[0, 2, 1], [4, 2, 0]])

# name -> how a layer is made, the arrays that it is called with
LAYERS = {
    "Linear": (lambda: nn.Linear(6, 5), drawn(4, 3, 6)),
    "Linear without bias": (lambda: nn.Linear(6, 5, bias=False), drawn(4, 6)),
    "Bilinear": (lambda: nn.Bilinear(3, 2, 4), drawn(5, 3), drawn(5, 2)),
    "Embedding": (lambda: nn.Embedding(5, 4, padding_idx=1), IDS),
    "LayerNorm": (lambda: nn.LayerNorm(6), drawn(4, 3, 6)),
    "RMSNorm": (lambda: nn.RMSNorm(6), drawn(4, 3, 6)),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), drawn(3, 4, 5)),
    "Conv1d": (lambda: nn.Conv1d(4, 6, 3, padding=1, groups=2), drawn(4, 4, 5)),
    "Conv2d": (lambda: nn.Conv2d(3, 4, 2, padding_mode="circular"), drawn(4, 3, 4, 4)),
    "Conv3d": (lambda: nn.Conv3d(2, 4, (1, 2, 2)), drawn(4, 2, 2, 3, 3)),
    "ConvTranspose1d": (
        lambda: nn.ConvTranspose1d(4, 6, 3, 2, 1, 1, 2),
        drawn(4, 4, 3),
    ),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(3, 4, 2), drawn(4, 3, 2, 2)),
    "Fold": (lambda: nn.Fold(3, 2), drawn(4, 8, 4)),
    "Unfold": (lambda: nn.Unfold(2, padding=1), drawn(4, 2, 2, 3)),
    "RNN": (lambda: Output(nn.RNN(3, 4, 2, "relu")), drawn(3, 4, 3)),
    "GRU": (
        lambda: Output(nn.GRU(3, 2, bidirectional=True, batch_first=True)),
        drawn(4, 3, 3),
    ),
    "LSTM": (lambda: Output(nn.LSTM(3, 4, 2, proj_size=2)), drawn(3, 4, 3)),
    "LSTMCell": (lambda: Output(nn.LSTMCell(3, 4)), drawn(4, 3)),
    "PReLU": (lambda: nn.PReLU(3), drawn(4, 3, 2)),
    "GELU": (nn.GELU, drawn(4, 6)),
    "SiLU in place": (lambda: Doubled(nn.SiLU(inplace=True)), drawn(4, 6)),
    "Softmax": (lambda: nn.Softmax(-1), drawn(4, 6)),
    "Flatten": (nn.Flatten, drawn(4, 3, 2)),
    "MultiheadAttention": (
        lambda: Attention(nn.MultiheadAttention(8, 4, batch_first=True)),
        drawn(4, 3, 8),
    ),
    "attention to others": (
        lambda: Attention(nn.MultiheadAttention(8, 2, add_bias_kv=True)),
        drawn(3, 4, 8),
        drawn(5, 4, 8),
    ),
    "TransformerEncoderLayer": (
        lambda: nn.TransformerEncoderLayer(8, 2, 12, 0.0, batch_first=True),
        drawn(4, 3, 8),
    ),
}


LAYERS |= {
    name: (functools.partial(lambda make: called(nn, make(nn)), make), *arrays)
    for name, (make, *arrays) in ROWS.items()
}


class Doubled(nn.Module):
    """Calls a module with a tensor that it may change."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        return self.module(x * 2)


class Attention(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, query, key=None):
        key = query if key is None else key
        output, weights = self.module(query, key, key)
        return output + weights.sum()


class Output(nn.Module):
    """The first result of a module, and the sum of the others."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        output, last = self.module(x)
        return output + sum(y.sum() for y in last)


def make(name):
    """A layer of float64, with the same parameters each time."""
    layer = LAYERS[name][0]().double()
    rng = np.random.default_rng(0)
    for parameter in layer.parameters():
        parameter.data = tensor(rng.standard_normal(parameter.shape))
    return layer


def run(layer, inputs):
    out = layer(*inputs)
    (out * seed_of(out)).sum().backward()
    grads = [x.grad for x in (*inputs, *layer.parameters()) if x.requires_grad]
    return [out.detach(), *grads]


def whole(x):
    return np.asarray(x.full_tensor() if isinstance(x, DTensor) else x)


@functools.cache
def expected(name):
    inputs = [tensor(a, requires_grad=a.dtype != int) for a in LAYERS[name][1:]]
    return [whole(x) for x in run(make(name), inputs)]


def placed(array, dim, mesh):
    array = np.asarray(array)
    placement = Shard(dim) if dim is not None and dim < array.ndim else R
    x = distribute_tensor(array, mesh, [placement])
    return x.requires_grad_(array.dtype != int)


@pytest.mark.parametrize("name", LAYERS)
def test_the_gradients_of_a_layer_are_those_of_differences(name):
    parameters = list(make(name).parameters())
    given = [np.asarray(a) for a in LAYERS[name][1:]]
    arrays = [*given, *(np.asarray(p.detach()) for p in parameters)]

    def value(moved):
        layer = make(name)
        for p, array in zip(layer.parameters(), moved[len(given) :], strict=True):
            p.data = tensor(array)
        with no_grad():
            out = np.asarray(layer(*map(tensor, moved[: len(given)])))
        return float((out * seed_of(out)).sum())

    wanted = [g for g in differences(value, arrays) if g is not None]
    if name == "Embedding":
        wanted[0][1] = 0  # the row of padding_idx has no gradient, by definition
    for have, want in zip(expected(name)[1:], wanted, strict=True):
        np.testing.assert_allclose(have, want, 1e-5, 1e-6)


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_gives_the_same_on_every_layout(ranks, name):
    def body():
        mesh, want = line(), expected(name)
        ways = (None, None), (0, None), (1, None), (None, 0), (None, 1), (0, 0)
        for dims in ways if list(make(name).parameters()) else ways[:3]:
            layer = make(name)
            for parameter_name, p in list(layer.named_parameters()):
                path, _, leaf = parameter_name.rpartition(".")
                new = nn.Parameter(placed(p.detach(), dims[1], mesh))
                setattr(layer.get_submodule(path), leaf, new)
            inputs = [placed(a, dims[0], mesh) for a in LAYERS[name][1:]]
            got = run(layer, inputs)
            for have, value in zip(got, want, strict=True):
                np.testing.assert_allclose(whole(have), value, 1e-10, 1e-12)
            for p in layer.parameters():
                assert p.grad.placements == p.placements

    ranks(body)


@pytest.mark.parametrize("name", ROWS)
def test_a_layer_gives_what_torch_gives(name):
    stored = json.loads(DATA.read_text())[name]
    for have, (*shape, total) in zip(expected(name), stored, strict=True):
        assert have.shape == tuple(shape)
        np.testing.assert_allclose((have * seed_of(have)).sum(), total, 1e-9, 1e-11)


# --- against formulas -----------------------------------------------------------------


def test_multi_head_attention_is_what_it_is_said_to_be():
    m = nn.MultiheadAttention(6, 2, dtype="float64")
    q, k, v = drawn(3, 2, 6), drawn(4, 2, 6), drawn(4, 2, 6) + 1
    hidden = np.array([[False, False, False, True], [False] * 4])
    extra = drawn(3, 4)
    weight, bias = (x.detach().numpy() for x in (m.in_proj_weight, m.in_proj_bias))
    bias[:] = np.arange(18)
    parts = zip((q, k, v), np.split(weight, 3), np.split(bias, 3), strict=True)
    heads = [(x @ w.T + b).reshape(len(x), 2, 2, 3) for x, w, b in parts]
    hq, hk, hv = (x.transpose(1, 2, 0, 3) for x in heads)  # batch, heads, length, width
    scores = hq @ hk.swapaxes(-1, -2) / math.sqrt(3) + extra
    scores = np.where(hidden[:, None, None], -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    joined = (weights @ hv).transpose(2, 0, 1, 3).reshape(3, 2, 6)
    want = joined @ m.out_proj.weight.detach().numpy().T
    masks = {"key_padding_mask": hidden, "attn_mask": as_tensor(extra)}
    for need in (True, False):
        out, got = m(*map(as_tensor, (q, k, v)), need_weights=need, **masks)
        np.testing.assert_allclose(out.detach(), want, 1e-10)
        assert (got is None) != need
    _, got = m(*map(as_tensor, (q, k, v)), **masks)
    np.testing.assert_allclose(got.detach(), weights.mean(1), 1e-10)
    first = nn.MultiheadAttention(6, 2, dtype="float64", batch_first=True)
    first.load_state_dict(m.state_dict())
    swapped = [as_tensor(x.swapaxes(0, 1)) for x in (q, k, v)]
    out = first(*swapped, average_attn_weights=False, **masks)[0]
    np.testing.assert_allclose(out.detach(), want.swapaxes(0, 1), 1e-10)


def test_attention_refuses_shapes_as_torch_does():
    m, x = nn.MultiheadAttention(8, 2), np.zeros((3, 2, 8), np.float32)
    for kind, words, args, options in (
        (AssertionError, "embedding dimension of 8", [x[..., :7]] * 3, {}),
        (AssertionError, "does not match value shape", [x, x, x[:2]], {}),
        (AssertionError, "to be 3-D but found 2-D and", [x, x[0], x], {}),
        (AssertionError, "2D or batched 3D tensor", [x[0, 0]] * 3, {}),
        (
            RuntimeError,
            "The shape of the 2D attn_mask is (2, 2), but should be (3, 3).",
            [x] * 3,
            {"attn_mask": np.zeros((2, 2), np.float32)},
        ),
        (
            AssertionError,
            "only bool and floating types of attn_mask",
            [x] * 3,
            {"attn_mask": np.zeros((3, 3), int)},
        ),
        (
            AssertionError,
            "key_padded_mask.shape[0] to be 2, but got 3",
            [x] * 3,
            {"key_padding_mask": np.zeros((3, 3), bool)},
        ),
        (RuntimeError, "Need attn_mask if specifying", [x] * 3, {"is_causal": True}),
    ):
        with pytest.raises(kind) as error:
            m(*map(as_tensor, args), **options)
        assert words in str(error.value)
    with pytest.raises(AssertionError, match="divisible by num_heads"):
        nn.MultiheadAttention(8, 3)


def test_functions_of_vectors():
    x, y = drawn(3, 4), drawn(3, 4) + 1
    norm = np.linalg.norm
    np.testing.assert_allclose(
        F.normalize(as_tensor(x)), x / norm(x, axis=1, keepdims=True)
    )
    cosine = (x * y).sum(1) / norm(x, axis=1) / norm(y, axis=1)
    np.testing.assert_allclose(F.cosine_similarity(as_tensor(x), as_tensor(y)), cosine)
    far = norm(x - y + 1e-6, axis=1)
    np.testing.assert_allclose(F.pairwise_distance(as_tensor(x), as_tensor(y)), far)
    assert np.array_equal(F.one_hot(as_tensor(IDS)), np.eye(5)[IDS])
    assert F.one_hot(as_tensor(IDS), 7).shape == (2, 3, 7)


def test_padding_counts_from_the_last_dim():
    x = drawn(3, 4)
    for pad, widths in (
        ((1, 2), [(0, 0), (1, 2)]),
        ((1, 2, 0, 3), [(0, 3), (1, 2)]),
    ):
        assert np.array_equal(F.pad(as_tensor(x), pad), np.pad(x, widths))
        got = F.pad(as_tensor(x), pad, mode="replicate")
        assert np.array_equal(got, np.pad(x, widths, mode="edge"))
    got = F.pad(as_tensor(x), (-1, 2, 1, -1), value=5.0)
    want = np.pad(x[:-1, 1:], [(1, 0), (0, 2)], constant_values=5)
    assert np.array_equal(got, want)
    with pytest.raises(RuntimeError, match="divisible by 2"):
        F.pad(as_tensor(x), (1, 2, 3))
    with pytest.raises(NotImplementedError):
        F.pad(as_tensor(x), (1, 2), mode="x")


def test_losses_are_the_functions_of_their_names():
    x, classes = as_tensor(drawn(4, 5)), as_tensor(np.array([0, 4, 2, 1]))
    weight = as_tensor(np.arange(1.0, 6))
    target = as_tensor(np.abs(drawn(4, 5)))
    for loss, function, against, options in (
        (nn.CrossEntropyLoss, F.cross_entropy, classes, {"label_smoothing": 0.1}),
        (nn.CrossEntropyLoss, F.cross_entropy, classes, {"weight": weight}),
        (nn.NLLLoss, F.nll_loss, classes, {"ignore_index": 2}),
        (nn.MSELoss, F.mse_loss, target, {}),
        (nn.L1Loss, F.l1_loss, target, {"reduction": "none"}),
        (nn.SmoothL1Loss, F.smooth_l1_loss, target, {"beta": 0.5}),
        (nn.HuberLoss, F.huber_loss, target, {"delta": 0.5}),
        (nn.KLDivLoss, F.kl_div, target, {"reduction": "batchmean"}),
        (
            nn.BCEWithLogitsLoss,
            F.binary_cross_entropy_with_logits,
            target,
            {"pos_weight": weight, "reduction": "sum"},
        ),
    ):
        got = loss(**options)(x, against)
        assert np.array_equal(got, function(x, against, **options))
    with pytest.warns(UserWarning, match="reduction='sum'"):
        assert nn.MSELoss(size_average=False).reduction == "sum"


def test_dropout_drops_while_training_alike_on_every_layout(ranks):
    def body():
        x = distribute_tensor(np.ones((40, 30)), line(), [S0])
        layer = nn.Dropout(0.25)
        dropped = whole(layer(x)) == 0
        assert 0.15 < dropped.mean() < 0.35
        assert np.array_equal(whole(layer.eval()(x)), np.ones((40, 30)))

    ranks(body)
    with pytest.raises(ValueError, match="between 0 and 1, but got 2"):
        nn.Dropout(2)


def test_layers_refuse_arguments_as_torch_does():
    for kind, words, call in (
        (AssertionError, "Padding_idx must", lambda: nn.Embedding(3, 4, 5)),
        (ValueError, "must be divisible by num_groups", lambda: nn.GroupNorm(3, 4)),
        (ValueError, "in_channels must be", lambda: nn.Conv1d(3, 4, 3, groups=2)),
        (ValueError, "strided", lambda: nn.Conv1d(2, 2, 3, 2, padding="same")),
        (ValueError, "Invalid padding", lambda: nn.Conv1d(2, 2, 3, padding="x")),
        (ValueError, "padding_mode", lambda: nn.Conv2d(2, 2, 3, padding_mode="x")),
        (
            RuntimeError,
            "relu/gelu, not x",
            lambda: nn.TransformerEncoderLayer(8, 2, activation="x"),
        ),
        (ValueError, "in1_features must be > 0", lambda: nn.Bilinear(0, 1, 1)),
    ):
        with pytest.raises(kind, match=words):
            call()


def test_a_transformer_looks_only_where_its_masks_let_it():
    mask = nn.Transformer.generate_square_subsequent_mask(3, dtype="float64")
    assert np.array_equal(mask, np.triu(np.full((3, 3), -np.inf), 1))
    m = nn.Transformer(8, 2, 1, 1, 12, 0.0, dtype="float64", batch_first=True)
    x, y = drawn(2, 3, 8), drawn(2, 3, 8) + 1
    out = m(as_tensor(x), as_tensor(y), tgt_mask=mask).detach().numpy()
    y[:, 2] += 1
    moved = m(as_tensor(x), as_tensor(y), tgt_mask=mask).detach().numpy()
    np.testing.assert_allclose(moved[:, :2], out[:, :2], 1e-12)
    assert not np.allclose(moved[:, 2], out[:, 2])
    with pytest.raises(RuntimeError, match="must be d_model"):
        m(as_tensor(x[..., :7]), as_tensor(y))
