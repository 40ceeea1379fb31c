"""A Siamese network with a custom Dataset, sampler and collate function."""

import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    Sampler,
    WeightedRandomSampler,
)

np.random.seed(0)
random.seed(0)
torch.manual_seed(0)


class Shapes(Dataset):
    def __init__(self, n, classes=4, transform=None):
        self.labels = np.arange(n) % classes
        self.images = np.random.rand(n, 1, 12, 12).astype(np.float32) * 0.3
        for i, k in enumerate(self.labels):
            self.images[i, 0, 2 * k : 2 * k + 3, k : k + 5] += 0.7
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = torch.from_numpy(self.images[index])
        if self.transform:
            image = self.transform(image)
        return {"image": image, "label": int(self.labels[index]), "name": f"im{index}"}


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = mean, std

    def __call__(self, x):
        return x.sub(self.mean).div_(self.std)


class BalancedSampler(Sampler):
    def __init__(self, labels, per_class):
        self.labels = torch.as_tensor(labels)
        self.per_class = per_class

    def __iter__(self):
        for c in self.labels.unique():
            yield from (
                (self.labels == c).nonzero(as_tuple=True)[0][: self.per_class].tolist()
            )

    def __len__(self):
        return self.labels.unique().numel() * self.per_class


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1, bias=False),
            nn.BatchNorm2d(8),
            nn.PReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, stride=2),
            nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool2d((1, 1)),
            nn.Flatten(),
        )
        self.fc = (
            nn.utils.weight_norm(nn.Linear(16, 8))
            if hasattr(nn.utils, "weight_norm")
            else nn.Linear(16, 8)
        )

    def forward_once(self, x):
        return F.normalize(self.fc(self.features(x)), p=2, dim=1)

    def forward(self, a, b=None):
        return (
            self.forward_once(a)
            if b is None
            else (self.forward_once(a), self.forward_once(b))
        )


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.register_buffer("margin", torch.tensor(margin))

    def forward(self, a, b, same):
        d = F.pairwise_distance(a, b, keepdim=True)
        return torch.mean(
            same * d.pow(2) + (1 - same) * torch.clamp(self.margin - d, min=0.0).pow(2)
        )


def batch_hard(emb, labels, margin=0.2):
    dist = torch.cdist(emb, emb, p=2)
    same = labels[:, None] == labels[None]
    eye = torch.eye(len(labels), dtype=torch.bool)
    pos = dist.masked_fill(~same | eye, float("-inf")).amax(1)
    neg = dist.masked_fill(same, float("inf")).min(dim=1).values
    return F.relu(pos - neg + margin).mean()


def info_nce(a, b, temperature=0.1):
    logits = a @ b.mT / temperature
    target = torch.arange(a.shape[0], device=a.device)
    return (
        F.cross_entropy(logits, target, label_smoothing=0.1)
        + F.cross_entropy(logits.T, target)
    ) / 2


def init(m):
    if isinstance(m, (nn.Conv2d, nn.Linear)):
        for p in m.parameters(recurse=False):
            p.data = torch.tensor(np.random.randn(*p.shape) * 0.2, dtype=p.dtype)


data = Shapes(32, transform=Normalize(0.3, 0.25))
loader = DataLoader(
    data,
    batch_sampler=BatchSampler(BalancedSampler(data.labels, 4), 8, drop_last=False),
)
net = Net().apply(init)
contrast, triplet = ContrastiveLoss(), nn.TripletMarginLoss(margin=0.5, p=2, swap=True)
cosine = nn.CosineEmbeddingLoss(margin=0.1)
decay = [p for n, p in net.named_parameters() if p.ndim > 1]
rest = [p for n, p in net.named_parameters() if p.ndim <= 1]
opt = torch.optim.Adam(
    [{"params": decay, "weight_decay": 1e-3}, {"params": rest, "lr": 1e-3}],
    lr=3e-3,
    amsgrad=True,
)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=[1e-2, 3e-3], total_steps=12)
for epoch in range(3):
    for batch in loader:
        x, y = batch["image"], batch["label"]
        flipped = torch.flip(x, dims=(-1,))
        a, b = net(x, flipped)
        perm = torch.roll(torch.arange(len(y)), 3)
        same = y.eq(y[perm]).float().unsqueeze(1)
        loss = contrast(a, b[perm], same) + batch_hard(a, y) + 0.1 * info_nce(a, b)
        loss = (
            loss + triplet(a, b, a[perm]) + cosine(a, b[perm], same.squeeze(1) * 2 - 1)
        )
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        print(
            epoch,
            batch["name"][:2],
            y.tolist()[:3],
            f"{loss.item():.6f}",
            [f"{g['lr']:.6f}" for g in opt.param_groups],
        )

net.eval()
with torch.no_grad():
    full = DataLoader(
        data,
        batch_size=7,
        collate_fn=lambda rows: (
            torch.stack([r["image"] for r in rows]),
            torch.LongTensor([r["label"] for r in rows]),
        ),
    )
    emb, lab = map(torch.cat, zip(*[(net(x), y) for x, y in full]))  # noqa: B905
    sim = F.cosine_similarity(
        emb.unsqueeze(1), emb.unsqueeze(0), dim=-1
    ).fill_diagonal_(-1)
    nearest = sim.argmax(dim=1)
    accuracy = (lab[nearest] == lab).float().mean()
    print(f"accuracy: {accuracy:.2%}", sim.mean().item(), sim.triu(1).sum().item())
    confusion = torch.zeros(4, 4, dtype=torch.int64)
    confusion.index_put_((lab, lab[nearest]), torch.ones_like(lab), accumulate=True)
    print(confusion, torch.bincount(lab), confusion.diag().sum() / confusion.sum())
    centers = torch.zeros(4, 8).index_add_(0, lab, emb) / torch.bincount(lab)[:, None]
    print(centers.norm(dim=1), len(ConcatDataset([data, data])))
    sampler = WeightedRandomSampler([0.1, 0.9, 0.4], 5, replacement=True)
    print(len(list(sampler)))
print(dict(net.named_buffers()).keys())
