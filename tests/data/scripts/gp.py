"""Gaussian process regression by Cholesky factors, marginal likelihood, L-BFGS."""

import math

import numpy as np
import torch
from torch import Tensor, nn
from torch.distributions import MultivariateNormal
from torch.distributions.transforms import SoftplusTransform
from torch.nn.parameter import Parameter

rng = np.random.default_rng(0)
torch.set_printoptions(precision=4, sci_mode=False)


class RBF(nn.Module):
    def __init__(self, dims: int):
        super().__init__()
        self.raw_scale = Parameter(torch.zeros(()))
        self.raw_length = Parameter(torch.zeros(dims))

    @property
    def scale(self) -> Tensor:
        return nn.functional.softplus(self.raw_scale)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        length = nn.functional.softplus(self.raw_length)
        d = torch.cdist(a / length, b / length).square()
        return self.scale * torch.exp(-0.5 * d)


class Periodic(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_period = Parameter(torch.tensor(1.0).log())

    def forward(self, a, b):
        d = (a.unsqueeze(-2) - b.unsqueeze(-3)).abs().sum(-1)
        return torch.exp(-2 * torch.sin(math.pi * d / self.log_period.exp()) ** 2)


class GP(nn.Module):
    def __init__(self, kernels):
        super().__init__()
        self.kernels = nn.ModuleDict(kernels)
        self.mean = Parameter(torch.zeros(1, dtype=torch.double))
        self.log_noise = Parameter(torch.tensor(-2.0, dtype=torch.double))

    def kernel(self, a, b):
        return sum(k(a, b) for k in self.kernels.values())

    def factor(self, x):
        n = x.shape[0]
        K = self.kernel(x, x) + (self.log_noise.exp() + 1e-6) * torch.eye(
            n, dtype=x.dtype
        )
        return torch.linalg.cholesky(K)

    def nll(self, x, y):
        L = self.factor(x)
        alpha = torch.cholesky_solve((y - self.mean).unsqueeze(-1), L).squeeze(-1)
        return (
            0.5 * (y - self.mean).dot(alpha)
            + L.diagonal().log().sum()
            + 0.5 * len(y) * math.log(2 * math.pi)
        )

    @torch.no_grad()
    def predict(self, x, y, xs):
        L = self.factor(x)
        Ks = self.kernel(x, xs)
        v = torch.linalg.solve_triangular(L, Ks, upper=False)
        w = torch.linalg.solve_triangular(L, (y - self.mean)[:, None], upper=False)
        mean = self.mean + (v.mT @ w).squeeze(-1)
        cov = self.kernel(xs, xs) - v.T @ v
        return mean, cov


x = torch.from_numpy(np.sort(rng.uniform(-2, 2, (14, 1)), 0))
y = torch.sin(3 * x[:, 0]) + 0.1 * torch.from_numpy(rng.normal(size=14))
gp = GP({"rbf": RBF(1), "periodic": Periodic()}).double()
opt = torch.optim.LBFGS(
    gp.parameters(), lr=0.5, max_iter=5, line_search_fn="strong_wolfe"
)


def closure():
    opt.zero_grad()
    loss = gp.nll(x, y)
    loss.backward()
    return loss


for i in range(3):  # noqa: B007
    print("nll %.6f" % opt.step(closure).item())  # noqa: UP031
for name, p in gp.named_parameters():
    print(
        f"{name:24s}", p.data.numpy().round(5).tolist(), p.grad.abs().max().item() < 5
    )
xs = torch.linspace(-2.5, 2.5, 9, dtype=torch.float64).unsqueeze(-1)
mean, cov = gp.predict(x, y, xs)
std = cov.diagonal(dim1=-2, dim2=-1).clamp_min(1e-9).sqrt()
print(mean, std)
mvn = MultivariateNormal(mean, cov + 1e-5 * torch.eye(9, dtype=cov.dtype))
print(
    mvn.log_prob(torch.sin(3 * xs[:, 0])).item(),
    mvn.entropy().item(),
    mvn.covariance_matrix.shape,
)
mvn2 = MultivariateNormal(gp.mean.detach().expand(14), scale_tril=gp.factor(x))
print(torch.allclose(-mvn2.log_prob(y), gp.nll(x, y)))
L, info = torch.linalg.cholesky_ex(gp.kernel(x, x).detach() - 0.5 * torch.eye(14))
print(info.item() > 0, L.dtype)
jitter = 1e-8
while True:
    try:
        L = torch.linalg.cholesky(
            gp.kernel(x, x).detach()
            - 0.3 * torch.eye(14).double()
            + jitter * torch.eye(14)
        )
        break
    except RuntimeError:
        jitter *= 10
print("jitter", jitter)
sign, logdet = torch.linalg.slogdet(gp.kernel(x, x) + torch.eye(14))
print(sign.item(), logdet.item(), torch.logdet(gp.kernel(x, x) + torch.eye(14)).item())
logdet.backward()
print(gp.kernels["rbf"].raw_length.grad)
# sparse inducing points (SGPR bound), batch of outputs
z = nn.Parameter(x[::3].clone())
Kuu = gp.kernel(z, z) + 1e-6 * torch.eye(len(z))
Kuf = gp.kernel(z, x)
s2 = gp.log_noise.exp()
Lu = torch.linalg.cholesky(Kuu)
A = torch.linalg.solve_triangular(Lu, Kuf, upper=False) / s2.sqrt()
B = torch.eye(len(z)) + A @ A.transpose(-1, -2)
LB = torch.linalg.cholesky(B)
c = (
    torch.linalg.solve_triangular(LB, (A @ y)[:, None], upper=False).squeeze()
    / s2.sqrt()
)
bound = (
    -7 * math.log(2 * math.pi)
    - LB.diag().log().sum()
    - 7 * s2.log()
    - 0.5 * y.dot(y) / s2
    + 0.5 * c.pow(2).sum()
)
bound = bound - 0.5 * (gp.kernel(x, x).diagonal().sum() / s2 - A.square().sum())
(g,) = torch.autograd.grad(bound, z)
print(bound.item(), g.flatten().tolist())
Q, R = torch.linalg.qr(Kuf.detach().T)
print(
    (Q.T @ Q - torch.eye(5)).abs().max() < 1e-10,
    torch.linalg.cond(Kuu.detach()).log10() > 0,
)
print(
    SoftplusTransform()(torch.tensor([0.5, -1.0])),
    torch.linalg.matrix_rank(Kuf.detach()),
)
