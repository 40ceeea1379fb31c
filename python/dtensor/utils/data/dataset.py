"""Datasets: samples by index, or one after the other."""

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from dtensor._core.caller import warn
from dtensor.random import Generator, default_generator

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

T = TypeVar("T")


class Dataset(Generic[T]):
    """Samples by index: a subclass defines ``__getitem__`` and usually ``__len__``."""

    def __getitem__(self, index: Any) -> T:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: "Dataset[T]") -> "ConcatDataset[T]":
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T]):
    """Samples one after the other: a subclass defines ``__iter__``."""

    def __iter__(self) -> Iterator[T]:
        raise NotImplementedError("Subclasses of IterableDataset implement __iter__.")

    def __add__(self, other: Dataset[T]) -> "ChainDataset[T]":  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Any, ...]]):
    """The rows of arrays: sample i is ``tuple(tensor[i] for tensor in tensors)``.

    Parameters
    ----------
    *tensors : Tensor or array
        Arrays of the same length.

    Raises
    ------
    AssertionError
        If the lengths differ.
    """

    def __init__(self, *tensors: Any) -> None:
        if any(tensor.shape[0] != tensors[0].shape[0] for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


class ConcatDataset(Dataset[T]):
    """The samples of several datasets, one dataset after the other.

    Parameters
    ----------
    datasets : iterable of Dataset

    Raises
    ------
    AssertionError
        If there is no dataset, or one is an IterableDataset.
    """

    def __init__(self, datasets: Iterable[Dataset[T]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        lengths = (len(dataset) for dataset in self.datasets)  # type: ignore[arg-type]
        self.cumulative_sizes = list(itertools.accumulate(lengths))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> T:
        if index < -len(self):
            raise ValueError("absolute value of index should not exceed dataset length")
        if index >= len(self):
            raise IndexError("index is out of the range of the datasets")
        index %= len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        before = self.cumulative_sizes[which - 1] if which else 0
        return self.datasets[which][index - before]


class ChainDataset(IterableDataset[T]):
    """The samples of several datasets without indices, one dataset after the other.

    Parameters
    ----------
    datasets : iterable of IterableDataset
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[T]:
        for each in self.datasets:
            if not isinstance(each, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield from each

    def __len__(self) -> int:
        return sum(len(each) for each in self.datasets)


class StackDataset(Dataset[Any]):
    """Samples of several datasets beside each other: tuples, or dicts by name.

    Parameters
    ----------
    *args, **kwargs : Dataset
        Of one length; all by position, or all by name.

    Raises
    ------
    ValueError
        If lengths differ, there are none, or some are given by position and some by
        name.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or ``dict``- (via "
                "``kwargs``) like input/output, but both types are given."
            )
        given = list(args) or list(kwargs.values())
        if not given:
            raise ValueError("At least one dataset should be passed")
        if len({len(each) for each in given}) > 1:
            raise ValueError("Size mismatch between datasets")
        self.datasets: Any = args or kwargs
        self._length = len(given[0])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(self.datasets, dict):
            return {name: each[index] for name, each in self.datasets.items()}
        return tuple(each[index] for each in self.datasets)

    def __len__(self) -> int:
        return self._length


class Subset(Dataset[T]):
    """Some samples of a dataset.

    Parameters
    ----------
    dataset : Dataset
    indices : sequence of int
        Their indices in `dataset`.
    """

    def __init__(self, dataset: Dataset[T], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> T:
        if isinstance(index, list):
            return self.dataset[[self.indices[k] for k in index]]
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Any, lengths: Sequence[int | float], generator: Generator | None = None
) -> list[Subset[Any]]:
    """Split a dataset at random into subsets of the given lengths.

    Not collective; the split is equal on ranks whose generators are equal.

    Parameters
    ----------
    dataset : Dataset
    lengths : sequence of int or float
        The number of samples in each; or fractions, which add up to 1.
    generator : Generator, optional
        Default: `dtensor.random.default_generator`.

    Raises
    ------
    ValueError
        If the lengths do not add up to that of the dataset, or a fraction is not
        between 0 and 1.
    """
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _counts(lengths, total)
    if sum(lengths) != total:
        raise ValueError(
            "Sum of input lengths does not equal the length of the input dataset!"
        )
    generator = default_generator() if generator is None else generator
    order = np.asarray(generator.permutation(total)).tolist()
    ends = itertools.accumulate(int(length) for length in lengths)
    return [
        Subset(dataset, order[end - int(length) : end])
        for end, length in zip(ends, lengths, strict=True)
    ]


def _counts(parts: Sequence[float], total: int) -> list[int]:
    """Return integer counts; the remainder of rounding down goes to the first ones."""
    for place, part in enumerate(parts):
        if not 0 <= part <= 1:
            raise ValueError(f"Fraction at index {place} is not between 0 and 1")
    counts = [math.floor(total * part) for part in parts]
    for k in range(total - sum(counts)):
        counts[k % len(counts)] += 1
    for place, count in enumerate(counts):
        if count == 0:
            warn(
                f"Length of split at index {place} is 0. This might result in an empty "
                "dataset."
            )
    return counts
