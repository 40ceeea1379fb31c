"""DataLoader: batches of the samples of a dataset."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dtensor.random import Generator
from dtensor.utils.data.collate import default_collate
from dtensor.utils.data.dataset import IterableDataset
from dtensor.utils.data.sampler import BatchSampler, RandomSampler, SequentialSampler

__all__ = ["DataLoader"]


class DataLoader:
    """Batches of the samples of a dataset, made in this process.

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
    num_workers : int
        Only 0: there are no worker processes.
    collate_fn : callable, optional
        Makes a batch from a list of samples; default: `default_collate`.
    pin_memory : bool
        Ignored.
    drop_last : bool, default False
        Whether to leave out a last batch that is smaller than the others.
    timeout, worker_init_fn, multiprocessing_context : optional
        Ignored: they are for worker processes.
    generator : Generator, optional
        The generator for the order; default: `dtensor.random.default_generator`.
    prefetch_factor, persistent_workers, pin_memory_device, in_order : optional
        Ignored.

    Raises
    ------
    ValueError
        If arguments exclude each other, or `num_workers` is not 0.
    """

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
        if num_workers != 0:
            raise ValueError(
                "num_workers option should be 0: batches are made in this process, and "
                f"{num_workers} workers cannot be started beside MPI"
            )
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        self.dataset, self.generator = dataset, generator
        self.num_workers, self.pin_memory, self.timeout = 0, pin_memory, timeout
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

    def __iter__(self) -> Iterator[Any]:
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

    def __len__(self) -> int:
        counted = self.batch_sampler if self.batch_sampler is not None else self.sampler
        if self._iterable:
            if self.batch_size is None:
                return len(self.dataset)
            return len(BatchSampler(self.dataset, self.batch_size, self.drop_last))
        return len(counted)  # type: ignore[arg-type]


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
