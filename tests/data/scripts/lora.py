"""LoRA adapters on a transformer, checkpointing, hooks, state_dict surgery."""

import math
import re
from collections import OrderedDict
from dataclasses import dataclass
from functools import reduce

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import parametrize
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

rng = np.random.default_rng(11)


@dataclass
class Config:
    vocab: int = 30
    dim: int = 16
    heads: int = 4
    layers: int = 2
    block: int = 12


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return (
            x.float()
            * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps)
            * self.weight
        )


def rotary(x, cos, sin):
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), -1).flatten(-2)


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.h = c.heads
        self.qkv = nn.Linear(c.dim, 3 * c.dim, bias=False)
        self.proj = nn.Linear(c.dim, c.dim, bias=False)
        self.register_buffer(
            "mask",
            torch.tril(torch.ones(c.block, c.block)).view(1, 1, c.block, c.block),
            persistent=False,
        )
        freq = 1.0 / 10000 ** (
            torch.arange(0, c.dim // c.heads, 2).float() / (c.dim // c.heads)
        )
        t = torch.outer(torch.arange(c.block), freq)
        self.register_buffer("cos", t.cos())
        self.register_buffer("sin", t.sin())

    def forward(self, x, manual=False):
        B, T, D = x.size()
        q, k, v = (
            t.view(B, T, self.h, D // self.h).transpose(1, 2)
            for t in self.qkv(x).split(D, dim=2)
        )
        q, k = (
            rotary(q, self.cos[:T], self.sin[:T]),
            rotary(k, self.cos[:T], self.sin[:T]),
        )
        if manual:
            att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
            att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
            y = F.softmax(att, dim=-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).contiguous().view(B, T, D))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.n1, self.attn, self.n2 = RMSNorm(c.dim), Attention(c), RMSNorm(c.dim)
        self.mlp = nn.ModuleDict(
            dict(
                gate=nn.Linear(c.dim, 32),
                up=nn.Linear(c.dim, 32),
                down=nn.Linear(32, c.dim),
            )
        )

    def forward(self, x):
        x = x + self.attn(self.n1(x), manual=self.training)
        h = self.n2(x)
        return x + self.mlp["down"](F.silu(self.mlp["gate"](h)) * self.mlp["up"](h))


class GPT(nn.Module):
    def __init__(self, c, ckpt=False):
        super().__init__()
        self.ckpt = ckpt
        self.wte = nn.Embedding(c.vocab, c.dim)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.layers))
        self.norm = RMSNorm(c.dim)
        self.head = nn.Linear(c.dim, c.vocab, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, idx, targets=None):
        x = self.wte(idx)
        for layer in self.layers:
            x = (
                checkpoint(layer, x, use_reentrant=False)
                if self.ckpt and self.training
                else layer(x)
            )
        logits = self.head(self.norm(x))
        loss = (
            None
            if targets is None
            else F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))
        )
        return logits, loss


class LoRALinear(nn.Module):
    def __init__(self, base, r=2, alpha=4):
        super().__init__()
        self.base = base
        self.A = nn.Parameter(
            torch.from_numpy(rng.normal(0, 0.1, (r, base.in_features))).float()
        )
        self.B = nn.Parameter(base.weight.new_zeros(base.out_features, r))
        self.scaling = alpha / r
        for p in self.base.parameters():
            p.requires_grad_(False)

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.A), self.B) * self.scaling

    @torch.no_grad()
    def merge(self):
        self.base.weight += self.scaling * self.B @ self.A
        return self.base


def inject(model, pattern):
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.Linear) and re.search(pattern, name):
            parent = model.get_submodule(name.rpartition(".")[0])
            setattr(parent, name.rpartition(".")[2], LoRALinear(module))


torch.manual_seed(0)
config = Config()
model = GPT(config, ckpt=True)
for n, p in model.named_parameters():
    if "norm" not in n and ".n" not in n:
        p.data.copy_(torch.from_numpy(rng.normal(0, 0.15, p.shape)))
print(
    sum(p.numel() for p in model.parameters()),
    len(model.state_dict()),
    len(list(model.buffers())),
)
model.requires_grad_(False)
inject(model, r"attn\.(qkv|proj)$")
model.norm.weight.requires_grad = True
trainable = [n for n, p in model.named_parameters() if p.requires_grad]
print(trainable)
seen = {}
handles = [
    m.register_forward_hook(lambda m, i, o, n=n: seen.__setitem__(n, tuple(o.shape)))
    for n, m in model.named_modules()
    if isinstance(m, LoRALinear)
]
handles.append(
    model.layers[0].register_forward_pre_hook(lambda m, args: (args[0] * 1.0,))
)
grads = []
handles.append(
    model.norm.register_full_backward_hook(
        lambda m, gi, go: grads.append(go[0].norm().item())
    )
)
tokens = torch.from_numpy(rng.integers(0, 30, (4, 9)))
opt = torch.optim.AdamW(
    filter(lambda p: p.requires_grad, model.parameters()), lr=1e-2, fused=False
)
for step in range(4):
    model.train()
    logits, loss = model(tokens[:, :-1], tokens[:, 1:])
    loss.backward()
    opt.step()
    opt.zero_grad()
    print(f"step {step} loss {loss.item():.6f} hook {grads[-1]:.6f}")
print(seen)
for h in handles:
    h.remove()
lora = OrderedDict(
    (k, v) for k, v in model.state_dict().items() if ".A" in k or ".B" in k
)
print(list(lora), {k: tuple(v.shape) for k, v in lora.items()})
model.eval()
before = model(tokens[:, :-1])[0]
for layer in model.layers:
    layer.attn.qkv = layer.attn.qkv.merge()
    layer.attn.proj = layer.attn.proj.merge()
after = model(tokens[:, :-1])[0]
print((before - after).abs().max() < 1e-5, after.sum().item())

# surgery: renamed keys, a longer vocabulary, strict=False
state = {
    k.replace("layers.", "h.").replace("mlp.", "ffn."): v
    for k, v in model.state_dict().items()
}
back = {
    re.sub(r"^h\.", "layers.", k).replace("ffn.", "mlp."): v for k, v in state.items()
}
bigger = GPT(Config(vocab=33))
for key in ("wte.weight", "head.weight"):
    old = back.pop(key)
    back[key] = torch.cat([old, old.mean(0, keepdim=True).expand(3, -1)])
del back["norm.weight"]
back["extra"] = torch.zeros(1)
result = bigger.load_state_dict(back, strict=False)
print(result.missing_keys, result.unexpected_keys)
try:
    bigger.load_state_dict(back)
except RuntimeError as e:
    print(str(e).splitlines()[0], len(str(e).splitlines()))
try:
    GPT(config).load_state_dict(bigger.state_dict())
except RuntimeError as e:
    print(str(e))


class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).transpose(-1, -2)


lin = nn.Linear(3, 3)
lin.weight.data = torch.arange(9.0).view(3, 3)
parametrize.register_parametrization(lin, "weight", Symmetric())
print(
    lin.weight.detach(),
    parametrize.is_parametrized(lin),
    list(dict(lin.named_parameters())),
)
parametrize.remove_parametrizations(lin, "weight")
seq = nn.Sequential(*[nn.Linear(3, 3) for _ in range(4)])
for p in seq.parameters():
    nn.init.constant_(p, 0.1)
x = torch.ones(2, 3, requires_grad=True)
checkpoint_sequential(seq, 2, x, use_reentrant=False).sum().backward()
print(x.grad, reduce(lambda a, b: a + b.grad.sum().item(), seq.parameters(), 0.0))
