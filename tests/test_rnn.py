"""Recurrent layers are their formulas, step by step, on every layout."""

import gradcheck
import numpy as np
import pytest
from meshes import line

import dtensor
import dtensor.torch as torch
from dtensor import DTensor, Replicate, Shard, as_tensor, distribute_tensor, nn, strict
from dtensor.debug import CommDebugMode
from dtensor.nn.utils import rnn
from dtensor.ops.model.recurrent import recurrent

R, S0, S1 = Replicate(), Shard(0), Shard(1)


def drawn(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def whole(x):
    x = x.detach()
    return np.asarray(x.full_tensor() if isinstance(x, DTensor) else x)


def filled(layer):
    """The layer in float64, with the same parameters each time."""
    layer = layer.double()
    for k, p in enumerate(layer.parameters()):
        p.data = dtensor.tensor(drawn(*p.shape, seed=k) / 2)
    return layer


# --- formulas -------------------------------------------------------------------------


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def stepped(kind, x, h, c, w, u, b, d):
    """The next state and cell."""
    a, s = x @ w.T + b, h @ u.T + d
    if kind == "GRU":
        (ar, az, an), (sr, sz, sn) = np.split(a, 3, -1), np.split(s, 3, -1)
        z = sigmoid(az + sz)
        return (1 - z) * np.tanh(an + sigmoid(ar + sr) * sn) + z * h, c
    if kind == "LSTM":
        i, f, g, o = np.split(a + s, 4, -1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    return (np.tanh(a + s) if kind == "tanh" else np.maximum(a + s, 0)), c


def run(kind, layer, x, h, c):
    """A layer of the library in loops: x is (time, batch, width)."""
    last = []
    for k in range(layer.num_layers):
        outs = []
        for side in ("", "_reverse")[: 1 + layer.bidirectional]:
            names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            found = [getattr(layer, f"{n}_l{k}{side}", None) for n in names]
            w, u, b, d = (0 if p is None else whole(p) for p in found)
            row, state, cell = [], h[len(last)], c[len(last)]
            for t in range(len(x))[:: -1 if side else 1]:
                state, cell = stepped(kind, x[t], state, cell, w, u, b, d)
                if layer.proj_size:
                    state = state @ whole(getattr(layer, f"weight_hr_l{k}{side}")).T
                row.append(state)
            outs.append(np.stack(row[:: -1 if side else 1]))
            last.append((state, cell))
        x = np.concatenate(outs, -1)
    return x, *(np.stack(each) for each in zip(*last, strict=True))


def made(kind, *args, **options):
    if kind in ("tanh", "relu"):
        return filled(nn.RNN(*args, nonlinearity=kind, **options))
    return filled(getattr(nn, kind)(*args, **options))


KINDS = ["tanh", "relu", "GRU", "LSTM"]
OPTIONS = [
    {},
    {"num_layers": 2, "bidirectional": True},
    {"batch_first": True, "bias": False},
]


@pytest.mark.parametrize("options", [*OPTIONS, {"proj_size": 2, "num_layers": 2}])
@pytest.mark.parametrize("kind", KINDS)
def test_a_layer_is_its_formula_at_each_time(kind, options):
    if kind != "LSTM" and "proj_size" in options:
        return
    layer, x = made(kind, 3, 5, **options), drawn(4, 2, 3)
    count = layer.num_layers * (1 + layer.bidirectional)
    h, c = drawn(count, 2, layer.proj_size or 5), drawn(count, 2, 5, seed=1)
    first = layer.batch_first

    def call(x, *states):
        given = as_tensor(x.swapaxes(0, 1) if first else x)
        states = tuple(map(as_tensor, states))
        both = states if kind == "LSTM" else states[:1]
        hx = (both if kind == "LSTM" else both[0]) if states else None
        out, last = layer(given, hx)
        last = last if kind == "LSTM" else (last,)
        return [whole(out).swapaxes(0, 1) if first else whole(out), *map(whole, last)]

    for states in ((h, c), (h * 0, c * 0)):
        want = run(kind, layer, x, *states)
        for got, value in zip(call(x, *states), want, strict=False):
            np.testing.assert_allclose(got, value, 1e-10, 1e-12)
    for got, value in zip(call(x), want, strict=False):  # states are 0 by default
        np.testing.assert_allclose(got, value, 1e-10, 1e-12)
    alone, _ = layer(as_tensor(x[:, 0]))  # without a batch
    np.testing.assert_allclose(whole(alone), want[0][:, 0], 1e-10, 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_is_a_step(kind):
    name = {"tanh": "RNN", "relu": "RNN"}.get(kind, kind)
    options = {"nonlinearity": kind} if name == "RNN" else {}
    cell = filled(getattr(nn, f"{name}Cell")(3, 5, **options))
    weights = [whole(p) for p in cell.parameters()]
    x, h, c = drawn(2, 3), drawn(2, 5), drawn(2, 5, seed=1)
    want = stepped(kind, x, h, c, *weights)
    hx = (as_tensor(h), as_tensor(c)) if kind == "LSTM" else as_tensor(h)
    got = cell(as_tensor(x), hx)
    for have, value in zip(got if kind == "LSTM" else [got], want, strict=False):
        np.testing.assert_allclose(whole(have), value, 1e-10)
    alone = cell(as_tensor(x[0]))
    start = stepped(kind, x[0], h[0] * 0, c[0] * 0, *weights)[0]
    np.testing.assert_allclose(whole(alone[0] if kind == "LSTM" else alone), start)


def test_parameters_have_the_names_and_bounds_of_torch():
    layer = nn.LSTM(3, 16, 2, bidirectional=True, proj_size=2)
    names = "weight_ih weight_hh bias_ih bias_hh weight_hr".split()
    places = ("l0", "l0_reverse", "l1", "l1_reverse")
    want = [f"{name}_{place}" for place in places for name in names]
    assert list(layer.state_dict()) == want
    assert [len(each) for each in layer.all_weights] == [5] * 4
    assert layer.weight_ih_l1.shape == (64, 4) and layer.weight_hr_l0.shape == (2, 16)
    assert 0.2 < max(np.abs(whole(p)).max() for p in layer.parameters()) <= 0.25
    assert repr(layer) == "LSTM(3, 16, proj_size=2, num_layers=2, bidirectional=True)"
    assert repr(nn.RNNCell(2, 3, False)) == "RNNCell(2, 3, bias=False)"


# --- layouts --------------------------------------------------------------------------


def counted(layer, x):
    """The collectives of a forward and a backward pass."""
    with CommDebugMode() as forward, strict():
        out = layer(x)
        out = out[0] if isinstance(out, tuple) else out
    with CommDebugMode() as backward:
        (out * out).sum().backward()
    return out, forward.get_comm_counts(), backward.get_comm_counts()


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_batch_stays_cut_and_sends_nothing(ranks, kind):
    def body():
        mesh = line()
        plain = made(kind, 3, 5, 2, bidirectional=True)
        layer = made(kind, 3, 5, 2, bidirectional=True)
        for path, p in list(layer.named_parameters()):
            setattr(layer, path, nn.Parameter(distribute_tensor(p.detach(), mesh, [R])))
        x = drawn(4, 6, 3)
        out, forward, backward = counted(layer, distribute_tensor(x, mesh, [S1]))
        assert forward == {} and list(out.placements) == [S1]
        # As for Linear: the gradients of all parameters are summed together, once.
        linear = nn.Linear(3, 5, dtype="float64")
        for name, p in list(linear.named_parameters()):
            new = nn.Parameter(distribute_tensor(p.detach(), mesh, [R]))
            setattr(linear, name, new)
        _, _, once = counted(linear, distribute_tensor(x, mesh, [S1]))
        assert backward == once
        want, _, _ = counted(plain, as_tensor(x))
        np.testing.assert_allclose(whole(out), whole(want), 1e-10)
        for p, q in zip(layer.parameters(), plain.parameters(), strict=True):
            np.testing.assert_allclose(whole(p.grad), whole(q.grad), 1e-9, 1e-12)

    ranks(body)


COUNTS = np.array([[True, True], [True, False]])
CASES = {
    "tanh": ("tanh", False, None, "d2,2,2 d2,2 d2 d2,2"),
    "gru": ("gru", True, COUNTS, "d2,2,3 d3,1 d3 d2,1"),
    "lstm": ("lstm", False, None, "d2,2,4 d4,1 d4 d2,1 d2,1"),
    "projected": ("lstm", True, COUNTS, "d2,2,8 d8,1 d8 d2,1 d2,2 d1,2"),
}


@pytest.mark.parametrize("case", CASES)
def test_gradients_of_first_and_second_order_are_those_of_differences(case):
    kind, reverse, valid, words = CASES[case]

    def fn(drive, weight, bias, hx, cx=None, project=None):
        args = (drive, weight, bias, hx, cx, project, valid, kind, reverse)
        return recurrent(*args)

    few = len(words.split()) < 5  # all placements of these are listed
    meshes = ((2,), (2, 2)) if few else ((2,),)
    gradcheck.check(fn, words, meshes=meshes, most=2, second=True)


# --- packed sequences -----------------------------------------------------------------

LENGTHS = [2, 4, 1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("placement", [None, R, S0, S1])
def test_packed_sequences_are_computed_one_by_one(ranks, kind, placement):
    x, h, c = drawn(4, 3, 2), drawn(4, 3, 5), drawn(4, 3, 5, seed=1)

    def body():
        mesh = line()

        def put(array):
            whole = as_tensor(array)
            return whole if placement is None else distribute_tensor(whole, mesh, [R])

        layer = made(kind, 2, 5, 2, bidirectional=True)
        if placement is not None:
            for name, p in list(layer.named_parameters()):
                setattr(layer, name, nn.Parameter(put(p.detach())))
        given = put(x)
        if placement is not None:
            given = given.redistribute(placements=[placement])
        packed = rnn.pack_padded_sequence(given, LENGTHS, enforce_sorted=False)
        both = (put(h), put(c))
        out, last = layer(packed, both if kind == "LSTM" else both[0])
        assert list(np.asarray(out.batch_sizes)) == [3, 2, 1, 1]
        padded, lengths = rnn.pad_packed_sequence(out, padding_value=7.0)
        assert list(np.asarray(lengths)) == LENGTHS
        last = last[0] if kind == "LSTM" else last
        for k, n in enumerate(LENGTHS):
            some = slice(k, k + 1)
            want, state, _ = run(kind, layer, x[:n, some], h[:, some], c[:, some])
            np.testing.assert_allclose(whole(padded)[:n, some], want, 1e-10, 1e-12)
            np.testing.assert_allclose(whole(last)[:, some], state, 1e-10, 1e-12)
            assert (whole(padded)[n:, some] == 7).all()

    ranks(body)


def test_sequences_are_packed_and_padded_as_torch_does():
    each = [as_tensor(drawn(n, 2)) for n in LENGTHS]
    packed = rnn.pack_sequence(each, enforce_sorted=False)
    rows = [each[1][0], each[0][0], each[2][0], each[1][1], each[0][1]]
    want = np.stack([*rows, each[1][2], each[1][3]])
    assert np.array_equal(packed.data, want)
    assert (
        packed.sorted_indices.tolist() == packed.unsorted_indices.tolist() == [1, 0, 2]
    )
    assert packed.double().data.dtype == np.float64 and not packed.is_cuda
    back = rnn.unpack_sequence(packed)
    assert all(np.array_equal(a, b) for a, b in zip(back, each, strict=True))
    out, _ = rnn.pad_packed_sequence(packed, True, total_length=6)
    assert out.shape == (3, 6, 2) and (out[:, 4:] == 0).all()
    left = rnn.pad_sequence(each, True, 1.5, "left")
    assert np.array_equal(left[2, 3:], each[2]) and (left[2, :3] == 1.5).all()
    for words, call in (
        (
            "sorted in decreasing",
            lambda: rnn.pack_padded_sequence(left, [1, 2, 4], True),
        ),
        ("to be equal to batch_size", lambda: rnn.pack_padded_sequence(left, [4, 1])),
        ("greater than 0", lambda: rnn.pack_padded_sequence(left, [4, 1, 0], True)),
        ("at most 4", lambda: rnn.pack_padded_sequence(left, [5, 1, 1], True)),
        ("Cannot pack empty", lambda: rnn.pack_padded_sequence(left[:0], [], True)),
        ("empty list", lambda: rnn.pad_sequence([])),
        ("left or right", lambda: rnn.pad_sequence(each, padding_side="x")),
        ("Expected iterable", lambda: rnn.pad_sequence(3)),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()
    with pytest.raises(ValueError, match="got total_length=3"):
        rnn.pad_packed_sequence(packed, total_length=3)


# --- errors ---------------------------------------------------------------------------


def zeros(*shape, dtype="float32"):
    return as_tensor(np.zeros(shape, dtype))


WRONG = [
    (ValueError, "only supported for LSTM", lambda: nn.GRU(3, 4, proj_size=2)),
    (ValueError, "Unknown nonlinearity 'x'", lambda: nn.RNN(3, 4, nonlinearity="x")),
    (ValueError, "smaller than hidden_size", lambda: nn.LSTM(3, 4, proj_size=4)),
    (ValueError, "hidden_size must be greater", lambda: nn.LSTM(3, 0)),
    (ValueError, "in range \\[0, 1\\]", lambda: nn.LSTM(3, 4, 2, dropout=2)),
    (TypeError, "bias should be of type bool", lambda: nn.LSTM(3, 4, bias=1)),
    (ValueError, "RNN_X", lambda: nn.RNNBase("RNN_X", 3, 4)),
    (ValueError, "2D or 3D, got 1D instead", lambda: nn.GRU(3, 4)(zeros(3))),
    (RuntimeError, "Expected 3, got 2", lambda: nn.GRU(3, 4)(zeros(5, 2, 2))),
    (
        RuntimeError,
        "hx should also be 3-D but got 2-D",
        lambda: nn.GRU(3, 4)(zeros(5, 2, 3), zeros(2, 4)),
    ),
    (
        RuntimeError,
        r"hidden size \(1, 2, 4\), got \[1, 3, 4\]",
        lambda: nn.GRU(3, 4)(zeros(5, 2, 3), zeros(1, 3, 4)),
    ),
    (
        RuntimeError,
        r"hidden\[1\] size \(1, 2, 4\), got \[1, 2, 5\]",
        lambda: nn.LSTM(3, 4)(zeros(5, 2, 3), (zeros(1, 2, 4), zeros(1, 2, 5))),
    ),
    (RuntimeError, "larger than 0 in RNN", lambda: nn.GRU(3, 4)(zeros(0, 2, 3))),
    (
        ValueError,
        "does not match weight dtype",
        lambda: nn.GRU(3, 4)(zeros(5, 2, 3, dtype="float64")),
    ),
    (RuntimeError, "got 5 expected 3", lambda: nn.GRUCell(3, 4)(zeros(2, 5))),
    (
        RuntimeError,
        "batch size 2 doesn't match hidden1 batch size 3",
        lambda: nn.LSTMCell(3, 4)(zeros(2, 3), (zeros(2, 4), zeros(3, 4))),
    ),
    (
        RuntimeError,
        "hidden0 has inconsistent hidden_size: got 5, expected 4",
        lambda: nn.RNNCell(3, 4)(zeros(2, 3), zeros(2, 5)),
    ),
    (ValueError, "1D or 2D, got 3D", lambda: nn.LSTMCell(3, 4)(zeros(1, 2, 3))),
    (
        RuntimeError,
        "Unknown nonlinearity: x",
        lambda: nn.RNNCell(3, 4, nonlinearity="x")(zeros(2, 3)),
    ),
]


@pytest.mark.parametrize("kind, words, call", WRONG)
def test_what_torch_refuses_is_refused(kind, words, call):
    with pytest.raises(kind, match=words):
        call()


def test_no_batch_is_fine_and_dropout_lies_between_layers():
    out, last = nn.GRU(3, 4)(zeros(5, 0, 3))
    assert out.shape == (5, 0, 4) and last.shape == (1, 0, 4)
    with pytest.warns(UserWarning, match="num_layers greater than 1"):
        nn.LSTM(3, 4, dropout=0.5)
    layer, x = filled(nn.GRU(3, 4, 2, dropout=0.5)), as_tensor(drawn(5, 2, 3))
    first, second = layer(x)[0], layer(x)[0]
    assert not np.array_equal(whole(first), whole(second))
    plain = filled(nn.GRU(3, 4, 2))
    assert np.array_equal(whole(layer.eval()(x)[0]), whole(plain(x)[0]))


def test_halves_stay_halves():
    layer = filled(nn.LSTM(3, 4))
    x = as_tensor(drawn(5, 2, 3))
    want = whole(layer(x)[0])
    out, (h, c) = layer.half()(x.to(np.float16))
    assert {y.dtype for y in (out, h, c)} == {np.dtype(np.float16)}
    np.testing.assert_allclose(whole(out), want, 0.01, 0.01)
    (out * out).sum().backward()
    assert {p.grad.dtype for p in layer.parameters()} == {np.dtype(np.float16)}


def test_packed_sequences_are_in_the_dialect_they_are_made_in():
    pack = torch.nn.utils.rnn
    packed = pack.pack_sequence([torch.ones(2, 3), torch.ones(4, 3)], False)
    out, _ = torch.nn.LSTM(3, 4)(packed)
    assert isinstance(out, pack.PackedSequence)
    padded, lengths = pack.pad_packed_sequence(out)
    for x in (out.data, out.batch_sizes, out.sorted_indices, padded, lengths):
        assert isinstance(x, torch.Tensor)
    assert lengths.tolist() == [2, 4] and padded.shape == (4, 2, 4)
