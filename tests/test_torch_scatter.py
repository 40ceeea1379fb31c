"""Products that PyTorch's dialect scatters have the gradients of products, twice."""

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
from dtensor import DTensor, Replicate, Shard, distribute_tensor


def factors(x, dim, index, src, include_self):
    """The numbers that are multiplied for each element of the result."""
    found = {at: [x[at]] for at in np.ndindex(*x.shape)}
    seen = set()
    for at in np.ndindex(*index.shape):
        to = (*at[:dim], int(index[at]), *at[dim + 1 :])
        if to not in seen and not include_self:
            found[to] = []
        seen.add(to)
        found[to].append(src[at])
    return found.values()


def multiplied(x, dim, index, src, include_self):
    products = []
    for numbers in factors(x, dim, index, src, include_self):
        product = numbers[0]
        for number in numbers[1:]:
            product = product * number
        products.append(product)
    return torch.stack(products).reshape(x.shape)


def gradients(function, arrays, weights):
    """The result, its gradients, and those of their product with some weights."""
    given = [torch.tensor(a, requires_grad=True) for a in arrays]
    return [np.asarray(y) for y in both(function, given, weights)]


def both(function, given, weights):
    options = {"allow_unused": True, "materialize_grads": True}
    out = function(*given)
    first = torch.autograd.grad(
        (out * weights[0]).sum(), given, create_graph=True, **options
    )
    total = sum((g * w).sum() for g, w in zip(first, weights[1:], strict=True))
    second = torch.autograd.grad(total, given, **options)
    return [y.detach() for y in (out, *first, *second)]


def example(seed, dim):
    """A tensor and factors for it, of which some are 0, and where they go."""
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal(shape) for shape in ((3, 4), (4, 4))]
    arrays = [np.where(rng.random(a.shape) < 0.3, 0, a) for a in arrays]
    index = rng.integers(0, arrays[0].shape[dim], ((4, 4), (3, 3))[dim])
    weights = [rng.standard_normal(a.shape) for a in (arrays[0], *arrays)]
    return arrays, index, weights


@pytest.mark.parametrize("include_self", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
def test_factors_that_are_scattered_have_the_gradients_of_products(dim, include_self):
    for seed in range(8):
        arrays, index, weights = example(seed, dim)
        wanted = gradients(
            lambda x, y, at=index: multiplied(x, dim, at, y, include_self),
            arrays,
            [torch.tensor(w) for w in weights],
        )
        got = gradients(
            lambda x, y, at=index: torch.scatter_reduce(
                x, dim, torch.tensor(at), y, "prod", include_self=include_self
            ),
            arrays,
            [torch.tensor(w) for w in weights],
        )
        for mine, other in zip(got, wanted, strict=True):
            np.testing.assert_allclose(mine, other, 1e-12, 1e-12, err_msg=str(seed))


def test_slices_that_are_multiplied_have_gradients_too():
    x = torch.tensor([[1.0, 2.0], [3.0, 0.0]], requires_grad=True)
    y = torch.tensor([[5.0, 7.0], [0.0, 3.0]], requires_grad=True)
    x.index_reduce(0, torch.tensor([1, 1]), y, "prod").sum().backward()
    assert x.grad.tolist() == [[1, 1], [0, 21]]
    assert y.grad.tolist() == [[0, 0], [15, 0]]


@pytest.mark.parametrize("cut", [0, 1])
def test_products_of_dtensors_have_these_gradients(ranks, cut):
    arrays, index, weights = example(3, 0)
    wanted = gradients(
        lambda x, y: multiplied(x, 0, index, y, True),
        arrays,
        [torch.tensor(w) for w in weights],
    )

    def body():
        mesh = line()

        def placed(array, place):
            return distribute_tensor(torch.tensor(array), mesh, [place])

        given = [placed(a, Shard(cut)).requires_grad_() for a in arrays]
        found = both(
            lambda x, y: torch.scatter_reduce(
                x, 0, placed(index, Replicate()), y, "prod"
            ),
            given,
            [placed(w, Replicate()) for w in weights],
        )
        for mine, other in zip(found, wanted, strict=True):
            assert isinstance(mine, DTensor)
            np.testing.assert_allclose(mine.full_tensor(), other, 1e-12, 1e-12)

    ranks(body)


@pytest.mark.parametrize("shape", [(0,), (0, 1), (2, 0, 3)])
def test_an_empty_index_of_any_dims_picks_and_puts_nothing(shape):
    x, index = torch.ones(2, 3), torch.zeros(*shape, dtype=torch.int64)
    src = torch.zeros(*shape)
    assert torch.gather(x, 1, index).shape == shape
    for found in (
        x.scatter(0, index, src),
        x.scatter(0, index, 2.0),
        x.scatter_add(0, index, src),
        x.scatter_reduce(0, index, src, "prod"),
    ):
        assert torch.equal(found, x) and found is not x
