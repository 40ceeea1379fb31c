"""New tensors in PyTorch's dialect have the order in memory that PyTorch gives them.

So writes through their views arrive. The strides are PyTorch 2.13's."""

import itertools

import numpy as np
import pytest
from meshes import line

import dtensor
import dtensor.torch as torch
from dtensor import Replicate, Shard, distribute_tensor
from dtensor.experimental import implicit_replication

F = torch.nn.functional


def numbers(*shape):
    x = torch.arange(float(np.prod(shape))).reshape(shape)
    return x * 0.37 % 0.9 + 0.05


# All of shape (4, 4).
INPUTS = {
    "contiguous": lambda x: x(4, 4),
    "transposed": lambda x: x(4, 4).T,
    "expanded": lambda x: x(4).expand(4, 4),
    "expanded rows": lambda x: x(4, 1).expand(4, 4),
    "rows": lambda x: x(8, 4)[::2],
    "columns": lambda x: x(4, 8)[:, ::2],
    "flipped": lambda x: x(4, 4).flip(0),
    "columns of rows": lambda x: x(8, 4)[::2].T,
}
PICK = torch.tensor([0, 2])

# What PyTorch makes in C order, of any of these.
ROWS = {
    "softmax": lambda x: x.softmax(0),
    "softmax of rows": lambda x: torch.softmax(x, -1),
    "softmax in float64": lambda x: torch.softmax(x, 0, dtype=torch.float64),
    "softmax of halves": lambda x: x.half().softmax(0),
    "log_softmax": lambda x: F.log_softmax(x, 0),
    "softmin": lambda x: F.softmin(x, 0),
    "gumbel_softmax": lambda x: F.gumbel_softmax(x, dim=0),
    "logcumsumexp": lambda x: x.logcumsumexp(0),
    "cumsum": lambda x: x.cumsum(0),
    "cumsum in float64": lambda x: x.cumsum(1, dtype=torch.float64),
    "cumprod of halves": lambda x: x.bfloat16().cumprod(0),
    "cummax": lambda x: torch.cummax(x, 0)[1],
    "cumulative_trapezoid": lambda x: torch.cumulative_trapezoid(x, dim=0),
    "gradient": lambda x: torch.gradient(x, dim=0)[0],
    "renorm": lambda x: torch.renorm(x, 2, 0, 0.5),
    "std": lambda x: torch.stack([x, x, x], 1).std(1),
    "amax": lambda x: torch.stack([x, x, x], 1).permute(2, 1, 0).amax(1),
    "columns by index": lambda x: x[:, PICK],
    "columns by list": lambda x: x[:, [0, 2]],
    "last by index": lambda x: x[..., PICK],
    "columns of a slice": lambda x: x[1:3, PICK],
    "columns by a grid": lambda x: x[:, torch.tensor([[0, 2], [1, 3]])],
    "columns by mask": lambda x: x[:, torch.tensor([True, False, True, True])],
    "rows by index": lambda x: x[PICK],
    "index_select": lambda x: x.index_select(1, PICK),
    "cat": lambda x: torch.cat([x, x], 1),
    "cat of transposed": lambda x: torch.cat([x.T, x.T], 1),
    "cat of one": lambda x: torch.cat([x]),
    "cat of two dtypes": lambda x: torch.cat([x, x.double()]),
    "stack": lambda x: torch.stack([x.T, x.T], 1),
    "stack of two dtypes": lambda x: torch.stack([x, x.double()]),
    "hstack": lambda x: torch.hstack([x.T, x.T]),
    "vstack": lambda x: torch.vstack([x, x]),
    "dstack": lambda x: torch.dstack([x, x]),
    "column_stack": lambda x: torch.column_stack([x.T, x.T]),
    "fft": lambda x: torch.fft.rfft(x),
    "roll": lambda x: torch.roll(x, 1, 0),
    "scatter": lambda x: x.scatter(0, torch.zeros(3, 4, dtype=torch.long), x),
    "index_copy": lambda x: x.index_copy(1, PICK, x[:, :2]),
    "masked_fill": lambda x: x.masked_fill(x > 0.5, 0.0),
    "masked_scatter": lambda x: x.masked_scatter(x > 0.5, x),
    "power of a number": lambda x: 2**x,
    "normal": lambda x: torch.normal(x, x),
    "poisson": torch.poisson,
    "one_hot": lambda x: F.one_hot((x * 3).long()),
    "einsum": lambda x: torch.einsum("ij,jk->ki", x, x),
    "cdist": lambda x: torch.cdist(x, x),
    "clone": lambda x: x.clone(memory_format=torch.contiguous_format),
    "to": lambda x: x.to(torch.float64, memory_format=torch.contiguous_format),
    "zeros_like": lambda x: torch.zeros_like(x, memory_format=torch.contiguous_format),
    "new_zeros": lambda x: x.new_zeros(3, 4),
    "new_full": lambda x: x.new_full((3, 4), 2.0),
    "channel_shuffle": lambda x: F.channel_shuffle(x.reshape(2, 2, 4), 2),
    "svd": lambda x: torch.svd(x)[2],
    "solve": lambda x: torch.linalg.solve(x + 3 * torch.eye(4), x, left=False),
}

# What PyTorch makes in C order of expanded tensors, and in the order of others.
LIKE = {
    "clone": lambda x: x.clone(),
    "double": lambda x: x.double(),
    "half": lambda x: x.half(),
    "to": lambda x: x.to(torch.bfloat16),
    "bool": lambda x: x.bool(),
    "zeros_like": torch.zeros_like,
    "ones_like": lambda x: torch.ones_like(x, dtype=torch.float64),
    "full_like": lambda x: torch.full_like(x, 2.0),
    "rand_like": torch.rand_like,
    "exp": torch.exp,
    "exp of halves": lambda x: x.bfloat16().exp(),
    "add": lambda x: x + 1,
    "relu": torch.relu,
    "i0": torch.i0,
    "where": lambda x: torch.where(x > 0.5, x, 0.0),
    "nan_to_num": torch.nan_to_num,
    "float_power": lambda x: torch.float_power(x, 2),
}


def check_writes(made):
    """Writes through views of all elements in a row arrive."""
    assert made.is_contiguous()
    for turned in (made.view(-1), made.flatten(), made.reshape(-1), made.ravel()):
        turned[1] = 0
        assert made[(0,) * (made.ndim - 1) + (1,)] == 0
        turned[1] = 1
        assert made[(0,) * (made.ndim - 1) + (1,)] == 1


@pytest.mark.parametrize("of", INPUTS)
@pytest.mark.parametrize("name", ROWS)
def test_results_are_in_rows(name, of):
    check_writes(ROWS[name](INPUTS[of](numbers)))


@pytest.mark.parametrize("name", LIKE)
def test_what_is_made_of_expanded_tensors_is_in_rows(name):
    check_writes(LIKE[name](numbers(4).expand(4, 4)))
    check_writes(LIKE[name](numbers(4).expand(3, 4)))


@pytest.mark.parametrize("name", LIKE)
def test_elementwise_results_keep_the_order_of_their_operands(name):
    make = LIKE[name]
    if name == "relu":  # in C order, whatever its operand's is
        return
    assert make(numbers(4, 4).T).stride() == (1, 4)
    assert make(numbers(8, 4)[::2].T).stride() == (1, 4)
    for dims in itertools.permutations(range(3)):
        x = numbers(2, 3, 4).permute(dims)
        assert make(x).stride() == x.stride()


def test_the_first_operand_that_tells_gives_the_order():
    x, row, column = numbers(4, 4), numbers(4), numbers(4, 1)
    assert (x.T * row).stride() == (row * x.T).stride() == (1, 4)
    assert (x.T * column).stride() == (x.T + x.T).stride() == (1, 4)
    assert torch.addcmul(x, x.T, x.T).stride() == (4, 1)
    check_writes(torch.addcmul(x, x.T, x.T))
    check_writes(x + numbers(4, 4))


def test_views_stay_views():
    x = numbers(2, 3, 4)
    views = [x.T, x.permute(2, 0, 1), x.flip(0)[0], x[:, 1], x[..., ::2], x.mT]
    views += [*x.split(2, 1), *x.unbind(1), *x.chunk(2, 2), x.diagonal(0, 1, 2)]
    views += [
        x[0].expand(5, 3, 4),
        x.movedim(0, 2),
        x.swapaxes(0, 1),
        x.unfold(1, 2, 1),
    ]
    bases = [view.stride() for view in views]
    assert bases[0] == (1, 4, 12)
    for view in (x.T, x.permute(2, 0, 1), x[:, 1], x[..., ::2], x.unbind(1)[1]):
        view.zero_()
        assert view.untyped_storage is not None
        x.fill_(1)
        assert (view == 1).all()


def test_gradients_are_in_the_order_of_their_leaves():
    x, y = numbers(4, 4).requires_grad_(), numbers(4, 4).requires_grad_()
    (x.T * y.T + x.T @ y.T).sum().backward()
    for grad in (x.grad, y.grad):
        grad.view(-1)[1] = 7
        assert grad[0, 1] == 7
    for loss in (
        lambda x: x.mean(),
        lambda x: x.cumsum(0).sum(),
        lambda x: x.T.exp().sum(),
    ):
        (grad,) = torch.autograd.grad(loss(x), x)
        grad.view(-1)[1] = 7
        assert grad[0, 1] == 7
    (grad,) = torch.autograd.grad(x.T.pow(3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(grad.sum(), x)
    assert torch.allclose(second, 6 * x)
    second.view(-1)[1] = 7
    assert second[0, 1] == 7


def test_what_is_written_through_views_has_gradients():
    x = numbers(4, 4).requires_grad_()
    y = x[:, PICK]
    y.view(-1)[:2] = 0
    (grad,) = torch.autograd.grad((y * y).sum(), x)
    wanted = torch.zeros(4, 4)
    wanted[1:, PICK] = 2 * x.detach()[1:, PICK]
    assert torch.equal(grad, wanted)
    y = x.softmax(0)
    y.view(-1)[:2] = 0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_softmax_along_any_dim_is_that_of_rows(ranks):
    def work():
        for shape in (
            (5, 7),
            (3, 40, 5),
            (2, 3, 4, 5),
            (1, 600, 30),
            (0, 3, 2),
            (3, 0, 2),
        ):
            x = numbers(*shape) * 4
            for dim in range(x.ndim):
                rows = x.movedim(dim, -1).contiguous()
                for function in (torch.softmax, torch.log_softmax):
                    found = function(x, dim)
                    wanted = function(rows, -1).movedim(-1, dim)
                    assert torch.equal(found, wanted)
                    assert (
                        torch.equal(function(x.double(), dim).float(), wanted)
                        or x.numel()
                    )

    ranks(work)


def test_in_numpy_s_dialect_orders_are_numpy_s():
    array = np.arange(16.0).reshape(4, 4)
    x = dtensor.tensor(array)
    pairs = [
        (x[:, [0, 2]], array[:, [0, 2]]),
        (np.concatenate([x.T, x.T], 1), np.concatenate([array.T, array.T], 1)),
        (np.take(x, [0, 2], 1), np.take(array, [0, 2], 1)),
        (np.cumsum(x.T, 0), np.cumsum(array.T, 0)),
        (np.copy(x.T), np.copy(array.T)),
        (np.zeros_like(x.T), np.zeros_like(array.T)),
        (np.stack([x.T, x.T], 1), np.stack([array.T, array.T], 1)),
    ]
    for found, wanted in pairs:
        assert np.asarray(found).strides == wanted.strides


# What may be cut along dim 0, and is then cut so.
CUT = {
    name: ROWS[name]
    for name in """
    softmax, softmax of rows, log_softmax, softmin, logcumsumexp, cumsum, cummax,
    columns by index, columns by list, last by index, columns by mask, rows by index,
    cat, cat of one, stack, hstack, vstack, dstack, index_copy, masked_fill, gradient,
    clone, to, zeros_like, normal, one_hot
    """.replace("\n", " ").split(",")
    for name in [name.strip()]
}


def spread_by(*placements):
    """Return `numbers`, as a DTensor on all ranks."""

    def make(*shape):
        return distribute_tensor(numbers(*shape), line(), placements)

    return make


@pytest.mark.parametrize("name", CUT)
def test_writes_through_views_of_dtensors_arrive(ranks, name):
    def body():
        for placement, of in itertools.product((Shard(0), Replicate()), INPUTS):
            with implicit_replication():
                made = CUT[name](INPUTS[of](spread_by(placement)))
                assert made.to_local().is_contiguous()
                if made.placements[0] not in (Shard(0), Replicate()):
                    continue  # a view would move
                for turned in (made.view(-1), made.flatten()):
                    turned.fill_(0)
                    assert not made.full_tensor().any()
                    turned.fill_(1)
                    assert made.full_tensor().all()
                made.view(-1)[1] = 0
                assert made.full_tensor().view(-1)[1] == 0

    ranks(body)


def test_copies_of_expanded_dtensors_are_in_rows(ranks):
    def body():
        for placement, make in itertools.product(
            (Shard(0), Replicate()), LIKE.values()
        ):
            x = spread_by(placement)(4)
            for spread in (x.expand(3, 4), x[:, None].expand(4, 3)):
                assert make(spread).to_local().is_contiguous()

    ranks(body)
