"""Models of seven kinds in PyTorch's idiom: one text for PyTorch and for here.

    python tests/idiom_models.py torch             prints losses

Five more are in half_models.py. A model is called with arrays and gives its loss. The
GAN has two parts, which are called and trained in turn.
"""

import importlib
import json
import sys

import numpy as np

STEPS = 20


def models(torch):
    """The classes, made of this module's names."""
    nn, F = torch.nn, torch.nn.functional

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(40, 24, padding_idx=0)
            self.places = nn.Parameter(torch.zeros(1, 10, 24))
            layer = nn.TransformerEncoderLayer(
                24, 4, 48, dropout=0.0, activation="gelu", batch_first=True
            )
            self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.head = nn.Linear(24, 40)

        def forward(self, tokens, targets):
            x = self.tokens(tokens) + self.places[:, : tokens.size(1)]
            x = self.layers(x, src_key_padding_mask=tokens.eq(0))
            return F.cross_entropy(self.head(x).flatten(0, 1), targets.view(-1))

    class GAN(nn.Module):
        parts = ("critic", "maker")

        def __init__(self):
            super().__init__()
            self.maker = nn.Sequential(
                nn.ConvTranspose2d(16, 12, 4, bias=False),
                nn.GroupNorm(3, 12),
                nn.ReLU(),
                nn.ConvTranspose2d(12, 3, 4, stride=2, padding=1),
                nn.Tanh(),
            )
            self.critic = nn.Sequential(
                nn.Conv2d(3, 12, 4, stride=2, padding=1),
                nn.LeakyReLU(0.2),
                nn.Conv2d(12, 1, 4),
                nn.Flatten(),
            )

        def forward(self, noise, images, part="critic"):
            made = self.maker(noise[:, :, None, None])
            if part == "maker":
                found = self.critic(made)
                return F.binary_cross_entropy_with_logits(found, torch.ones_like(found))
            real, fake = self.critic(images), self.critic(made.detach())
            return F.softplus(-real).mean() + F.softplus(fake).mean()

    class LSTM(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(40, 16)
            self.layers = nn.LSTM(16, 24, num_layers=2, batch_first=True)
            self.head = nn.Linear(24, 40)

        def forward(self, tokens, targets):
            x, (hidden, _) = self.layers(self.tokens(tokens))
            x = self.head(x + hidden[-1].unsqueeze(1))
            return F.cross_entropy(x.transpose(1, 2), targets)

    class Attending(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(40, 16)
            self.reads = nn.GRU(16, 12, batch_first=True, bidirectional=True)
            self.cell, self.head = nn.GRUCell(16 + 24, 24), nn.Linear(48, 40)

        def forward(self, tokens, targets):
            seen, last = self.reads(self.tokens(tokens))
            state = last.transpose(0, 1).reshape(tokens.size(0), -1)
            context, losses = torch.zeros_like(state), []
            for k, word in enumerate(self.tokens(tokens).unbind(1)):
                state = self.cell(torch.cat([word, context], dim=-1), state)
                scores = torch.bmm(seen, state.unsqueeze(-1)).squeeze(-1)
                weights = scores.softmax(dim=-1).unsqueeze(1)
                context = weights.matmul(seen).squeeze(1)
                guess = self.head(torch.cat((state, context), -1))
                losses.append(F.cross_entropy(guess, targets[:, k]))
            return torch.stack(losses).mean()

    class VAE(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.mean = nn.Linear(192, 32), nn.Linear(32, 16)
            self.log, self.down = nn.Linear(32, 16), nn.Linear(16, 32)
            self.out = nn.Linear(32, 192)

        def forward(self, noise, images):
            x = images.view(images.size(0), -1).sigmoid()
            h = F.relu(self.up(x))
            mean, log = self.mean(h), self.log(h)
            z = mean + noise * torch.exp(0.5 * log)
            y = self.out(F.relu(self.down(z)))
            near = F.binary_cross_entropy_with_logits(y, x)
            return near - 0.01 * (1 + log - mean.pow(2) - log.exp()).mean()

    class Experts(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.gate = nn.Embedding(40, 24), nn.Linear(24, 4)
            self.experts = nn.ModuleList(
                nn.Sequential(nn.Linear(24, 32), nn.SiLU(), nn.Linear(32, 24))
                for _ in range(4)
            )
            self.head = nn.Linear(24, 40)

        def forward(self, tokens, targets):
            x = self.tokens(tokens).view(-1, 24)
            weights, chosen = self.gate(x).softmax(-1).topk(2, dim=-1)
            weights = weights / weights.sum(-1, keepdim=True)
            y = torch.zeros_like(x)
            for k, expert in enumerate(self.experts):
                rows, places = (chosen == k).nonzero(as_tuple=True)
                part = expert(x[rows]) * weights[rows, places].unsqueeze(-1)
                y = y.index_add(0, rows, part)
            return F.cross_entropy(self.head(x + y), targets.reshape(-1))

    class Graph(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(16, 24), nn.Linear(48, 24)
            self.head = nn.Linear(24, 5)

        def forward(self, nodes, edges, targets):
            start, end = edges
            x = self.first(nodes).relu()
            degree = torch.zeros(x.size(0), 1, dtype=x.dtype)
            degree.scatter_add_(0, end[:, None], torch.ones_like(end[:, None]).to(x))
            for _ in range(2):
                sums = torch.zeros_like(x).index_add(0, end, x[start])
                around = sums / degree.clamp(min=1)
                x = x + torch.tanh(self.second(torch.cat([x, around], 1)))
            return F.cross_entropy(self.head(x), targets)

    found = (Encoder, GAN, LSTM, Attending, VAE, Experts, Graph)
    return {m.__name__: m for m in found}


WHOLE = {"Graph"}  # whose batch is one


def batch(name, step):
    """What a model is called with in a step, as arrays."""
    rng = np.random.default_rng([step % 4, len(name)])
    if name in ("GAN", "VAE"):
        noise = rng.standard_normal((8, 16)).astype(np.float32)
        return noise, np.tanh(rng.standard_normal((8, 3, 8, 8))).astype(np.float32)
    if name == "Graph":
        nodes = rng.standard_normal((32, 16)).astype(np.float32)
        return nodes, rng.integers(0, 32, (2, 96)), rng.integers(0, 5, 32)
    tokens = rng.integers(1, 40, (8, 10))
    if name == "Encoder":
        tokens[::2, 8:] = 0
    return tokens, rng.integers(0, 40, (8, 10))


def filled(model, torch, name):
    """The model with parameters that are drawn by NumPy."""
    rng = np.random.default_rng(len(name))
    with torch.no_grad():
        for p in model.parameters():
            fan = int(np.prod(p.shape[1:])) if len(p.shape) > 1 else 100
            drawn = rng.uniform(-1, 1, tuple(p.shape)) / fan**0.5
            p.copy_(torch.as_tensor(drawn.astype(np.float32)))
    return model


def train(
    torch, name, way, prepare=lambda model: model, place=lambda x: x, steps=STEPS
):
    """The losses of some steps; `way` is the dtype of the model."""
    kind = getattr(torch, way)
    model = prepare(filled(models(torch)[name](), torch, name).to(kind))
    parts = getattr(model, "parts", ("",))
    optimizers = {
        part: torch.optim.AdamW(
            [p for n, p in model.named_parameters() if n.startswith(part)], lr=1e-2
        )
        for part in parts
    }
    losses = []
    for step in range(steps):
        arrays = [place(torch.as_tensor(x)) for x in batch(name, step)]
        arrays = [a.to(kind) if a.is_floating_point() else a for a in arrays]
        for part in parts:
            model.zero_grad()
            loss = model(*arrays, **({"part": part} if part else {}))
            loss.backward()
            optimizers[part].step()
            losses.append(loss.item())
    return losses


if __name__ == "__main__":
    module = importlib.import_module(sys.argv[1])
    found = {
        name: {way: train(module, name, way) for way in ("float32", "bfloat16")}
        for name in models(module)
    }
    json.dump(found, sys.stdout)
