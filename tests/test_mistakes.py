"""What PyTorch refuses is refused with an exception of PyTorch's type, on all ranks.

tests/data/torch_mistakes.txt has typical mistakes, and what PyTorch 2.13 raises.
"""

import builtins
import io
import operator
import re
from pathlib import Path

import numpy as np
import pytest
from meshes import line

import dtensor.torch as torch
import dtensor.torch.distributed as dist
import dtensor.torch.distributed.tensor as tdt
from dtensor import Replicate, Shard, distribute_tensor
from dtensor.testing import run_ranks
from dtensor.torch import nn, optim
from dtensor.torch.nn import functional as F
from dtensor.torch.optim import lr_scheduler as sched, swa_utils as swa
from dtensor.torch.utils import data
from dtensor.torch.utils.data import DataLoader

pytestmark = pytest.mark.filterwarnings("ignore")
LIST = Path(__file__).parent / "data" / "torch_mistakes.txt"
PARTS = re.split(r"^# (.+)\n", LIST.read_text(), flags=re.M)
MISTAKES = {
    title: [line.split(": ", 1) for line in text.split("\n") if line]
    for title, text in zip(PARTS[1::2], PARTS[2::2], strict=True)
}
# Those of tensors alone, which may be cut.
OF_TENSORS = [title for title in MISTAKES if title.startswith("tensors")]

# Of these a rank that has no such element hears when the ranks agree next.
LATER = r".*(scatter_add|scatter_reduce|index_add)\(0, torch.tensor\(\[5\]"

# --- what the mistakes are made with --------------------------------------------------

setitem = operator.setitem


def leaf(*size):
    return torch.ones(*size, requires_grad=True)


def twice():
    y = (leaf(2) ** 2).sum()
    y.backward()
    y.backward()


def inplace_leaf():
    leaf(2).add_(1)


def inplace_saved():
    y = leaf(2).exp()
    z = y * y
    y.add_(1)
    z.sum().backward()


def hooked():
    x = leaf(2)
    x.register_hook(lambda g: torch.ones(5))
    (x * 2).sum().backward()


class Bad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g, g


class NoInit(nn.Module):
    def __init__(self):
        self.a = nn.Linear(2, 2)


class Flattens(nn.Module):
    def forward(self, x):
        return x.flatten()


def params():
    return [nn.Parameter(torch.ones(2))]


def twice_params():
    p = nn.Parameter(torch.ones(2))
    return [{"params": [p]}, {"params": [p]}]


def nan_grad():
    p = nn.Parameter(torch.ones(2))
    p.grad = torch.full((2,), float("nan"))
    return p


def two_groups():
    both = [{"params": params()}, {"params": params()}]
    return optim.SGD(both, lr=0.1).state_dict()


def sgd():
    return optim.SGD(params(), lr=0.1, momentum=0.9)


def overrun():
    schedule = sched.OneCycleLR(sgd(), 0.1, total_steps=2)
    for _ in range(4):
        schedule.step()


class Stream(data.IterableDataset):
    def __iter__(self):
        return iter([1, 2])


SCENE = globals() | {"np": np, "io": io, "F": F, "swa": swa, "DataLoader": DataLoader}
SCENE |= {"dist": dist, "tdt": tdt}


class Spread:
    """`torch`, whose new tensors are cut among the ranks; indices all ranks have."""

    def __init__(self, mesh):
        self.mesh = mesh

    def __getattr__(self, name):
        given = getattr(torch, name)
        if name not in ("arange", "full", "ones", "tensor", "zeros"):
            return given
        return lambda *args, **options: self.spread(given(*args, **options))

    def spread(self, x):
        cut = x.ndim and x.dtype.is_floating_point
        return distribute_tensor(x, self.mesh, [Shard(0) if cut else Replicate()])


def raised(text, scene):
    """What a line raises, and what else it is."""
    try:
        eval(text, dict(scene))  # noqa: S307
    except Exception as error:
        return error
    return None


def wrong(rows, scene):
    """The rows that raise something else than PyTorch, and what."""
    found = [(text, name, raised(text, scene)) for name, text in rows]
    return {
        text: f"{error!r:.90} for {name}"
        for text, name, error in found
        if not isinstance(error, getattr(builtins, name))
    }


@pytest.mark.parametrize("title", MISTAKES)
def test_mistakes_raise_what_pytorch_raises(title):
    assert wrong(MISTAKES[title], SCENE) == {}


def test_there_are_many_mistakes(tell):
    count = sum(map(len, MISTAKES.values()))
    tell(f"{count} mistakes")
    assert count > 650


@pytest.mark.parametrize("title", OF_TENSORS)
def test_mistakes_with_cut_tensors_raise_the_same_on_all_ranks(title):
    rows = [row for row in MISTAKES[title] if not re.match(LATER, row[1])]

    def body():
        return wrong(rows, SCENE | {"torch": Spread(line())})

    first, *others = run_ranks(2, body)
    assert first == {} and all(other == first for other in others)
