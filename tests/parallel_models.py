"""Small models, and what "the same as without parallelism" means."""

from typing import Any

import numpy as np

import dtensor
from dtensor import DTensor, nn
from dtensor.debug import CommDebugMode

F64 = np.float64


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def filled(module: Any, seed: int = 1) -> Any:
    """The module with parameters that are the same wherever it is made."""
    for i, parameter in enumerate(module.parameters()):
        parameter.data = dtensor.tensor(numbers(*parameter.shape, seed=seed + i))
    return module


def leaf(x: np.ndarray, wanted: bool = True) -> dtensor.Tensor:
    return dtensor.tensor(x, requires_grad=wanted)


class MLP(nn.Module):
    """Two Linears."""

    def __init__(self, inputs=4, hidden=8, outputs=4, bias=True) -> None:
        super().__init__()
        self.up = nn.Linear(inputs, hidden, bias=bias, dtype=F64)
        self.act = nn.ReLU()
        self.down = nn.Linear(hidden, outputs, bias=bias, dtype=F64)

    def forward(self, x):
        return self.down(self.act(self.up(x)))


class Block(nn.Module):
    """A norm and an MLP behind it, with a residual."""

    def __init__(self, width=4, hidden=8) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, dtype=F64)
        self.mlp = MLP(width, hidden, width)

    def forward(self, x):
        return x + self.mlp(self.norm(x))


class Model(nn.Module):
    """An embedding, blocks, and logits."""

    def __init__(self, words=10, width=4, hidden=8, depth=2) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width, dtype=F64)
        self.layers = nn.ModuleList([Block(width, hidden) for _ in range(depth)])
        self.norm = nn.LayerNorm(width, dtype=F64)
        self.output = nn.Linear(width, words, bias=False, dtype=F64)

    def forward(self, ids):
        x = self.words(ids)
        for layer in self.layers:
            x = layer(x)
        return self.output(self.norm(x))


def whole(x: Any) -> np.ndarray:
    """All elements, on every rank."""
    x = x.detach()
    return np.array(x.full_tensor() if isinstance(x, DTensor) else x)


def part_of(x: np.ndarray, mesh: Any, dim: int) -> np.ndarray:
    """This rank's part of an array, cut as torch.chunk does."""
    cut = dtensor.distribute_tensor(x, mesh, [dtensor.Shard(dim)], src_data_rank=None)
    return np.array(cut.to_local())


def run(module: Any, *inputs: Any, seed: int = 9) -> tuple[Any, Any]:
    """Forward, and backward of a sum with weights; what both have counted."""
    with CommDebugMode() as forward:
        out = module(*inputs)
    weights = numbers(*out.shape, seed=seed)
    with CommDebugMode() as backward:
        (out * weights).sum().backward()
    return out, (forward.get_comm_counts(), backward.get_comm_counts())


def assert_same_gradients(module: Any, plain: Any) -> None:
    """All gradients of the parameters are those of the module that is not parallel."""
    want = dict(plain.named_parameters())
    got = dict(module.named_parameters())
    assert got.keys() == want.keys()
    for name, parameter in got.items():
        assert parameter.grad is not None, name
        if isinstance(parameter, DTensor):
            assert parameter.grad.layout == parameter.layout, name
        np.testing.assert_allclose(
            whole(parameter.grad), whole(want[name].grad), atol=1e-10, err_msg=name
        )


def many(mesh: Any, **counts: int) -> dict[str, int]:
    """These counts, if there is somebody to send something to."""
    return counts if mesh.size() > 1 else {}
