"""What is gathered ahead of its use is what was there when it is used."""

import numpy as np
import pytest
from fsdp_models import X, Y, check, loss_of, part, reference, sharded, train
from meshes import line

import dtensor
from dtensor import nn, tensor
from dtensor.fsdp import fully_shard
from dtensor.optim import SGD


def ahead(model):
    """Have both inner modules gathered before their use, in both directions."""
    model.set_modules_to_forward_prefetch([model.first])
    model.first.set_modules_to_forward_prefetch([model.second])
    model.set_modules_to_backward_prefetch([model.second])
    model.second.set_modules_to_backward_prefetch([model.first])
    return model


@pytest.mark.parametrize("reshard", [None, True, False])
def test_training_is_that_of_one_process(ranks, reshard):
    expected = reference()

    def body():
        model = ahead(sharded(line(), reshard_after_forward=reshard))
        check(model, train(model, line()), expected)

    ranks(body)


class Branches(nn.Module):
    """Goes through `second`, or not, or fails before it."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x, way):
        x = self.first(x)
        if way == "fails":
            raise ValueError("on all ranks")
        return x if way == "skips" else self.second(x)


def branches():
    model = Branches()
    for module in (model.first, model.second, model):
        fully_shard(module, mesh=line())
    model.first.set_modules_to_forward_prefetch([model.second])
    return model, tensor(np.ones((2, 4), np.float32))


@pytest.mark.parametrize("way", ["skips", "fails"])
def test_a_module_that_forward_did_not_come_to_is_gathered_again(ranks, way):
    def body():
        model, x = branches()
        with dtensor.no_grad():
            try:
                model(x, way)
            except ValueError:
                assert way == "fails"
            model.first.weight.full_tensor()  # what was on its way goes on
            model.second.weight.fill(1)
            model.second.bias.fill(2)
            found, middle = model(x, "both"), model(x, "skips")
        np.testing.assert_allclose(found, middle.sum(1, keepdims=True) + [2] * 4, 1e-6)

    ranks(body)


def test_a_module_that_was_asked_for_is_gathered_again_after_a_write(ranks):
    def body():
        model, x = branches()
        model.second.unshard(async_op=True)
        model.first.weight.full_tensor()  # what was on its way goes on
        with dtensor.no_grad():
            model.second.weight.fill(1)
            model.second.bias.fill(2)
            np.testing.assert_allclose(model.second(x), np.full((2, 4), 6.0))

    ranks(body)


def test_after_a_backward_that_failed_too(ranks):
    def body():
        model = ahead(sharded(line()))
        x, y = part(line(), X), part(line(), Y)
        optimizer = SGD(model.parameters(), lr=0.1)
        loss_of(model, x, y).backward()
        output = model(x)
        output.register_hook(lambda grad: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            output.sum().backward()
        optimizer.step()
        value = model(x).detach()
        model.reshard()
        assert np.array_equal(value, model(x).detach())

    ranks(body)
