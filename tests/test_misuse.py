"""What is easily done wrong is said, with what to do, on all ranks."""

import io
import time
import warnings

import numpy as np
import pytest
from meshes import line

from dtensor import (
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
    nn,
    take,
    torch,
    zeros,
)
from dtensor.checkpoint import save
from dtensor.fsdp import fully_shard, replicate
from dtensor.optim import SGD, Adam
from dtensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    parallelize_module,
)
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


# --- arguments that are missing, misplaced or misspelt --------------------------------


def wrapped_outside_in() -> None:
    model = net()
    fully_shard(model, mesh=line())
    fully_shard(model[0], mesh=line())


MISPLACED = {
    "parallelize_module: `device_mesh` must be a DeviceMesh.*not dict .*plan=": (
        lambda: parallelize_module(net(), PLAN)
    ),
    "parallelize_module: `module` must be a Module, not DeviceMesh": (
        lambda: parallelize_module(line(), line(), PLAN)
    ),
    "parallelize_module: No device mesh is currently active": (
        lambda: parallelize_module(net(), parallelize_plan=PLAN)
    ),
    "distribute_module: `device_mesh` must be a DeviceMesh": (
        lambda: distribute_module(net(), (2,))
    ),
    "distribute_module: No device mesh is currently": lambda: distribute_module(net()),
    "fully_shard: `mesh` must be a DeviceMesh, as .*, not tuple": (
        lambda: fully_shard(net(), mesh=(2,))
    ),
    "fully_shard: expected a Module .* got Tensor in generator: pass the model": (
        lambda: fully_shard(net().parameters(), mesh=line())
    ),
    "replicate: expected a Module .* got int": lambda: replicate(5, mesh=line()),
    "Linear.weight is sharded .* call fully_shard on inner modules": wrapped_outside_in,
}

MISSPELT = {
    r"distribute_tensor\(\) .* 'placement'. Did you mean 'placements'\?": (
        lambda: distribute_tensor(np.ones(4), line(), placement=[Shard(0)])
    ),
    r"redistribute\(\) .* 'placement'. Did you mean 'placements'\?": (
        lambda: zeros(4, device_mesh=line()).redistribute(placement=[Shard(0)])
    ),
    r"zeros\(\) .* 'mesh'. Did you mean 'device_mesh'\?": lambda: zeros(4, mesh=line()),
    r"zeros\(\) got an unexpected keyword argument 'spam'$": lambda: zeros(4, spam=1),
    r"parallelize_module\(\) .* 'plan'. Did you mean 'parallelize_plan'\?": (
        lambda: parallelize_module(net(), line(), plan=PLAN)
    ),
    r"fully_shard\(\) .* 'device_mesh'. Did you mean 'mesh'\?": (
        lambda: fully_shard(net(), device_mesh=line())
    ),
    r"^ColwiseParallel\(\) .* 'output_layout'. Did you mean 'output_layouts'\?": (
        lambda: ColwiseParallel(output_layout=Shard(0))
    ),
    r"^PrepareModuleInput\(\) .*'input_layout'. Did you mean 'input_layouts'\?": (
        lambda: PrepareModuleInput(input_layout=Shard(0))
    ),
}


@pytest.mark.parametrize("text", MISPLACED | MISSPELT)
def test_the_function_and_what_helps_are_named(ranks, text):
    def body():
        with pytest.raises((TypeError, ValueError, RuntimeError), match=text):
            (MISPLACED | MISSPELT)[text]()

    ranks(body)


def test_modules_inside_out_and_modules_that_share_are_sharded(ranks):
    def body():
        model = net()
        model[2].bias = model.bias = nn.Parameter(np.zeros(4, np.float32))
        fully_shard(model[2], mesh=line())
        fully_shard(model, mesh=line())
        model(np.ones((2, 4), np.float32)).sum().backward()
        assert model[2].bias.grad is not None

    ranks(body)


# --- arrays of NumPy and files --------------------------------------------------------


def test_what_numpy_s_arrays_cannot_take_in_is_said_with_what_can():
    def body():
        u = distribute_tensor(np.arange(8.0), line(), [Shard(0)])
        places = distribute_tensor(np.arange(4), line(), [Shard(0)])
        new = np.zeros(8)
        with pytest.raises(
            RuntimeError, match=r"begin with np.zeros_like of a DTensor"
        ):
            new[1:-1] = u[1:-1]
        new = np.zeros_like(u)
        new[1:-1] = u[1:-1]
        with pytest.raises(RuntimeError, match=r"write dtensor.take\(a, x\)"):
            np.arange(8)[places]
        assert take(np.arange(8), places).sum() == 6
        with pytest.raises(RuntimeError, match=r"write np.stack\(\[x, y\]\), or float"):
            np.array([u.sum(), u.sum()])
        assert np.stack([u.sum(), u.sum()]).tolist() == [28, 28]

    run_ranks(2, body, timeout=60)


def test_what_cannot_be_saved_is_named_with_what_helps(tmp_path):
    def body():
        x = distribute_tensor(np.arange(8.0).reshape(4, 2), line(), [Shard(0)])
        helps = r"partial placements! Reduce it first: .*placements=\[Replicate\(\)\]\)"
        with pytest.raises(ValueError, match=rf"{helps} \(key 'a.mean'\)"):
            save({"a": {"mean": x.mean(0)}}, checkpoint_id=tmp_path)
        whole = x.mean(0).redistribute(placements=[Replicate()])
        save({"a": {"mean": whole}}, checkpoint_id=tmp_path)
        model = fully_shard(net(), mesh=line())
        keyed = r"\(key 'model.0.weight'\).* full_tensor\(\) of each DTensor on all"
        with pytest.raises(TypeError, match=keyed):
            torch.save({"n": [{"k": 1}], "model": model.state_dict()}, io.BytesIO())

    run_ranks(2, body, timeout=60)


# --- waits ----------------------------------------------------------------------------


def test_a_wait_that_was_in_vain_names_the_limit_of_run_ranks():
    def body():
        x = distribute_tensor(np.arange(8.0), line(), [Shard(0)])
        if line().get_rank() == 1:
            time.sleep(1.5)
        else:
            x.full_tensor()

    with pytest.raises(RuntimeError, match="a larger timeout= of run_ranks waits"):
        run_ranks(2, body, timeout=0.5)
