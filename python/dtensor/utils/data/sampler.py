"""Samplers: the order in which the samples of a dataset are taken."""

import itertools
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

import numpy as np

from dtensor.random import Generator, default_generator

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

T = TypeVar("T", covariant=True)


class Sampler(Generic[T]):
    """Indices of samples, or lists of them: a subclass defines ``__iter__``."""

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """All samples in order.

    Parameters
    ----------
    data_source : Dataset
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


def _positive(count: Any) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count <= 0:
        raise ValueError(
            "num_samples should be a positive integer value, but got "
            f"num_samples={count}"
        )
    return count


def _is_bool(value: Any, error: type[Exception] = TypeError) -> bool:
    if not isinstance(value, bool):
        raise error(
            f"replacement should be a boolean value, but got replacement={value}"
        )
    return value


class RandomSampler(Sampler[int]):
    """Samples in random order.

    Parameters
    ----------
    data_source : Dataset
    replacement : bool, default False
        Whether a sample may be drawn several times.
    num_samples : int, optional
        The number of samples to draw; default: the length of the dataset.
    generator : Generator, optional
        Default: `dtensor.random.default_generator`. Ranks that must get the same
        samples need generators in the same state.

    Raises
    ------
    TypeError, ValueError
        If `replacement` is not a bool or `num_samples` is not a positive integer.
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source, self.generator = data_source, generator
        self.replacement = _is_bool(replacement)
        self._num_samples = num_samples
        _positive(self.num_samples)

    @property
    def num_samples(self) -> int:
        """The number of samples to draw."""
        if self._num_samples is None:
            return len(self.data_source)
        return self._num_samples

    def __iter__(self) -> Iterator[int]:
        count, rng = len(self.data_source), self.generator or default_generator()
        if self.replacement:
            yield from np.asarray(rng.integers(count, size=self.num_samples)).tolist()
            return
        for first in range(0, self.num_samples, count):
            order = np.asarray(rng.permutation(count)).tolist()
            yield from order[: self.num_samples - first]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Some samples in random order, each once.

    Parameters
    ----------
    indices : sequence of int
        The indices of the samples.
    generator : Generator, optional
        Default: `dtensor.random.default_generator`.
    """

    def __init__(
        self, indices: Sequence[int], generator: Generator | None = None
    ) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        rng = self.generator or default_generator()
        for place in np.asarray(rng.permutation(len(self.indices))).tolist():
            yield self.indices[place]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Samples at random, with a weight for each.

    Parameters
    ----------
    weights : sequence of float
        The weight of each sample; they need not add up to 1.
    num_samples : int
        The number of samples to draw.
    replacement : bool, default True
        Whether a sample may be drawn several times.
    generator : Generator, optional
        Default: `dtensor.random.default_generator`.

    Raises
    ------
    TypeError, ValueError
        If `replacement` is not a bool, `num_samples` is not a positive integer, or the
        weights do not have one dim.
    """

    def __init__(
        self,
        weights: Sequence[float],
        num_samples: int,
        replacement: bool = True,
        generator: Generator | None = None,
    ) -> None:
        self.num_samples, self.replacement = (
            _positive(num_samples),
            _is_bool(replacement, ValueError),
        )
        self.weights, self.generator = np.asarray(weights, np.float64), generator
        if self.weights.ndim != 1:
            raise ValueError(
                "weights should be a 1d sequence but given weights have shape "
                f"{self.weights.shape}"
            )

    def __iter__(self) -> Iterator[int]:
        rng = self.generator or default_generator()
        if self.replacement:
            probabilities = self.weights / self.weights.sum()
            chosen = rng.choice(len(self.weights), self.num_samples, p=probabilities)
            return iter(np.asarray(chosen).tolist())
        # The first to arrive in a race where sample i arrives at the rate weight i.
        with np.errstate(divide="ignore"):
            times = np.asarray(rng.exponential(size=len(self.weights))) / self.weights
        return iter(np.argsort(times)[: self.num_samples].tolist())

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Lists of the indices that another sampler yields.

    Parameters
    ----------
    sampler : iterable of int
    batch_size : int
    drop_last : bool
        Whether to leave out a last list that is shorter than the others.

    Raises
    ------
    ValueError
        If `batch_size` is not a positive integer or `drop_last` is not a bool.
    """

    def __init__(
        self, sampler: Iterable[int], batch_size: int, drop_last: bool
    ) -> None:
        if (
            isinstance(batch_size, bool)
            or not isinstance(batch_size, int)
            or batch_size <= 0
        ):
            raise ValueError(
                "batch_size should be a positive integer value, but got "
                f"batch_size={batch_size}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(
                f"drop_last should be a boolean value, but got drop_last={drop_last}"
            )
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        numbers = iter(self.sampler)
        while batch := list(itertools.islice(numbers, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        whole, rest = divmod(count, self.batch_size)
        return whole + (rest > 0 and not self.drop_last)
