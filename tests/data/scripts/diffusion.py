"""A denoising diffusion model of points on a ring, with an average of its weights."""

import copy
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class SinusoidalEmbedding(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, t):
        half = self.dim // 2
        freqs = torch.exp(
            -math.log(10000) * torch.arange(half, device=t.device) / (half - 1)
        )
        args = t[:, None].float() * freqs[None, :]
        return torch.cat([torch.sin(args), torch.cos(args)], dim=-1)


class Block(nn.Module):
    def __init__(self, dim, emb):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.scale_shift = nn.Sequential(nn.SiLU(), nn.Linear(emb, 2 * dim))
        self.fc = nn.Linear(dim, dim)

    def forward(self, x, e):
        scale, shift = self.scale_shift(e).chunk(2, dim=1)
        h = self.norm(x) * (1 + scale) + shift
        return x + self.fc(F.silu(h))


class Denoiser(nn.Module):
    def __init__(self, dim=32, emb=16):
        super().__init__()
        self.time = nn.Sequential(
            SinusoidalEmbedding(emb), nn.Linear(emb, emb), nn.GELU()
        )
        self.inp = nn.Linear(2, dim)
        self.blocks = nn.ModuleList([Block(dim, emb) for _ in range(3)])
        self.out = nn.Linear(dim, 2)

    def forward(self, x, t):
        e = self.time(t)
        h = self.inp(x)
        for block in self.blocks:
            h = block(h, e)
        return self.out(h)


class Schedule:
    def __init__(self, T):
        s = 0.008
        steps = torch.arange(T + 1, dtype=torch.float64) / T
        f = torch.cos((steps + s) / (1 + s) * math.pi / 2).pow(2)
        abar = f / f[0]
        betas = torch.clip(1 - abar[1:] / abar[:-1], 0, 0.999)
        self.betas = betas.float().to(device)
        self.alphas = 1.0 - self.betas
        self.abar = torch.cumprod(self.alphas, dim=0)
        self.abar_prev = F.pad(self.abar[:-1], (1, 0), value=1.0)
        self.T = T

    def q_sample(self, x0, t, noise):
        def extract(a):
            return a.gather(-1, t).reshape(t.shape[0], *((1,) * (x0.dim() - 1)))

        return extract(self.abar).sqrt() * x0 + extract((1 - self.abar).sqrt()) * noise


class EMA:
    def __init__(self, model, decay):
        self.shadow = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):  # noqa: B905
            s.lerp_(p.data, 1 - self.decay)
        for (_, s), (_, b) in zip(self.shadow.named_buffers(), model.named_buffers()):  # noqa: B905
            s.copy_(b)


model = Denoiser().to(device)
with torch.no_grad():
    for p in model.parameters():
        p.copy_(torch.from_numpy(rng.normal(0, 0.2, p.shape).astype("float32")))
ema = EMA(model, 0.9)
schedule = Schedule(20)
angle = rng.uniform(0, 2 * np.pi, 64)
ring = torch.tensor(np.stack([np.cos(angle), np.sin(angle)], 1), dtype=torch.float32)
loader = DataLoader(TensorDataset(ring), batch_size=16, shuffle=False, drop_last=True)
optimizer = torch.optim.AdamW(
    model.parameters(), lr=2e-3, betas=(0.9, 0.99), weight_decay=1e-4
)
scheduler = LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 5))
for epoch in range(3):  # noqa: B007
    for (x0,) in loader:
        x0 = x0.to(device, non_blocking=True)
        t = torch.from_numpy(rng.integers(0, schedule.T, x0.size(0))).long().to(device)
        noise = torch.from_numpy(rng.normal(size=tuple(x0.shape))).to(x0)
        loss = F.smooth_l1_loss(model(schedule.q_sample(x0, t, noise), t), noise)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        ema.update(model)
        print(f"loss {loss.item():.6f} norm {norm:.6f} lr", scheduler.get_last_lr()[0])


@torch.inference_mode()
def sample(net, n):
    x = torch.from_numpy(rng.normal(size=(n, 2))).float()
    for i in reversed(range(schedule.T)):
        t = torch.full((n,), i, dtype=torch.long)
        eps = net(x, t)
        x0 = (x - (1 - schedule.abar[i]).sqrt() * eps) / schedule.abar[i].sqrt()
        x0 = x0.clamp(-1.5, 1.5)
        c0 = schedule.abar_prev[i].sqrt() * schedule.betas[i] / (1 - schedule.abar[i])
        ct = (
            schedule.alphas[i].sqrt()
            * (1 - schedule.abar_prev[i])
            / (1 - schedule.abar[i])
        )
        x = c0 * x0 + ct * x
        if i > 0:
            var = (
                schedule.betas[i] * (1 - schedule.abar_prev[i]) / (1 - schedule.abar[i])
            )
            x += var.sqrt() * torch.from_numpy(
                rng.normal(size=(n, 2)).astype(np.float32)
            )
    return x


out = sample(ema.shadow, 8)
print(out.norm(dim=-1).tolist(), out.mean().item(), out.std().item())
print(sum(p.numel() for p in model.parameters() if p.requires_grad))
