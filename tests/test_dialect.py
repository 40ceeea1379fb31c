"""Tensors in PyTorch's dialect: what comes of them is in it, and has its methods."""

import ast
import copy
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from meshes import line

import dtensor
import dtensor.torch as torch
from dtensor.torch import nn
from dtensor.torch.distributed.fsdp import fully_shard
from dtensor.torch.distributed.tensor import (
    DTensor,
    Replicate,
    Shard,
    distribute_tensor,
    zeros,
)

DATA = Path(__file__).parent / "data"
sys.path.insert(0, str(DATA))
import torch_methods as program  # noqa: E402

STORED = dict(
    row.split("\t") for row in (DATA / "torch_methods.txt").read_text().splitlines()
)


@pytest.mark.parametrize("call, found", list(program.answers(torch)))
def test_a_method_gives_what_torch_gives(call, found):
    assert found == STORED[call]


def is_torch(*tensors):
    return all(isinstance(x, torch.Tensor) for x in tensors)


def test_what_comes_of_a_tensor_is_in_its_dialect(ranks):
    def body():
        mesh, array = line(), np.arange(24.0, dtype="f4").reshape(4, 6)
        for x in (
            torch.tensor(array),
            *(distribute_tensor(array, mesh, [p]) for p in (Shard(0), Replicate())),
        ):
            whole = isinstance(x, dtensor.DTensor)
            assert isinstance(x, DTensor) == whole and is_torch(x)
            assert is_torch(x + 1, x @ x.T, x[1:], x.sum(), x.clone(), x.detach())
            assert is_torch(np.mean(x), np.sort(x), np.std(x), np.add(x, x))
            assert is_torch(copy.deepcopy(x), copy.copy(x), x.to(torch.float64))
            assert is_torch(*x.max(1)) and is_torch(*np.split(x, 2))
            plain = x.as_numpy()
            assert type(plain) in (dtensor.Tensor, dtensor.DTensor)
            assert is_torch(plain + x, x + plain, plain.as_torch())
            assert x.as_torch() is x and plain.as_numpy() is plain
            if whole:
                assert is_torch(x.to_local(), x.full_tensor())
                assert is_torch(x.redistribute(placements=[Replicate()]))
                assert is_torch(DTensor.from_local(x.to_local(), mesh, x.placements))

    ranks(body)


def test_the_dialects_share_memory_and_tape():
    x = torch.zeros(3, requires_grad=True)
    (x.as_numpy() * 2).sum().as_torch().backward()
    assert x.grad.tolist() == [2, 2, 2] and is_torch(x.grad)
    y = torch.zeros(3)
    y.as_numpy()[0] = 5
    assert y.tolist() == [5, 0, 0]
    assert is_torch(pickle.loads(pickle.dumps(y)))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 4)
        self.up, self.down = nn.Linear(4, 8), nn.Linear(8, 4)
        self.scale = nn.Parameter(torch.ones(4))
        self.register_buffer("shift", torch.zeros(4))

    def forward(self, tokens):
        return self.down(torch.relu(self.up(self.table(tokens)))) * self.scale


def trained(model):
    loss = (model(torch.arange(6)) ** 2).mean()
    loss.backward()
    assert is_torch(loss, *model.parameters(), *model.buffers())
    assert is_torch(*(p.grad for p in model.parameters()))
    torch.optim.AdamW(model.parameters()).step()
    assert is_torch(*model.parameters(), *model.state_dict().values())


def test_modules_keep_the_dialect_of_the_name_they_were_made_by(ranks):
    def body():
        trained(Model())
        trained(copy.deepcopy(Model()))
        with torch.device("meta"):
            model = Model()
        assert is_torch(*model.parameters())
        model.to_empty(device="cpu")
        model.load_state_dict(Model().state_dict())
        trained(model)
        model = Model()
        for part in (model.up, model.down, model):
            fully_shard(part, mesh=line())
        trained(model)
        assert not is_torch(*dtensor.nn.Linear(2, 2).parameters())
        assert isinstance(dtensor.nn.Linear(2, 2), nn.Linear)
        assert is_torch(zeros(3, device_mesh=line()))

    ranks(body)


def test_subclasses_of_users_work():
    class Mine(torch.Tensor):
        pass

    x = Mine([1.0, 2.0])
    assert type(x) is Mine and is_torch(x + 1) and x.sum(0, True).shape == (1,)


def test_text_is_that_of_torch():
    loss = torch.tensor(0.25)
    assert f"{loss}" == "0.25" and f"{loss:.3f}" == "0.250"
    assert repr(torch.tensor([[1.0, 2.5]])) == "tensor([[1.0000, 2.5000]])"
    assert repr(torch.tensor([1, 2])) == "tensor([1, 2])"
    assert repr(torch.zeros(2, dtype=torch.float64)) == (
        "tensor([0., 0.], dtype=torch.float64)"
    )
    assert repr(torch.ones(1, requires_grad=True)) == "tensor([1.], requires_grad=True)"
    assert repr(torch.zeros(2, 3).shape) == "torch.Size([2, 3])"


def test_what_torch_refuses_is_refused():
    with pytest.raises(RuntimeError, match="Boolean value of Tensor"):
        bool(torch.zeros(2))
    with pytest.raises(RuntimeError, match="cannot be converted to Scalar"):
        torch.zeros(2).item()
    with pytest.raises(RuntimeError, match="must be either a floating point"):
        torch.arange(3).mean()
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.arange(3).add_(1.5)


# Methods with arguments that mean two things, and the calls that are not of tensors.
AMBIGUOUS = set("transpose repeat std var max min sort argsort median unique".split())
MODULES = set(
    "np ops _ops reductions extremes sort_parts operands lines got rows".split()
)


def test_the_library_calls_no_method_that_means_two_things():
    root = Path(dtensor.nn.__file__).resolve().parents[1]
    found = [
        f"{path.relative_to(root)}:{node.lineno}: {ast.unparse(node)}"
        for path in root.rglob("*.py")
        if "torch" not in path.relative_to(root).parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in AMBIGUOUS
        and (node.args or node.keywords)
        and ast.unparse(node.func.value) not in MODULES
    ]
    assert found == ["ops/reduce/arg.py:66: np.where(ties, where, last).min(axis=0)"]
