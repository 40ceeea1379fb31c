"""Graph attention and message passing with scatter, index_add and sparse indices."""

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn import Parameter

rng = np.random.default_rng(7)
N, E, C = 24, 80, 3


def scatter(src, index, dim_size, reduce="sum"):
    out = src.new_zeros((dim_size,) + src.shape[1:])
    idx = index.view(-1, *[1] * (src.dim() - 1)).expand_as(src)
    if reduce == "sum":
        return out.scatter_add(0, idx, src)
    return out.scatter_reduce(0, idx, src, reduce=reduce, include_self=False)


def segment_softmax(src, index, num_nodes):
    high = scatter(src.detach(), index, num_nodes, "amax")
    out = (src - high[index]).exp()
    return out / (scatter(out, index, num_nodes)[index] + 1e-16)


class GATConv(nn.Module):
    def __init__(self, i, o, heads=1, concat=True, slope=0.2, dropout=0.0):
        super().__init__()
        self.heads, self.o, self.concat, self.slope, self.dropout = (
            heads,
            o,
            concat,
            slope,
            dropout,
        )
        self.lin = nn.Linear(i, heads * o, bias=False)
        self.att_src = Parameter(torch.empty(1, heads, o))
        self.att_dst = Parameter(torch.empty(1, heads, o))
        self.bias = Parameter(torch.zeros(heads * o if concat else o))
        self.reset_parameters()

    def reset_parameters(self):
        for w in (self.lin.weight, self.att_src, self.att_dst):
            w.data.copy_(torch.from_numpy(rng.normal(0, 0.3, w.shape)))

    def forward(self, x, edge_index):
        src, dst = edge_index
        h = self.lin(x).view(-1, self.heads, self.o)
        a = (h * self.att_src).sum(-1)[src] + (h * self.att_dst).sum(-1)[dst]
        a = segment_softmax(F.leaky_relu(a, self.slope), dst, x.size(0))
        a = F.dropout(a, p=self.dropout, training=self.training)
        out = scatter(h[src] * a.unsqueeze(-1), dst, x.size(0))
        out = out.flatten(1) if self.concat else out.mean(dim=1)
        return out + self.bias

    def __repr__(self):
        name = self.__class__.__name__
        return f"{name}({self.lin.in_features}, {self.o}, heads={self.heads})"


class GIN(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.eps = Parameter(torch.tensor(0.1))
        self.mlp = nn.Sequential(
            nn.Linear(i, o), nn.BatchNorm1d(o), nn.ReLU(), nn.Linear(o, o)
        )
        for p in self.mlp.parameters():
            if p.dim() > 1:
                p.data = torch.tensor(rng.normal(0, 0.3, p.shape)).type_as(p)
            else:
                p.data.fill_(0.1)

    def forward(self, x, ei):
        agg = torch.zeros_like(x).index_add_(0, ei[1], x[ei[0]])
        return self.mlp((1 + self.eps) * x + agg)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = GATConv(8, 4, heads=2)
        self.gin = GIN(8, 8)
        self.conv2 = GATConv(8, C, heads=2, concat=False)

    def forward(self, x, ei):
        x = F.elu(self.conv1(x, ei))
        x = x + self.gin(x, ei)
        return F.log_softmax(self.conv2(x, ei), dim=-1)


edges = torch.from_numpy(rng.integers(0, N, (2, E)))
edges = edges[:, edges[0] != edges[1]]
edges = torch.cat([edges, edges.flip(0)], dim=1)
edges = torch.unique(edges, dim=1)
loops = torch.arange(N).repeat(2, 1)
ei = torch.cat([edges, loops], 1)
x = torch.from_numpy(rng.normal(size=(N, 8))).float()
y = torch.from_numpy(rng.integers(0, C, N))
train = torch.zeros(N, dtype=torch.bool)
train[torch.from_numpy(rng.permutation(N)[:14].copy())] = True
model = Net()
print(model)
opt = torch.optim.Adadelta(model.parameters(), lr=1.0, rho=0.9)
for epoch in range(6):
    model.train()
    opt.zero_grad()
    out = model(x, ei)
    loss = F.nll_loss(out[train], y[train])
    loss.backward()
    opt.step()
    model.eval()
    pred = model(x, ei).argmax(dim=-1)
    accs = [(pred[m] == y[m]).sum().item() / m.sum().item() for m in (train, ~train)]
    print(f"Epoch: {epoch:03d}, Loss: {loss:.5f}", accs)
deg = torch.bincount(ei[1], minlength=N)
adj = torch.zeros(N, N).index_put_((ei[0], ei[1]), torch.ones(ei.size(1)))
dinv = deg.float().pow(-0.5)
dinv[dinv == float("inf")] = 0
lap = torch.eye(N) - dinv[:, None] * ((adj + adj.T) / 2) * dinv[None, :]
evals = torch.linalg.eigvalsh(lap)
print(
    deg.tolist()[:6],
    evals[:4],
    (adj @ adj).diagonal().sum().item(),
    torch.matrix_power(adj, 3).trace(),
)
batch = torch.arange(N) // 6
h = model.conv1(x, ei).detach()
for how in ("sum", "mean", "amax", "amin", "prod"):
    print(how, scatter(h, batch, 4, how).sum(1).tolist())
values, index = torch.topk(h.norm(dim=1), 3)
print(
    torch.argsort(index), torch.isin(torch.arange(N), index).nonzero().flatten(), values
)
neg = (
    torch.where(adj.bool() | adj.T.bool(), -1.0, torch.ones(()))
    .triu(1)
    .nonzero(as_tuple=False)
)
print(
    neg.shape,
    torch.repeat_interleave(torch.arange(3), torch.tensor([2, 0, 3])),
    torch.searchsorted(deg.cumsum(0), torch.tensor([5, 40])),
)
s = F.sigmoid((h[edges[0]] * h[edges[1]]).sum(-1))
print(
    s.mean(),
    F.binary_cross_entropy(s, torch.ones_like(s)),
    torch.logsumexp(h, 0),
    torch.cdist(h[:2], h[2:4]),
)
