"""The calls that divergences are made of: `dtensor.__all__`, all methods of DTensor,
every operator that has a sample, models, optimizers and random numbers.

A call is a row of samples.py.
"""

import functools
import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from campaign_methods import (
    METHOD_ROWS,
    all_of,
    moved,
    on_mesh,
    row,
    through_parts,
    torch_methods,
)
from rows import SHAPE, Sample
from samples import SAMPLES

import dtensor
import dtensor.torch as torch
from dtensor import Partial, Replicate, Shard, Tensor, checkpoint, nn, optim
from dtensor.experimental import local_map

# Operators that no user calls, and rows that are no single call.
PRIVATE = set(
    "program convolution_input convolution_weight row_logsumexp row_dot".split()
)

# They take what a rank holds for what all hold.
BLIND = {"DTensor", "from_local", "to_local", "local_map", "halo"}

# --- dtensor.__all__ ------------------------------------------------------------------


GRID = np.arange(35.0).reshape(5, 7)


def distributed(x: Any) -> Any:
    """A new tensor of an array that all ranks have."""
    return dtensor.distribute_tensor(GRID, x.device_mesh, all_of(x, Shard(0))) + x


def called_back(x: Any) -> Any:
    placements = all_of(x, Shard(0))
    made = dtensor.from_callback((5, 7), x.device_mesh, placements, GRID.__getitem__)
    return made + x


def overlapped(x: Any) -> Any:
    return dtensor.map_overlap(lambda part: part * 2, x, {0: 1}, "nearest")


def surrounded(x: Any) -> Any:
    rows = dtensor.halo(x, {0: 1}, "nearest")
    steps = rows[2:] - rows[:-2]  # as many as the part has rows
    placements = x.layout.settled().placements
    return dtensor.DTensor.from_local(steps, x.device_mesh, placements)


def in_block(block: Callable[[], Any]) -> Callable[..., Any]:
    def fn(x: Any) -> Any:
        with block():
            return x * 2 + 1

    return fn


def unplaced(act: Callable[[], Any]) -> Callable[..., Any]:
    def fn(x: Any) -> Any:
        act()
        return x + 1

    return fn


def together(x: Any, y: Any) -> Any:
    everywhere = all_of(x, Replicate())
    return dtensor.redistribute([x, y], [everywhere, everywhere])


def made(make: Callable[..., Any], *args: Any) -> Callable[..., Any]:
    """A new tensor is added to the operand."""
    return lambda x: x + make(*args, **on_mesh(x))


def mapped(x: Any) -> Any:
    return local_map(lambda part: part * 2, out_placements=list(x.placements))(x)


def saved(x: Any) -> Any:
    """The tensor, by way of a checkpoint."""
    name = f"campaign-{os.getppid()}-{x.device_mesh.size()}"
    path = os.path.join(tempfile.gettempdir(), name)
    checkpoint.save({"x": x}, checkpoint_id=path, process_group=x.device_mesh)
    y = x.detach() * 0
    checkpoint.load({"x": y}, checkpoint_id=path, process_group=x.device_mesh)
    return y + 1


def written(write: Callable[[Any], None]) -> Callable[..., Any]:
    """A new tensor of the operand's elements is written into."""

    def fn(x: Any) -> Any:
        y = x * 1
        write(y)
        return y

    return fn


def through(view: Callable[[Any], Any]) -> Callable[..., Any]:
    """The operand, written into through what shares its memory."""

    def fn(x: Any) -> Any:
        y = view(x)
        y *= 2
        return x

    return fn


def raveled(k: Any) -> Any:
    return np.ravel_multi_index((k, k), (5, 7))


NAMES_ROWS = [
    *row("local_map", "d5,7", mapped),
    *row("map_overlap", "d5,7", overlapped),
    *row("halo", "d5,7", surrounded),
    *row("checkpoint.save", "d5,7 | d7,4", saved),
    *row("checkpoint.async_save", "d5,7", lambda x: saved(x * 2)),
    *row("distribute_tensor", "d5,7", distributed),
    *row("from_callback", "d5,7", called_back),
    *row("DTensor", "d5,7", through_parts),
    *row("Tensor", "d5,7", unplaced(lambda: Tensor(np.ones(3)) + 1)),
    *row("tensor", "d5,7", unplaced(lambda: dtensor.tensor([1.0, 2.0]))),
    *row("as_tensor", "d5,7", unplaced(lambda: dtensor.as_tensor(np.ones(2)))),
    *row("from_dlpack", "d5,7", unplaced(lambda: dtensor.from_dlpack(np.ones(2)))),
    *row("Partial", "d5,7", lambda x: x + pending(x)),
    *row("Shard", "d5,7", lambda x: moved(x, Shard(1)) * 2),
    *row("Replicate", "d5,7", lambda x: moved(x, Replicate()) * 2),
    *row("get_default_dtype", "d5,7", unplaced(dtensor.get_default_dtype)),
    *row("is_grad_enabled", "d5,7", unplaced(dtensor.is_grad_enabled)),
    *row("set_grad_enabled", "d5,7", unplaced(lambda: dtensor.set_grad_enabled(True))),
    *row("differs", "d5,7", in_block(dtensor.differs)),
    *row("strict", "d7", in_block(dtensor.no_grad)),
    *row("no_grad", "d5,7", in_block(dtensor.no_grad)),
    *row("enable_grad", "d5,7", in_block(dtensor.enable_grad)),
    *row("inference_mode", "d5,7", in_block(dtensor.inference_mode)),
    *row("redistribute", "d5,7 d7,4", together),
    *row("empty", "d5,7", lambda x: dtensor.empty(5, 7, **on_mesh(x)), SHAPE),
    *row("zeros", "d5,7", made(dtensor.zeros, 5, 7)),
    *row("ones", "d5,7", made(dtensor.ones, 5, 7)),
    *row("full", "d5,7", made(dtensor.full, (5, 7), 2.5)),
    *row("rand", "d5,7", made(dtensor.rand, 5, 7)),
    *row("randn", "d5,7", made(dtensor.randn, 5, 7)),
    *row("rand", "d5,7", made(dtensor.rand, 5, 1)),
    *row("randint", "d5,7", made(dtensor.randint, 9, (5, 7))),
    *row("randperm", "d7", made(dtensor.randperm, 7)),
    *row("uniform_", "d5,7", lambda x: x.uniform_()),
    *row("normal_", "d5,7", lambda x: x.normal_()),
    *row("exponential_", "d5,7", lambda x: x.exponential_()),
    *row("bernoulli_", "d5,7", lambda x: x.bernoulli_(0.4)),
    *row("bernoulli", "d5,7:frac", lambda x: x.bernoulli()),
    *row("random_", "d5,7", lambda x: x.random_(0, 9)),
    *row("dropout", "d5,7", lambda x: dtensor.dropout(x, 0.5)),
    *row("dropout", "d5,7", lambda x: dtensor.dropout(x, 0.25)),
    *row("default_rng", "d5,7", lambda x: x + generated(x, 3)),
    *row("default_rng", "d5,7", lambda x: x + generated(x, 4)),
    *row("rand_like", "d5,7", lambda x: x + dtensor.rand_like(x)),
    *row("randn_like", "d5,7", lambda x: x + dtensor.randn_like(x)),
    *row("randint_like", "d5,7", lambda x: x + dtensor.randint_like(x, 9)),
    *row("normal", "d5,7", made(dtensor.normal, 0.0, 1.0, (5, 7))),
    *row("einsum", "d5,7 d7,4", lambda x, y: np.einsum("ij,jk->ki", x, y)),
    *row("cat", "d5,7 d5,4", lambda x, y: dtensor.cat([x, y], 1)),
    *row("mod", "d5,7", lambda x: np.mod(x, 3)),
    *row("bitwise_invert", "l5,7", np.bitwise_invert),
    *row("real_if_close", "D5,7", np.real_if_close),
    *row("unravel_index", "l5:0..35", lambda k: np.stack(np.unravel_index(k, (5, 7)))),
    *row("ravel_multi_index", "l5:0..5", lambda k: raveled(k)),
    *row("histogramdd", "d7,2", lambda x: np.histogramdd(x, 3)[0]),
    *row("split", "d5,7", through(lambda x: np.split(x, [3], axis=1)[0])),
    *row("unbind", "d5,7", through(lambda x: x.unbind(1)[2])),
    *row("redistribute", "d5,7", through(
        lambda x: x.redistribute(placements=x.placements))),
    *row("rebalance", "d5,7", through(lambda x: x.rebalance())),
    *row("reshape", "d5,7", through(lambda x: x.reshape(5, 7, 1))),
    *row("copyto", "d5,7", written(lambda y: np.copyto(y, 2.5, where=y > 0))),
    *row("fill_diagonal", "d5,7", written(lambda y: np.fill_diagonal(y, 3))),
    *row("putmask", "d5,7", written(lambda y: np.putmask(y, y > 0, [1, 2]))),
    *row("place", "d5,7", written(lambda y: np.place(y, y > 0, [4, 5]))),
    *row("put_along_axis", "d5,7", written(
        lambda y: np.put_along_axis(y, np.zeros((1, 7), int), 6, 0))),
]  # fmt: skip


def generated(x: Any, seed: int) -> Any:
    return dtensor.random.default_rng(seed).random((5, 7), **on_mesh(x))


def pending(x: Any) -> Any:
    """Ones, of which each rank has an addend."""
    options = on_mesh(x) | {"placements": all_of(x, Partial())}
    return dtensor.ones(5, 7, dtype=np.float64, **options)


# --- models ---------------------------------------------------------------------------


def model_of(x: Any, *blocks: Any) -> Any:
    """The same model everywhere, in float64."""
    dtensor.random.manual_seed(0, x.device_mesh)
    model = nn.Sequential(*[block() for block in blocks]).to(np.float64)
    return dtensor.distribute_module(model, x.device_mesh)


def trained(blocks: Sequence[Any], make: Callable[..., Any], clip: float = 0) -> Any:
    def fn(x: Any) -> Any:
        model = model_of(x, *blocks)
        optimizer = make(model.parameters())
        for _ in range(2):
            optimizer.zero_grad()
            (model(x) ** 2).sum().backward()
            if clip:
                nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
        return model(x).detach()

    return fn


def linear() -> Any:
    return nn.Linear(4, 4)


LAYERS: dict[str, Callable[[], Any]] = {
    "nn.Linear": linear,
    "nn.LayerNorm": lambda: nn.LayerNorm(4),
    "nn.RMSNorm": lambda: nn.RMSNorm(4),
    "nn.GELU": nn.GELU,
    "nn.ReLU": nn.ReLU,
    "nn.Tanh": nn.Tanh,
    "nn.SiLU": nn.SiLU,
    "nn.Softmax": lambda: nn.Softmax(-1),
    "nn.LogSoftmax": lambda: nn.LogSoftmax(-1),
    "nn.PReLU": nn.PReLU,
    "nn.GLU": nn.GLU,
    "nn.BatchNorm1d": lambda: nn.BatchNorm1d(4),
    "nn.Flatten": nn.Flatten,
    "nn.Identity": nn.Identity,
    "nn.Sigmoid": nn.Sigmoid,
    "nn.Softplus": nn.Softplus,
}
OPTIMIZERS = """
SGD Adam AdamW RMSprop Adagrad Adadelta Adamax NAdam RAdam ASGD Rprop Adafactor
""".split()


def optimizer(name: str, lr: float, params: Any) -> Any:
    more = {"momentum": 0.9} if name == "SGD" else {}
    return getattr(optim, name)(params, lr=lr, **more)


def twice(x: Any) -> Any:
    return x * 2


def thrice(x: Any) -> Any:
    return x * 3


MAPS: dict[str, Callable[..., Any]] = {
    "map_overlap": lambda f, x: dtensor.map_overlap(f, x, {0: 1}, "nearest"),
    "vmap": lambda f, x: torch.vmap(f)(x),
    "local_map": lambda f, x: local_map(f, x.placements)(x),
}

MODEL_ROWS = [
    *[
        s
        for name, layer in LAYERS.items()
        for s in row(
            name, "d6,4 | d8,4",
            lambda x, layer=layer: model_of(x, linear, layer)(x).detach(),
        )
    ],
    *[
        s
        for name in OPTIMIZERS
        for lr, clip in ((0.1, 0), (0.1, 0.5), (0.05, 0))
        for s in row(
            f"optim.{name}",
            "d6,4",
            trained(
                [linear, nn.Tanh, linear],
                functools.partial(optimizer, name, lr),
                clip,
            ),
        )
    ],
    *[
        s
        for name, apply in MAPS.items()
        for f in (twice, thrice)
        for s in row(name, "d6,4 | d8,4", functools.partial(apply, f))
    ],
]  # fmt: skip


# --- the deck -------------------------------------------------------------------------


@functools.cache
def deck() -> dict[str, list[Sample]]:
    """The calls, by what is called."""
    rows = [s for s in SAMPLES if s.name not in PRIVATE and "backward" not in s.name]
    rows = [s for s in rows if s.arrays.strip() and not (s.changes and s.reference)]
    rows += [*torch_methods(), *METHOD_ROWS, *NAMES_ROWS, *MODEL_ROWS]
    found: dict[str, list[Sample]] = {}
    for sample in rows:
        found.setdefault(sample.name, []).append(sample)
    return found


@functools.cache
def by_words() -> dict[str, list[Sample]]:
    """The calls, by the arrays that they take."""
    found: dict[str, list[Sample]] = {}
    for rows in deck().values():
        for sample in rows:
            found.setdefault(sample.arrays, []).append(sample)
    return found
