"""A program as users write it, in both dialects: type checkers have nothing to add.

It runs on any number of ranks. What is annotated says which type is expected."""

import tempfile
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

import dtensor
import dtensor.torch as torch
import dtensor.torch.nn.functional as F
from dtensor import (
    DeviceMesh,
    DTensor,
    Layout,
    Partial,
    Placement,
    Replicate,
    Shard,
    Tensor,
    distribute_tensor,
    init_device_mesh,
    nn,
    optim,
    softmax,
)
from dtensor.checkpoint import load, save
from dtensor.debug import CommDebugMode, explain
from dtensor.fsdp import fully_shard
from dtensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)
from dtensor.torch import nn as tnn
from dtensor.torch.distributed import tensor as tdist

# --- meshes and layouts ---------------------------------------------------------------


def the_mesh() -> DeviceMesh:
    size: int = MPI.COMM_WORLD.size
    return init_device_mesh("cpu", (size,), mesh_dim_names=("rows",))


def layouts(mesh: DeviceMesh) -> None:
    placements: list[Placement] = [Shard(0)]
    x: DTensor = distribute_tensor(np.arange(12.0).reshape(4, 3), mesh, placements)
    layout: Layout = x.layout
    shape: tuple[int, ...] = x.shape
    local: Tensor = x.to_local()
    whole: Tensor = x.full_tensor()
    array: npt.NDArray[np.float64] = whole.numpy()
    moved: DTensor = x.redistribute(placements=[Replicate()])
    addend: DTensor = DTensor.from_local(np.ones(3), mesh, [Partial()])
    total: float = addend.sum().item()
    assert layout.shape == shape == array.shape and moved.ndim == x.ndim
    assert local.shape[1] == 3 and total == 3.0 * mesh.size()
    assert x.placements[0].is_shard(0) and len(x) == 4
    coordinate: list[int] | None = mesh.get_coordinate()
    assert coordinate is not None and mesh["rows"].ndim == 1
    for row in x:
        one: DTensor = row
        assert one.shape == (3,)


# --- NumPy's functions and operators --------------------------------------------------


def functions(x: DTensor) -> None:
    y: DTensor = dtensor.matmul(x, x.T)
    z: DTensor = dtensor.concatenate([x, x * 2], axis=0)
    w: DTensor = dtensor.where(x > 0.5, x, 0.0)
    p: DTensor = softmax(x, axis=1)
    q: DTensor = softmax(x, dim=-1)
    assert dtensor.allclose(p, q)
    s: DTensor = dtensor.stack([x, w], axis=-1)
    t: DTensor = dtensor.transpose(x, (1, 0))
    e: DTensor = dtensor.einsum("ij,kj->ik", x, x)
    a, b = dtensor.divmod(x, 2)
    quotient: DTensor = a
    rest: DTensor = b
    parts: list[DTensor] = dtensor.split(x, 2)
    chunks: tuple[DTensor, ...] = x.chunk(2)
    values, counts = dtensor.unique(x, return_counts=True)
    many: DTensor = counts
    places: tuple[DTensor, ...] = dtensor.nonzero(x)
    top: DTensor = dtensor.topk(x.flatten(), 2).values
    order: DTensor = dtensor.argsort(x, axis=0)
    picked: DTensor = dtensor.take_along_axis(x, order, axis=0)
    padded: DTensor = dtensor.pad(x, ((1, 1), (0, 0)), mode="edge")
    mean: DTensor = dtensor.mean(x, axis=(0, 1), keepdims=True)
    out: DTensor = dtensor.zeros_like(x)
    dtensor.exp(x, out=out)
    assert y.shape == e.shape and z.shape[0] == 2 * x.shape[0] and s.ndim == 3
    assert t.shape == x.shape[::-1] and dtensor.array_equal(quotient * 2 + rest, x)
    assert len(parts) == len(chunks) == 2 and many.size == values.size
    assert len(places) == 2 and top.size() == (2,) and picked.shape == x.shape
    assert padded.shape[0] == x.shape[0] + 2 and mean.shape == (1, 1)
    assert dtensor.result_type(x, np.float32) == np.float64
    number: int = dtensor.size(x)
    assert number == x.numel()


def linear_algebra(x: DTensor) -> None:
    square: DTensor = x.T @ x + np.eye(3)
    u, s, vh = dtensor.linalg.svd(square)
    again: DTensor = u * s @ vh
    q, r = dtensor.linalg.qr(square)
    low: DTensor = dtensor.linalg.cholesky(square)
    inverse: DTensor = dtensor.linalg.inv(square)
    result = dtensor.linalg.eigh(square)
    eigenvalues: DTensor = result.eigenvalues
    solved: DTensor = dtensor.linalg.solve(square, np.ones(3))
    norm: float = dtensor.linalg.norm(square).item()
    spectrum: DTensor = dtensor.fft.fft(x, axis=0)
    assert dtensor.allclose(again, square) and dtensor.allclose(q @ r, square)
    assert dtensor.allclose(low @ low.T, square) and solved.shape == (3,)
    assert dtensor.allclose(inverse @ square, np.eye(3)) and norm > 0
    assert eigenvalues.shape == (3,) and spectrum.dtype.kind == "c"


def operators(x: DTensor, a: npt.NDArray[np.float64]) -> None:
    y: DTensor = 2 * x - x / 3 + x**2
    z: DTensor = -abs(x) % 2
    less: DTensor = x < y
    both: DTensor = less & ~(x == y)
    part: DTensor = x[1:, [0, 2]]
    new: DTensor = x[..., None]
    masked: DTensor = x[x > 1]
    with_array: DTensor = x + a
    y += 1
    y[0] = 0.0
    y[y > 3] = x.max()
    total: DTensor = sum([x, y, z], start=x)
    truth: bool = bool((x == x).all())
    number: float = float(x.sum())
    assert both.dtype == bool and part.shape[1] == 2 and new.ndim == 3
    assert masked.ndim == 1 and with_array.shape == total.shape
    assert truth and number == x.sum().item()


def methods(x: DTensor) -> None:
    total: DTensor = x.sum(axis=0).reshape(-1)
    kept: DTensor = x.mean(dim=1, keepdim=True)
    spread: DTensor = x.std(axis=0, ddof=1)
    first: DTensor = x.argmax(axis=1)
    y: DTensor = x.clone().add_(1).clamp_(0, 5)
    cast: DTensor = x.astype(np.float32)
    half: DTensor = x.to(np.float16)
    turned: DTensor = x.transpose(1, 0).contiguous()
    joined: DTensor = x.flatten().cumsum(axis=0)
    filled: DTensor = x.masked_fill(x > 1, 0.0)
    wide: DTensor = x.unsqueeze(0).expand(2, -1, -1)
    columns: tuple[DTensor, ...] = x.unbind(1)
    rounded: DTensor = x.exp().log().round(3)
    product: DTensor = x.dot(np.ones(3))
    lists: list[list[float]] = x.tolist()
    assert total.shape == (3,) and kept.shape[1] == 1 and spread.shape == (3,)
    assert first.dtype.kind == "i" and y.shape == x.shape and len(lists) == len(x)
    assert cast.dtype == np.float32 and half.itemsize == 2 and len(columns) == 3
    assert turned.shape[0] == 3 and joined.ndim == 1 and filled.shape == x.shape
    assert wide.shape[0] == 2 and rounded.shape == x.shape and product.ndim == 1


def create(mesh: DeviceMesh) -> None:
    x: DTensor = dtensor.zeros(4, 3, device_mesh=mesh, placements=[Shard(0)])
    y: DTensor = dtensor.arange(10, device_mesh=mesh)
    z: DTensor = dtensor.full((2, 2), 7.0, device_mesh=mesh)
    r: DTensor = dtensor.randn(8, device_mesh=mesh, dtype=np.float32)
    t: Tensor = dtensor.tensor([1.0, 2.0])
    u: Tensor = dtensor.exp(t) + dtensor.sum([1, 2, 3])
    with mesh:
        i: DTensor = dtensor.eye(3)
    like: DTensor = dtensor.ones_like(x, dtype=np.int64)
    assert x.shape == like.shape and y.size == 10 and z[0, 0].item() == 7.0
    assert r.dtype == np.float32 and u.shape == (2,) and i.shape == (3, 3)
    xp = dtensor.array_api
    assert xp.sum(x).item() == 0


# --- gradients and models, NumPy's dialect --------------------------------------------


def gradients(mesh: DeviceMesh) -> None:
    x: DTensor = distribute_tensor(np.arange(4.0), mesh, [Shard(0)])
    x.requires_grad_()
    loss: DTensor = (x * x).sum()
    loss.backward()
    grad: DTensor | None = x.grad
    assert grad is not None
    assert dtensor.allclose(grad, x.detach() * 2)
    with dtensor.no_grad():
        y: DTensor = x * 2
    assert not y.requires_grad


class Model(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width, bias=False)
        self.scale = nn.Parameter(np.ones(width, np.float32))

    def forward(self, x: Tensor) -> Tensor:
        hidden: Tensor = nn.functional.relu(self.up(x))
        return self.down(hidden) * self.scale


def batches(count: int) -> Iterator[Tensor]:
    rng = np.random.default_rng(0)
    for _ in range(count):
        yield dtensor.tensor(rng.standard_normal((8, 4)).astype(np.float32))


def train() -> None:
    model = Model(4)
    weight: nn.Parameter = model.up.weight
    optimizer = optim.AdamW(model.parameters(), lr=1e-2)
    measure = nn.MSELoss()
    for batch in batches(3):
        optimizer.zero_grad()
        output: Tensor = model(batch)
        loss: Tensor = measure(output, batch)
        loss.backward()
        optimizer.step()
    names: list[str] = [name for name, _ in model.named_parameters()]
    elements: int = sum(p.numel() for p in model.parameters())
    assert weight.grad is not None and "up.weight" in names and elements > 100
    stack = nn.Sequential(nn.Linear(4, 2), nn.ReLU(), nn.LayerNorm(2))
    assert stack(next(batches(1))).shape == (8, 2)


def parallel(mesh: DeviceMesh) -> None:
    model = Model(4)
    plan = {"up": ColwiseParallel(), "down": RowwiseParallel()}
    parallelize_module(model, mesh, plan)
    for batch in batches(1):
        assert model(batch).shape == (8, 4)
    whole = Model(4)
    fully_shard(whole, mesh=mesh)
    for batch in batches(1):
        whole(batch).sum().backward()
    with tempfile.TemporaryDirectory() as own:
        folder: str = MPI.COMM_WORLD.bcast(own)
        state = {"x": dtensor.ones(4, device_mesh=mesh)}
        save(state, checkpoint_id=folder)
        load(state, checkpoint_id=folder)
        MPI.COMM_WORLD.Barrier()


def debug(x: DTensor) -> None:
    with CommDebugMode() as mode:
        x.redistribute(placements=[Replicate()])
    counts: int = mode.get_total_counts()
    text: str = str(explain(x.layout, [Replicate()]))
    assert counts >= 0 and text


# --- PyTorch's dialect ----------------------------------------------------------------


def tensors() -> None:
    x: torch.Tensor = torch.randn(3, 4, dtype=torch.float32)
    y: torch.Tensor = torch.zeros((3, 4), requires_grad=True)
    values, indices = torch.max(x, dim=1)
    best: torch.Tensor = values
    where: torch.Tensor = indices
    top: torch.Tensor = x.topk(2, dim=-1).indices
    p: torch.Tensor = torch.softmax(x, dim=1)
    q: torch.Tensor = F.relu(x).transpose(0, 1).contiguous()
    z: torch.Tensor = torch.cat([x, y], dim=0).view(-1, 4).float()
    w: torch.Tensor = torch.where(x > 0, x, 0.0)
    m: torch.Tensor = x.mean(dim=0, keepdim=True) + x.std(dim=0)
    shape: torch.Size = x.shape
    length: int = x.size(0)
    parts: tuple[torch.Tensor, ...] = x.split(2, dim=1)
    loss: torch.Tensor = F.mse_loss(y, x)
    loss.backward()
    assert y.grad is not None and float(loss) > 0 and x.dtype == torch.float32
    assert best.shape == where.shape and top.shape == (3, 2) and len(parts) == 2
    assert p.shape == w.shape == shape and q.shape == (4, 3) and length == 3
    assert z.shape == (6, 4) and m.shape == (1, 4) and isinstance(x.item, object)
    both: torch.Tensor = torch.matmul(x, y.t()) @ torch.eye(3) * 2
    number: int = torch.arange(6).sum().item()
    assert both.shape == (3, 3) and number == 15 and torch.allclose(x, x)


class Net(tnn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = tnn.Embedding(10, 8)
        self.norm = tnn.LayerNorm(8)
        self.head = tnn.Linear(8, 10)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(self.embed(tokens)))


def learn() -> None:
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    tokens = torch.randint(0, 10, (2, 5))
    logits: torch.Tensor = net(tokens)
    loss: torch.Tensor = F.cross_entropy(logits.view(-1, 10), tokens.view(-1))
    loss.backward()
    optimizer.step()
    predicted: torch.Tensor = logits.argmax(dim=-1)
    assert predicted.shape == tokens.shape


def distributed(mesh: DeviceMesh) -> None:
    x: tdist.DTensor = tdist.distribute_tensor(torch.ones(4, 3), mesh, [Shard(0)])
    y: tdist.DTensor = torch.softmax(x * 2, dim=1).sum(dim=0)
    local: torch.Tensor = x.to_local()
    whole: torch.Tensor = y.full_tensor()
    moved: tdist.DTensor = x.redistribute(mesh, [Replicate()])
    ours: DTensor = x.as_numpy()
    theirs: tdist.DTensor = ours.as_torch()
    assert whole.shape == (3,) and local.shape[1] == 3 and moved.shape == theirs.shape


def main() -> None:
    mesh = the_mesh()
    x = distribute_tensor(np.arange(12.0).reshape(4, 3) / 4, mesh, [Shard(0)])
    layouts(mesh)
    functions(x)
    linear_algebra(x)
    operators(x, np.ones((4, 3)))
    methods(x)
    create(mesh)
    gradients(mesh)
    train()
    parallel(mesh)
    debug(x)
    tensors()
    learn()
    distributed(mesh)


if __name__ == "__main__":
    main()
