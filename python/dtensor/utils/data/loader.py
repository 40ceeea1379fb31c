"""DataLoader: batches of the samples of a dataset."""

import functools
import itertools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from dtensor.random import Generator, default_generator
from dtensor.utils.data.collate import default_collate
from dtensor.utils.data.dataset import IterableDataset
from dtensor.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler
from dtensor.utils.data.workers import Workers

__all__ = ["DataLoader"]


# What cannot be set later, since the samplers have been made of it.
_FIXED = set(
    "batch_size batch_sampler sampler drop_last dataset persistent_workers".split()
)


class DataLoader:
    """Batches of the samples of a dataset, made in this process or in others.

    Not collective. `DistributedSampler` gives every rank its own samples.

    Parameters
    ----------
    dataset : Dataset
    batch_size : int, optional
        Samples in a batch, default 1. None: single samples, without batching.
    shuffle : bool, optional
        Whether to shuffle the samples, differently each time.
    sampler : iterable of int, optional
        The indices of the samples to take, instead of all.
    batch_sampler : iterable of lists of int, optional
        The indices of the samples of each batch.
    num_workers : int, default 0
        How many processes make batches; 0: this one. They are spawned, do not start
        MPI, and get the dataset and the functions pickled. So a script needs ``if
        __name__ == "__main__":`` around what they are not to run, and an
        IterableDataset asks `get_worker_info` which part is its own.
    collate_fn : callable, optional
        Makes a batch from a list of samples; default: `default_collate`.
    pin_memory : bool
        Ignored.
    drop_last : bool, default False
        Whether to leave out a last batch that is smaller than the others.
    timeout : float, default 0
        How many seconds a batch of a worker may take; 0: any number.
    worker_init_fn : callable, optional
        Called in each worker with its number.
    multiprocessing_context : optional
        ``"spawn"``, or None, which is the same.
    generator : Generator, optional
        The generator for the order; default: `dtensor.random.default_generator`.
    prefetch_factor : int, optional
        How many batches each worker makes ahead; default: 2.
    persistent_workers : bool, default False
        Whether the workers stay for the next time.
    pin_memory_device, in_order : optional
        Ignored: batches come in their order.

    Raises
    ------
    ValueError
        If arguments exclude each other, or are out of range.
    RuntimeError
        From the iterator, if a worker ends or is late. What a worker raises is raised
        here, with its traceback. On this rank only.
    """

    # Annotations may say what the samples are: DataLoader[int].
    __class_getitem__: Any = classmethod(types.GenericAlias)

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[int] | None = None,
        batch_sampler: Iterable[list[int]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Any = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(
            num_workers,
            timeout,
            multiprocessing_context,
            prefetch_factor,
            persistent_workers,
        )
        self.dataset, self.generator = dataset, generator
        self.num_workers, self.pin_memory, self.timeout = (
            num_workers,
            pin_memory,
            timeout,
        )
        self.worker_init_fn, self.persistent_workers = (
            worker_init_fn,
            persistent_workers,
        )
        self.prefetch_factor = (
            2 if num_workers and prefetch_factor is None else prefetch_factor
        )
        self._workers: Workers | None = None
        self._iterable = isinstance(dataset, IterableDataset)
        _check(self._iterable, batch_size, shuffle, sampler, batch_sampler, drop_last)
        if sampler is None and not self._iterable:
            sampler = (
                RandomSampler(dataset, generator=generator)
                if shuffle
                else SequentialSampler(dataset)
            )
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None and not self._iterable:
            batch_sampler = BatchSampler(sampler or (), batch_size, drop_last)
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler = sampler, batch_sampler
        batched = batch_size is not None or batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if batched else _as_it_is)
        self._made = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _FIXED and getattr(self, "_made", False):
            raise ValueError(
                f"{name} attribute should not be set after DataLoader is initialized"
            )
        super().__setattr__(name, value)

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers:
            return self._from_workers()
        if self._iterable:
            return self._stream()
        if self.batch_sampler is not None:
            return (
                self.collate_fn([self.dataset[k] for k in batch])
                for batch in self.batch_sampler
            )
        return (self.collate_fn(self.dataset[k]) for k in self.sampler or ())

    def _stream(self) -> Iterator[Any]:
        """Yield the batches of an IterableDataset."""
        if self.batch_size is None:
            yield from map(self.collate_fn, self.dataset)
            return
        batches = BatchSampler(self.dataset, self.batch_size, self.drop_last)
        yield from map(self.collate_fn, batches)

    def _from_workers(self) -> Iterator[Any]:
        seed = int(np.asarray(_drawn(self.generator)))
        if self._workers is None:
            batches = None if self.batch_size is None else self.batch_size
            if self._iterable:
                fetcher: Any = functools.partial(
                    _Stream, batches, self.drop_last, self.collate_fn
                )
            else:
                fetcher = functools.partial(_Picked, self.collate_fn)
            self._workers = Workers(
                self.num_workers,
                self.dataset,
                fetcher,
                self.worker_init_fn,
                seed,
                self.prefetch_factor or 2,
                self.timeout,
            )
        workers = self._workers
        if not self.persistent_workers:
            self._workers = None
        requests = (
            self.batch_sampler if self.batch_sampler is not None else self.sampler
        )
        if self._iterable:
            requests = itertools.cycle([True])
        try:
            yield from workers.batches(iter(requests or ()))
        finally:
            if not self.persistent_workers:
                workers.close()

    def __len__(self) -> int:
        counted = self.batch_sampler if self.batch_sampler is not None else self.sampler
        if self._iterable:
            if self.batch_size is None:
                return len(self.dataset)
            return len(BatchSampler(self.dataset, self.batch_size, self.drop_last))
        return len(counted)  # type: ignore[arg-type]


class _Picked:
    """Makes batches of a dataset by index, in a worker."""

    def __init__(self, collate: Callable[[Any], Any], dataset: Any) -> None:
        self.collate, self.dataset = collate, dataset

    def __call__(self, asked: Any) -> Any:
        if isinstance(asked, list | tuple):
            return self.collate([self.dataset[k] for k in asked])
        return self.collate(self.dataset[asked])


class _Stream:
    """Makes the next batch of an IterableDataset, in a worker."""

    def __init__(
        self,
        batch_size: int | None,
        drop_last: bool,
        collate: Callable[[Any], Any],
        dataset: Any,
    ) -> None:
        self.collate = collate
        batched = batch_size is not None
        self.rest = iter(
            BatchSampler(dataset, batch_size, drop_last) if batched else dataset  # type: ignore[arg-type]
        )

    def __call__(self, asked: Any) -> Any:
        return self.collate(next(self.rest))


def _drawn(generator: Generator | None) -> Any:
    """Return a number that seeds workers."""
    generator = default_generator() if generator is None else generator
    return generator.integers(0, 2**62, 1)[0]


def _check_workers(
    count: int,
    timeout: float,
    context: Any,
    prefetch: int | None,
    persistent: bool,
) -> None:
    if count < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable "
            "multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if prefetch is not None and (count == 0 or prefetch < 1):
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing, and is "
            "positive. Let num_workers > 0 to enable multiprocessing."
        )
    if persistent and count == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    name = getattr(context, "_name", context)
    if name not in (None, "spawn"):
        raise ValueError(
            f"multiprocessing_context option should be 'spawn', but got {context!r}: "
            "MPI does not survive other ways to start a process"
        )


def _as_it_is(sample: Any) -> Any:
    return sample


def _check(
    iterable: bool,
    batch_size: int | None,
    shuffle: bool | None,
    sampler: Any,
    batch_sampler: Any,
    drop_last: bool,
) -> None:
    """Raise for arguments that exclude each other."""
    if iterable:
        for name, given in (
            ("shuffle", shuffle or None),
            ("sampler", sampler),
            ("batch_sampler", batch_sampler),
        ):
            if given is not None:
                raise ValueError(
                    "DataLoader with IterableDataset: expected unspecified "
                    f"{name} option, but got {name}={given}"
                )
    if sampler is not None and shuffle:
        raise ValueError("sampler option is mutually exclusive with shuffle")
    if batch_sampler is not None and (
        batch_size != 1 or shuffle or sampler is not None or drop_last
    ):
        raise ValueError(
            "batch_sampler option is mutually exclusive with batch_size, shuffle, "
            "sampler, and drop_last"
        )
    if batch_sampler is None and batch_size is None and drop_last:
        raise ValueError(
            "batch_size=None option disables auto-batching and is mutually exclusive "
            "with drop_last"
        )
