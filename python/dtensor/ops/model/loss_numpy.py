"""The losses with NumPy's functions, for dtypes that the C kernels lack.

After the definitions of torch.nn.functional; names and arguments are those of
csrc/kernels/loss.h and csrc/ext/kernels/loss.c."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "FORMULAS",
    "classes_backward",
    "classes_loss",
    "classes_loss_sum",
    "classes_total",
    "loss_backward",
    "loss_run",
    "loss_sum",
]

Array = npt.NDArray[Any]
Kernel = Callable[..., Any]

# --- numbers and targets --------------------------------------------------------------


class Formula(NamedTuple):
    """A function of ``(x, target, p)`` and its derivative by x."""

    value: Kernel
    slope: Kernel


def _logistic(x: Array) -> Array:
    power = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0, 1, power) / (1 + power))


def _clipped_log(x: Array) -> Array:
    return np.asarray(np.maximum(np.log(x), -100))


def _smooth(x: Array, t: Array, p: float) -> Array:
    far = np.abs(x - t)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(far < p, far * far / 2 / p, far - p / 2))


def _smooth_slope(x: Array, t: Array, p: float) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.abs(x - t) < p, (x - t) / p, np.sign(x - t))


def _huber(x: Array, t: Array, p: float) -> Array:
    far = np.abs(x - t)
    return np.asarray(np.where(far <= p, far * far / 2, p * (far - p / 2)))


def _entropy(t: Array) -> Array:
    return np.asarray(t * np.log(np.where(t == 0, 1, t)))


FORMULAS: dict[str, Formula] = {
    "mse": Formula(lambda x, t, p: (x - t) ** 2, lambda x, t, p: 2 * (x - t)),
    "l1": Formula(lambda x, t, p: np.abs(x - t), lambda x, t, p: np.sign(x - t)),
    "smooth_l1": Formula(_smooth, _smooth_slope),
    "huber": Formula(_huber, lambda x, t, p: np.clip(x - t, -p, p)),
    "bce": Formula(
        lambda x, t, p: (t - 1) * _clipped_log(1 - x) - t * _clipped_log(x),
        lambda x, t, p: (x - t) / np.maximum((1 - x) * x, 1e-12),
    ),
    "bce_logits": Formula(
        lambda x, t, p: np.maximum(x, 0) - x * t + np.log1p(np.exp(-np.abs(x))),
        lambda x, t, p: _logistic(x) - t,
    ),
    "kl_div": Formula(lambda x, t, p: _entropy(t) - t * x, lambda x, t, p: -t),
    "kl_div_log": Formula(
        lambda x, t, p: np.exp(t) * (t - x), lambda x, t, p: -np.exp(t)
    ),
}


def loss_run(name: str) -> Kernel:
    return FORMULAS[name].value


def loss_sum(name: str) -> Kernel:
    def run(x: Array, t: Array, p: float, factor: float) -> Any:
        return np.sum(FORMULAS[name].value(x, t, p)) * factor

    return run


def loss_backward(name: str) -> Kernel:
    def run(grad: Array, x: Array, t: Array, p: float, factor: float) -> Any:
        return grad * FORMULAS[name].slope(x, t, p) * factor

    return run


# --- classes --------------------------------------------------------------------------


class _Classes:
    """Rows and their classes; this rank has the classes from `first` on."""

    def __init__(
        self,
        target: Array,
        weight: Array | None,
        first: int,
        count: int,
        every: int,
        ignore: int,
    ) -> None:
        wrong = (target != ignore) & ((target < 0) | (target >= every))
        if wrong.any():
            raise IndexError(f"Target {target[wrong][0]} is out of bounds.")
        self.counts = target != ignore
        self.weight = np.ones(every) if weight is None else weight
        of_class = self.weight[np.where(self.counts, target, 0)]
        self.of_row = np.where(self.counts, of_class, 0)
        classes = np.arange(first, first + count)
        self.right = self.counts[..., None] & (target[..., None] == classes)
        self.share = self.weight[first : first + count]


def _rows(x: Array, lse: Array | None, dim: int) -> Array:
    """Return minus the logarithms of probabilities, classes last."""
    turned = np.moveaxis(x, dim, -1)
    return np.asarray(-turned if lse is None else lse[..., None] - turned)


def classes_loss(
    x: Array,
    target: Array,
    weight: Array | None,
    lse: Array | None,
    first: int,
    every: int,
    ignore: int,
    smoothing: float,
    dim: int,
) -> Array:
    classes = _Classes(target, weight, first, x.shape[dim], every, ignore)
    losses = _rows(x, lse, dim)
    found = np.where(classes.right, losses, 0).sum(-1) * classes.of_row
    if smoothing:
        spread = np.where(classes.counts, (losses * classes.share).sum(-1), 0)
        found = (1 - smoothing) * found + smoothing / every * spread
    return np.asarray(found)


def classes_loss_sum(*args: Any) -> Any:
    *same, total = args
    return classes_loss(*same).sum() / (1 if total is None else total)


def classes_total(
    kind: Array, target: Array, weight: Array | None, every: int, ignore: int
) -> Any:
    valid = target[(target != ignore) & (target >= 0) & (target < every)]
    return kind.dtype.type(valid.size if weight is None else weight[valid].sum())


def classes_backward(
    grad: Array,
    x: Array,
    target: Array,
    weight: Array | None,
    lse: Array | None,
    first: int,
    every: int,
    ignore: int,
    smoothing: float,
    dim: int,
    total: Array | None,
    _single: bool,
) -> Array:
    classes = _Classes(target, weight, first, x.shape[dim], every, ignore)
    g = np.where(classes.counts, grad / (1 if total is None else total), 0)
    spread = g * (smoothing / every)
    found = np.zeros(np.moveaxis(x, dim, -1).shape, x.dtype)
    if lse is not None:
        share = g * (1 - smoothing) * classes.of_row + spread * classes.weight.sum()
        found += share[..., None] * np.exp(-_rows(x, lse, dim))
    found -= spread[..., None] * classes.share
    found -= classes.right * (g * (1 - smoothing) * classes.of_row)[..., None]
    return np.moveaxis(found, -1, dim)
