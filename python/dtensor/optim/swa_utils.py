"""Averages of the weights that training passes through: ``torch.optim.swa_utils``."""

import copy
import math
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from dtensor import _C
from dtensor._C import tensor
from dtensor.autograd.grad_mode import no_grad
from dtensor.nn.batch_norm import _BatchNorm
from dtensor.nn.module import Module
from dtensor.optim.lr_scheduler._base import LRScheduler
from dtensor.optim.lr_scheduler._momentum import each_group
from dtensor.optim.optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], Any]:
    """Return a function that averages exponentially.

    Parameters
    ----------
    decay : float, default 0.999
        The weight of the average; the new value has the rest.

    Returns
    -------
    callable
        A function of the average, the new value and the number of values before.

    Raises
    ------
    ValueError
        If `decay` is not between 0 and 1.
    """
    if not 0 <= decay <= 1:
        raise ValueError(
            f"Invalid decay value {decay} provided. Please provide a value in [0,1] "
            "range."
        )

    @no_grad()
    def average(kept: Any, new: Any, count: Any) -> Any:
        return decay * kept + (1 - decay) * new

    return average


def get_swa_avg_fn() -> Callable[[Any, Any, Any], Any]:
    """Return a function that averages with equal weights: see `get_ema_avg_fn`."""

    @no_grad()
    def average(kept: Any, new: Any, count: Any) -> Any:
        return kept + (new - kept) / (count + 1)

    return average


def _of_lists(one: Callable[[Any, Any, Any], Any]) -> Callable[..., None]:
    @no_grad()
    def average(kept: Iterable[Any], new: Iterable[Any], count: Any) -> None:
        for x, y in zip(kept, new, strict=True):
            x.copy_(one(x, y, count))

    return average


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """Return a function that averages lists of tensors exponentially, in place.

    See `get_ema_avg_fn`.
    """
    return _of_lists(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """Return a function that averages lists of tensors with equal weights, in place."""
    return _of_lists(get_swa_avg_fn())


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of those of the model.

    Parameters
    ----------
    model : Module
    device : optional
        Where the copy is: ``"cpu"``.
    avg_fn : callable, optional
        Returns an average: see `get_ema_avg_fn`. Default: with equal weights.
    multi_avg_fn : callable, optional
        The same for lists of tensors, in place; not together with `avg_fn`.
    use_buffers : bool, default False
        Whether buffers are averaged, too. Otherwise they are copied.

    Attributes
    ----------
    module : Module
        The copy.
    n_averaged : Tensor
        How many sets of parameters it is the average of.

    Raises
    ------
    AssertionError
        If both functions are given.

    Notes
    -----
    Izmailov et al. 2018 (arXiv:1803.05407). Parts are averaged where they are: nothing
    is sent if the model keeps its layouts.
    """

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[[Any, Any, Any], Any] | None = None,
        multi_avg_fn: Callable[..., None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError(
                "Only one of avg_fn and multi_avg_fn should be provided"
            )
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        count = tensor(0, dtype="int64")
        in_torch = any(_C.is_torch(p) for p in self.module.parameters())
        self.register_buffer("n_averaged", _C.into_torch(count) if in_torch else count)
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the averaged model returns."""
        return self.module(*args, **kwargs)

    @no_grad()
    def update_parameters(self, model: Module) -> None:
        """Take the parameters of a model into the average; at first, copy them."""
        own = _tensors(self.module, self.use_buffers)
        new = _tensors(model, self.use_buffers)
        count = int(self.n_averaged)
        if count == 0:
            for x, y in zip(own, new, strict=True):
                x.copy_(y)
        elif self.multi_avg_fn is not None:
            for kind in dict.fromkeys(x.dtype for x in own):
                pairs = [p for p in zip(own, new, strict=True) if p[0].dtype == kind]
                self.multi_avg_fn([x for x, _ in pairs], [y for _, y in pairs], count)
        else:
            _of_lists(self.avg_fn or get_swa_avg_fn())(own, new, count)
        if not self.use_buffers:
            buffers = zip(self.module.buffers(), model.buffers(), strict=True)
            for x, y in buffers:
                x.detach().copy_(y.detach())
        self.n_averaged += 1


def _tensors(model: Module, with_buffers: bool) -> list[Any]:
    found = chain(model.parameters(), model.buffers() if with_buffers else ())
    return [x.detach() for x in found]


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running averages of a model's batch norms anew.

    Parameters
    ----------
    loader : iterable
        Batches: tensors, or tuples and lists of which the first element is one.
    model : Module
        It is called with each batch, in training mode, as collective as its layers are.
    device : optional
        Where batches go: ``"cpu"``.
    """
    norms = {m: m.momentum for m in model.modules() if isinstance(m, _BatchNorm)}
    if not norms:
        return
    was_training = model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
    for batch in loader:
        first = batch[0] if isinstance(batch, list | tuple) else batch
        model(first if device is None else first.to(device))
    for norm, momentum in norms.items():
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Bring the learning rate to a constant one, at which weights are averaged.

    Parameters
    ----------
    optimizer : Optimizer
    swa_lr : float or list of float
        The constant: one value for all groups, or one for each.
    anneal_epochs : int, default 10
        How many steps it takes.
    anneal_strategy : {"cos", "linear"}
    last_epoch : int, default -1

    Raises
    ------
    ValueError
        If the strategy is unknown or `anneal_epochs` is no natural number.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = each_group("swa_lr", optimizer, swa_lr)
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                "anneal_strategy must be one of 'cos' or 'linear', instead got "
                f"{anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(
                f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}"
            )
        self.anneal_epochs = anneal_epochs
        self._anneal_strategy = anneal_strategy
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        """See `LRScheduler.get_lr`."""
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._part(step - 1), self._part(step)
        found = []
        for group in self.optimizer.param_groups:
            lr, end = group["lr"], group["swa_lr"]
            start = end if before == 1 else (lr - before * end) / (1 - before)
            found.append(end * now + start * (1 - now))
        return found

    def _part(self, step: int) -> float:
        """Return how much of the way to the constant is done."""
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return (
            t if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * t)) / 2
        )
