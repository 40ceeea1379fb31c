"""Scalars of NumPy are numbers in PyTorch's dialect, which nothing falls out of."""

import numpy as np
import pytest

import dtensor.torch as torch
import dtensor.torch.distributed as dist
from dtensor.testing import run_ranks
from dtensor.torch import nn
from dtensor.torch.distributed.fsdp import fully_shard
from dtensor.torch.distributed.tensor import DTensor

F64, I64 = np.float64, np.int64
NAMES = {"np": np, "torch": torch, "F64": F64, "I64": I64, "nn": nn}

# The dtypes of PyTorch 2.13.
ROWS = {
    "float32": """
        F64(2) * x; x * F64(2); x + F64(1); F64(1) - x; x ** F64(2); F64(2) ** x
        x / F64(2); nn.Parameter(torch.ones([]) * np.log(14.)); torch.arange(4) * F64(2)
        torch.arange(4) / F64(2); F64(2) * torch.arange(3); F64(2) / torch.arange(1, 3)
        torch.full((2,), F64(1)); torch.where(c, F64(1), 0.); I64(2) - torch.ones([])
        I64(2) / x; x.clamp(min=F64(.5)); torch.clamp(x, F64(1), F64(2)); x.pow(F64(2))
        torch.add(x, F64(1)); torch.mul(x, np.float32(2)); x.masked_fill(c, F64(2))
        F64(3) // x; x % I64(2); np.bool_(True) * x; torch.arange(0, 1, F64(.5))
        torch.linspace(0, F64(1), 3); x.type(torch.FloatTensor)
    """,
    "float64": """
        torch.tensor([np.mean(a), F64(2)]); torch.tensor([a, a])
        torch.as_tensor([a, a])
        torch.tensor([torch.tensor(1.).double()]); np.float32(2) * x.double()
    """,
    "float16": "x.half() * F64(2); F64(2) * x.half()",
    "int64": """
        torch.arange(0, np.array([3, 4]).max()); torch.arange(I64(3))
        torch.tensor([1, np.int32(2)]); torch.tensor([[I64(1)], [2]])
        x.type(torch.LongTensor); torch.arange(4) * np.int32(2)
    """,
    "int32": "i * I64(3); I64(3) - i",
    "bool": "x > F64(1); F64(2) < x",
}
CALLS = [
    (call.strip(), dtype)
    for dtype, text in ROWS.items()
    for line in text.splitlines()
    for call in line.split(";")
    if call.strip()
]


@pytest.mark.parametrize(("call", "dtype"), CALLS)
def test_scalars_do_not_widen(call, dtype):
    given = {
        "x": torch.ones(2),
        "i": torch.ones(2, dtype=torch.int32),
        "c": torch.tensor([True, False]),
        "a": np.ones(3),
    }
    found = eval(call, NAMES, given)
    assert str(found.dtype) == f"torch.{dtype}"
    assert isinstance(found, torch.Tensor)


OPTIMIZERS = """
    Adadelta Adafactor Adagrad Adam Adamax AdamW ASGD NAdam RAdam RMSprop Rprop SGD
""".split()


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_state_of_optimizers(name):
    layer = nn.Linear(4, 3)
    options = {"momentum": 0.9} if name in ("SGD", "RMSprop") else {}
    optimizer = getattr(torch.optim, name)(layer.parameters(), **options)
    for _ in range(2):
        layer(torch.ones(2, 4)).sum().backward()
        optimizer.step()
    state = optimizer.state[layer.weight]
    tensors = [x for x in state.values() if hasattr(x, "dtype")]
    assert tensors and all(isinstance(x, torch.Tensor) for x in tensors)


def test_norms_of_gradients():
    layer = nn.Linear(2, 2)
    assert isinstance(nn.utils.clip_grad_norm_(layer.parameters(), 1.0), torch.Tensor)
    layer(torch.ones(2)).sum().backward()
    norm = nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
    assert isinstance(norm, torch.Tensor)
    assert norm.device.type == "cpu"


def test_states_of_generators():
    state = torch.get_rng_state()
    assert isinstance(state, torch.Tensor)
    drawn = torch.rand(3)
    torch.set_rng_state(state)
    assert torch.equal(torch.rand(3), drawn)


def test_parameters_that_were_on_meta():
    with torch.device("meta"):
        layer = nn.Linear(2, 2)
    fully_shard(layer)
    layer.to_empty(device="cpu")
    assert isinstance(layer.weight, DTensor)
    with torch.no_grad():
        layer.weight.to_local().fill_(1)
    layer(torch.ones(2)).sum().backward()
    assert isinstance(layer.weight.grad, DTensor)


def test_a_retained_gradient_counts_once():
    a = torch.ones(2, requires_grad=True)
    b = a * 2
    b.retain_grad()
    b.sum().backward(inputs=[a, b])
    assert b.grad.tolist() == [1, 1]
    assert a.grad.tolist() == [2, 2]


def test_batch_norm_of_old_files():
    model = nn.Sequential(nn.BatchNorm1d(3))
    old = dict(model.state_dict())
    del old["0.num_batches_tracked"]
    model.load_state_dict(old)
    new = model.state_dict()
    del new["0.num_batches_tracked"]
    with pytest.raises(RuntimeError, match="num_batches_tracked"):
        model.load_state_dict(new)


def test_a_prefix_is_taken_off():
    model = nn.Sequential(nn.Linear(2, 3))
    state = model.state_dict(prefix="module.")
    nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert list(state) == ["0.weight", "0.bias"]
    assert set(state._metadata) == {"", "0"}


def test_spawn_calls_the_function_of_this_rank():
    def body():
        got = []
        torch.multiprocessing.spawn(lambda *found: got.append(found), (7,), nprocs=2)
        with pytest.raises(RuntimeError, match="mpiexec -n 3"):
            torch.multiprocessing.spawn(print, nprocs=3)
        return got

    assert run_ranks(2, body) == [[(0, 7)], [(1, 7)]]


def test_collectives_with_gradients():
    def body():
        x = torch.full((2,), dist.get_rank() + 1.0).requires_grad_()
        first, second = dist.nn.all_gather(x)
        (first * 2 + second * 3).sum().backward()
        assert isinstance(first, torch.Tensor)
        return first.tolist(), second.tolist(), x.grad.tolist()

    found = run_ranks(2, body)
    assert found == [([1, 1], [2, 2], [4, 4]), ([1, 1], [2, 2], [6, 6])]
