"""What is easily done wrong is said, with what to do, on all ranks."""

import warnings

import numpy as np
import pytest
from meshes import line

from dtensor import distribute_module, nn
from dtensor.fsdp import fully_shard, replicate
from dtensor.optim import SGD, Adam
from dtensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from dtensor.testing import run_ranks

PLAN = {"0": ColwiseParallel(), "2": RowwiseParallel()}


def net() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))


# --- optimizers -----------------------------------------------------------------------

REPLACE = {
    "fully_shard": lambda model: fully_shard(model, mesh=line()),
    "replicate": lambda model: replicate(model, mesh=line()),
    "parallelize_module": lambda model: parallelize_module(model, line(), PLAN),
    "distribute_module": lambda model: distribute_module(model, line()),
}


def trained(model: nn.Module, optimizer: SGD | Adam) -> list[str]:
    """Do two steps; return what is warned of."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        for _ in range(2):
            model(np.ones((2, 4), np.float32)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    assert all(each.filename == __file__ for each in heard)
    return [str(each.message) for each in heard]


@pytest.mark.parametrize("by", REPLACE)
def test_an_optimizer_of_parameters_that_were_replaced_says_so_once(by):
    def body():
        model = net()
        early = [SGD(model.parameters(), 0.1), Adam(model.parameters(), 0.1)]
        REPLACE[by](model)
        for optimizer in early:
            (heard,) = trained(model, optimizer)
            assert f"create the optimizer after {by}" in heard
        assert not trained(model, SGD(model.parameters(), 0.1))

    run_ranks(1, body, timeout=60)


def test_optimizers_whose_parameters_have_no_gradients_for_other_reasons_are_silent():
    def body():
        model = net()
        optimizer = SGD(model.parameters(), 0.1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            optimizer.step()
            fully_shard(model[0], mesh=line())  # the other layer is trained as before
            model(np.ones((2, 4), np.float32)).sum().backward()
            optimizer.step()

    run_ranks(1, body, timeout=60)
