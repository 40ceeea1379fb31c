"""Tensors without dims have a dim 0 or -1 in PyTorch's dialect."""

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
import dtensor.torch.nn.functional as F
from dtensor.torch.distributed.tensor import Replicate, distribute_tensor

pytestmark = pytest.mark.filterwarnings("ignore:Degrees of freedom")
nan = float("nan")

# What PyTorch gives for 2.5.
FUNCTIONS = {
    "sum": (torch.sum, 2.5),
    "mean": (torch.mean, 2.5),
    "nansum": (torch.nansum, 2.5),
    "nanmean": (torch.nanmean, 2.5),
    "prod": (torch.prod, 2.5),
    "amax": (torch.amax, 2.5),
    "amin": (torch.amin, 2.5),
    "std": (torch.std, nan),
    "var": (torch.var, nan),
    "biased": (lambda x, dim: torch.var(x, dim, unbiased=False), 0),
    "corrected": (lambda x, dim: torch.std(x, dim=dim, correction=0), 0),
    "var_mean": (torch.var_mean, (nan, 2.5)),
    "std_mean": (torch.std_mean, (nan, 2.5)),
    "all": (torch.all, True),
    "any": (torch.any, True),
    "count_nonzero": (torch.count_nonzero, 1),
    "logsumexp": (torch.logsumexp, 2.5),
    "vector_norm": (lambda x, dim: torch.linalg.vector_norm(x, dim=dim), 2.5),
    "vector_norm 1": (lambda x, dim: torch.linalg.vector_norm(x, 1, dim), 2.5),
    "norm": (lambda x, dim: torch.norm(x, 2, dim), 2.5),
}
OF_ONE = {
    "linalg.norm": (lambda x, dim: torch.linalg.norm(x, 3, dim), 2.5),
    "quantile": (lambda x, dim: torch.quantile(x, 0.5, dim), 2.5),
    "nanquantile": (lambda x, dim: torch.nanquantile(x, 0.5, dim), 2.5),
    "quantiles": (
        lambda x, dim: torch.quantile(x, torch.tensor([0.1, 0.5]), dim, keepdim=True),
        (2.5, 2.5),
    ),
    "movedim": (lambda x, dim: torch.movedim(x, dim, 0), 2.5),
    "normalize": (lambda x, dim: F.normalize(x, dim=dim), 1),
    "logcumsumexp": (torch.logcumsumexp, 2.5),
    "method mean": (lambda x, dim: x.mean(dim), 2.5),
    "method std": (lambda x, dim: x.std(dim), nan),
    "method quantile": (lambda x, dim: x.quantile(0.5, dim), 2.5),
    "method flip": (lambda x, dim: x.flip(dim), 2.5),
}
LISTS = {"flip": (torch.flip, 2.5), "method": (lambda x, d: x.sum(d), 2.5)}


def check(found, wanted):
    many = isinstance(found, tuple)
    for one, each in zip(*(x if many else (x,) for x in (found, wanted)), strict=True):
        whole = one.full_tensor() if hasattr(one, "full_tensor") else one
        np.testing.assert_array_equal(whole.detach(), each)


@pytest.mark.parametrize("dim", [0, -1])
@pytest.mark.parametrize("name", FUNCTIONS | OF_ONE)
def test_a_dim_of_it_may_be_named(name, dim):
    function, wanted = (FUNCTIONS | OF_ONE)[name]
    check(function(torch.tensor(2.5), dim), wanted)


@pytest.mark.parametrize("dims", [(0,), [0], (-1,)])
@pytest.mark.parametrize("name", [*FUNCTIONS, *LISTS])
def test_so_may_a_list_of_one(name, dims):
    if name == "prod":
        return
    function, wanted = (FUNCTIONS | LISTS)[name]
    check(function(torch.tensor(2.5), dims), wanted)


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if "norm" not in n])
def test_other_dims_are_refused(name):
    for dim in (1, -2):
        with pytest.raises((IndexError, ValueError)):
            FUNCTIONS[name][0](torch.tensor(2.5), dim)


def test_a_dim_is_named_once():
    for function in (torch.sum, torch.mean, torch.std, torch.amax, torch.flip):
        with pytest.raises((RuntimeError, ValueError)):
            function(torch.tensor(2.5), (0, -1))


def test_gradients_go_through():
    for function in (
        torch.mean,
        lambda x, dim: torch.var(x, dim, unbiased=False) + x,
        lambda x, dim: torch.flip(x, (dim,)),
        lambda x, dim: torch.linalg.vector_norm(x, dim=dim),
        lambda x, dim: torch.quantile(x, 0.5, dim),
        torch.amax,
    ):
        x = torch.tensor(2.0, requires_grad=True)
        function(x, 0).backward()
        assert float(x.grad) == 1 and x.grad.shape == ()


def test_dtensors_are_alike(ranks):
    def body():
        x = distribute_tensor(torch.tensor(2.5), line(), [Replicate()])
        for name, (function, wanted) in (FUNCTIONS | OF_ONE).items():
            if name != "quantiles":  # whose numbers are a Tensor
                check(function(x, 0), wanted)
        x.requires_grad_()
        x.mean(-1).backward()
        assert float(x.grad.full_tensor()) == 1

    ranks(body)
