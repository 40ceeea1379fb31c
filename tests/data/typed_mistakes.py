"""Mistakes: a type checker refuses each line of `mistakes`. It does not run."""
# ruff: noqa: B015, B018, F841

import numpy as np

import dtensor
import dtensor.torch as torch
import dtensor.torch.nn.functional as F
from dtensor import DTensor, Partial, Replicate, Shard, Tensor, nn, optim


def mistakes(x: DTensor, t: torch.Tensor, u: Tensor, mesh: dtensor.DeviceMesh) -> None:
    a: int = x.sum()
    b: float = dtensor.softmax(x, axis=1)
    c: np.float64 = x + 1
    d: list[float] = dtensor.sort(x)
    e: bool = x == x
    f: str = x.shape
    g: tuple[DTensor, DTensor] = x.max()
    h: DTensor = x.full_tensor()
    i: torch.Tensor = x.exp()
    j: DTensor = t.relu()
    k: DTensor = torch.zeros(3)
    m: int = t.max(dim=1)
    n: DTensor = dtensor.divmod(x, 2)
    o: tuple[DTensor, DTensor] = dtensor.linalg.svd(x)
    p: str = x.size
    q: str = t.dtype
    r: DTensor = dtensor.allclose(x, x)
    s: DTensor = dtensor.split(x, 2)
    dtensor.softmax(x, dimm=1)
    dtensor.softmax("x")
    dtensor.softmax(x, axis="rows")
    dtensor.softmax()
    dtensor.add(x)
    dtensor.add(x, x, x, x)
    dtensor.add(x, None)
    dtensor.exp(x, wher=True)
    dtensor.concatenate(3)
    dtensor.concatenate([x, x], dims=0)
    dtensor.reshape(x, "abc")
    dtensor.where(x > 0, x)
    dtensor.mean(x, axis=0.5)
    dtensor.mean(x, keepdim="yes")
    dtensor.cumsum(x, axis=(0, 1))
    dtensor.linalg.cholesky(x, lower=True)
    dtensor.fft.fft(x, axes=0)
    dtensor.no_such_function(x)
    dtensor.FUNCTIONS
    dtensor.topk(x, k=None)
    dtensor.pad(x, 1, value=0)
    x.sum(dimm=1)
    x.sum("rows")
    x.reshape("a", 2)
    x.transposed()
    x.astype()
    x.astype(dtype=3)
    x["name"]
    x[0.5]
    x + "a"
    x + None
    x @ "a"
    x < "a"
    x[0] = "a"
    x.redistribute(placements=Shard(0))
    x.redistribute(placement=[Shard(0)])
    Shard("0")
    Shard()
    Replicate(0)
    Partial(0)
    dtensor.distribute_tensor(np.ones(3), [Shard(0)])
    dtensor.distribute_tensor(np.ones(3), mesh, "rows")
    dtensor.init_device_mesh("cpu")
    u.redistribute(placements=[Replicate()])
    torch.softmax(t, dimm=1)
    torch.randn("a")
    torch.cat(3)
    torch.max(t, dim="rows")
    t.view("a", "b").sizes()
    t.item(1)
    t.to(dtype=3)
    F.relu("a")
    F.cross_entropy(t)
    nn.Linear("4", 2)
    nn.Linear(4, 2)(3)
    nn.Linear(4, 2)(x, x)
    nn.Linear(4, 2).weight.wrong
    nn.Linear(4, 2)(x).wrong
    nn.ReLU()("a")
    optim.AdamW(nn.Linear(4, 2).parameters(), rate=0.1)
    optim.SGD(lr="a")
