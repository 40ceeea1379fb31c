"""Policy gradients, actor-critic and soft updates on a small cart."""

import math
from collections import deque, namedtuple
from itertools import count

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical, Normal, kl_divergence

rng = np.random.RandomState(1)
Transition = namedtuple("Transition", "state action logp value reward done")


class Cart:
    def reset(self):
        self.s = rng.uniform(-0.05, 0.05, 4)
        self.t = 0
        return self.s.astype(np.float32)

    def step(self, a):
        x, v, th, w = self.s
        f = 10.0 if a == 1 else -10.0
        tmp = (f + 0.05 * w * w * np.sin(th)) / 1.1
        acc = (9.8 * np.sin(th) - np.cos(th) * tmp) / (
            0.5 * (4 / 3 - 0.1 * np.cos(th) ** 2 / 1.1)
        )
        xa = tmp - 0.05 * acc * np.cos(th) / 1.1
        self.s = np.array([x + 0.02 * v, v + 0.02 * xa, th + 0.02 * w, w + 0.02 * acc])
        self.t += 1
        done = abs(self.s[0]) > 2.4 or abs(self.s[2]) > 0.2 or self.t >= 30
        return self.s.astype(np.float32), 1.0, bool(done), {}


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(4, 24)
        self.action_head = nn.Linear(24, 2)
        self.value_head = nn.Linear(24, 1)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                m.weight.data = torch.as_tensor(
                    rng.normal(0, 0.3, m.weight.shape), dtype=torch.float32
                )
                nn.init.constant_(m.bias, 0.0)

    def forward(self, x):
        x = torch.tanh(self.affine1(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x).squeeze(-1)


policy = Policy()
optimizer = optim.RMSprop(policy.parameters(), lr=3e-3, alpha=0.95, eps=1e-5)
env = Cart()
running = 10.0
history = deque(maxlen=10)
for episode in range(6):
    state, memory = env.reset(), []
    for t in count():  # noqa: B007
        with torch.no_grad():
            probs, value = policy(torch.from_numpy(state).unsqueeze(0))
        m = Categorical(probs)
        action = torch.tensor([int(rng.rand() < probs[0, 1].item())])
        nxt, reward, done, _ = env.step(action.item())
        memory.append(
            Transition(state, action, m.log_prob(action), value, reward, done)
        )
        state = nxt
        if done:
            break
    batch = Transition(*zip(*memory))  # noqa: B905
    states = torch.tensor(np.array(batch.state))
    actions = torch.cat(batch.action)
    old = torch.cat(batch.logp).detach()
    values = torch.cat(batch.value)
    rewards = torch.tensor(batch.reward, dtype=torch.float)
    advantages = torch.zeros_like(rewards)
    gae = 0.0
    for i in reversed(range(len(rewards))):
        following = values[i + 1] if i + 1 < len(rewards) else torch.zeros(())
        delta = rewards[i] + 0.99 * following - values[i]
        gae = delta + 0.99 * 0.95 * gae
        advantages[i] = gae
    returns = advantages + values
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    for _ in range(2):
        probs, value = policy(states)
        dist = Categorical(probs=probs)
        ratio = (dist.log_prob(actions) - old).exp()
        surr = torch.min(ratio * advantages, torch.clamp(ratio, 0.8, 1.2) * advantages)
        loss = (
            -surr.mean()
            + 0.5 * F.mse_loss(value, returns)
            - 0.01 * dist.entropy().mean()
        )
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(policy.parameters(), 0.5)
        optimizer.step()
    history.append(len(memory))
    running = 0.05 * sum(batch.reward) + 0.95 * running
    print(f"Episode {episode}\tLength: {t + 1}\tAverage: {running:.4f} loss {loss:.6f}")

# a continuous policy: reparametrized squashed Gaussian, twin critics, soft updates
actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
critic = nn.ModuleList(
    nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1)) for _ in range(2)
)
target = nn.ModuleList(
    nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1)) for _ in range(2)
)
for p in [*actor.parameters(), *critic.parameters()]:
    p.data.copy_(torch.Tensor(rng.normal(0, 0.3, tuple(p.shape))))
target.load_state_dict(critic.state_dict())
log_alpha = torch.zeros(1, requires_grad=True)
opts = [
    optim.Adam(ps, lr=1e-3)
    for ps in (actor.parameters(), critic.parameters(), [log_alpha])
]


def act(s):
    mean, log_std = actor(s).chunk(2, -1)
    dist = Normal(mean, log_std.clamp(-5, 2).exp())
    noise = torch.from_numpy(rng.normal(size=tuple(mean.shape))).float()
    pre = dist.mean + dist.stddev * noise
    a = torch.tanh(pre)
    logp = dist.log_prob(pre) - 2 * (math.log(2) - pre - F.softplus(-2 * pre))
    return a, logp.sum(-1, keepdim=True), dist


buffer = [
    (rng.normal(size=3), rng.uniform(-1, 1, 1), rng.normal(), rng.normal(size=3))
    for _ in range(40)
]
for step in range(4):
    idx = torch.from_numpy(rng.permutation(40)[:16])
    s, a, r, s2 = (
        torch.FloatTensor(np.array([buffer[i][k] for i in idx])) for k in range(4)
    )
    with torch.no_grad():
        a2, logp2, prior = act(s2)
        q2 = torch.min(*[q(torch.cat([s2, a2], 1)) for q in target])
        backup = r.unsqueeze(1) + 0.99 * (q2 - log_alpha.exp() * logp2)
    closs = sum(F.mse_loss(q(torch.cat([s, a], -1)), backup) for q in critic)
    opts[1].zero_grad()
    closs.backward()
    opts[1].step()
    for p in critic.parameters():
        p.requires_grad = False
    pi, logp, dist = act(s)
    q = torch.stack([q(torch.cat([s, pi], -1)) for q in critic]).min(dim=0)[0]
    aloss = (log_alpha.exp().detach() * logp - q).mean()
    opts[0].zero_grad()
    aloss.backward()
    opts[0].step()
    for p in critic.parameters():
        p.requires_grad = True
    lloss = -(log_alpha * (logp.detach() - 1.0)).mean()
    opts[2].zero_grad()
    lloss.backward()
    opts[2].step()
    with torch.no_grad():
        for p, tp in zip(critic.parameters(), target.parameters()):  # noqa: B905
            tp.data.mul_(0.995)
            tp.data.add_((1 - 0.995) * p.data)
    kl = kl_divergence(dist, Normal(torch.zeros_like(dist.loc), 1.0)).mean()
    print(step, float(closs), aloss.item(), lloss.item(), log_alpha.item(), kl.item())
