"""A normalizing flow (RealNVP), a mixture density net, Bayes by backprop, HMC."""

import math

import numpy as np
import torch
from torch import distributions as D, nn
from torch.distributions import constraints, transforms as T
from torch.distributions.utils import broadcast_all

rng = np.random.default_rng(4)


class Coupling(nn.Module):
    def __init__(self, mask):
        super().__init__()
        self.register_buffer("mask", mask)
        self.s = nn.Sequential(
            nn.Linear(2, 12), nn.LeakyReLU(), nn.Linear(12, 2), nn.Tanh()
        )
        self.t = nn.Sequential(nn.Linear(2, 12), nn.LeakyReLU(), nn.Linear(12, 2))

    def forward(self, x):
        a = x * self.mask
        s, t = self.s(a) * (1 - self.mask), self.t(a) * (1 - self.mask)
        return a + (1 - self.mask) * (x - t) * torch.exp(-s), -s.sum(dim=1)

    def inverse(self, z):
        a = z * self.mask
        s, t = self.s(a) * (1 - self.mask), self.t(a) * (1 - self.mask)
        return a + (1 - self.mask) * (z * s.exp() + t)


class RealNVP(nn.Module):
    def __init__(self):
        super().__init__()
        masks = torch.tensor([[0.0, 1.0], [1.0, 0.0]] * 2)
        self.layers = nn.ModuleList([Coupling(m) for m in masks])
        self.register_buffer("loc", torch.zeros(2))
        self.register_buffer("cov", torch.eye(2))

    @property
    def prior(self):
        return D.MultivariateNormal(self.loc, self.cov)

    def log_prob(self, x):
        total = x.new_zeros(len(x))
        for layer in reversed(self.layers):
            x, ld = layer(x)
            total += ld
        return self.prior.log_prob(x) + total


flow = RealNVP()
for p in flow.parameters():
    p.data.copy_(torch.from_numpy(rng.normal(0, 0.2, p.shape)))
angle = torch.from_numpy(rng.uniform(0, math.pi, 64)).float()
moons = (
    torch.stack([angle.cos(), angle.sin()], 1)
    + 0.05 * torch.from_numpy(rng.normal(size=(64, 2))).float()
)
opt = torch.optim.Adamax(flow.parameters(), lr=1e-2)
for step in range(5):
    loss = -flow.log_prob(moons).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, f"{loss.item():.6f}")
z = moons
for layer in flow.layers[::-1]:
    z, _ = layer(z)
for layer in flow.layers:
    z = layer.inverse(z)
print((z - moons).abs().max().item() < 1e-4)

# mixture density
net = nn.Linear(1, 9).double()
for p in net.parameters():
    p.data = torch.from_numpy(rng.normal(0, 0.5, p.shape))
x = torch.linspace(-1, 1, 20, dtype=torch.double).unsqueeze(1)
y = x + 0.3 * torch.sin(2 * math.pi * x)
opt = torch.optim.ASGD(net.parameters(), lr=0.1)
for step in range(4):
    logits, mu, log_sigma = net(x).chunk(3, -1)
    mix = D.MixtureSameFamily(
        D.Categorical(logits=logits), D.Normal(mu, log_sigma.exp())
    )
    loss = -mix.log_prob(y.squeeze(-1)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, f"{loss.item():.6f}", mix.mean.mean().item(), mix.variance.sum().item())

# variational inference with reparametrized gradients and KL terms
q = D.Independent(D.Normal(torch.zeros(3, requires_grad=True), torch.ones(3)), 1)
print(
    D.kl_divergence(q, D.Independent(D.Normal(torch.ones(3), 2 * torch.ones(3)), 1)),
    q.batch_shape,
    q.event_shape,
    q,
)
for a, b in [
    (D.Gamma(2.0, 3.0), D.Gamma(1.0, 1.0)),
    (D.Beta(2.0, 3.0), D.Beta(1.0, 1.0)),
    (D.Bernoulli(0.3), D.Bernoulli(0.6)),
    (D.Dirichlet(torch.tensor([1.0, 2.0, 3.0])), D.Dirichlet(torch.ones(3))),
    (D.Exponential(2.0), D.Exponential(1.0)),
    (D.Laplace(0.0, 1.0), D.Laplace(1.0, 2.0)),
    (D.Poisson(3.0), D.Poisson(4.0)),
    (D.Uniform(0.0, 1.0), D.Uniform(-1.0, 2.0)),
    (D.Categorical(torch.tensor([0.2, 0.8])), D.Categorical(torch.tensor([0.5, 0.5]))),
]:
    print(
        type(a).__name__,
        D.kl_divergence(a, b).item(),
        a.entropy().item() if not isinstance(a, D.Poisson) else "",
        a.mean.tolist(),
    )
base = D.Normal(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 0.5]))
for t in (
    T.ExpTransform(),
    T.SigmoidTransform(),
    T.AffineTransform(1.0, 2.0),
    T.TanhTransform(),
    T.ComposeTransform([T.AffineTransform(0.0, 3.0), T.SigmoidTransform()]),
    T.PowerTransform(torch.tensor(2.0)),
):
    v = torch.tensor([0.3, 0.7])
    w = t(v)
    print(
        type(t).__name__,
        w.tolist(),
        t.inv(w).tolist(),
        t.log_abs_det_jacobian(v, w).tolist(),
    )
log = D.TransformedDistribution(base, [T.ExpTransform(), T.AffineTransform(1.0, 2.0)])
print(
    log.log_prob(torch.tensor([2.0, 3.0])).tolist(),
    log.cdf(torch.tensor([2.0, 3.0])).tolist(),
)
for d, v in [
    (D.StudentT(3.0), 0.5),
    (D.Cauchy(0.0, 1.0), 0.5),
    (D.Gumbel(0.0, 1.0), 0.5),
    (D.HalfNormal(1.0), 0.5),
    (D.Weibull(1.0, 2.0), 0.5),
    (D.Pareto(1.0, 2.0), 1.5),
    (D.LogNormal(0.0, 1.0), 0.5),
    (D.NegativeBinomial(5.0, 0.5), 3.0),
    (D.Geometric(0.3), 2.0),
    (D.VonMises(0.0, 2.0), 0.5),
    (D.Kumaraswamy(2.0, 3.0), 0.5),
    (D.FisherSnedecor(3.0, 4.0), 0.5),
    (D.InverseGamma(2.0, 3.0), 0.5),
    (D.ContinuousBernoulli(0.3), 0.5),
    (D.Chi2(3.0), 0.5),
    (D.LKJCholesky(2, 1.5), None),
    (D.LogisticNormal(torch.zeros(2), torch.ones(2)), None),
]:
    if v is not None:
        print(
            type(d).__name__,
            d.log_prob(torch.tensor(v)).item(),
            d.mean.item(),
            d.support,
        )
    else:
        print(type(d).__name__, d.event_shape, d.sample().shape)
lk = D.LKJCholesky(3, 0.7)
print(
    lk.log_prob(
        torch.linalg.cholesky(
            torch.tensor([[1.0, 0.2, 0.1], [0.2, 1.0, 0.3], [0.1, 0.3, 1.0]])
        )
    )
)
print(
    D.Wishart(torch.tensor(4.0), torch.eye(2)).log_prob(
        torch.tensor([[2.0, 0.3], [0.3, 1.0]])
    ),
    D.OneHotCategorical(torch.ones(3)).log_prob(torch.eye(3)),
)
try:
    D.Normal(0.0, -1.0)
except ValueError as e:
    print(e)
print(
    constraints.simplex.check(torch.tensor([0.3, 0.7])),
    D.biject_to(constraints.positive)(torch.tensor(0.5)),
    broadcast_all(1.0, torch.ones(2))[0],
)


# Hamiltonian Monte Carlo with autograd
def potential(q):
    return 0.5 * (q**2 / torch.tensor([1.0, 4.0])).sum() + torch.log1p(
        (q[0] * q[1]) ** 2
    )


q = torch.tensor([1.0, -1.0])
for it in range(4):
    p = torch.from_numpy(rng.normal(size=2)).float()
    h0 = potential(q) + 0.5 * p @ p
    new = q.clone().requires_grad_(True)
    for _ in range(5):
        p = p - 0.05 * torch.autograd.grad(potential(new), new)[0]
        new = (new + 0.1 * p).detach().requires_grad_(True)
        p = p - 0.05 * torch.autograd.grad(potential(new), new)[0]
    accept = math.log(rng.uniform()) < (h0 - potential(new) - 0.5 * p.dot(p)).item()
    q = new.detach() if accept else q
    print(it, accept, q.tolist())
