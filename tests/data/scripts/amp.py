"""Training as in a trainer: autocast, GradScaler, accumulation, clipping."""

import json
import logging
import random
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
import torch.backends.cudnn as cudnn
import torch.nn as nn
from torch.amp import GradScaler, autocast
from torch.optim.swa_utils import update_bn
from torch.utils.data import (
    DataLoader,
    Dataset,
    SequentialSampler,
    default_collate,
)

logging.basicConfig(level=logging.WARNING)
cudnn.benchmark = False
cudnn.deterministic = True


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(seed)


set_seed(42)
device = (
    "cuda"
    if torch.cuda.is_available()
    else "mps"
    if torch.backends.mps.is_available()
    else "cpu"
)


class AverageMeter:
    def __init__(self, name, fmt=":f"):
        self.name, self.fmt = name, fmt
        self.reset()

    def reset(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        return ("{name} {val" + self.fmt + "} ({avg" + self.fmt + "})").format(
            **self.__dict__
        )


class Blobs(Dataset):
    def __init__(self, n):
        self.y = np.random.randint(0, 3, n)
        self.x = (
            np.random.randn(n, 1, 8, 8) * 0.5 + self.y[:, None, None, None]
        ).astype(np.float32)

    def __len__(self):
        return self.x.shape[0]

    def __getitem__(self, i):
        return torch.tensor(self.x[i]), self.y[i]


def accuracy(output, target, topk=(1,)):
    with torch.no_grad():
        maxk = max(topk)
        _, pred = output.topk(maxk, 1, True, True)
        pred = pred.t()
        correct = pred.eq(target.view(1, -1).expand_as(pred))
        return [
            correct[:k]
            .reshape(-1)
            .float()
            .sum(0, keepdim=True)
            .mul_(100.0 / target.size(0))
            for k in topk
        ]


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, i, o, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(
            i, o, kernel_size=3, stride=stride, padding=1, bias=False
        )
        self.bn1 = nn.BatchNorm2d(o)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(o, o, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(o)
        self.shortcut = nn.Sequential()
        if stride != 1 or i != o:
            self.shortcut = nn.Sequential(
                nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o)
            )

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return self.relu(out)


net = nn.Sequential(
    BasicBlock(1, 6),
    BasicBlock(6, 12, 2),
    nn.AdaptiveAvgPool2d(1),
    nn.Flatten(),
    nn.Linear(12, 3),
).to(device)
for m in net.modules():
    if isinstance(m, (nn.Conv2d, nn.Linear)):
        m.weight.data.copy_(
            torch.from_numpy(
                np.random.randn(*m.weight.shape) * (2.0 / m.weight[0].numel()) ** 0.5
            )
        )
        if m.bias is not None:
            nn.init.zeros_(m.bias)
    elif isinstance(m, nn.BatchNorm2d):
        nn.init.constant_(m.weight, 1)
        nn.init.constant_(m.bias, 0)
train, val = Blobs(48), Blobs(20)
loader = DataLoader(
    train,
    batch_size=8,
    sampler=SequentialSampler(train),
    num_workers=0,
    pin_memory=device == "cuda",
    drop_last=True,
)
vloader = DataLoader(val, 10)
criterion = nn.CrossEntropyLoss().to(device)
opt = torch.optim.SGD(
    net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4, nesterov=True
)
warm = torch.optim.lr_scheduler.LinearLR(opt, start_factor=0.1, total_iters=3)
cos = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=9)
sched = torch.optim.lr_scheduler.SequentialLR(
    opt, schedulers=[warm, cos], milestones=[3]
)
use_amp = device == "cuda"
scaler = GradScaler(device, enabled=use_amp)
ema = torch.optim.swa_utils.AveragedModel(
    net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9)
)
accum, best, patience, log = 2, float("inf"), 0, []
for epoch in range(3):
    losses, top1 = AverageMeter("Loss", ":.4f"), AverageMeter("Acc@1", ":6.2f")
    net.train()
    t0 = time.time()
    for i, (x, y) in enumerate(loader):
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        with autocast(
            device_type=device,
            dtype=torch.float16 if use_amp else torch.bfloat16,
            enabled=use_amp,
        ):
            out = net(x)
            loss = criterion(out, y) / accum
        scaler.scale(loss).backward()
        if (i + 1) % accum == 0:
            scaler.unscale_(opt)
            torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            scaler.step(opt)
            scaler.update()
            opt.zero_grad(set_to_none=True)
            sched.step()
            ema.update_parameters(net)
        losses.update(loss.item() * accum, x.size(0))
        top1.update(accuracy(out, y, topk=(1, 2))[0].item(), x.size(0))
    net.eval()
    with torch.no_grad():
        vloss = sum(
            criterion(net(x.to(device)), y.to(device)).item() for x, y in vloader
        ) / len(vloader)
    print(
        epoch,
        losses,
        top1,
        f"val {vloss:.4f}",
        f"{opt.param_groups[0]['lr']:.6f}",
        time.time() > t0,
    )
    log.append({"epoch": epoch, "val": round(vloss, 4)})
    patience = 0 if vloss < best else patience + 1
    best = min(best, vloss)
with torch.no_grad():
    update_bn(loader, ema)
    ema.eval()
    x, y = next(iter(vloader))
    print(accuracy(ema(x), y)[0], int(ema.n_averaged), ema.module[4].weight.sum())
with tempfile.TemporaryDirectory() as d:
    path = Path(d) / "last.pth.tar"
    torch.save(
        {
            "epoch": 3,
            "state_dict": net.state_dict(),
            "optimizer": opt.state_dict(),
            "sched": sched.state_dict(),
            "scaler": scaler.state_dict(),
            "best": best,
        },
        path,
    )
    ck = torch.load(path, map_location=torch.device(device), weights_only=False)
    opt.load_state_dict(ck["optimizer"])
    scaler.load_state_dict(ck["scaler"])
    net.load_state_dict(
        {k.removeprefix("module."): v for k, v in ck["state_dict"].items()}
    )
    print(
        ck["epoch"],
        path.stat().st_size > 1000,
        len(ck["optimizer"]["state"]),
        sorted(ck["optimizer"]["param_groups"][0]),
    )
with torch.autocast("cpu", dtype=torch.bfloat16):
    z = net[4](torch.ones(2, 12))
    w = torch.softmax(z, -1)
    print(
        z.dtype,
        w.dtype,
        (z @ z.T).dtype,
        nn.functional.mse_loss(z, z).dtype,
        torch.is_autocast_enabled("cpu"),
    )
x = next(iter(loader))[0]
net.train()
torch.backends.cuda.matmul.allow_tf32 = True
with torch.autocast("cpu", torch.bfloat16):
    out = net(x)
print(out.dtype, abs(out.float().mean().item() - net(x).mean().item()) < 0.1)
half = nn.Linear(4, 4).half()
s = GradScaler("cpu", init_scale=2.0**10, growth_interval=2)
o = torch.optim.SGD(half.parameters(), lr=0.1)
half = nn.Linear(4, 4)
o = torch.optim.SGD(half.parameters(), lr=0.1)
for k in range(5):
    o.zero_grad()
    l = half(torch.ones(2, 4) * (float("inf") if k == 1 else 1)).sum()  # noqa: E741
    s.scale(l).backward()
    s.step(o)
    s.update()
    print(k, s.get_scale(), s.state_dict()["_growth_tracker"])
try:
    half = half.half()
    s.scale(half(torch.ones(2, 4).half()).sum()).backward()
    s.step(torch.optim.SGD(half.parameters(), lr=0.1))
except ValueError as e:
    print(e)
print(
    json.dumps(log),
    default_collate([{"a": 1, "b": np.float32(2)}, {"a": 3, "b": np.float32(4)}]),
)
