"""Models of five kinds, trained in 16-bit floats: one text for PyTorch and for here.

    python tests/half_models.py torch             prints losses
    python tests/half_models.py dtensor.torch

A way is "float32", "bfloat16" (the model is of that dtype), "autocast".
"""

import importlib
import json
import sys

import numpy as np

STEPS = 20
WAYS = ("float32", "bfloat16", "autocast")


def models(torch):
    """The classes, made of this module's names."""
    nn, F = torch.nn, torch.nn.functional

    class Attention(nn.Module):
        def __init__(self, width, heads, causal):
            super().__init__()
            self.heads, self.causal = heads, causal
            self.q = nn.Linear(width, width, bias=False)
            self.k = nn.Linear(width, width, bias=False)
            self.v = nn.Linear(width, width, bias=False)
            self.out = nn.Linear(width, width)

        def forward(self, x):
            n, length, _ = x.shape
            q, k, v = (
                torch.transpose(w(x).reshape(n, length, self.heads, -1), 1, 2)
                for w in (self.q, self.k, self.v)
            )
            y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
            return self.out(torch.transpose(y, 1, 2).reshape(n, length, -1))

    class Block(nn.Module):
        def __init__(self, width, heads, causal):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention = Attention(width, heads, causal)
            self.up, self.down = nn.Linear(width, 48), nn.Linear(48, width)

        def forward(self, x):
            x = x + self.attention(self.norm1(x))
            return x + self.down(F.gelu(self.up(self.norm2(x))))

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places = nn.Embedding(40, 24), nn.Embedding(12, 24)
            self.blocks = nn.ModuleList([Block(24, 4, True) for _ in range(2)])
            self.norm, self.head = nn.LayerNorm(24), nn.Linear(24, 40, bias=False)

        def forward(self, tokens):
            x = self.tokens(tokens) + self.places(torch.arange(12))
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x))

    class Vision(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Conv2d(3, 24, 4, stride=4)
            self.blocks = nn.ModuleList([Block(24, 4, False) for _ in range(2)])
            self.norm, self.head = nn.LayerNorm(24), nn.Linear(24, 10)

        def forward(self, images):
            x = torch.transpose(torch.flatten(self.patches(images), 2), 1, 2)
            for block in self.blocks:
                x = block(x)
            return self.head(self.norm(x).mean(1))

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(3, 12, 3, padding=1, bias=False)
            self.norm0, self.norm1 = nn.BatchNorm2d(12), nn.BatchNorm2d(12)
            self.norm2 = nn.BatchNorm2d(12)
            self.conv1 = nn.Conv2d(12, 12, 3, padding=1, bias=False)
            self.conv2 = nn.Conv2d(12, 12, 3, padding=1, bias=False)
            self.head = nn.Linear(12, 10)

        def forward(self, images):
            x = F.max_pool2d(F.relu(self.norm0(self.stem(images))), 2)
            y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
            x = F.adaptive_avg_pool2d(F.relu(x + y), 1)
            return self.head(torch.flatten(x, 1))

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.down, self.deep = (
                nn.Conv2d(3, 8, 3, padding=1),
                nn.Conv2d(8, 16, 3, padding=1),
            )
            self.norm = nn.GroupNorm(4, 16)
            self.up = nn.Conv2d(16, 8, 3, padding=1)
            self.out = nn.Conv2d(16, 3, 1)

        def forward(self, images):
            a = F.silu(self.down(images))
            b = F.silu(self.norm(self.deep(F.avg_pool2d(a, 2))))
            b = self.up(b)
            n, c, h, w = b.shape
            b = b.reshape(n, c, h, 1, w, 1) * torch.ones(
                1, 1, 1, 2, 1, 2, dtype=b.dtype
            )
            return self.out(torch.cat([a, b.reshape(n, c, 2 * h, 2 * w)], 1))

    class Mixer(nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = nn.Linear(48, 24)
            self.norm1, self.norm2 = nn.LayerNorm(24), nn.LayerNorm(24)
            self.mix1, self.mix2 = nn.Linear(16, 32), nn.Linear(32, 16)
            self.up, self.down = nn.Linear(24, 48), nn.Linear(48, 24)
            self.head = nn.Linear(24, 10)

        def forward(self, images):
            x = self.patches(images.reshape(images.shape[0], 16, 48))
            y = torch.transpose(self.norm1(x), 1, 2)
            x = x + torch.transpose(self.mix2(F.gelu(self.mix1(y))), 1, 2)
            x = x + self.down(F.gelu(self.up(self.norm2(x))))
            return self.head(x.mean(1))

    return {m.__name__: m for m in (Decoder, Vision, Residual, UNet, Mixer)}


def batch(name, step):
    """Inputs and targets of a step, as arrays."""
    rng = np.random.default_rng([step % 4, len(name)])
    if name == "Decoder":
        tokens = rng.integers(0, 40, (8, 13))
        return tokens[:, :-1], tokens[:, 1:]
    images = rng.standard_normal((8, 3, 16, 16)).astype(np.float32)
    if name == "UNet":
        return images, np.tanh(images[:, ::-1]).copy()
    return images, rng.integers(0, 10, 8)


def loss_of(torch, name, out, targets):
    """The loss, in float32 if the model's output is."""
    F = torch.nn.functional
    if name == "UNet":
        return F.mse_loss(out, targets)
    return F.cross_entropy(out.reshape(-1, out.shape[-1]), targets.reshape(-1))


def filled(model, torch, name):
    """The model with parameters that are drawn by NumPy."""
    rng = np.random.default_rng(len(name))
    with torch.no_grad():
        for p in model.parameters():
            fan = int(np.prod(p.shape[1:])) if len(p.shape) > 1 else 100
            drawn = rng.uniform(-1, 1, tuple(p.shape)) / fan**0.5
            p.copy_(
                torch.as_tensor(drawn.astype(np.float32)) + (len(p.shape) == 1) * 0.5
            )
    return model


def train(
    torch, name, way, prepare=lambda model: model, place=lambda x: x, steps=STEPS
):
    """Losses of some steps, and their number."""
    model = filled(models(torch)[name](), torch, name)
    kind = torch.bfloat16 if way == "bfloat16" else torch.float32
    model = prepare(model.to(kind))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for step in range(steps):
        arrays = [torch.as_tensor(x) for x in batch(name, step)]
        x, targets = (
            place(a.to(kind) if a.dtype == torch.float32 else a) for a in arrays
        )
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=way == "autocast"):
            loss = loss_of(torch, name, model(x), targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        whole = loss.full_tensor() if hasattr(loss, "full_tensor") else loss
        losses.append(float(whole.detach()))
    return losses


if __name__ == "__main__":
    module = importlib.import_module(sys.argv[1])
    found = {
        name: {way: train(module, name, way) for way in WAYS} for name in models(module)
    }
    json.dump(found, sys.stdout)
