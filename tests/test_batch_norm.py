"""A batch norm has the statistics of the global batch, on every layout.

Values are compared with NumPy's in tests/samples_pool.py, for all placements."""

import gradcheck
import numpy as np
import pytest
from meshes import line, square
from samples_pool import normed, statistics

from dtensor import (
    DTensor,
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
    nn,
    no_grad,
    tensor,
)
from dtensor.debug import CommDebugMode
from dtensor.fsdp import fully_shard, replicate
from dtensor.functional_collectives import all_reduce
from dtensor.nn import functional as F
from dtensor.optim import SGD
from dtensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

R, S0, S1 = Replicate(), Shard(0), Shard(1)


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def whole(x):
    x = x.detach()
    return np.asarray(x.full_tensor() if isinstance(x, DTensor) else x)


# --- gradients ------------------------------------------------------------------------

CASES = {
    "training": (
        lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
        "d3,2,2,2 d2 d2",
    ),
    "vectors": (lambda x: F.batch_norm(x, None, None, training=True), "d5,2"),
    "evaluation": (F.batch_norm, "d3,2,2 d2 d2:pos d2 d2"),
}


@pytest.mark.parametrize("case", CASES)
def test_gradients_of_first_and_second_order_are_those_of_differences(case):
    fn, words = CASES[case]
    gradcheck.check(fn, words, meshes=((2,), (3,), (2, 2)), most=4, second=True)


# --- numbers --------------------------------------------------------------------------


def test_a_large_mean_leaves_the_variance_exact():
    x = (drawn(64, 3, 10, 10) + 3000).astype("f")
    mean, var = statistics(x.astype("d"))
    running = [tensor(np.zeros(3, "f")), tensor(np.ones(3, "f"))]
    out = F.batch_norm(x, *running, training=True, momentum=1.0)
    assert np.asarray(out).dtype == np.float32
    np.testing.assert_allclose(running[0], mean, 1e-6)
    np.testing.assert_allclose(running[1], var * 6400 / 6399, 1e-5)
    np.testing.assert_allclose(out, normed(x.astype("d"), mean, var), 0, 2e-3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_normed_in_single_precision(dtype):
    x = tensor(drawn(50, 3, 20) + 20, dtype=dtype)
    given = np.asarray(x).astype("d")
    weight = tensor(np.full(3, 2.0), dtype=dtype)
    out = F.batch_norm(x, None, None, weight, training=True)
    assert out.dtype == x.dtype
    expected = normed(given, *statistics(given), np.full(3, 2.0))
    np.testing.assert_allclose(np.asarray(out).astype("d"), expected, 1e-2, 1e-2)
    single = tensor(np.full(3, 2.0, "f"))
    assert np.array_equal(F.batch_norm(x, None, None, single, training=True), out)


def test_a_batch_without_samples_leaves_the_running_averages():
    norm = nn.BatchNorm1d(3)
    assert norm(tensor(np.zeros((0, 3, 2), "f"))).shape == (0, 3, 2)
    assert np.array_equal(norm.running_mean, [0, 0, 0])
    assert np.array_equal(norm.running_var, [1, 1, 1])
    assert norm.num_batches_tracked.item() == 1


# --- layouts --------------------------------------------------------------------------

# placement of the input, and of what has a number for each channel -> collectives
TRAFFIC = [
    (S0, R, {"all_reduce": 2}),
    (Shard(2), R, {"all_reduce": 2}),
    (S1, S0, {}),
    (R, R, {}),
]


@pytest.mark.parametrize("placement, channels, forward", TRAFFIC)
def test_mean_and_variance_are_reduced_once_each(ranks, placement, channels, forward):
    x, weight = drawn(5, 7, 4, 3), drawn(7, seed=1)
    mean, var = statistics(x)

    def body():
        mesh = line()
        norm = nn.BatchNorm2d(7).double()
        norm.weight.data = tensor(weight)
        distribute_module(
            norm, mesh, lambda _, module, mesh: put(module, mesh, [channels])
        )
        given = distribute_tensor(x, mesh, [placement])
        with CommDebugMode() as comm:
            out = norm(given)
        counts = {k: n for k, n in comm.get_comm_counts().items() if n}
        assert counts == (forward if mesh.size() > 1 else {})
        assert mesh.size() == 1 or list(out.placements) == [placement]
        expected = normed(x, mean, var, weight)
        np.testing.assert_allclose(whole(out), expected, 1e-12, 1e-12)
        np.testing.assert_allclose(whole(norm.running_mean), 0.1 * mean, 1e-12)
        np.testing.assert_allclose(
            whole(norm.running_var), 0.9 + 0.1 * var * 60 / 59, 1e-12
        )
        assert whole(norm.num_batches_tracked) == 1
        with CommDebugMode() as comm:
            norm.eval()(given)
        assert comm.get_total_counts() == 0

    ranks(body)


def put(module, mesh, placements):
    """Place parameters and running averages."""
    for name, value in [*module._parameters.items()]:
        if value is not None:
            value = distribute_tensor(value.detach(), mesh, placements)
            module.register_parameter(name, nn.Parameter(value))
    for name, value in [*module._buffers.items()]:
        if value is not None and value.ndim:
            module.register_buffer(name, distribute_tensor(value, mesh, placements))


def test_averages_of_this_rank_take_the_statistics_of_all(ranks):
    x = drawn(5, 4)

    def body():
        mesh = line()
        running = tensor(np.zeros(4)), tensor(np.ones(4))
        for placements in ([S0], [S1]):
            given = distribute_tensor(x, mesh, placements)
            F.batch_norm(given, *running, training=True, momentum=1.0)
            np.testing.assert_allclose(running[0], x.mean(0), 1e-12, 1e-12)
            np.testing.assert_allclose(running[1], x.var(0, ddof=1), 1e-12)

    ranks(body)


# --- training -------------------------------------------------------------------------


class Net(nn.Module):
    """A small network for images, with all kinds of pools."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 6, 3, padding=1)
        self.norm = nn.BatchNorm2d(6)
        self.pool = nn.MaxPool2d(2, padding=1)
        self.mean = nn.AvgPool2d(2, 1)
        self.last = nn.AdaptiveAvgPool2d(1)
        self.one = nn.Linear(6, 4)
        self.line = nn.BatchNorm1d(4, momentum=None)
        self.two = nn.Linear(4, 3)

    def forward(self, x):
        x = self.pool(self.norm(self.conv(x)).relu())
        x = nn.Flatten()(self.last(self.mean(x)))
        return self.two(self.line(self.one(x)).tanh())


def made():
    net = Net().double()
    rng = np.random.default_rng(0)
    with no_grad():
        for parameter in net.parameters():
            parameter.detach()[...] = rng.standard_normal(parameter.shape)
    return net


X, Y = drawn(8, 2, 6, 4), drawn(8, 3, seed=1)


def trained(net, x, y, told=lambda loss: loss, steps=3):
    optimizer = SGD(net.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((net(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        losses.append(float(whole(told(loss.detach()))))
    with no_grad():
        losses.append(float(whole(told((net.eval()(x) - y).mean()))))
    return losses, {name: whole(value) for name, value in net.state_dict().items()}


def same(got, expected):
    np.testing.assert_allclose(got[0], expected[0], 1e-10)
    assert got[1].keys() == expected[1].keys()
    for name, value in expected[1].items():
        np.testing.assert_allclose(got[1][name], value, 1e-10, 1e-10, err_msg=name)


@pytest.mark.parametrize("samples", [5, 8])
def test_a_network_that_is_cut_everywhere_trains_as_on_one_process(ranks, samples):
    x, y = X[:samples], Y[:samples]
    expected = trained(made(), tensor(x), tensor(y))

    def body():
        # Rows of parameters over both dims, samples over one.
        mesh = square()
        net = distribute_module(
            made(), mesh, lambda _, module, mesh: put(module, mesh, [S0, S0])
        )
        given = [distribute_tensor(v, mesh, [S0, R]) for v in (x, y)]
        same(trained(net, *given), expected)

    ranks(body)


@pytest.mark.parametrize("wrap", [fully_shard, replicate])
def test_the_ranks_of_data_parallelism_have_one_batch_norm(ranks, wrap):
    expected = trained(made(), tensor(X), tensor(Y))

    def body():
        mesh = square()
        rows = mesh["row"]
        net = nn.SyncBatchNorm.convert_sync_batchnorm(made(), rows)
        if wrap is fully_shard:  # beside tensor parallelism
            styles = {
                "one": ColwiseParallel(output_layouts=R),
                "two": RowwiseParallel(input_layouts=R),
            }
            parallelize_module(net, mesh["column"], styles)
        wrap(net, mesh=rows)
        own = slice(rows.get_local_rank(), None, rows.size())
        got = trained(
            net,
            tensor(X[own]),
            tensor(Y[own]),
            lambda loss: all_reduce(loss, "avg", rows),
        )
        same(got, expected)

    ranks(body)


def test_a_tensor_without_others_has_statistics_of_its_own(ranks):
    def body():
        mesh = line()
        x = drawn(5, 3, 2, seed=mesh.get_local_rank())
        norm = nn.SyncBatchNorm(3, process_group=mesh).double()
        alone = nn.BatchNorm1d(3, momentum=1.0).double()
        given = DTensor.from_local(x, mesh, [S0])
        everywhere = distribute_module(nn.BatchNorm1d(3).double(), mesh)(given)
        expected = everywhere.detach().to_local()
        np.testing.assert_allclose(whole(norm(tensor(x))), expected, 1e-10, 1e-12)
        alone(tensor(x))
        np.testing.assert_allclose(alone.running_mean, x.mean((0, 2)), 1e-12)
        with CommDebugMode() as comm:
            norm.eval()(tensor(x))
        assert comm.get_total_counts() == 0
        with pytest.raises(ValueError, match="at least 2D input .got 1D input."):
            norm(tensor(x[0, 0]))
        with pytest.raises(ValueError, match="channels should be non-zero"):
            norm(tensor(x[:, :0]))

    ranks(body)


def test_one_value_on_each_rank_is_enough_for_several(ranks):
    def body():
        norm = nn.SyncBatchNorm(3)
        x = tensor(np.ones((1, 3), "f"))
        if line().size() > 1:
            assert np.array_equal(norm(x).detach(), np.zeros((1, 3)))
        else:
            with pytest.raises(ValueError, match="more than 1 value per channel"):
                norm(x)

    ranks(body)


# --- modules and errors ---------------------------------------------------------------


def test_what_a_state_dict_holds_and_what_is_told_is_torchs():
    norm = nn.BatchNorm2d(3)
    assert [*norm.state_dict()] == [
        "weight",
        "bias",
        "running_mean",
        "running_var",
        "num_batches_tracked",
    ]
    assert norm.num_batches_tracked.dtype == np.int64
    assert repr(norm) == (
        "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, "
        "track_running_stats=True)"
    )
    assert [*nn.BatchNorm1d(3, bias=False).state_dict()][:2] == [
        "weight",
        "running_mean",
    ]
    bare = nn.BatchNorm1d(3, affine=False, track_running_stats=False)
    assert not bare.state_dict()
    x = drawn(4, 3).astype("f")
    assert np.array_equal(bare.eval()(tensor(x)), bare.train()(tensor(x)))


def test_batches_count_alike_without_a_momentum():
    norm = nn.BatchNorm1d(3, momentum=None).double()
    batches = [drawn(4, 3, seed=k) for k in range(3)]
    for batch in batches:
        norm(tensor(batch))
    np.testing.assert_allclose(norm.running_mean, np.mean(batches, (0, 1)), 1e-12)
    variances = [batch.var(0, ddof=1) for batch in batches]
    np.testing.assert_allclose(norm.running_var, np.mean(variances, 0), 1e-12)
    norm.reset_running_stats()
    assert norm.num_batches_tracked.item() == 0
    assert np.array_equal(norm.running_var, [1, 1, 1])


def test_a_module_without_data_computes_shapes():
    norm = nn.BatchNorm2d(3, device="meta")
    assert {value.device for value in norm.state_dict().values()} == {"meta"}
    net = nn.Sequential(norm, nn.MaxPool2d(2), nn.AvgPool2d(2), nn.AdaptiveAvgPool2d(1))
    out = net(nn.Parameter(norm.weight.reshape(1, 3, 1, 1).expand(2, 3, 8, 8)))
    assert (out.shape, out.device) == ((2, 3, 1, 1), "meta")
    norm.to_empty(device="cpu").reset_parameters()
    assert np.array_equal(norm.running_var, [1, 1, 1])


ONES, TWOS = np.ones(3), np.ones(2)
WRONG = [
    (ValueError, (1, 3), (None, None, None, None, True), "size \\[1, 3\\]"),
    (ValueError, (4, 3), (ONES, None, None, None, True), "either both be None or"),
    (ValueError, (4, 3), (None, None, None, None, True, 0.1, 0.0), "eps must be pos"),
    (ValueError, (4, 3), (ONES, ONES, None, None, False, 0.1, -1.0), "non-negative"),
    (RuntimeError, (4, 3), (None, ONES), "running_mean must be defined in eval"),
    (RuntimeError, (4, 3), (ONES, None), "running_var must be defined in eval"),
    (
        RuntimeError,
        (4, 3),
        (TWOS, ONES),
        "running_mean should contain 3 elements not 2",
    ),
    (RuntimeError, (4, 3), (ONES, ONES, TWOS), "weight should contain 3 elements not"),
    (RuntimeError, (4, 3), (ONES, ONES, ONES.astype("f")), "mixed dtype"),
]


@pytest.mark.parametrize("kind, shape, arguments, words", WRONG)
def test_what_does_not_go_together_is_refused(kind, shape, arguments, words):
    with pytest.raises(kind, match=words):
        F.batch_norm(np.ones(shape), *arguments)


def test_dims_and_dtypes_without_a_norm_are_refused():
    for norm, shape, words in (
        (nn.BatchNorm1d(3), (3,), "expected 2D or 3D input .got 1D input."),
        (nn.BatchNorm2d(3), (2, 3, 4), "expected 4D input .got 3D input."),
    ):
        with pytest.raises(ValueError, match=words):
            norm(tensor(np.ones(shape, "f")))
        assert norm.num_batches_tracked.item() == 0
    with pytest.raises(NotImplementedError, match="not implemented for 'int64'"):
        F.batch_norm(np.ones((4, 3), int), None, None, training=True)
