"""DistributedSampler: every rank takes its own samples."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from dtensor._core import world as _world
from dtensor.random import Generator
from dtensor.utils.data.sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Give every rank each `num_replicas`-th sample. Not collective.

    All ranks take the same number of samples. If their number is not a multiple of
    `num_replicas`, the first ones are repeated, or with `drop_last` the last ones are
    left out.

    Parameters
    ----------
    dataset : Dataset
    num_replicas : int, optional
        The number of ranks; default: all ranks of the job.
    rank : int, optional
        The index of this rank among them; default: its rank in the job.
    shuffle : bool, default True
        Whether to shuffle, in an order that is the same on all ranks: call `set_epoch`
        before each epoch.
    seed : int, default 0
        The seed of that order.
    drop_last : bool, default False

    Raises
    ------
    ValueError
        If `rank` is not between 0 and ``num_replicas - 1``.
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        world = _world.current() if num_replicas is None or rank is None else None
        num_replicas = world.size if num_replicas is None and world else num_replicas
        rank = world.rank if rank is None and world else rank
        if num_replicas is None or rank is None or not 0 <= rank < num_replicas:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval "
                f"[0, {(num_replicas or 0) - 1}]"
            )
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.epoch = 0
        count = len(dataset)
        if drop_last and count % num_replicas:
            self.num_samples = math.ceil((count - num_replicas) / num_replicas)
        else:
            self.num_samples = math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        order: Any = np.arange(count)
        if self.shuffle:
            order = np.asarray(Generator(self.seed + self.epoch).permutation(count))
        chosen = np.resize(order, self.total_size) if count else order
        return iter(chosen[self.rank :: self.num_replicas].tolist())

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, on which the order depends together with the seed."""
        self.epoch = epoch
