"""What failures on purpose are made in: training steps, every family of operators,
every move, saving and loading.

A call takes the ranks' mesh (in a row) and a directory of the ranks' own, and returns
plain arrays, the same on every rank each time.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import dtensor
from dtensor import (
    DeviceMesh,
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
    from_callback,
    functional_collectives as func,
    nn,
    optim,
)
from dtensor.checkpoint import async_save, load, save
from dtensor.fsdp import fully_shard
from dtensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

Call = Callable[[DeviceMesh, Path], Any]

A = np.arange(1.0, 71.0).reshape(7, 10)
B = np.cos(A)
SQUARE = np.eye(6) * 7 + np.arange(36.0).reshape(6, 6) / 36
INPUT, TARGET = (A / 70).astype("f4"), B[:, :4].astype("f4")
HALVES = INPUT.astype("f2")
NUMBERS = np.arange(7) * 3 % 7
ROWS, COLUMNS = [Shard(0)], [Shard(1)]


def rows(mesh: DeviceMesh, array: Any = A) -> DTensor:
    return distribute_tensor(array, mesh, ROWS)


def columns(mesh: DeviceMesh, array: Any = B) -> DTensor:
    return distribute_tensor(array, mesh, COLUMNS)


def whole(*results: Any) -> list[np.ndarray]:
    return [np.asarray(x.detach().full_tensor()) for x in results]


# --- moves ----------------------------------------------------------------------------

PLACEMENTS = {"R": Replicate(), "S0": Shard(0), "S1": Shard(1), "P": Partial()}
PLACEMENTS["max"] = Partial("max")


def placed(mesh: DeviceMesh, name: str) -> DTensor:
    if isinstance(PLACEMENTS[name], Partial):
        return DTensor.from_local(A, mesh, [PLACEMENTS[name]])
    return distribute_tensor(A, mesh, [PLACEMENTS[name]])


def move(before: str, after: str, wait: bool = True) -> Call:
    def call(mesh: DeviceMesh, _: Path) -> Any:
        target = [PLACEMENTS[after]]
        x = placed(mesh, before).redistribute(placements=target, async_op=not wait)
        return whole(x)

    return call


MOVES: dict[str, Call] = {
    f"{a} to {b}": move(a, b) for a in PLACEMENTS for b in ("R", "S0", "S1") if a != b
}
MOVES["asynchronous"] = move("S0", "S1", wait=False)
MOVES["cut unevenly"] = lambda mesh, _: whole(
    DTensor.from_local(A[: mesh.get_rank() + 1], mesh, ROWS).rebalance()
)
MOVES["to one rank"] = lambda mesh, _: [
    np.zeros(0) if x is None else np.asarray(x)
    for x in [rows(mesh).full_tensor(root=0)]
][: mesh.get_rank() == 0]
MOVES["from_callback"] = lambda mesh, _: whole(
    from_callback(A.shape, mesh, ROWS, A.__getitem__)
)
MOVES["checked replicas"] = lambda mesh, _: whole(
    DTensor.from_local(A, mesh, [Replicate()], run_check=True)
)

# --- operators ------------------------------------------------------------------------


def written(mesh: DeviceMesh, _: Path) -> Any:
    x = rows(mesh)
    x[2:4] = 0.0
    x += columns(mesh)
    np.multiply(x, 2.0, out=x)
    return whole(x)


def random(mesh: DeviceMesh, _: Path) -> Any:
    dtensor.random.manual_seed(3)
    x = dtensor.randn(7, 10, device_mesh=mesh, placements=ROWS)
    return whole(x, nn.functional.dropout(x, 0.5))


OPERATORS: dict[str, Call] = {
    "elementwise": lambda m, _: whole(np.exp(-rows(m)) + columns(m) * 2.0),
    "where": lambda m, _: whole(np.where(rows(m) > 9, columns(m), 0.0)),
    "out=": written,
    "index": lambda m, _: whole(rows(m)[2:6, ::2], rows(m)[[0, 6, 3]]),
    "take": lambda m, _: whole(np.take(rows(m), [5, 1], axis=0)),
    "mask": lambda m, _: whole(rows(m)[rows(m) > 30]),
    "reshape": lambda m, _: whole(rows(m).reshape(10, 7), rows(m).T),
    "concatenate": lambda m, _: whole(np.concatenate([rows(m), columns(m)])),
    "pad": lambda m, _: whole(np.pad(rows(m), 1), np.roll(rows(m), 3)),
    "reduce": lambda m, _: whole(rows(m).sum(0), rows(m).max(), columns(m).mean(1)),
    "var": lambda m, _: whole(np.var(rows(m), axis=0), np.median(rows(m), axis=0)),
    "cumsum": lambda m, _: whole(np.cumsum(rows(m), axis=0)),
    "sort": lambda m, _: whole(np.sort(columns(m), axis=1), np.argsort(rows(m), 0)),
    "unique": lambda m, _: whole(np.unique(rows(m) // 5)),
    "searchsorted": lambda m, _: whole(np.searchsorted(A[0], rows(m))),
    "bincount": lambda m, _: whole(np.bincount(rows(m).astype(int).ravel())),
    "matmul": lambda m, _: whole(rows(m) @ columns(m).T),
    "einsum": lambda m, _: whole(np.einsum("ij,ij->j", rows(m), columns(m))),
    "solve": lambda m, _: whole(
        np.linalg.solve(rows(m, SQUARE), columns(m, SQUARE)),
        np.linalg.inv(rows(m, SQUARE)),
    ),
    "norm": lambda m, _: whole(np.linalg.norm(rows(m)), np.linalg.qr(columns(m))[1]),
    "fft": lambda m, _: whole(np.fft.fft(rows(m), axis=1)),
    "create": lambda m, _: whole(
        dtensor.zeros(7, 3, device_mesh=m, placements=ROWS) + 1.0,
        dtensor.full((5,), 2.0, device_mesh=m, placements=ROWS),
    ),
    "random": random,
    "softmax": lambda m, _: whole(nn.functional.softmax(rows(m) / 70, 1)),
    "norms": lambda m, _: whole(nn.functional.layer_norm(columns(m), (10,))),
    "attention": lambda m, _: whole(
        nn.functional.scaled_dot_product_attention(
            *(distribute_tensor(x.reshape(1, 7, 10), m, COLUMNS) for x in (A, B, A))
        )
    ),
    "embedding": lambda m, _: whole(
        nn.functional.embedding(rows(m, NUMBERS), columns(m))
    ),
    "loss": lambda m, _: whole(
        nn.functional.cross_entropy(rows(m), rows(m, NUMBERS)),
        nn.functional.mse_loss(rows(m), columns(m)),
    ),
    "item": lambda m, _: [
        np.array(rows(m).sum().item()),
        np.array(len(rows(m).tolist())),
    ],
    # Not reduce, accumulate, reduceat: NumPy's own keep their arguments after an error.
    "ufunc methods": lambda m, _: whole(np.add.outer(rows(m)[0], columns(m)[1])),
    "equal": lambda m, _: [np.array(np.array_equal(rows(m), columns(m)))],
}


def gradient(mesh: DeviceMesh, _: Path) -> Any:
    x, w = rows(mesh), columns(mesh, B.T)
    x.requires_grad_(True)
    w.requires_grad_(True)
    (nn.functional.relu(x @ w) ** 2).mean().backward()
    return whole(x.grad, w.grad)


def played(mesh: DeviceMesh, _: Path) -> Any:
    """The third gradient is noted, the fourth is played."""
    x, w = rows(mesh, INPUT), columns(mesh, INPUT.T)
    for tensor in (x, w):
        tensor.requires_grad_(True)
    for _ in range(4):
        y = nn.functional.layer_norm(nn.functional.gelu(x @ w), (7,))
        (y * y / 3.0).sum().backward()
    return whole(x.grad, w.grad)


def trained(model: Any, given: Any, target: Any) -> Any:
    for k, parameter in enumerate(model.parameters()):
        with dtensor.no_grad():
            parameter.fill_(0.1 * (k + 1))
    optimizer = optim.AdamW(model.parameters(), lr=0.1)
    nn.functional.mse_loss(model(given), target).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return whole(*model.parameters())


def network() -> Any:
    return nn.Sequential(nn.Linear(10, 8), nn.ReLU(), nn.Linear(8, 4))


def step(mesh: DeviceMesh, _: Path) -> Any:
    model = distribute_module(network(), mesh)
    return trained(model, rows(mesh, INPUT), rows(mesh, TARGET))


def local() -> list[Any]:
    return [dtensor.as_tensor(INPUT), dtensor.as_tensor(TARGET)]


def tensor_parallel(mesh: DeviceMesh, _: Path) -> Any:
    plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
    return trained(parallelize_module(network(), mesh, plan), *local())


def fully_sharded(mesh: DeviceMesh, _: Path) -> Any:
    return trained(fully_shard(network(), mesh=mesh), *local())


def placed_parameters(mesh: DeviceMesh) -> list[Any]:
    """Parameters with gradients: sharded, replicated, and of this rank."""
    made = [
        rows(mesh, INPUT),
        distribute_tensor(B, mesh, [Replicate()]),
        dtensor.tensor(INPUT),
    ]
    parameters = [nn.Parameter(x) for x in made]
    for parameter in parameters:
        parameter.grad = parameter.detach() * 0.5
    return parameters


def optimizers(mesh: DeviceMesh, _: Path) -> Any:
    parameters = placed_parameters(mesh)
    for made in (
        optim.SGD(parameters, lr=0.1, momentum=0.9, nesterov=True),
        optim.SGD(parameters, lr=0.1, weight_decay=0.1),
        optim.Adam(parameters, amsgrad=True),
    ):
        for _step in range(2):
            made.step()
    return [*whole(*parameters[:2]), np.asarray(parameters[2].detach())]


def halves(mesh: DeviceMesh, _: Path) -> Any:
    """Steps that no kernel does: of other dtypes, and of arrays with gaps."""
    made = [rows(mesh, HALVES), rows(mesh)[:, ::2].detach()]
    parameters = [x.requires_grad_(True) for x in made]
    for parameter in parameters:
        parameter.grad = parameter.detach() * 0.5
    for optimizer in (
        optim.SGD(parameters, lr=0.1, momentum=0.9),
        optim.Adam(parameters[1:]),
    ):
        for _step in range(2):
            optimizer.step()
    return whole(*parameters)


def clipped(mesh: DeviceMesh, _: Path) -> Any:
    parameters = placed_parameters(mesh)
    norms = [
        nn.utils.clip_grad_norm_(parameters, 1.0, norm) for norm in (1.0, 2.0, np.inf)
    ]
    nn.utils.clip_grad_value_(parameters, 0.01)
    grads = [parameter.grad for parameter in parameters[:2]]
    return whole(*norms, *grads)


def collectives(mesh: DeviceMesh, _: Path) -> Any:
    x = dtensor.tensor(A, requires_grad=True)
    x.register_hook(lambda grad: grad * 2)
    total = func.all_reduce(x * (mesh.get_rank() + 2), "sum", (mesh, 0))
    parts = func.reduce_scatter_tensor(
        np.concatenate([total] * mesh.size()), "sum", 0, (mesh, 0)
    )
    whole_again = func.all_gather_tensor(np.tanh(parts[:3]), 0, (mesh, 0))
    (whole_again[1:] * x[0, 0]).sum().backward()
    return [np.asarray(whole_again.detach()), np.asarray(x.grad)]


# What is called on Tensors of a rank sends nothing: its failures are local ones.
TRAINING: dict[str, Call] = {
    "gradient": gradient,
    "played": played,
    "step": step,
    "tensor parallel": tensor_parallel,
    "fully sharded": fully_sharded,
    "optimizers": optimizers,
    "halves": halves,
    "clipped": clipped,
    "collectives": collectives,
}

# --- checkpoints ----------------------------------------------------------------------


def state(mesh: DeviceMesh) -> dict[str, Any]:
    return {"x": rows(mesh), "y": B, "deep": {"step": 3}}


def saved(mesh: DeviceMesh, path: Path) -> Any:
    save(state(mesh), checkpoint_id=path / "saved", max_shard_size=400)
    return loaded(mesh, path)


def loaded(mesh: DeviceMesh, path: Path) -> Any:
    zeros = {
        name: dtensor.zeros(A.shape, dtype=A.dtype, device_mesh=mesh, placements=how)
        for name, how in {"x": COLUMNS, "y": [Replicate()]}.items()
    }
    load(zeros, checkpoint_id=path / "saved")
    return whole(*zeros.values())


def saved_later(mesh: DeviceMesh, path: Path) -> Any:
    async_save(state(mesh), checkpoint_id=path / "saved").result()
    return loaded(mesh, path)


CHECKPOINTS: dict[str, Call] = {"save": saved, "async_save": saved_later}
