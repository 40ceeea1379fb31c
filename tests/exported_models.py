"""Models that are exported."""

import numpy as np

import dtensor
from dtensor import nn
from dtensor.nn import functional as F


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32") / 3


def filled(module):
    """A module with the same parameters on all ranks, whatever was drawn before."""
    for k, p in enumerate(module.parameters()):
        p.data = dtensor.tensor(numbers(*p.shape, seed=k))
    return module


def array(x):
    return np.asarray(x.detach())


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.net1, self.net2 = nn.Linear(10, 12), nn.Linear(12, 10)

    def forward(self, x):
        return self.net2(F.relu(self.net1(x)))


class Transformer(nn.Module):
    """One block, with tokens for inputs."""

    def __init__(self):
        super().__init__()
        self.embedding, self.norm = nn.Embedding(11, 8), nn.LayerNorm(8)
        self.q, self.k, self.v, self.o = (nn.Linear(8, 8) for _ in range(4))
        self.mlp = nn.Sequential(nn.Linear(8, 12), nn.GELU(), nn.Linear(12, 8))
        self.head = nn.Linear(8, 11, bias=False)
        self.register_buffer("positions", dtensor.tensor(numbers(6, 8, seed=9)))

    def forward(self, tokens):
        x = self.embedding(tokens) + self.positions[: tokens.shape[1]]
        h = self.norm(x)
        heads = [
            f(h).reshape(*h.shape[:2], 4, 2).transpose(0, 2, 1, 3)
            for f in (self.q, self.k, self.v)
        ]
        out = F.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.o(out.transpose(0, 2, 1, 3).reshape(*x.shape))
        return self.head(x + self.mlp(self.norm(x)))


TOKENS = np.array([[1, 5, 2, 10], [0, 7, 7, 3]])
