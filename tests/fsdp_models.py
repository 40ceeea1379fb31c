"""A small model, its data, and its training: on one process and on ranks."""

import numpy as np

import dtensor
from dtensor import DTensor, nn, tensor
from dtensor.fsdp import fully_shard
from dtensor.optim import SGD


def weights(seed=0):
    return np.random.default_rng(seed)


class Net(nn.Module):
    """Layers whose sizes no number of ranks divides."""

    def __init__(self, seed=0):
        super().__init__()
        self.first = nn.Linear(5, 7)
        self.second = nn.Linear(7, 7)
        self.last = nn.Linear(7, 3, bias=False)
        random = weights(seed)
        for module in (self.first, self.second, self.last):
            module.to(np.float64)
        with dtensor.no_grad():
            for p in self.parameters():
                p.detach()[...] = random.normal(size=tuple(p.shape))

    def forward(self, x):
        x = self.first(x).tanh()
        x = x + self.second(x).tanh()
        return self.last(x)


ROWS = 12
X = np.random.default_rng(1).normal(size=(ROWS, 5))
Y = np.random.default_rng(2).normal(size=(ROWS, 3))


def loss_of(model, x, y):
    return ((model(x) - y) ** 2).mean()


def reference(steps=3, make=lambda p: SGD(p, lr=0.1), micro=1):
    model = Net()
    optimizer = make(model.parameters())
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model, tensor(X), tensor(Y))
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    return losses, {k: np.array(v) for k, v in model.state_dict().items()}


def part(mesh, array):
    """Return this rank's rows of a batch."""
    coordinate = mesh.get_coordinate()
    flat = np.ravel_multi_index(coordinate, mesh.shape)
    return tensor(np.array_split(array, mesh.size())[flat])


def train(model, mesh, steps=3, make=lambda p: SGD(p, lr=0.1)):
    optimizer = make(model.parameters())
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model, part(mesh, X), part(mesh, Y))
        loss.backward()
        optimizer.step()
        total = DTensor.from_local(
            loss.detach().reshape(1), mesh, [dtensor.Partial("avg")] * mesh.ndim
        )
        losses.append(float(total.full_tensor()[0]))
    return losses


def check(model, losses, expected, tolerance=1e-12):
    values, state = expected
    np.testing.assert_allclose(losses, values, rtol=tolerance)
    for name, value in model.state_dict().items():
        assert isinstance(value, DTensor)
        np.testing.assert_allclose(
            value.full_tensor(), state[name], rtol=tolerance, atol=tolerance
        )


def sharded(mesh, **options):
    model = Net()
    for module in (model.first, model.second):
        fully_shard(module, mesh=mesh, **options)
    return fully_shard(model, mesh=mesh, **options)
